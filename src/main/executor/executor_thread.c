#include "main/executor/executor_thread.h"

#include <poll.h>
#include <pthread.h>

#include "executor/loop/failure_class.h"
#include "executor/loop/log_server.h"
#include "executor/loop/transport.h"
#include "main/common/machine.h"
#include "main/common/say.h"
#include "main/common/stopper.h"
#include "main/executor/runtime_setup.h"

enum {
    STEP_WAIT_MS_MAX = 60000,
    STOP_STEP_MS = 20, /* between looks at pods that are to end */
};

struct executor_thread {
    struct runtime *runtime;     /* owned */
    struct transport *transport; /* owned */
    struct executor *executor;   /* owned */
    struct log_server *logs;     /* owned */
    struct arena arena;          /* of the rules */
    struct failure_rules rules;
    struct failure_classes *classes; /* owned */
    const struct clock *clock;
    struct stopper stopper;
    pthread_mutex_t lock;
    struct executor_stats stats; /* guarded */
    bool was_connected, has_spoken;
    bool was_in_trouble; /* the runtime */
    pthread_t thread;
};

static void say_connection(const struct executor_stats *stats)
{
    if (stats->is_connected) {
        say(SAY_INFO, "executor.connected",
            say_text("held", stats->is_held ? "true" : "false"));
    } else {
        say(SAY_WARN, "executor.disconnected",
            say_text("error", stats->last_failure.text));
    }
}

static void note_stats(struct executor_thread *thread)
{
    const struct executor_stats *stats = executor_stats(thread->executor);

    pthread_mutex_lock(&thread->lock);
    thread->stats = *stats;
    pthread_mutex_unlock(&thread->lock);
    bool is_first = !thread->has_spoken &&
                    (stats->is_connected || stats->exchange_failed_count > 0);
    if (is_first || stats->is_connected != thread->was_connected) {
        thread->has_spoken |= is_first;
        say_connection(stats);
        thread->was_connected = stats->is_connected;
    }
}

/* Say when the runtime's cluster is out of reach, and when it is there again.
 */
static void note_trouble(struct executor_thread *thread)
{
    struct runtime *runtime = thread->runtime;
    const char *text =
        runtime->ops->trouble ? runtime->ops->trouble(runtime) : "";
    bool is_in_trouble = *text != '\0';

    if (is_in_trouble && !thread->was_in_trouble) {
        say(SAY_WARN, "runtime.trouble", say_text("error", text));
    } else if (!is_in_trouble && thread->was_in_trouble) {
        say(SAY_INFO, "runtime.recovered",
            say_text("info", "it answers again"));
    }
    thread->was_in_trouble = is_in_trouble;
}

/* One step; then wait for what may come, at most as long as it said. */
static void step(struct executor_thread *thread, int64_t pause_ms_max)
{
    int64_t pause_ms = executor_step(thread->executor);
    struct pollfd waits[] = {
        {.fd = thread->stopper.fd, .events = POLLIN},
        {.fd = transport_wake_fd(thread->transport), .events = POLLIN},
        {.fd = thread->runtime->wake_fd, .events = POLLIN},
    };

    pause_ms = pause_ms < pause_ms_max ? pause_ms : pause_ms_max;
    note_stats(thread);
    note_trouble(thread);
    (void)poll(waits, ARRAY_COUNT(waits), pause_ms < 0 ? 0 : (int)pause_ms);
    transport_clear_wake(thread->transport);
}

static void *run(void *ctx)
{
    struct executor_thread *thread = ctx;

    while (!stopper_is_stopped(&thread->stopper)) {
        step(thread, STEP_WAIT_MS_MAX);
    }
    return NULL;
}

static void release(struct executor_thread *thread)
{
    log_server_stop(thread->logs);
    executor_destroy(thread->executor);
    transport_destroy(thread->transport);
    runtime_close(thread->runtime);
    stopper_close(&thread->stopper);
    failure_classes_destroy(thread->classes);
    arena_fini(&thread->arena);
    (void)pthread_mutex_destroy(&thread->lock);
    mem_free(thread);
}

/* Who we are to the server. */
static struct rpc_header
make_header(const struct executor_thread_options *options, struct arena *arena)
{
    return (struct rpc_header){
        "authorization",
        options->user_name
            ? runtime_setup_basic(options->user_name, options->password, arena)
            : NULL};
}

static int open_transport(struct executor_thread *thread,
                          const struct executor_thread_options *options,
                          struct err *err)
{
    auto_arena arena = {0};
    struct rpc_channel *channel = runtime_setup_channel(options, &arena, err);

