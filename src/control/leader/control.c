#include "control/control.h"

#include "control/checkpoint/checkpoint.h"
#include "control/decide/decide.h"
#include "control/exchange/exchange.h"
#include "control/fold/fold.h"
#include "control/leader/leader.h"
#include "control/round/rounds.h"
#include "control/state/inbox.h"
#include "control/state/state.h"
#include "control/state/transitions.h"
#include "job/table/groups.h"
#include "wire/policy/policy_codec.h"

enum { IN_FLIGHT_MS = 1 };

/* Create and destroy. */

static struct policy_box *policy_box_copy(const struct policy *policy)
{
    auto_strbuf text = {0};
    struct err err;

    policy_print(policy, &text);
    struct policy_box *box = policy_box_read(strbuf_str(&text), &err);
    ASSERT(box); /* what was printed can be read */
    return box;
}

struct control *control_create(const struct control_config *config)
{
    struct control *c = mem_alloc(sizeof(*c));
    uint64_t seed;

    c->config = *config;
    if (c->config.checkpoint_events == 0) {
        c->config.checkpoint_events = CONTROL_CHECKPOINT_EVENTS;
    }
    if (c->config.deduplication_ms == 0) {
        c->config.deduplication_ms = CONTROL_DEDUPLICATION_MS;
    }
    c->config.rng->fill(c->config.rng, &seed, sizeof(seed));
    state_init(c, policy_box_copy(config->policy), seed);
    c->config.policy = NULL;
    c->stepped_ns = control_mono_ns(c);
    c->flight = mem_alloc(sizeof(*c->flight));
    c->flight->control = c;
    pthread_mutex_init(&c->metrics_mutex, NULL);
    return c;
}

void control_destroy(struct control *c)
{
    if (!c) {
        return;
    }
    waiting_refuse(c, "the server is stopping");
    waiting_take(c);
    waiting_refuse(c, "the server is stopping");
    what_if_refuse(c, "the server is stopping");
    command_answer_all(c->batch.first, COMMAND_UNAVAILABLE,
                       "the server is stopping");
    c->batch.first = c->batch.last = NULL;
    flight_leave(c);
    batch_clear(&c->batch);
    sessions_release(c);
    elog_reader_close(c->reader);
    checkpoint_abandon(c);
    mem_free(c->wanted_policy);
    state_fini(c);
    log_batch_fini(&c->batch.log);
    VEC_FREE(&c->batch.due);
    VEC_FREE(&c->batch.fresh);
    VEC_FREE(&c->batch.touched);
    VEC_FREE(&c->batch.touched_jobs);
    VEC_FREE(&c->batch.leaving);
    VEC_FREE(&c->batch.planned);
    VEC_FREE(&c->round_log);
    arena_fini(&c->batch.arena);
    arena_fini(&c->scratch);
    pthread_mutex_destroy(&c->metrics_mutex);
    transitions_fini(c);
    mem_free(c);
}

/* What others see. */

static void publish_metrics(struct control *c)
{
    struct jobs_counts counts = jobs_counts(c->jobs);

    c->metrics.state = c->state;
    c->metrics.seq = c->seq;
    c->metrics.job_count = jobs_count(c->jobs);
    c->metrics.queued_count = counts.by_state[JOB_QUEUED];
    c->metrics.leased_now_count = counts.by_state[JOB_LEASED];
    c->metrics.pending_count = counts.by_state[JOB_PENDING];
    c->metrics.running_count = counts.by_state[JOB_RUNNING];
    c->metrics.queue_count = queue_table_count(c->config.queues);
    c->metrics.executor_count = intern_live_count(&c->executor_names);
    c->metrics.dedup_count = dedup_count(c->dedup);
    c->metrics.periodic_count = (uint32_t)c->periodic_table.entries.count;
    c->metrics.active_periodic_count =
        periodic_table_active(&c->periodic_table);
    c->metrics.window_count = (uint32_t)c->window_table.entries.count;
    c->metrics.open_window_count =
        window_table_open_count(&c->window_table, c->now_ms);
    pthread_mutex_lock(&c->metrics_mutex);
    c->published = c->metrics;
    pthread_mutex_unlock(&c->metrics_mutex);
}

