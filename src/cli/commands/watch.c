/*
 * watch: follow a job set, one line per event with a summary before it.
 */
#include <time.h>

#include "armada/services.pb-c.h"
#include "base/intern.h"
#include "cli/commands/commands.h"
#include "cli/commands/watch_screen.h"
#include "cli/shared/check.h"
#include "cli/shared/event_stream.h"
#include "cli/shared/progress.h"

enum { RECONNECT_MS = 5000 };

/* What the summary counts. */
enum watched_state {
    WATCHED_NONE,
    WATCHED_QUEUED,
    WATCHED_LEASED,
    WATCHED_PENDING,
    WATCHED_RUNNING,
    WATCHED_SUCCEEDED,
    WATCHED_FAILED,
    WATCHED_CANCELLED,
    WATCHED_STATE_COUNT,
};

/* The jobs seen so far.  A request (to cancel, to preempt, to reprioritize)
 * may name an id that no job has: the server takes it unseen.  So only its
 * submission, or a state that it was in, makes a job. */
struct watch {
    struct intern *ids; /* owned; job id to index */
    VEC(uint8_t) states;
    uint32_t counts[WATCHED_STATE_COUNT];
    uint32_t excused_count; /* of those cancelled */
    char *last_id;          /* of the stream, owned */
    /* Whether what comes is awaited.  A watch that is to end with the last job
     * reads first what there is: a job set may have been idle before. */
    bool is_live;
    struct watch_screen *screen; /* NULL: a line for each event */
};

/* One event, whatever its type. */
struct seen {
    const char *type;
    const ProtobufCMessage *message;
    const char *job_id;
    const Google__Protobuf__Timestamp *created;
    const char *requestor;        /* "" where the type has none */
    const char *failed_reason;    /* NULL unless it failed */
    const char *preempted_reason; /* NULL unless it was preempted */
    int pod_number;               /* -1 where the type has none */
    enum watched_state state;     /* NONE: unchanged */
    bool is_submission;
    bool is_excused; /* cancelled since its group has succeeded */
};

/* Members that every event type has. */
#define SEEN(case_, field_, name_, state_)                  \
    case API__EVENT_MESSAGE__EVENTS_##case_:                \
        *ret_seen = (struct seen){name_,                    \
                                  &message->field_->base,   \
                                  message->field_->job_id,  \
                                  message->field_->created, \
                                  "",                       \
                                  NULL,                     \
                                  NULL,                     \
                                  -1,                       \
                                  state_,                   \
                                  false,                    \
                                  false};                   \
        break

/* What everybody needs to know of an event; false for an unknown type. */
static bool see_common(const Api__EventMessage *message, struct seen *ret_seen)
{
    switch (message->events_case) {
        SEEN(SUBMITTED, submitted, "JobSubmittedEvent", WATCHED_NONE);
        SEEN(QUEUED, queued, "JobQueuedEvent", WATCHED_QUEUED);
        SEEN(LEASED, leased, "JobLeasedEvent", WATCHED_LEASED);
        SEEN(LEASE_RETURNED, lease_returned, "JobLeaseReturnedEvent",
             WATCHED_QUEUED);
        SEEN(LEASE_EXPIRED, lease_expired, "JobLeaseExpiredEvent",
             WATCHED_QUEUED);
        SEEN(PENDING, pending, "JobPendingEvent", WATCHED_PENDING);
        SEEN(RUNNING, running, "JobRunningEvent", WATCHED_RUNNING);
        SEEN(FAILED, failed, "JobFailedEvent", WATCHED_FAILED);
        SEEN(SUCCEEDED, succeeded, "JobSucceededEvent", WATCHED_SUCCEEDED);
        SEEN(REPRIORITIZED, reprioritized, "JobReprioritizedEvent",
             WATCHED_NONE);
        SEEN(CANCELLING, cancelling, "JobCancellingEvent", WATCHED_NONE);
        SEEN(CANCELLED, cancelled, "JobCancelledEvent", WATCHED_CANCELLED);
        SEEN(UTILISATION, utilisation, "JobUtilisationEvent", WATCHED_NONE);
        SEEN(INGRESS_INFO, ingress_info, "JobIngressInfoEvent", WATCHED_NONE);
        SEEN(REPRIORITIZING, reprioritizing, "JobReprioritizingEvent",
             WATCHED_NONE);
        /* If it does not wait again, its end follows. */
        SEEN(PREEMPTED, preempted, "JobPreemptedEvent", WATCHED_QUEUED);
        SEEN(PREEMPTING, preempting, "JobPreemptingEvent", WATCHED_NONE);
    case API__EVENT_MESSAGE__EVENTS__NOT_SET:
    case _API__EVENT_MESSAGE__EVENTS__CASE_IS_INT_SIZE:
    default:
        return false;
    }
    return true;
}