    if (!channel) {
        return -ERR_INVALID;
    }
    struct rpc_header header = make_header(options, &arena);
    struct transport_options transport = {
        .headers = &header,
        .header_count = options->user_name ? 1 : 0,
    };
    thread->transport = transport_create(channel, &transport, err);
    return thread->transport ? 0 : -ERR_IO;
}

/* The channels share a connection. */
static int open_logs(struct executor_thread *thread,
                     const struct executor_thread_options *options,
                     struct err *err)
{
    auto_arena arena = {0};

    struct rpc_channel *channel = runtime_setup_channel(options, &arena, err);
    if (!channel) {
        return -ERR_INVALID;
    }
    struct rpc_header header = make_header(options, &arena);
    struct log_server_options logs = {
        .executor_id = options->config->id,
        .runtime = thread->runtime,
        .headers = &header,
        .header_count = options->user_name ? 1 : 0,
    };
    thread->logs = log_server_start(channel, &logs, err);
    return thread->logs ? 0 : -ERR_IO;
}

static int open_classes(struct executor_thread *thread,
                        const struct executor_thread_options *options,
                        struct err *err)
{
    int rc = config_failure_rules(&options->config->failures, &thread->arena,
                                  &thread->rules, err);

    if (rc < 0) {
        return rc;
    }
    thread->classes = failure_classes_create(&thread->rules, err);
    return thread->classes ? 0 : -ERR_INVALID;
}

static int open_all(struct executor_thread *thread,
                    const struct executor_thread_options *options,
                    struct err *err)
{
    struct executor_options executor;

    int rc = stopper_open(&thread->stopper, err);
    if (rc == 0) {
        rc = runtime_setup_open(options, &thread->runtime, err);
    }
    if (rc == 0) {
        rc = open_transport(thread, options, err);
    }
    if (rc == 0) {
        rc = open_logs(thread, options, err);
    }
    if (rc == 0) {
        rc = open_classes(thread, options, err);
    }
    if (rc < 0) {
        return rc;
    }
    executor_options_default(&executor);
    executor.id = options->config->id;
    executor.pool = options->config->pool;
    executor.classes = thread->classes;
    executor.has_held_stream = options->config->has_held_stream;
    machine_rng.fill(&machine_rng, &executor.instance,
                     sizeof(executor.instance));
    executor.lease_period_ms = options->config->lease_period_ms;
    thread->executor =
        executor_create(&executor, options->clock,
                        transport_port(thread->transport), thread->runtime);
    return 0;
}

struct executor_thread *
executor_thread_start(const struct executor_thread_options *options,
                      struct err *err)
{
    struct executor_thread *thread = mem_alloc(sizeof(*thread));

    thread->clock = options->clock;
    thread->stopper.fd = -1;
    (void)pthread_mutex_init(&thread->lock, NULL);
    int rc = open_all(thread, options, err);
    if (rc == 0 && pthread_create(&thread->thread, NULL, run, thread) != 0) {
        rc = err_set(err, -ERR_IO, "cannot start a thread");
    }
    if (rc < 0) {
        release(thread);
        return NULL;
    }
    return thread;
}

/* Step on until every pod has ended and was told, or time is up. */
static void end_jobs(struct executor_thread *thread, int64_t grace_ms)
{
    uint64_t until_ns =
        thread->clock->mono_ns(thread->clock) + (uint64_t)grace_ms * 1000000;
    int64_t kill_ms = grace_ms / 2;

    executor_stop_all(thread->executor, kill_ms);
    while (executor_stats(thread->executor)->run_count > 0 &&
           thread->clock->mono_ns(thread->clock) < until_ns) {
        /* The stopper is readable now, so wait by its side. */
        struct pollfd wait = {.fd = transport_wake_fd(thread->transport),
                              .events = POLLIN};
        int64_t pause_ms = executor_step(thread->executor);
        (void)poll(&wait, 1,
                   pause_ms < STOP_STEP_MS ? (int)pause_ms : STOP_STEP_MS);
        transport_clear_wake(thread->transport);
    }
}

void executor_thread_stop(struct executor_thread *thread, bool ends_jobs,
                          int64_t grace_ms)
{
    if (!thread) {
        return;
    }
    stopper_stop(&thread->stopper);
    (void)pthread_join(thread->thread, NULL);
    if (ends_jobs) {
        end_jobs(thread, grace_ms);
    }
    release(thread);
}

struct executor_stats executor_thread_stats(struct executor_thread *thread)
{
    pthread_mutex_lock(&thread->lock);
    struct executor_stats stats = thread->stats;
    pthread_mutex_unlock(&thread->lock);
    return stats;
}
