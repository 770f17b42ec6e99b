#include "main/berthd/checkpointer.h"

#include <pthread.h>

#include "control/control.h"
#include "main/common/say.h"

struct checkpointer {
    struct elog *log;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* of what follows */
    char *bytes;            /* owned; NULL: nothing to do */
    size_t byte_count;
    uint64_t seq;
    bool is_busy;
    bool is_stopping;
    pthread_t thread;
};

static void write_one(struct checkpointer *checkpointer, uint64_t seq,
                      char *bytes, size_t byte_count)
{
    struct err err;

    int rc =
        elog_checkpoint_put(checkpointer->log, seq, CONTROL_CHECKPOINT_VERSION,
                            str_make(bytes, byte_count), &err);
    mem_free(bytes);
    if (rc < 0) {
        say(SAY_WARN, "checkpoint.failed", say_int("seq", (int64_t)seq),
            say_text("error", err.text));
    } else {
        say(SAY_INFO, "checkpoint.written", say_int("seq", (int64_t)seq),
            say_int("bytes", (int64_t)byte_count));
    }
}

static void *run(void *ctx)
{
    struct checkpointer *checkpointer = ctx;

    pthread_mutex_lock(&checkpointer->lock);
    for (;;) {
        while (!checkpointer->bytes && !checkpointer->is_stopping) {
            pthread_cond_wait(&checkpointer->changed, &checkpointer->lock);
        }
        if (!checkpointer->bytes) {
            break;
        }
        char *bytes = steal_ptr(checkpointer->bytes);
        uint64_t seq = checkpointer->seq;
        size_t byte_count = checkpointer->byte_count;
        checkpointer->is_busy = true;
        pthread_mutex_unlock(&checkpointer->lock);
        write_one(checkpointer, seq, bytes, byte_count);
        pthread_mutex_lock(&checkpointer->lock);
        checkpointer->is_busy = false;
    }
    pthread_mutex_unlock(&checkpointer->lock);
    return NULL;
}

static void checkpointer_free(struct checkpointer *checkpointer)
{
    (void)pthread_cond_destroy(&checkpointer->changed);
    (void)pthread_mutex_destroy(&checkpointer->lock);
    mem_free(checkpointer);
}

struct checkpointer *checkpointer_start(struct elog *log, struct err *err)
{
    struct checkpointer *checkpointer = mem_alloc(sizeof(*checkpointer));

    checkpointer->log = log;
    (void)pthread_mutex_init(&checkpointer->lock, NULL);
    (void)pthread_cond_init(&checkpointer->changed, NULL);
    if (pthread_create(&checkpointer->thread, NULL, run, checkpointer) != 0) {
        (void)err_set(err, -ERR_IO, "cannot start a thread");
        checkpointer_free(checkpointer);
        return NULL;
    }
    return checkpointer;
}

void checkpointer_stop(struct checkpointer *checkpointer)
{
    if (!checkpointer) {
        return;
    }
    pthread_mutex_lock(&checkpointer->lock);
    checkpointer->is_stopping = true;
    pthread_cond_signal(&checkpointer->changed);
    pthread_mutex_unlock(&checkpointer->lock);
    (void)pthread_join(checkpointer->thread, NULL);
    checkpointer_free(checkpointer);
}

bool checkpointer_is_idle(struct checkpointer *checkpointer)
{
    pthread_mutex_lock(&checkpointer->lock);
    bool is_idle = !checkpointer->is_busy && !checkpointer->bytes;
    pthread_mutex_unlock(&checkpointer->lock);
    return is_idle;
}

void checkpointer_put(struct checkpointer *checkpointer, uint64_t seq,
                      char *bytes, size_t byte_count)
{
    pthread_mutex_lock(&checkpointer->lock);
    ASSERT(!checkpointer->is_busy && !checkpointer->bytes); /* one at a time */
    checkpointer->bytes = bytes;
    checkpointer->byte_count = byte_count;
    checkpointer->seq = seq;
    pthread_cond_signal(&checkpointer->changed);
    pthread_mutex_unlock(&checkpointer->lock);
}