void control_metrics(struct control *c, struct control_metrics *ret_metrics)
{
    pthread_mutex_lock(&c->metrics_mutex);
    *ret_metrics = c->published;
    pthread_mutex_unlock(&c->metrics_mutex);
}

enum control_state control_state(const struct control *c)
{
    return c->state;
}

/* Steps. */

/* Say who leads, and by which policy if that is news. */
static int announce(struct control *c)
{
    struct event_scope scope = {0};
    struct event event;

    batch_clear(&c->batch);
    c->batch.on_seq = c->seq;
    c->batch.time_ms = control_now_ms(c);
    memset(&event, 0, sizeof(event));
    event.type = EVENT_LEADER_STARTED;
    event.created_ms = c->batch.time_ms;
    log_batch_add(&c->batch.log, &scope, &event);
    if (c->wanted_policy) {
        memset(&event, 0, sizeof(event));
        event.type = EVENT_POLICY_SET;
        event.created_ms = c->batch.time_ms;
        event.policy.text = str_of(c->wanted_policy);
        log_batch_add(&c->batch.log, &scope, &event);
    }
    c->batch.is_announcement = true;
    return flight_submit(c);
}

static int step_replay(struct control *c, struct err *err)
{
    if (c->batch.is_in_flight) {
        return flight_poll(c, err);
    }
    if (control_mono_ns(c) < c->retry_ns) {
        return 0;
    }
    /* Without a reader all is read, and the announcement failed. */
    int rc = c->reader ? start_replay(c, err) : 1;
    if (rc == 1) {
        rc = announce(c);
        return rc < 0 ? err_set(err, rc, "the log refuses the first record")
                      : flight_poll(c, err);
    }
    return rc;
}

/* A pause of ours is not an executor's silence. */
static void notice_pause(struct control *c)
{
    uint64_t now_ns = control_mono_ns(c);
    ASSERT(now_ns >= c->stepped_ns); /* a pause is no leap back */
    uint64_t pause_ns = now_ns - c->stepped_ns;

    if (pause_ns > CONTROL_PAUSE_MS * (uint64_t)NS_PER_MS) {
        executors_forgive(c, pause_ns);
    }
    c->stepped_ns = now_ns;
}

