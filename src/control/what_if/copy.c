/* A copy of the leader: its log in memory, its clock, its steps. */
#include "control/decide/decide.h"
#include "control/leader/leader.h"
#include "control/what_if/private.h"

enum {
    MONO_START_MS = 1000,
    REST_STEPS_MAX = 1000000, /* at one moment */
};

/* What the leader calls. */

static uint64_t clock_mono_ns(const struct clock *clock)
{
    return ((const struct what_if *)(const void *)clock)->mono_ns;
}

static int64_t clock_wall_ms(const struct clock *clock)
{
    return ((const struct what_if *)(const void *)clock)->now_ms;
}

/* Nothing is kept from strangers here. */
static void rng_fill(const struct rng *rng, void *bytes, size_t byte_count)
{
    (void)rng;
    memset(bytes, 1, byte_count);
}

static int goes_on(void *ctx, struct err *err)
{
    return what_if_check(ctx, err);
}

/* Create and destroy. */

static void open_leader(struct what_if *what_if)
{
    auto_mem struct policy *policy = mem_alloc(sizeof(*policy));
    struct control_config config = {
        .log = what_if->log,
        .clock = &what_if->clock,
        .rng = &what_if->rng,
        .inbox = what_if->inbox,
        .policy = policy, /* the state has its own */
        .hooks = {.ctx = what_if, .goes_on = goes_on},
        .queues = what_if->queues,
        .retry_policies = what_if->retry_policies,
        .checkpoint_events = UINT64_MAX,
    };

    policy_defaults(policy);
    what_if->control = control_create(&config);
}

static struct what_if *make(const struct what_if_state *state,
                            const struct what_if_bounds *bounds)
{
    struct what_if *what_if = mem_alloc(sizeof(*what_if));

    *what_if = (struct what_if){
        .clock = {clock_mono_ns, clock_wall_ms},
        .rng = {rng_fill},
        .bounds = *bounds,
        .work_began_ns =
            bounds->clock ? bounds->clock->mono_ns(bounds->clock) : 0,
        .mono_ns = MONO_START_MS * (uint64_t)NS_PER_MS,
        .began_ms = state->now_ms,
        .now_ms = state->now_ms,
        .by = state->run_times,
        .storage = elog_memory_storage_create(),
        .inbox = inbox_create(NULL, NULL),
        .queues = queue_table_create(),
        .retry_policies = queue_table_create(),
    };
    what_if->log = elog_memory_open(what_if->storage);
    open_leader(what_if);
    return what_if;
}

static int step(struct what_if *what_if, struct err *err)
{
    int rc = what_if_check(what_if, err);

    return rc < 0 ? rc : control_step(what_if->control, err);
}

/* Begin with a state, and step until it leads. */
static int start(struct what_if *what_if, struct str bytes, struct err *err)
{
    int rc = what_if_check(what_if, err);
    if (rc == 0) {
        rc = start_from_state(what_if->control, bytes, err);
    }
    while (rc >= 0 && control_state(what_if->control) != CONTROL_LEADING) {
        rc = step(what_if, err);
    }
    if (rc >= 0) {
        rc = elog_reader_open(what_if->log, &what_if->reader, err);
    }
    return rc < 0 ? rc : 0;
}

/* The run times of the course are predictions: they teach nothing. */
static void keep_run_times(struct what_if *what_if)
{
    what_if->run_times = steal_ptr(what_if->control->run_times);
    what_if->control->run_times = run_times_create(0);
}

/* Make the changes; as on the leader, nothing is planned in the batch in which
 * they are, unless they ask for it. */
static int change(struct what_if *what_if, struct what_if_changes *changes,
                  struct err *err)
{
    struct control *c = what_if->control;

    c->is_plan_wanted = c->is_balance_wanted = false;
    int rc = what_if_change(what_if, changes, err);
    if (rc == 0) {
        rc = step(what_if, err);
    }
    c->is_plan_wanted = c->is_balance_wanted = true;
    return rc < 0 ? rc : 0;
}

int what_if_create(const struct what_if_state *state,
                   struct what_if_changes *changes,
                   const struct what_if_bounds *bounds,
                   struct what_if **ret_what_if, struct err *err)
{
    auto_ptr(what_if) what_if = make(state, bounds);

