#include "main/berthd/leader.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "control/command/forecasts.h"
#include "control/round/planner.h"
#include "main/berthd/checkpointer.h"
#include "main/berthd/forecaster.h"
#include "main/berthd/what_if_thread.h"
#include "main/common/say.h"

enum { DUPLICATE_SAID_MS = 60000 };

struct leader {
    struct leader_options options;
    struct inbox *inbox;     /* owned */
    struct control *control; /* owned; its metrics are asked for until the
                                thread is joined, also when it has failed */
    struct checkpointer *checkpointer; /* owned; stopped by the thread */
    struct what_if_thread *what_if;    /* owned */
    struct forecaster *forecaster;     /* owned; NULL: none is wanted */
    struct planner *planner;           /* owned; its threads */
    struct store_reader *reader;       /* owned; the leader's thread's */
    int64_t duplicate_said_ms;         /* likewise */
    pthread_mutex_t lock;
    pthread_cond_t changed; /* of what follows */
    bool is_awake;          /* somebody has posted */
    bool is_stopping;
    bool is_ready;
    bool has_failed;
    bool is_joined;
    pthread_t thread;
};

static void wake(void *ctx)
{
    struct leader *leader = ctx;

    pthread_mutex_lock(&leader->lock);
    leader->is_awake = true;
    pthread_cond_broadcast(&leader->changed);
    pthread_mutex_unlock(&leader->lock);
}

static struct timespec deadline_of(int timeout_ms)
{
    struct timespec at;

    (void)clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_sec += timeout_ms / 1000;
    at.tv_nsec += timeout_ms % 1000 * 1000000L;
    if (at.tv_nsec >= 1000000000) {
        at.tv_sec++;
        at.tv_nsec -= 1000000000;
    }
    return at;
}

/* Wait until somebody posts or `timeout_ms` pass; whether to go on. */
static bool rest(struct leader *leader, int timeout_ms)
{
    struct timespec deadline = deadline_of(timeout_ms);

    pthread_mutex_lock(&leader->lock);
    while (!leader->is_awake && !leader->is_stopping && timeout_ms > 0 &&
           pthread_cond_timedwait(&leader->changed, &leader->lock, &deadline) ==
               0) {
    }
    leader->is_awake = false;
    bool goes_on = !leader->is_stopping;
    pthread_mutex_unlock(&leader->lock);
    return goes_on;
}

static void note_state(struct leader *leader)
{
    if (!leader->is_ready &&
        control_state(leader->control) == CONTROL_LEADING) {
        pthread_mutex_lock(&leader->lock);
        leader->is_ready = true;
        pthread_cond_broadcast(&leader->changed);
        pthread_mutex_unlock(&leader->lock);
    }
}

static void note_failure(struct leader *leader, const struct err *err)
{
    say(SAY_ERROR, "leader.failed", say_text("error", err->text));
    pthread_mutex_lock(&leader->lock);
    leader->has_failed = true;
    pthread_cond_broadcast(&leader->changed);
    pthread_mutex_unlock(&leader->lock);
    leader->options.failed(leader->options.ctx);
}

static void *run(void *ctx)
{
    struct leader *leader = ctx;
    struct err err = {""};
    bool goes_on = true;

    while (goes_on) {
        int pause_ms = control_step(leader->control, &err);
        if (pause_ms < 0) {
            note_failure(leader, &err);
            break;
        }
        note_state(leader);
        goes_on = rest(leader, pause_ms);
    }
    /* One checkpoint at a time: what it still writes comes first. */
    checkpointer_stop(steal_ptr(leader->checkpointer));
    if (!leader->has_failed &&
        control_state(leader->control) == CONTROL_LEADING &&
        control_checkpoint(leader->control, &err) < 0) {
        say(SAY_WARN, "leader.checkpoint", say_text("error", err.text));
    }
    inbox_close(leader->inbox);
    if (leader->has_failed) {
        /* Answer what was posted up to now; the rest is refused. */
        (void)!control_step(leader->control, &err);
    }
    return NULL;
}