/* The rest: what only some types have. */
static void see_rest(const Api__EventMessage *message, struct seen *seen)
{
    switch ((int)message->events_case) {
    case API__EVENT_MESSAGE__EVENTS_SUBMITTED:
        seen->is_submission = true;
        break;
    case API__EVENT_MESSAGE__EVENTS_CANCELLING:
        seen->requestor = message->cancelling->requestor;
        break;
    case API__EVENT_MESSAGE__EVENTS_CANCELLED:
        seen->requestor = message->cancelled->requestor;
        seen->is_excused = event_stream_end(message).has_succeeded;
        break;
    case API__EVENT_MESSAGE__EVENTS_REPRIORITIZING:
        seen->requestor = message->reprioritizing->requestor;
        break;
    case API__EVENT_MESSAGE__EVENTS_REPRIORITIZED:
        seen->requestor = message->reprioritized->requestor;
        break;
    case API__EVENT_MESSAGE__EVENTS_PENDING:
        seen->pod_number = message->pending->pod_number;
        break;
    case API__EVENT_MESSAGE__EVENTS_RUNNING:
        seen->pod_number = message->running->pod_number;
        break;
    case API__EVENT_MESSAGE__EVENTS_SUCCEEDED:
        seen->pod_number = message->succeeded->pod_number;
        break;
    case API__EVENT_MESSAGE__EVENTS_PREEMPTED:
        seen->preempted_reason = message->preempted->reason;
        break;
    case API__EVENT_MESSAGE__EVENTS_FAILED:
        seen->pod_number = message->failed->pod_number;
        seen->failed_reason = message->failed->reason;
        if (message->failed->retryable) {
            seen->state = WATCHED_QUEUED;
        }
        break;
    default:
        break;
    }
}

/* Count it; the index of its job, or INTERN_NONE where it is about none. */
static uint32_t count(struct watch *watch, const struct seen *seen)
{
    if (!seen->is_submission && seen->state == WATCHED_NONE) {
        return INTERN_NONE;
    }
    uint32_t index = intern_add(watch->ids, str_of(seen->job_id));
    while (watch->states.count <= index) {
        VEC_PUSH(&watch->states, WATCHED_NONE);
        watch->counts[WATCHED_NONE]++;
    }
    if (seen->state != WATCHED_NONE) {
        watch->excused_count +=
            seen->is_excused && watch->states.items[index] != seen->state;
        watch->counts[watch->states.items[index]]--;
        watch->counts[seen->state]++;
        watch->states.items[index] = (uint8_t)seen->state;
    }
    return index;
}

/* The node that an event tells; "": none. */
static char *node_of(const Api__EventMessage *message)
{
    return message->events_case == API__EVENT_MESSAGE__EVENTS_RUNNING
               ? message->running->node_name
               : NULL;
}

/* Note on the screen what became of a job. */
static void note_row(struct watch *watch, uint32_t index,
                     const struct seen *seen, const Api__EventMessage *message)
{
    static const char *const names[] = {
        [WATCHED_NONE] = "submitted",  [WATCHED_QUEUED] = "queued",
        [WATCHED_LEASED] = "leased",   [WATCHED_PENDING] = "pending",
        [WATCHED_RUNNING] = "running", [WATCHED_SUCCEEDED] = "succeeded",
        [WATCHED_FAILED] = "failed",   [WATCHED_CANCELLED] = "cancelled",
    };
    const char *reason =
        seen->failed_reason ? seen->failed_reason : seen->preempted_reason;
    enum watched_state state = watch->states.items[index];
    struct watch_row row = {
        .job_id = (char *)(uintptr_t)seen->job_id,
        .state = names[state],
        .is_over = state >= WATCHED_SUCCEEDED,
        .since_s = seen->created ? seen->created->seconds : 0,
        .node = node_of(message),
        .reason = (char *)(uintptr_t)reason,
    };

    watch_screen_note(watch->screen, index, &row);
}

