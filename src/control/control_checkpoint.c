/* The live state as bytes, and back.  Jobs come last: they are the most. */

#include "control/control_checkpoint.h"

#include "control/control_exchange.h"
#include "control/control_executors.h"
#include "control/control_fold.h"
#include "control/control_pools.h"
#include "control/control_private.h"
#include "control/control_rounds.h"
#include "control/named.h"

enum {
    US_NS = 1000,
    SNAPSHOT_JOBS = 8192, /* encoded in a step: about a millisecond */
};

static void put_table(struct queue_table *table, struct strbuf *buf)
{
    uint32_t count;
    const struct queue_entry **list = queue_table_list(table, &count);

    pack_u64(buf, count);
    for (uint32_t i = 0; i < count; i++) {
        pack_str(buf, list[i]->name);
        pack_str(buf, list[i]->encoded);
    }
    queue_list_free(list, count);
}

/* Something that the log said of it must be kept. */
static bool is_worth_keeping(const struct control_executor *executor)
{
    return executor && (executor->is_known || executor->has_settings ||
                        executor->state != EXECUTOR_LIVE);
}

/* An event of the type that nodes have. */
static void put_event(const struct control_pending *event, struct strbuf *buf)
{
    if (event->bytes) {
        pack_str(buf, str_make(event->bytes, event->byte_count));
        pack_u64(buf, false);
    }
}

/* In order of names only where equal states are to be equal bytes. */
static void put_nodes(const struct control_executor *executor,
                      struct strbuf *buf, bool is_sorted)
{
    auto_mem struct named *named =
        mem_alloc_array((size_t)executor->node_count + 1, sizeof(*named));
    uint32_t count = 0;

    for (uint32_t i = 0; i < executor->nodes.count; i++) {
        if (executor->nodes.items[i].bytes) {
            named[count++] =
                (struct named){names_get(&executor->node_names, i), i};
        }
    }
    if (is_sorted) {
        named_sort(named, count);
    }
    pack_u64(buf, count + (executor->pending.bytes != NULL) +
                      (executor->protected.bytes != NULL));
    for (uint32_t i = 0; i < count; i++) {
        const struct control_node *node =
            &executor->nodes.items[named[i].index];
        pack_str(buf, str_make(node->bytes, node->byte_count));
        pack_u64(buf, node->is_cordoned);
    }
    put_event(&executor->pending, buf);
    put_event(&executor->protected, buf);
}

static void put_executors(const struct control *c, struct strbuf *buf,
                          bool is_sorted)
{
    auto_mem struct named *named =
        mem_alloc_array(c->executors.count + 1, sizeof(*named));
    uint32_t count = 0;

    for (uint32_t i = 0; i < c->executors.count; i++) {
        if (is_worth_keeping(c->executors.items[i])) {
            named[count++] = (struct named){c->executors.items[i]->id, i};
        }
    }
    named_sort(named, count);
    pack_u64(buf, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct control_executor *executor =
            c->executors.items[named[i].index];
        pack_str(buf, executor->id);
        pack_u64(buf, executor->is_known);
        pack_u64(buf, executor->has_settings);
        pack_u64(buf, executor->is_cordoned);
        pack_str(buf, str_of(executor->cordon_reason));
        pack_str(buf, str_of(executor->pool));
        pack_u64(buf, executor->state);
        put_nodes(executor, buf, is_sorted);
    }
}

static void put_marks(const struct control *c, struct strbuf *buf)
{
    pack_u64(buf, c->marks.count);
    for (size_t i = 0; i < c->marks.count; i++) {
        pack_u64(buf, c->marks.items[i].seq);
        pack_i64(buf, c->marks.items[i].time_ms);
    }
}

/* All but the jobs. */
static void encode_head(struct control *c, struct strbuf *buf, bool is_whole)
{
    auto_strbuf history = {0};

    pools_history_pack(c->pools, &history);
    pack_u64(buf, CONTROL_CHECKPOINT_VERSION);
    pack_i64(buf, is_whole ? c->now_ms : 0);
    pack_str(buf,
             c->is_policy_logged ? str_of(c->policy->text) : (struct str){0});
    put_table(c->config.queues, buf);
    put_table(c->config.retry_policies, buf);
    pool_objects_pack(c, buf);
    put_executors(c, buf, !is_whole);
    if (is_whole) {
        put_marks(c, buf);
        dedup_pack(c->dedup, buf);
    }
    pack_str(buf, strbuf_str(&history));
    training_encode(c->training, buf);
}

