#include "main/berthd/projector.h"

#include <pthread.h>
#include <stdatomic.h>

#include "main/common/say.h"
#include "main/common/stopper.h"

enum {
    WAIT_MS = 500,
    RETRY_MS = 1000,
    PRUNE_PERIOD_MS = 60000,
    PRUNE_BATCHES_MAX = 10, /* a minute; more would starve the log */
};

struct projector {
    struct projector_options options;
    struct elog_reader *reader; /* owned; the thread's */
    struct stopper stopper;
    int64_t pruned_ms;
    bool is_failing;
    atomic_uint_fast64_t seq;
    pthread_t thread;
};

static void prune(struct projector *projector)
{
    const struct projector_options *options = &projector->options;
    int64_t now_ms = options->clock->wall_ms(options->clock);
    struct err err;

    if (now_ms - projector->pruned_ms < PRUNE_PERIOD_MS) {
        return;
    }
    projector->pruned_ms = now_ms;
    int rc = jump_watch_may_prune(options->jumps);
    for (int i = 0; rc > 0 && i < PRUNE_BATCHES_MAX; i++) {
        rc = store_prune(options->store, now_ms - options->retention_ms,
                         now_ms - options->deduplication_ms, &err);
    }
    if (rc < 0) {
        say(SAY_WARN, "store.prune", say_text("error", err.text));
    }
}

/* Whether trying again may help: a full disk passes. */
static bool may_pass(int code)
{
    return code == -ERR_FULL || code == -ERR_IO || code == -ERR_UNAVAILABLE;
}

/* Fold what comes next, or wait a little for it.  0, or a code. */
static int project(struct projector *projector, struct err *err)
{
    const struct projector_options *options = &projector->options;

    int count = store_follow(options->store, projector->reader,
                             options->changed, options->ctx, err);
    if (count == 0) {
        count = elog_wait(projector->reader, store_seq(options->store), WAIT_MS,
                          err);
    }
    atomic_store(&projector->seq, store_seq(options->store));
    return count < 0 ? count : 0;
}

static void *run(void *ctx)
{
    struct projector *projector = ctx;
    struct err err;

    while (!stopper_is_stopped(&projector->stopper)) {
        int rc = project(projector, &err);
        if (rc == 0) {
            projector->is_failing = false;
            prune(projector);
            continue;
        }
        if (!may_pass(rc)) {
            say(SAY_ERROR, "store.failed", say_text("error", err.text));
            projector->options.failed(projector->options.ctx);
            break;
        }
        if (!projector->is_failing) {
            say(SAY_WARN, "store.retrying", say_text("error", err.text));
        }
        projector->is_failing = true;
        (void)stopper_wait(&projector->stopper, RETRY_MS);
    }
    return NULL;
}

static void release(struct projector *projector)
{
    elog_reader_close(projector->reader);
    stopper_close(&projector->stopper);
    mem_free(projector);
}

struct projector *projector_start(const struct projector_options *options,
                                  struct err *err)
{
    struct projector *projector = mem_alloc(sizeof(*projector));

    projector->options = *options;
    projector->stopper.fd = -1;
    atomic_init(&projector->seq, store_seq(options->store));
    int rc = elog_reader_open(options->log, &projector->reader, err);
    if (rc == 0) {
        rc = stopper_open(&projector->stopper, err);
    }
    if (rc == 0 &&
        pthread_create(&projector->thread, NULL, run, projector) != 0) {
        rc = err_set(err, -ERR_IO, "cannot start a thread");
    }
    if (rc < 0) {
        release(projector);
        return NULL;
    }
    return projector;
}

void projector_stop(struct projector *projector)
{
    if (!projector) {
        return;
    }
    stopper_stop(&projector->stopper);
    elog_reader_interrupt(projector->reader);
    (void)pthread_join(projector->thread, NULL);
    release(projector);
}

uint64_t projector_seq(const struct projector *projector)
{
    return atomic_load(&projector->seq);
}