static void draw(struct watch *watch)
{
    const uint32_t *counts = watch->counts;
    uint32_t ended = counts[WATCHED_SUCCEEDED] + counts[WATCHED_FAILED] +
                     counts[WATCHED_CANCELLED];
    auto_strbuf line = {0};

    progress_put(&line, ended, watch->states.count);
    strbuf_addf(&line,
                " %u queued, %u starting, %u running, %u succeeded, %u failed, "
                "%u cancelled",
                counts[WATCHED_QUEUED] + counts[WATCHED_NONE],
                counts[WATCHED_LEASED] + counts[WATCHED_PENDING],
                counts[WATCHED_RUNNING], counts[WATCHED_SUCCEEDED],
                counts[WATCHED_FAILED], counts[WATCHED_CANCELLED]);
    watch_screen_draw(watch->screen, strbuf_text(&line));
}

static void print_seen(struct cli *cli, const struct watch *watch,
                       const struct seen *seen)
{
    char when[32] = "";
    struct tm parts;
    time_t seconds = seen->created ? (time_t)seen->created->seconds : 0;

    if (gmtime_r(&seconds, &parts)) {
        (void)strftime(when, sizeof(when), "%b %e %H:%M:%S", &parts);
    }
    auto_strbuf line = {0};
    strbuf_addf(&line,
                "%s | Queued: %u, Leased: %u, Pending: %u, Running: %u, "
                "Succeeded: %u, Failed: %u, Cancelled: %u | %s, job id: %s",
                when, watch->counts[WATCHED_QUEUED],
                watch->counts[WATCHED_LEASED], watch->counts[WATCHED_PENDING],
                watch->counts[WATCHED_RUNNING],
                watch->counts[WATCHED_SUCCEEDED], watch->counts[WATCHED_FAILED],
                watch->counts[WATCHED_CANCELLED], seen->type, seen->job_id);
    if (*seen->requestor) {
        strbuf_addf(&line, ", user: %s", seen->requestor);
    }
    if (seen->pod_number >= 0) {
        strbuf_addf(&line, " pod: %d", seen->pod_number);
    }
    cli_say(cli, "%s", strbuf_text(&line));
    if (seen->failed_reason) {
        cli_say(cli, "Job failed: %s", cli_one_line(cli, seen->failed_reason));
    }
    if (seen->preempted_reason && *seen->preempted_reason) {
        cli_say(cli, "Job preempted: %s",
                cli_one_line(cli, seen->preempted_reason));
    }
}

/* With -o: an object for each event, JSON on one line, YAML as a document. */
static void print_object(struct cli *cli, const struct seen *seen)
{
    json_t *object = json_pack("{s:s, s:o}", "type", seen->type, "event",
                               wire_json_write(seen->message, 0));

    if (cli->output == CLI_OUTPUT_YAML) {
        fputs("---\n", cli->ports->out);
        cli_print_json(cli, object);
        return;
    }
    cli_put_json(cli->ports->out, object, JSON_COMPACT);
    json_decref(object);
}

/* With --raw, as armadactl does: the type, and JSON behind it. */
static void print_raw(struct cli *cli, const struct seen *seen)
{
    auto_json_t *json = wire_json_write(seen->message, 0);

    fprintf(cli->ports->out, "%s ", seen->type);
    cli_put_json(cli->ports->out, json, JSON_COMPACT);
}

static bool is_inactive(const struct watch *watch)
{
    return watch->states.count > 0 && watch->counts[WATCHED_QUEUED] == 0 &&
           watch->counts[WATCHED_LEASED] == 0 &&
           watch->counts[WATCHED_PENDING] == 0 &&
           watch->counts[WATCHED_RUNNING] == 0 &&
           watch->counts[WATCHED_NONE] == 0;
}

static bool ends_with_jobs(const struct cli *cli)
{
    return cli_has(cli, "exit-if-inactive") || cli_has(cli, "exit-code");
}

static bool is_over(const struct cli *cli, const struct watch *watch)
{
    return ends_with_jobs(cli) && is_inactive(watch);
}