    int rc = start(what_if, state->bytes, err);
    if (rc == 0) {
        keep_run_times(what_if);
        rc = what_if_note_first(what_if, err);
    }
    if (rc == 0) {
        rc = changes ? change(what_if, changes, err) : 0;
    }
    *ret_what_if = rc < 0 ? NULL : steal_ptr(what_if);
    return rc;
}

void what_if_destroy(struct what_if *what_if)
{
    if (!what_if) {
        return;
    }
    control_destroy(what_if->control);
    run_times_destroy(what_if->run_times);
    elog_reader_close(what_if->reader);
    elog_close(what_if->log);
    inbox_destroy(what_if->inbox);
    elog_memory_storage_destroy(what_if->storage);
    queue_table_destroy(what_if->queues);
    queue_table_destroy(what_if->retry_policies);
    log_batch_fini(&what_if->reports);
    intern_fini(&what_if->names);
    intern_fini(&what_if->queue_names);
    map_fini(&what_if->index);
    VEC_FREE(&what_if->jobs);
    VEC_FREE(&what_if->preemptions);
    VEC_FREE(&what_if->drained);
    what_if_forget_submission(what_if);
    VEC_FREE(&what_if->ends);
    VEC_FREE(&what_if->tallies);
    mem_free(what_if);
}

/* Commands. */

static void on_done(struct command *command, void *ctx)
{
    struct what_if *what_if = ctx;

    if (command->result != COMMAND_OK && what_if->refused == 0) {
        bool is_unknown = command->result == COMMAND_UNKNOWN_QUEUE ||
                          command->result == COMMAND_NOT_FOUND;
        what_if->refused = err_set(&what_if->refusal,
                                   is_unknown ? -ERR_NOT_FOUND : -ERR_INVALID,
                                   "%.*s", STR_ARG(command->result_text));
    }
    command_destroy(command);
}

int what_if_post(struct what_if *what_if, struct command *command,
                 struct err *err)
{
    command->done = on_done;
    command->ctx = what_if;
    int rc = what_if_check(what_if, err);
    while (rc >= 0 && inbox_post(what_if->inbox, command) < 0) {
        /* It is full: the leader takes what is there. */
        rc = step(what_if, err);
    }
    if (rc < 0) {
        command_destroy(command);
    }
    return rc < 0 ? rc : 0;
}

int what_if_post_batch(struct what_if *what_if, struct log_batch *batch,
                       struct err *err)
{
    struct str bytes = log_batch_finish(batch);

    if (batch->buf.is_over || bytes.byte_count > COMMAND_BYTES_MAX) {
        return err_set(err, -ERR_LIMIT,
                       "a change takes %zu bytes or more in the log, at most "
                       "%d are allowed; make it smaller",
                       bytes.byte_count, COMMAND_BYTES_MAX);
    }
    struct command *command = command_create(COMMAND_EVENTS);
    command_set_sequences(command, bytes);
    return what_if_post(what_if, command, err);
}

int what_if_post_event(struct what_if *what_if, const struct event *event,
                       struct err *err)
{
    struct event_scope scope = {.user = STR("operator")};
    auto_log_batch batch = {0};

    log_batch_add(&batch, &scope, event);
    return what_if_post_batch(what_if, &batch, err);
}

/* Time. */

void what_if_move(struct what_if *what_if, int64_t by_ms)
{
    uint64_t by_ns = (uint64_t)by_ms * NS_PER_MS;

    what_if->mono_ns += by_ns;
    what_if->now_ms += by_ms;
    executors_forgive(what_if->control, by_ns); /* they are all heard */
}

int what_if_rest(struct what_if *what_if, uint64_t *ret_due_ns, struct err *err)
{
    struct control *c = what_if->control;

    for (uint32_t i = 0; i < REST_STEPS_MAX; i++) {
        int wait_ms = step(what_if, err);
        if (wait_ms < 0) {
            return wait_ms;
        }
        if (what_if->refused < 0) {
            return err_set(err, what_if->refused, "%s", what_if->refusal.text);
        }
        if (wait_ms > 0) {
            uint64_t due_ns = leader_due_ns(c);
            *ret_due_ns =
                due_ns > what_if->mono_ns ? due_ns - what_if->mono_ns : 0;
            return 0;
        }
    }
    return err_set(err, -ERR_UNAVAILABLE, "the leader does not settle");
}
