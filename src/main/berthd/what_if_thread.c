#include "main/berthd/what_if_thread.h"

#include <pthread.h>

#include "control/what_if/what_if.h"
#include "main/common/say.h"

enum {
    NS_PER_MS = 1000000,
    FORECAST_WORK_MS_MAX = 5000, /* for a course */
};

struct what_if_thread {
    const struct clock *clock;
    struct forecasts *forecasts;
    bool is_stopping;   /* atomic too: courses look at it */
    bool is_broken_off; /* likewise, those of forecasts */
    pthread_mutex_t lock;
    pthread_cond_t changed;  /* of what follows */
    struct command *command; /* owned; NULL: nothing to do */
    char *bytes;             /* owned */
    size_t byte_count;
    int64_t now_ms;
    bool is_busy;
    bool is_forecasting; /* that is what it is busy with */
    pthread_t id;
};

/* One course, on whichever thread. */
struct course {
    struct what_if_thread *thread;
    struct what_if_state state;
    struct what_if_changes *changes; /* NULL: as it is */
    int64_t span_ms;
    bool is_forecast;
    struct what_if *what_if; /* played; NULL: it failed */
    int rc;
    struct err err;
};

static void *play(void *ctx)
{
    struct course *course = ctx;
    struct what_if_thread *thread = course->thread;
    struct what_if_bounds bounds = {
        .clock = thread->clock,
        .is_stopping =
            course->is_forecast ? &thread->is_broken_off : &thread->is_stopping,
        .work_ms_max = course->is_forecast ? FORECAST_WORK_MS_MAX : 0,
    };

    course->rc = what_if_create(&course->state, course->changes, &bounds,
                                &course->what_if, &course->err);
    if (course->rc == 0) {
        course->rc =
            (course->is_forecast ? what_if_play_waiting : what_if_play)(
                course->what_if, course->span_ms, &course->err);
    }
    return NULL;
}

/* Play both, at the same time if there is a thread for it. */
static void play_both(struct course *as_is, struct course *what_if)
{
    pthread_t thread;

    bool has_thread = pthread_create(&thread, NULL, play, as_is) == 0;
    (void)play(what_if);
    if (has_thread) {
        (void)pthread_join(thread, NULL);
    } else {
        (void)play(as_is);
    }
}

static void end(struct command *command, int rc, const struct err *err)
{
    command->result = rc == 0                  ? COMMAND_OK
                      : rc == -ERR_NOT_FOUND   ? COMMAND_NOT_FOUND
                      : rc == -ERR_UNAVAILABLE ? COMMAND_UNAVAILABLE
                      : rc == -ERR_LIMIT       ? COMMAND_OVERLOADED
                                               : COMMAND_INVALID;
    if (rc < 0) {
        command->result_text = arena_str(&command->arena, str_of(err->text));
    }
    command->done(command, command->ctx);
}

static void answer(struct what_if_thread *thread, struct command *command,
                   struct what_if_state state)
{
    uint64_t began_ns = thread->clock->mono_ns(thread->clock);
    struct course as_is = {
        .thread = thread,
        .state = state,
        .span_ms = command->what_if.span_ms,
    };
    struct course what_if = as_is;

    what_if.changes = &command->what_if.changes;
    play_both(&as_is, &what_if);
    struct course *failed = what_if.rc < 0 ? &what_if : &as_is;
    if (failed->rc == 0) {
        what_if.rc =
            what_if_compare(as_is.what_if, what_if.what_if, &command->arena,
                            &command->what_if.answer, &what_if.err);
        failed = &what_if;
    }
    uint64_t took_ns = thread->clock->mono_ns(thread->clock) - began_ns;
    say(SAY_INFO, "what-if.answered",
        say_int("bytes", (int64_t)state.bytes.byte_count),
        say_int("ms", (int64_t)(took_ns / NS_PER_MS)),
        say_int("code", -failed->rc));
    end(command, failed->rc, &failed->err);
    what_if_destroy(as_is.what_if);
    what_if_destroy(what_if.what_if);
}

static void break_off(struct what_if_thread *thread, bool is_broken_off)
{
    __atomic_store_n(&thread->is_broken_off, is_broken_off, __ATOMIC_RELAXED);
}

