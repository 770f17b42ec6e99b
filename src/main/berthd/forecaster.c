#include "main/berthd/forecaster.h"

#include <pthread.h>
#include <stdatomic.h>

#include "main/common/stopper.h"

enum {
    PERIOD_MS_MIN = 1000,
    REST_TIMES = 20, /* it rests as many times as long as it took */
    LOOK_MS = 200,   /* for the answer */
};

struct forecaster {
    struct inbox *inbox;
    int64_t period_ms;
    struct stopper stopper;
    bool is_joined;
    atomic_bool is_asked;    /* and not answered */
    _Atomic int64_t took_ms; /* the last time */
    pthread_t thread;
};

static void on_done(struct command *command, void *ctx)
{
    struct forecaster *forecaster = ctx;

    atomic_store(&forecaster->took_ms, command->what_if.took_ms);
    command_destroy(command);
    atomic_store(&forecaster->is_asked, false);
}

static void ask(struct forecaster *forecaster)
{
    struct command *command = command_create(COMMAND_WHAT_IF);

    command->what_if.is_forecast = true;
    command->what_if.span_ms = WHAT_IF_SPAN_MS_MAX;
    command->done = on_done;
    command->ctx = forecaster;
    atomic_store(&forecaster->is_asked, true);
    if (inbox_post(forecaster->inbox, command) < 0) {
        command_destroy(command);
        atomic_store(&forecaster->is_asked, false);
    }
}

/* How long to rest after an answer. */
static int64_t rest_ms(struct forecaster *forecaster)
{
    int64_t rest = atomic_load(&forecaster->took_ms) * REST_TIMES;

    return rest > forecaster->period_ms ? rest : forecaster->period_ms;
}

static void *run(void *ctx)
{
    struct forecaster *forecaster = ctx;
    int64_t wait_ms = forecaster->period_ms;
    bool has_asked = false;

    while (!stopper_wait(&forecaster->stopper, (int)wait_ms)) {
        if (!has_asked) {
            ask(forecaster);
            has_asked = true;
        }
        bool is_answered = !atomic_load(&forecaster->is_asked);
        wait_ms = is_answered ? rest_ms(forecaster) : LOOK_MS;
        has_asked = !is_answered;
    }
    return NULL;
}

struct forecaster *forecaster_start(struct inbox *inbox, int64_t period_ms,
                                    struct err *err)
{
    struct forecaster *forecaster = mem_alloc(sizeof(*forecaster));

    forecaster->inbox = inbox;
    forecaster->period_ms =
        period_ms > PERIOD_MS_MIN ? period_ms : PERIOD_MS_MIN;
    if (stopper_open(&forecaster->stopper, err) < 0) {
        mem_free(forecaster);
        return NULL;
    }
    if (pthread_create(&forecaster->thread, NULL, run, forecaster) != 0) {
        (void)err_set(err, -ERR_IO, "cannot start a thread");
        stopper_close(&forecaster->stopper);
        mem_free(forecaster);
        return NULL;
    }
    return forecaster;
}

void forecaster_stop(struct forecaster *forecaster)
{
    if (forecaster && !forecaster->is_joined) {
        stopper_stop(&forecaster->stopper);
        (void)pthread_join(forecaster->thread, NULL);
        forecaster->is_joined = true;
    }
}

void forecaster_destroy(struct forecaster *forecaster)
{
    if (forecaster) {
        ASSERT(forecaster->is_joined);
        stopper_close(&forecaster->stopper);
        mem_free(forecaster);
    }
}