static int step_lead(struct control *c, struct err *err)
{
    notice_pause(c);
    int rc = flight_poll(c, err);
    if (rc < 0 || c->batch.is_in_flight) {
        return rc;
    }
    if (!batch_form(c)) {
        return 0;
    }
    rc = flight_submit(c);
    if (rc == -ERR_LIMIT) {
        flight_failed(c, rc);
        return 0;
    }
    return rc < 0 ? rc : flight_poll(c, err);
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The moment by the clock that never goes back at which a wall time comes. */
static uint64_t ns_of_wall(uint64_t now_ns, int64_t now_ms, int64_t at_ms)
{
    if (at_ms <= now_ms) {
        return now_ns;
    }
    return at_ms - now_ms < CONTROL_FAR_MS
               ? now_ns + (uint64_t)(at_ms - now_ms) * (uint64_t)NS_PER_MS
               : UINT64_MAX;
}

uint64_t leader_due_ns(struct control *c)
{
    uint64_t now_ns = control_mono_ns(c);
    int64_t time_ms = control_now_ms(c);

    if (c->batch.is_in_flight || c->state != CONTROL_LEADING) {
        return now_ns;
    }
    /* Those of a pool that is being planned are asked about when it is back. */
    bool has_unchecked = c->unchecked.count > 0 && c->metrics.node_count > 0 &&
                         !pools_is_any_busy(c->pools);
    if ((c->waiting_first && !rounds_are_held(c)) || c->is_snapshot_open) {
        return now_ns;
    }
    uint64_t due_ns = rounds_due_ns(c, time_ms);
    if (jobs_has_dirty(c->jobs) || has_unchecked ||
        c->fresh_members.count > 0) {
        due_ns = now_ns;
    }
    due_ns = earlier(due_ns,
                     ns_of_wall(now_ns, time_ms, jobs_groups_due_ms(c->jobs)));
    due_ns = earlier(due_ns,
                     ns_of_wall(now_ns, time_ms, jobs_expire_due_ms(c->jobs)));
    due_ns = earlier(
        due_ns, ns_of_wall(now_ns, time_ms, pools_health_wake_ms(c->pools)));
    due_ns = earlier(due_ns, ns_of_wall(now_ns, time_ms,
                                        window_table_end_ms(&c->window_table)));
    due_ns = earlier(due_ns, executors_due_ns(c));
    return due_ns < c->retry_ns ? c->retry_ns : due_ns;
}

/* How long there is nothing to do, unless something is posted. */
static int wake_ms(struct control *c)
{
    uint64_t now_ns = control_mono_ns(c);
    uint64_t last_ns = now_ns + CONTROL_WAKE_MS_MAX * (uint64_t)NS_PER_MS;

    if (c->batch.is_in_flight) {
        return IN_FLIGHT_MS;
    }
    if (c->state != CONTROL_LEADING) {
        return c->retry_ns > now_ns ? IN_FLIGHT_MS : 0;
    }
    if (c->what_if && !c->is_snapshot_open && !pools_is_any_busy(c->pools)) {
        return 0;
    }
    uint64_t due_ns = earlier(leader_due_ns(c), last_ns);
    return due_ns <= now_ns
               ? 0
               : (int)((due_ns - now_ns + NS_PER_MS - 1) / NS_PER_MS);
}

static int stop(struct control *c, int rc, const struct err *err)
{
    checkpoint_abandon(c);
    c->state = CONTROL_STOPPED;
    c->stop_code = rc;
    c->stop_text = *err;
    flight_refuse(c, "the server is no longer the leader");
    what_if_refuse(c, "the server is no longer the leader");
    waiting_refuse(c, "the server is no longer the leader");
    sessions_release(c);
    publish_metrics(c);
    return rc;
}

int control_step(struct control *c, struct err *err)
{
    struct err text = {{0}};
    int rc = 0;

    waiting_take(c);
    switch (c->state) {
    case CONTROL_STARTING:
        rc = start_acquire(c, &text);
        break;
    case CONTROL_REPLAYING:
        rc = step_replay(c, &text);
        break;
    case CONTROL_LEADING:
        rc = step_lead(c, &text);
        checkpoint_go_on(c);
        break;
    case CONTROL_STOPPED:
        waiting_refuse(c, "the server is no longer the leader");
        return err_set(err, c->stop_code, "%s", c->stop_text.text);
    }
    if (rc < 0) {
        err_set(err, rc, "%s", text.text);
        return stop(c, rc, &text);
    }
    if (c->state != CONTROL_LEADING) {
        waiting_refuse(c, "the server is reading its log");
    }
    publish_metrics(c);
    return wake_ms(c);
}

void control_assert_valid(struct control *c)
{
    jobs_assert_valid(c->jobs);
    ASSERT(pools_is_consistent(c->pools));
    ASSERT(fold_is_sound(c));
    ASSERT(batch_is_sound(&c->batch));
    for (uint32_t job = 0; job < jobs_index_end(c->jobs); job++) {
        if (jobs_is_live(c->jobs, job)) {
            bool waits = jobs_state(c->jobs, job) == JOB_QUEUED;
            ASSERT(c->handles.items[job].is_planned !=
                   jobs_is_held(c->jobs, job));
            if (jobs_is_held(c->jobs, job)) {
                continue;
            }
            ASSERT(waits == (pools_job_node(c->pools, job) == SCHED_NONE));
        }
    }
}