static uint64_t stored_seq(void *ctx)
{
    struct leader *leader = ctx;
    struct err err;
    uint64_t seq = 0;

    return store_reader_seq(leader->reader, &seq, &err) < 0 ? 0 : seq;
}

static int find_client_id(void *ctx, struct str queue, struct str client_id,
                          struct job_id *ret_job)
{
    struct leader *leader = ctx;
    struct err err;

    return store_client_id(leader->reader, queue, client_id, ret_job, &err);
}

static bool may_trim(void *ctx)
{
    const struct leader *leader = ctx;

    return jump_watch_may_prune(leader->options.jumps);
}

static bool may_checkpoint(void *ctx)
{
    const struct leader *leader = ctx;

    return checkpointer_is_idle(leader->checkpointer);
}

static void keep_checkpoint(void *ctx, uint64_t seq, char *bytes,
                            size_t byte_count)
{
    struct leader *leader = ctx;

    checkpointer_put(leader->checkpointer, seq, bytes, byte_count);
}

static void answer_what_if(void *ctx, struct command *command, char *bytes,
                           size_t byte_count, int64_t now_ms)
{
    struct leader *leader = ctx;

    what_if_thread_take(leader->what_if, command, bytes, byte_count, now_ms);
}

static void judge_forecast(void *ctx, struct job_id job, int64_t at_ms)
{
    struct leader *leader = ctx;

    forecasts_started(leader->options.forecasts, job, at_ms);
}

/* It comes again every second: one line a minute is enough. */
static void warn_of_duplicate(void *ctx, struct str executor_id)
{
    struct leader *leader = ctx;
    int64_t now_ms = leader->options.clock->wall_ms(leader->options.clock);

    if (now_ms - leader->duplicate_said_ms >= DUPLICATE_SAID_MS) {
        leader->duplicate_said_ms = now_ms;
        say(SAY_WARN, "executor.duplicate_id", say_str("id", executor_id),
            say_text("error",
                     "another executor with this id is connected; give each "
                     "executor its own id (--id, executor.id)"),
            say_text("old_name", "executor.twin")); /* for one release */
    }
}

static void say_executor(void *ctx, struct str executor_id,
                         enum executor_state state)
{
    (void)ctx;
    switch (state) {
    case EXECUTOR_LIVE:
        say(SAY_INFO, "executor.back", say_str("id", executor_id));
        return;
    case EXECUTOR_STALE:
        say(SAY_WARN, "executor.stale", say_str("id", executor_id),
            say_text("advice", "it is silent, and gets no new jobs"));
        return;
    case EXECUTOR_LOST:
        say(SAY_ERROR, "executor.lost", say_str("id", executor_id),
            say_text("advice",
                     "it was silent for scheduling.executorLostTimeout, so its "
                     "runs are lost; see whether its machine is up"));
        return;
    }
}

static struct control *make_control(struct leader *leader)
{
    const struct leader_options *options = &leader->options;
    struct control_config config = {
        .log = options->log,
        .clock = options->clock,
        .rng = options->rng,
        .inbox = leader->inbox,
        .policy = options->policy,
        .queues = options->queues,
        .retry_policies = options->retry_policies,
        .planner = leader->planner,
        .hooks = {.ctx = leader,
                  .stored_seq = stored_seq,
                  .find_client_id = find_client_id,
                  .leased = options->forecasts ? judge_forecast : NULL,
                  .duplicate_id = warn_of_duplicate,
                  .executor_changed = say_executor,
                  .may_trim = options->jumps ? may_trim : NULL,
                  .may_checkpoint = may_checkpoint,
                  .checkpoint = keep_checkpoint,
                  .what_if = answer_what_if},
        .checkpoint_events = options->checkpoint_record_count,
        .retention_ms = options->retention_ms,
        .deduplication_ms = options->deduplication_ms,
    };

    return control_create(&config);
}

