/* Decodes the live state. */

#include "control/checkpoint/checkpoint.h"
#include "control/fold/executors.h"
#include "control/fold/fold.h"
#include "control/fold/periodic.h"
#include "control/fold/pools.h"
#include "control/fold/windows.h"
#include "control/state/state.h"
#include "job/table/named_groups.h"

/* So many jobs or nodes are set up between two looks at whether to go on. */
enum { AT_ONCE = 1024 };

static int check(struct control *c, struct err *err)
{
    const struct control_hooks *hooks = &c->config.hooks;

    return hooks->goes_on ? hooks->goes_on(hooks->ctx, err) : 0;
}

/* Its parts. */

static void get_queues(struct control *c, struct pack_reader *reader)
{
    uint32_t count = unpack_count(reader, QUEUES_MAX);

    for (uint32_t i = 0; i < count && !reader->is_bad; i++) {
        auto_arena arena = {0};
        struct queue_record record;
        struct err err;
        unpack_str(reader); /* the name; it is in the encoding too */
        struct str encoded = unpack_str(reader);
        if (log_decode_queue(encoded, &arena, &record, &err) < 0) {
            reader->is_bad = true;
            return;
        }
        queue_apply(c, &record, encoded);
    }
}

static void get_retry_policies(struct control *c, struct pack_reader *reader)
{
    uint32_t count = unpack_count(reader, QUEUES_MAX);

    for (uint32_t i = 0; i < count && !reader->is_bad; i++) {
        struct queue_record record = {.name = unpack_str(reader)};
        struct str encoded = unpack_str(reader);
        if (queue_table_put(c->config.retry_policies, &record, encoded) < 0) {
            reader->is_bad = true;
        }
    }
}

static void get_node(struct control *c, struct control_executor *executor,
                     struct pack_reader *reader, uint64_t version)
{
    auto_arena arena = {0};
    struct event event;
    struct err err;
    struct str bytes = unpack_str(reader);

    if (log_decode_event(bytes, &arena, &event, &err) < 0 ||
        event.type != EVENT_EXECUTOR_NODES) {
        reader->is_bad = true;
        return;
    }
    executor_fold(c, &event);
    if (version >= 2 && unpack_count(reader, 1) == 1 &&
        event.nodes.set_count == 1) {
        node_cordon(c, executor, event.nodes.set[0].name, true);
    }
}

static int get_nodes(struct control *c, struct control_executor *executor,
                     struct pack_reader *reader, uint64_t version,
                     struct err *err)
{
    uint32_t count = unpack_count(reader, NODES_MAX);
    int rc = 0;

    for (uint32_t i = 0; i < count && !reader->is_bad && rc == 0; i++) {
        get_node(c, executor, reader, version);
        rc = i % AT_ONCE == 0 ? check(c, err) : 0;
    }
    return rc;
}

static int get_executors(struct control *c, struct pack_reader *reader,
                         uint64_t version, struct err *err)
{
    uint32_t count = unpack_count(reader, EXECUTORS_MAX);
    int rc = 0;

    for (uint32_t i = 0; i < count && !reader->is_bad && rc == 0; i++) {
        struct control_executor *executor = executor_get(c, unpack_str(reader));
        bool is_known = unpack_count(reader, 1);
        executor->has_settings = unpack_count(reader, 1);
        executor->is_cordoned = unpack_count(reader, 1);
        mem_free(executor->cordon_reason);
        executor->cordon_reason = str_dup(unpack_str(reader));
        struct str pool = unpack_str(reader);
        executor->state = unpack_count(reader, EXECUTOR_LOST);
        rc = get_nodes(c, executor, reader, version, err);
        mem_free(executor->pool);
        executor->pool = str_dup(pool);
        executor->is_known = is_known;
        executor_sync(c, executor);
    }
    return rc;
}

static void get_marks(struct control *c, struct pack_reader *reader)
{
    uint32_t count = unpack_count(reader, UINT32_MAX);

    for (uint32_t i = 0; i < count && !reader->is_bad; i++) {
        uint64_t seq = unpack_u64(reader);
        int64_t time_ms = unpack_i64(reader);
        VEC_PUSH(&c->marks, (struct time_mark){seq, time_ms});
    }
}

static void get_policy(struct control *c, struct pack_reader *reader)
{
    struct str policy = unpack_str(reader);

    if (policy.byte_count) {
        policy_apply(c, policy);
    }
}

static void get_dedup(struct control *c, struct pack_reader *reader)
{
    struct dedup *dedup = reader->is_bad ? NULL : dedup_unpack(reader);

    if (dedup) {
        dedup_destroy(c->dedup);
        c->dedup = dedup;
    }
}

/* Jobs, told to the planner. */