/* Take one message of the stream; true when watching is over. */
static bool take_message(struct cli *cli, struct watch *watch, struct str bytes)
{
    auto_arena arena = {0};
    struct seen seen;

    const Api__EventStreamMessage *message =
        event_stream_decode(cli, bytes, &arena);
    if (!message) {
        return false;
    }
    mem_free(watch->last_id);
    watch->last_id = mem_strdup(message->id);
    if (!message->message || !see_common(message->message, &seen)) {
        fputs("berthctl: ignored an event of an unknown type\n",
              cli->ports->err);
        return false;
    }
    see_rest(message->message, &seen);
    uint32_t index = count(watch, &seen);
    if (watch->screen) {
        if (index != INTERN_NONE) {
            note_row(watch, index, &seen, message->message);
        }
        return watch->is_live && is_over(cli, watch);
    }
    if (cli->output != CLI_OUTPUT_TEXT) {
        print_object(cli, &seen);
    } else if (cli_has(cli, "raw")) {
        print_raw(cli, &seen);
    } else {
        print_seen(cli, watch, &seen);
    }
    (void)fflush(cli->ports->out);
    return watch->is_live && is_over(cli, watch);
}

/* The next message, while a screen shows what has come. */
static enum rpc_wait next(struct watch *watch, struct rpc_stream *stream,
                          struct strbuf *bytes)
{
    enum rpc_wait wait = RPC_WAIT_TIMEOUT;

    if (!watch->screen) {
        return rpc_stream_next(stream, -1, bytes);
    }
    while (wait == RPC_WAIT_TIMEOUT) {
        wait =
            rpc_stream_next(stream, watch_screen_wait_ms(watch->screen), bytes);
        if (wait != RPC_WAIT_READY || watch_screen_is_due(watch->screen)) {
            draw(watch);
        }
    }
    return wait;
}

/* Follow one stream to its end; `ret_is_done`: do not open another. */
static enum cli_exit follow(struct cli *cli, struct watch *watch,
                            bool *ret_is_done)
{
    auto_ptr(rpc_stream) stream =
        event_stream_open(cli, cli_argument(cli, 0), cli_argument(cli, 1),
                          watch->last_id ? watch->last_id : "", watch->is_live);
    auto_strbuf bytes = {0};

    while (next(watch, stream, &bytes) == RPC_WAIT_READY) {
        if (take_message(cli, watch, strbuf_str(&bytes))) {
            *ret_is_done = true;
            return CLI_OK;
        }
    }
    if (watch->screen && rpc_stream_status(stream)->code != RPC_OK) {
        watch->screen->line_count = 0; /* what is said now stays */
    }
    const struct rpc_status *status = rpc_stream_status(stream);
    *ret_is_done = event_stream_is_final(status->code);
    if (status->code == RPC_OK) {
        *ret_is_done = watch->is_live || is_over(cli, watch);
        watch->is_live = true;
        return CLI_OK;
    }
    if (status->code == RPC_NOT_FOUND &&
        check_queue(cli, cli_argument(cli, 0)) != CLI_OK) {
        return CLI_NOT_FOUND;
    }
    return cli_fail(cli, cli_exit_of(status->code), "%s: %s%s",
                    rpc_code_name(status->code), status->message,
                    *ret_is_done ? "" : "; retrying in 5 s");
}

enum cli_exit cmd_watch(struct cli *cli)
{
    struct watch watch = {.ids = intern_create(),
                          .is_live = !ends_with_jobs(cli)};
    bool is_done = false;

    if (cli_has(cli, "force-new-events") &&
        cli_has(cli, "force-legacy-events")) {
        intern_destroy(watch.ids);
        return cli_fail(
            cli, CLI_USAGE,
            "give --force-new-events or --force-legacy-events, not both");
    }
    struct watch_screen screen = {.cli = cli};
    if (watch_screen_fits(cli) && !cli_has(cli, "raw")) {
        watch.screen = &screen;
    }
    enum cli_exit rc = cli_connect(cli);
    while (rc == CLI_OK || !is_done) {
        if (!cli->channel) {
            break;
        }
        rc = follow(cli, &watch, &is_done);
        if (is_done) {
            break;
        }
        if (rc == CLI_OK) {
            continue;
        }
        struct timespec pause = {RECONNECT_MS / 1000, 0};
        (void)nanosleep(&pause, NULL);
    }
    if (watch.screen && screen.is_stale) {
        draw(&watch);
    }
    watch_screen_fini(&screen);
    if (rc == CLI_OK && cli_has(cli, "exit-code") &&
        watch.counts[WATCHED_SUCCEEDED] + watch.excused_count <
            watch.states.count) {
        rc = CLI_JOB_FAILED;
    }
    intern_destroy(watch.ids);
    VEC_FREE(&watch.states);
    mem_free(watch.last_id);
    return rc;
}