static void init_sync(struct leader *leader)
{
    pthread_condattr_t attributes;

    (void)pthread_mutex_init(&leader->lock, NULL);
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&leader->changed, &attributes);
    (void)pthread_condattr_destroy(&attributes);
}

static uint32_t thread_count(const struct leader_options *options)
{
    long count = options->planner_thread_count;

    if (count == 0) {
        count = sysconf(_SC_NPROCESSORS_ONLN);
    }
    count = count < 1 ? 1 : count;
    return count < PLANNER_THREADS_MAX ? (uint32_t)count : PLANNER_THREADS_MAX;
}

struct leader *leader_start(const struct leader_options *options,
                            struct err *err)
{
    struct leader *leader = mem_alloc(sizeof(*leader));

    leader->options = *options;
    leader->is_joined = true;
    init_sync(leader);
    leader->inbox = inbox_create(wake, leader);
    if (store_reader_open(options->store, &leader->reader, err) < 0) {
        leader_destroy(leader);
        return NULL;
    }
    leader->checkpointer = checkpointer_start(options->log, err);
    if (!leader->checkpointer) {
        leader_destroy(leader);
        return NULL;
    }
    leader->what_if =
        what_if_thread_start(options->clock, options->forecasts, err);
    if (!leader->what_if) {
        leader_destroy(leader);
        return NULL;
    }
    leader->planner =
        planner_threads_start(thread_count(options), wake, leader, err);
    if (!leader->planner) {
        leader_destroy(leader);
        return NULL;
    }
    if (options->forecasts && options->forecast_period_ms > 0) {
        leader->forecaster =
            forecaster_start(leader->inbox, options->forecast_period_ms, err);
        if (!leader->forecaster) {
            leader_destroy(leader);
            return NULL;
        }
    }
    leader->control = make_control(leader);
    if (pthread_create(&leader->thread, NULL, run, leader) != 0) {
        (void)err_set(err, -ERR_IO, "cannot start a thread");
        control_destroy(leader->control);
        leader_destroy(leader);
        return NULL;
    }
    leader->is_joined = false;
    return leader;
}

struct inbox *leader_inbox(struct leader *leader)
{
    return leader->inbox;
}

bool leader_wait_ready(struct leader *leader, int timeout_ms)
{
    struct timespec deadline = deadline_of(timeout_ms);

    pthread_mutex_lock(&leader->lock);
    while (!leader->is_ready && !leader->has_failed &&
           pthread_cond_timedwait(&leader->changed, &leader->lock, &deadline) ==
               0) {
    }
    bool is_ready = leader->is_ready;
    pthread_mutex_unlock(&leader->lock);
    return is_ready;
}

void leader_metrics(struct leader *leader, struct control_metrics *ret_metrics)
{
    control_metrics(leader->control, ret_metrics);
}

void leader_stop(struct leader *leader)
{
    if (!leader || leader->is_joined) {
        return;
    }
    pthread_mutex_lock(&leader->lock);
    leader->is_stopping = true;
    pthread_cond_broadcast(&leader->changed);
    pthread_mutex_unlock(&leader->lock);
    (void)pthread_join(leader->thread, NULL);
    leader->is_joined = true;
    control_destroy(leader->control);
    leader->control = NULL;
    what_if_thread_stop(steal_ptr(leader->what_if));
    forecaster_stop(leader->forecaster);
}

void leader_destroy(struct leader *leader)
{
    if (!leader) {
        return;
    }
    ASSERT(leader->is_joined);
    forecaster_stop(leader->forecaster);
    checkpointer_stop(leader->checkpointer);
    what_if_thread_stop(leader->what_if);
    planner_threads_stop(leader->planner);
    store_reader_close(leader->reader);
    inbox_destroy(leader->inbox);
    forecaster_destroy(leader->forecaster);
    (void)pthread_cond_destroy(&leader->changed);
    (void)pthread_mutex_destroy(&leader->lock);
    mem_free(leader);
}