static bool has_node(const struct control *c, const struct job_run *run)
{
    const struct control_executor *executor =
        control_find_executor(c, run->executor_id);
    uint32_t index = executor
                         ? intern_find(&executor->node_names, run->node_name)
                         : INTERN_NONE;

    return index != INTERN_NONE && executor->nodes.items[index].bytes;
}

/* A node that is gone is still of the pool that its runs count in: it is
 * there for the moment in which its run comes. */
static void restore_run(struct control *c, uint32_t job,
                        const struct job_view *view)
{
    bool is_gone = !has_node(c, &view->run);
    uint32_t node = is_gone
                        ? pools_node_recall(c->pools, view->run.executor_id,
                                            view->run.node_name, view->run.pool)
                        : pools_node_index(c->pools, view->run.executor_id,
                                           view->run.node_name);
    int64_t leased_ms = view->run.leased_ms; /* 0: of an older release */

    pools_job_lease(c->pools, job, node, view->run.priority,
                    leased_ms ? leased_ms : c->now_ms, false);
    if (is_gone) {
        pools_node_remove(c->pools, node);
    }
    if (view->run.started_ms) {
        pools_job_age_from(c->pools, job, view->run.started_ms);
        note_finished(c, job, view->state);
    }
    note_run_began(c, view->run.index, view->run.executor_id, view->run.id);
    if (view->state != JOB_LEASED) {
        note_run_acknowledged(c, view->run.index);
    }
}

static void restore_job(struct control *c, uint32_t job)
{
    struct job_view view;

    jobs_get(c->jobs, job, &view);
    ASSERT(view.has_run == (view.state != JOB_QUEUED));
    job_handles_make(c, job, view.queue);
    if (view.has_run) {
        restore_run(c, job, &view);
        return;
    }
    if (jobs_is_unproven(c->jobs, job) && c->handles.items[job].is_planned) {
        VEC_PUSH(&c->unchecked, job);
    }
    if (view.gang_index != JOBS_NONE && view.run_count == 0) {
        VEC_PUSH(&c->fresh_members, job);
    }
}

static int restore_jobs(struct control *c, struct err *err)
{
    for (uint32_t job = 0; job < jobs_index_end(c->jobs); job++) {
        int rc = job % AT_ONCE == 0 ? check(c, err) : 0;
        if (rc < 0) {
            return rc;
        }
        if (jobs_is_live(c->jobs, job)) {
            restore_job(c, job);
        }
    }
    return 0;
}

static int get_jobs(struct control *c, struct str bytes, struct err *err)
{
    auto_ptr(jobs_decoder) decoder = jobs_decode_begin(c->jobs, bytes);
    int rc;

    do {
        rc = check(c, err);
        if (rc == 0) {
            rc = jobs_decode_some(decoder, AT_ONCE, err);
        }
    } while (rc == 0);
    return rc < 0 ? rc : 0;
}

int checkpoint_decode(struct control *c, struct str bytes, struct err *err)
{
    struct pack_reader reader = {.rest = bytes};
    uint64_t version = unpack_u64(&reader);

    if (version > CONTROL_CHECKPOINT_VERSION) {
        return err_set(err, -ERR_VERSION,
                       "the checkpoint was written by a newer release");
    }
    c->now_ms = unpack_i64(&reader);
    pools_set_time(c->pools, c->now_ms);
    get_policy(c, &reader);
    get_queues(c, &reader);
    get_retry_policies(c, &reader);
    if (version >= 3) {
        pool_objects_unpack(c, &reader);
    }
    if (version >= 7) {
        windows_unpack(c, &reader);
    }
    if (version >= 8) {
        periodic_unpack(c, &reader);
    }
    int rc = get_executors(c, &reader, version, err);
    if (rc < 0) {
        return rc;
    }
    get_marks(c, &reader);
    get_dedup(c, &reader);
    struct str history = unpack_str(&reader);
    if (version >= 4) {
        named_groups_decode(c->jobs, version, &reader);
    }
    if (version >= 6) {
        run_times_unpack(c->run_times, &reader);
    }
    if (reader.is_bad) {
        return err_set(err, -ERR_CORRUPT, "the checkpoint does not decode");
    }
    rc = get_jobs(c, reader.rest, err);
    if (rc == 0) {
        pools_gone_unpack(c->pools, history);
        rc = restore_jobs(c, err);
    }
    if (rc < 0) {
        return rc;
    }
    protected_sync(c);
    ASSERT_SLOW(fold_is_sound(c)); /* as if it had lived through the log */
    rc = pools_history_unpack(c->pools, history);
    return rc < 0 ? err_set(err, rc, "the checkpoint's history does not decode")
                  : 0;
}