/* Append the live state; `is_whole` false leaves out what depends on where
 * the reading of the log began. */
static void encode_state(struct control *c, struct strbuf *buf, bool is_whole)
{
    encode_head(c, buf, is_whole);
    jobs_encode(c->jobs, buf);
}

void control_encode_state(struct control *c, struct strbuf *buf)
{
    pools_sweep_reset(c->pools);
    encode_state(c, buf, false);
}

/* Back. */

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

static void get_nodes(struct control *c, struct control_executor *executor,
                      struct pack_reader *reader, uint64_t version)
{
    uint32_t count = unpack_count(reader, NODES_MAX);

    for (uint32_t i = 0; i < count && !reader->is_bad; i++) {
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
}

static void get_executors(struct control *c, struct pack_reader *reader,
                          uint64_t version)
{
    uint32_t count = unpack_count(reader, EXECUTORS_MAX);

    for (uint32_t i = 0; i < count && !reader->is_bad; i++) {
        struct control_executor *executor = executor_get(c, unpack_str(reader));
        bool is_known = unpack_count(reader, 1);
        executor->has_settings = unpack_count(reader, 1);
        executor->is_cordoned = unpack_count(reader, 1);
        mem_free(executor->cordon_reason);
        executor->cordon_reason = str_dup(unpack_str(reader));
        struct str pool = unpack_str(reader);
        executor->state = unpack_count(reader, EXECUTOR_LOST);
        get_nodes(c, executor, reader, version);
        mem_free(executor->pool);
        executor->pool = str_dup(pool);
        executor->is_known = is_known;
        executor_sync(c, executor);
    }
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

static bool has_node(const struct control *c, const struct job_run *run)
{
    const struct control_executor *executor =
        control_find_executor(c, run->executor_id);
    uint32_t index = executor
                         ? names_find(&executor->node_names, run->node_name)
                         : NAMES_NONE;

    return index != NAMES_NONE && executor->nodes.items[index].bytes;
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

static void restore_jobs(struct control *c)
{
    for (uint32_t job = 0; job < jobs_index_end(c->jobs); job++) {
        struct job_tried tried[JOBS_TRIED_MAX];
        struct job_view view;
        if (!jobs_is_live(c->jobs, job)) {
            continue;
        }
        jobs_get(c->jobs, job, &view);
        link_job(c, job, view.queue);
        uint32_t count = jobs_tried(c->jobs, job, tried);
        for (uint32_t i = 0; i < count; i++) {
            pools_job_avoid(c->pools, job,
                            pools_node_index(c->pools, tried[i].executor_id,
                                             tried[i].node_name));
        }
        if (view.has_run) {
            restore_run(c, job, &view);
        } else {
            VEC_PUSH(&c->unchecked, job);
            if (view.gang_index != JOBS_NONE && view.run_count == 0) {
                VEC_PUSH(&c->fresh_members, job);
            }
        }
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
    get_executors(c, &reader, version);
    get_marks(c, &reader);
    get_dedup(c, &reader);
    struct str history = unpack_str(&reader);
    if (version >= 4) {
        training_decode(c->training, &reader);
    }
    if (reader.is_bad) {
        return err_set(err, -ERR_CORRUPT, "the checkpoint does not decode");
    }
    int rc = jobs_decode(c->jobs, reader.rest, err);
    if (rc < 0) {
        return rc;
    }
    pools_gone_unpack(c->pools, history);
    restore_jobs(c);
    protected_sync(c);
    rc = pools_history_unpack(c->pools, history);
    return rc < 0 ? err_set(err, rc, "the checkpoint's history does not decode")
                  : 0;
}

/* When. */

int control_checkpoint(struct control *c, struct err *err)
{
    auto_strbuf bytes = strbuf_make(SIZE_MAX / 2);

    if (c->state != CONTROL_LEADING || c->checkpoint_seq == c->seq) {
        return 0;
    }
    rounds_abandon(c);
    checkpoint_abandon(c);
    encode_state(c, &bytes, true);
    int rc =
        elog_checkpoint_put(c->config.log, c->seq, CONTROL_CHECKPOINT_VERSION,
                            strbuf_str(&bytes), err);
    if (rc == 0) {
        c->checkpoint_seq = c->seq;
        c->events_since_checkpoint = 0;
    }
    return rc;
}

/* Begin one that is encoded while the leader goes on: what changes meanwhile
 * is written before it does. */
static void begin(struct control *c)
{
    c->snapshot = strbuf_make(SIZE_MAX / 2);
    c->is_snapshot_open = true;
    c->snapshot_seq = c->seq;
    c->snapshot_pause_us = 0;
    c->events_since_checkpoint = 0;
    encode_head(c, &c->snapshot, true);
    jobs_snapshot_begin(c->jobs, &c->snapshot);
}

void checkpoint_abandon(struct control *c)
{
    if (c->is_snapshot_open) {
        jobs_snapshot_end(c->jobs);
        strbuf_fini(&c->snapshot);
        c->is_snapshot_open = false;
    }
}

/* The newest record that is older than what is kept. */
static void find_trim(struct control *c)
{
    size_t old_count = 0;

    if (c->config.retention_ms == 0) {
        return;
    }
    while (old_count < c->marks.count &&
           c->marks.items[old_count].time_ms <
               c->now_ms - c->config.retention_ms) {
        c->trim_seq = c->marks.items[old_count++].seq;
    }
    if (old_count > 1) { /* the last of them says where we are */
        c->marks.count -= old_count - 1;
        memmove(c->marks.items, c->marks.items + old_count - 1,
                c->marks.count * sizeof(*c->marks.items));
    }
}

static void trim_some(struct control *c)
{
    const struct control_hooks *hooks = &c->config.hooks;
    uint64_t before_seq = c->trim_seq;
    uint64_t first_seq;
    struct err err;

    if (hooks->stored_seq && hooks->stored_seq(hooks->ctx) < before_seq) {
        before_seq = hooks->stored_seq(hooks->ctx);
    }
    int rc = elog_trim(c->config.log, before_seq, &first_seq, &err);
    if (rc < 0 || first_seq >= before_seq || first_seq == c->trimmed_seq) {
        c->trim_seq = 0; /* until the next checkpoint */
    }
    c->trimmed_seq = rc < 0 ? 0 : first_seq;
}

/* Count the time since `began_ns` as a pause of the leader. */
static void note_pause(struct control *c, uint64_t began_ns)
{
    uint32_t us = (uint32_t)((control_mono_ns(c) - began_ns) / US_NS);

    c->snapshot_pause_us =
        us > c->snapshot_pause_us ? us : c->snapshot_pause_us;
}

static void finish(struct control *c)
{
    c->metrics.checkpoint_count++;
    c->metrics.checkpoint_pause_us_last = c->snapshot_pause_us;
    find_trim(c);
}

void checkpoint_go_on(struct control *c)
{
    const struct control_hooks *hooks = &c->config.hooks;
    uint64_t began_ns = control_mono_ns(c);

    if (!c->is_snapshot_open) {
        return;
    }
    bool is_whole = jobs_snapshot_write(c->jobs, SNAPSHOT_JOBS);
    note_pause(c, began_ns);
    if (is_whole) {
        size_t byte_count = c->snapshot.byte_count;
        jobs_snapshot_end(c->jobs);
        c->is_snapshot_open = false;
        c->checkpoint_seq = c->snapshot_seq;
        hooks->checkpoint(hooks->ctx, c->snapshot_seq,
                          strbuf_steal(&c->snapshot), byte_count);
        finish(c);
    }
}

void checkpoint_if_due(struct control *c)
{
    struct err err;

    if (c->trim_seq) {
        trim_some(c);
    }
    if (c->state != CONTROL_LEADING || c->is_snapshot_open ||
        c->events_since_checkpoint < c->config.checkpoint_events) {
        return;
    }
    if (pools_is_any_busy(c->pools)) {
        c->holds_plans = true; /* it is made as soon as all are back */
        return;
    }
    uint64_t began_ns = control_mono_ns(c);
    if (c->config.hooks.checkpoint) {
        begin(c);
        note_pause(c, began_ns);
        return;
    }
    c->snapshot_pause_us = 0;
    if (control_checkpoint(c, &err) < 0) {
        /* The log goes on without; try again after as many events. */
        c->events_since_checkpoint = 0;
        return;
    }
    note_pause(c, began_ns);
    finish(c);
}
