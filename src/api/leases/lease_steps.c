/* Turns work into messages: looks up leased jobs, edits them and sends them. */
#include "api/core/sequence.h"
#include "api/core/state.h"
#include "api/leases/lease_message.h"
#include "api/leases/lease_stream.h"

void lease_set_behind(struct lease_stream *stream, bool is_behind)
{
    struct api *api = stream->call->api;

    if (stream->is_behind != is_behind) {
        stream->is_behind = is_behind;
        atomic_fetch_add(&api->behind_count, is_behind ? 1 : -1);
    }
}

/* What the store has of a leased job. */
enum spec_answer { SPEC_BEHIND, SPEC_FOUND, SPEC_LOST };

/* Look up a leased job's spec: an answer, or a code.  A lease is pushed when
 * it is durable, so what the log has by now includes the submission. */
static int find_spec(struct lease_stream *stream, struct readers *readers,
                     struct job_id job, struct arena *arena, struct str *spec,
                     struct err *err)
{
    struct elog_bounds bounds;
    uint64_t store_seq;
    int rc = 0;

    if (stream->behind_seq == 0) {
        rc = elog_bounds(readers->log, &bounds, err);
        stream->behind_seq = rc < 0 ? 0 : bounds.head_seq;
    }
    if (rc == 0) {
        rc = store_reader_seq(readers->store, &store_seq, err);
    }
    if (rc == 0) {
        rc = store_spec(readers->store, job, arena, spec, err);
    }
    if (rc != 0) {
        return rc < 0 ? rc : SPEC_FOUND;
    }
    return store_seq < stream->behind_seq ? SPEC_BEHIND : SPEC_LOST;
}

/* The spec of a leased job: an answer, or a code. */
static int look_up(struct lease_stream *stream, struct job_id job,
                   struct arena *arena, struct str *ret_spec, struct err *err)
{
    const struct api *api = stream->call->api;
    struct readers *readers;

    if (spec_cache_find(api->specs, job, arena, ret_spec)) {
        return SPEC_FOUND;
    }
    int rc = reader_pool_lend(api->readers, &readers, err);
    if (rc < 0) {
        return rc;
    }
    rc = find_spec(stream, readers, job, arena, ret_spec, err);
    reader_pool_give_back(api->readers, readers);
    return rc;
}

/* Append a lease to `buf`, if its job can be found. */
static int put_lease(struct lease_stream *stream,
                     const struct exchange_lease *lease, struct strbuf *buf,
                     struct err *err)
{
    const struct api *api = stream->call->api;
    auto_arena arena = {0};
    struct str spec;
    int rc = look_up(stream, lease->job, &arena, &spec, err);

    if (rc != SPEC_FOUND) {
        return rc;
    }
    struct lease_edits edits = {
        .node_id_label = api->config->node_id_label,
        .priority_class_override = api->config->priority_class_override,
        .resource_types = api->config->resource_types,
        .resource_type_count = api->config->resource_type_count,
    };
    rc = lease_message_put(buf, lease, spec, &edits, err);
    return rc == -ERR_CORRUPT ? SPEC_LOST : rc < 0 ? rc : SPEC_FOUND;
}

/* End a run whose job cannot be sent.  If the leader takes nothing now, the
 * lease comes again with a later exchange. */
static void fail_run(struct lease_stream *stream,
                     const struct exchange_lease *lease)
{
    const struct clock *clock = stream->call->api->ports.clock;
    struct event_scope scope = {lease->queue, lease->job_set, lease->user};
    struct sequence sequence = {0};
    struct event event = {
        .type = EVENT_RUN_ERRORS,
        .created_ms = clock->wall_ms(clock),
        .job = lease->job,
        .run = lease->run,
        .error = {.kind = ERROR_POD,
                  .is_terminal = true,
                  .message = STR("the query store has lost this job's spec"),
                  .category = STR("internal")},
    };

    sequence_begin(&sequence, &scope);
    sequence_add(&sequence, &event);
    struct command *command = sequence_command(&sequence, &scope);
    lease_tell(stream, command);
}

/* A message is in the buffer; with another at once behind it, it may wait for
 * that one in the transport. */
static enum lease_step to_send(struct lease_stream *stream, bool has_more)
{
    stream->is_held_back = has_more;
    return has_more ? LEASE_SEND_MORE : LEASE_SEND;
}

/* Whether the next message of the work at hand needs no look into the store,
 * which might be behind. */
static bool is_next_ready(const struct lease_stream *stream)
{
    const struct work *work = stream->work;
    const struct exchange_response *response = &work->response;

    return work->lease_at < response->lease_count
               ? spec_cache_has(stream->call->api->specs,
                                response->leases[work->lease_at].job)
               : work->kind == WORK_ANSWER;
}

static enum lease_step step_lease(struct lease_stream *stream,
                                  struct work *work, struct strbuf *buf,
                                  struct err *err)
{
    const struct exchange_lease *lease = &work->response.leases[work->lease_at];

    int rc = put_lease(stream, lease, buf, err);
    if (rc == SPEC_BEHIND && !stream->is_behind) {
        /* Look again now that news of the projector cannot be missed. */
        lease_set_behind(stream, true);
        rc = put_lease(stream, lease, buf, err);
    }
    if (rc == SPEC_BEHIND) {
        return LEASE_WAIT;
    }
    if (rc == SPEC_LOST) {
        fail_run(stream, lease);
    }
    work->lease_at++;
    stream->behind_seq = 0;
    lease_set_behind(stream, false);
    return rc < 0            ? LEASE_FAILED
           : rc == SPEC_LOST ? LEASE_SKIP
                             : to_send(stream, is_next_ready(stream));
}

/* After the last message of an answer. */
static enum lease_step step_answered(struct lease_stream *stream,
                                     struct work *work, struct strbuf *buf)
{
    if (work->lease_at > work->response.lease_count) {
        return stream->is_held ? LEASE_DONE : LEASE_END;
    }
    work->lease_at = work->response.lease_count + 1;
    stream->answer_count++;
    if (stream->is_held) {
        lease_message_put_heartbeat(buf, stream->answer_count);
    } else {
        lease_message_put_end(buf);
    }
    return to_send(stream, false);
}

/* After the last lease of a push.  If that was not sent, those before it may
 * still wait for it: a heartbeat takes them along. */
static enum lease_step step_pushed(struct lease_stream *stream,
                                   struct strbuf *buf)
{
    if (!stream->is_held_back) {
        return LEASE_DONE;
    }
    lease_message_put_heartbeat(buf, stream->answer_count);
    return to_send(stream, false);
}

enum lease_step lease_step(struct lease_stream *stream, struct strbuf *buf,
                           struct err *err)
{
    struct work *work = stream->work;
    const struct exchange_response *response = &work->response;

    if (work->kind == WORK_CLOSED) {
        return LEASE_END;
    }
    if (work->kind == WORK_RELEASED || work->result != COMMAND_OK) {
        (void)err_set(err, -ERR_UNAVAILABLE, "%.*s", STR_ARG(work->text));
        return LEASE_FAILED;
    }
    if (response->cancel_count && !work->has_sent_cancels) {
        work->has_sent_cancels = true;
        lease_message_put_cancels(buf, response->cancels,
                                  response->cancel_count);
        return to_send(stream, is_next_ready(stream));
    }
    if (work->lease_at < response->lease_count) {
        return step_lease(stream, work, buf, err);
    }
    return work->kind == WORK_PUSH ? step_pushed(stream, buf)
                                   : step_answered(stream, work, buf);
}