/* When jobs start: by p50 of run times and, in the other course, by p90. */
static void forecast(struct what_if_thread *thread, struct command *command,
                     struct what_if_state state)
{
    uint64_t began_ns = thread->clock->mono_ns(thread->clock);
    struct course by_p50 = {
        .thread = thread,
        .state = state,
        .span_ms = command->what_if.span_ms,
        .is_forecast = true,
    };
    struct course by_p90 = by_p50;
    uint32_t count = 0;

    by_p90.state.run_times = WHAT_IF_P90;
    play_both(&by_p50, &by_p90);
    const struct course *failed = by_p50.rc < 0 ? &by_p50 : &by_p90;
    if (failed->rc == 0) {
        struct forecast *list =
            what_if_forecasts(by_p50.what_if, by_p90.what_if, &count);
        forecasts_put(thread->forecasts, list, count);
    }
    uint64_t took_ns = thread->clock->mono_ns(thread->clock) - began_ns;
    command->what_if.took_ms = (int64_t)(took_ns / NS_PER_MS);
    say(SAY_DEBUG, "forecast.made", say_int("jobs", count),
        say_int("ms", command->what_if.took_ms), say_int("code", -failed->rc));
    end(command, failed->rc, &failed->err);
    what_if_destroy(by_p50.what_if);
    what_if_destroy(by_p90.what_if);
}

static void *run(void *ctx)
{
    struct what_if_thread *thread = ctx;

    pthread_mutex_lock(&thread->lock);
    for (;;) {
        while (!thread->command && !thread->is_stopping) {
            pthread_cond_wait(&thread->changed, &thread->lock);
        }
        if (!thread->command) {
            break;
        }
        struct command *command = steal_ptr(thread->command);
        char *bytes = steal_ptr(thread->bytes);
        struct what_if_state state = {str_make(bytes, thread->byte_count),
                                      thread->now_ms, WHAT_IF_P50};
        bool is_forecast = command->what_if.is_forecast;
        thread->is_busy = true;
        thread->is_forecasting = is_forecast;
        break_off(thread, thread->is_stopping);
        pthread_mutex_unlock(&thread->lock);
        (is_forecast ? forecast : answer)(thread, command, state);
        mem_free(bytes);
        pthread_mutex_lock(&thread->lock);
        thread->is_busy = thread->is_forecasting = false;
    }
    pthread_mutex_unlock(&thread->lock);
    return NULL;
}

static void what_if_thread_free(struct what_if_thread *thread)
{
    (void)pthread_cond_destroy(&thread->changed);
    (void)pthread_mutex_destroy(&thread->lock);
    mem_free(thread);
}

struct what_if_thread *what_if_thread_start(const struct clock *clock,
                                            struct forecasts *forecasts,
                                            struct err *err)
{
    struct what_if_thread *thread = mem_alloc(sizeof(*thread));

    thread->clock = clock;
    thread->forecasts = forecasts;
    (void)pthread_mutex_init(&thread->lock, NULL);
    (void)pthread_cond_init(&thread->changed, NULL);
    if (pthread_create(&thread->id, NULL, run, thread) != 0) {
        (void)err_set(err, -ERR_IO, "cannot start a thread");
        what_if_thread_free(thread);
        return NULL;
    }
    return thread;
}

void what_if_thread_stop(struct what_if_thread *thread)
{
    if (!thread) {
        return;
    }
    pthread_mutex_lock(&thread->lock);
    __atomic_store_n(&thread->is_stopping, true, __ATOMIC_RELAXED);
    break_off(thread, true);
    pthread_cond_signal(&thread->changed);
    pthread_mutex_unlock(&thread->lock);
    (void)pthread_join(thread->id, NULL);
    what_if_thread_free(thread);
}

void what_if_thread_take(struct what_if_thread *thread, struct command *command,
                         char *bytes, size_t byte_count, int64_t now_ms)
{
    struct err err;

    pthread_mutex_lock(&thread->lock);
    bool gives_way = thread->is_forecasting && !command->what_if.is_forecast;
    bool is_taken = !thread->command && (!thread->is_busy || gives_way);
    if (is_taken) {
        break_off(thread, thread->is_busy || thread->is_stopping);
        thread->command = command;
        thread->bytes = bytes;
        thread->byte_count = byte_count;
        thread->now_ms = now_ms;
        pthread_cond_signal(&thread->changed);
    }
    pthread_mutex_unlock(&thread->lock);
    if (!is_taken) {
        mem_free(bytes);
        end(command,
            err_set(&err, -ERR_LIMIT,
                    "another what-if is being answered; try again"),
            &err);
    }
}
