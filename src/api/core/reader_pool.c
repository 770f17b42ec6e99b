#include "api/core/reader_pool.h"

#include <pthread.h>
#include <time.h>

enum { WAIT_NS = 1000000 };

struct reader_pool {
    struct store *store;
    struct elog *log;
    pthread_mutex_t mutex;
    struct readers *idle[READER_POOL_MAX]; /* owned, [idle_count] */
    uint32_t idle_count;
    uint32_t open_count; /* idle and lent */
};

struct reader_pool *reader_pool_create(struct store *store, struct elog *log)
{
    struct reader_pool *pool = mem_alloc(sizeof(*pool));

    pool->store = store;
    pool->log = log;
    pthread_mutex_init(&pool->mutex, NULL);
    return pool;
}

static void readers_close(struct readers *readers)
{
    store_reader_close(readers->store);
    elog_reader_close(readers->log);
    mem_free(readers);
}

void reader_pool_destroy(struct reader_pool *pool)
{
    if (!pool) {
        return;
    }
    ASSERT(pool->idle_count == pool->open_count);
    for (uint32_t i = 0; i < pool->idle_count; i++) {
        readers_close(pool->idle[i]);
    }
    pthread_mutex_destroy(&pool->mutex);
    mem_free(pool);
}

static int readers_open(struct reader_pool *pool, struct readers **ret_readers,
                        struct err *err)
{
    struct readers *readers = mem_alloc(sizeof(*readers));
    int rc = store_reader_open(pool->store, &readers->store, err);

    if (rc == 0) {
        rc = elog_reader_open(pool->log, &readers->log, err);
    }
    if (rc < 0) {
        readers_close(readers);
        return rc;
    }
    *ret_readers = readers;
    return 0;
}

int reader_pool_lend(struct reader_pool *pool, struct readers **ret_readers,
                     struct err *err)
{
    struct readers *readers = NULL;
    bool may_open = false;

    pthread_mutex_lock(&pool->mutex);
    if (pool->idle_count) {
        readers = pool->idle[--pool->idle_count];
    } else if (pool->open_count < READER_POOL_MAX) {
        pool->open_count++;
        may_open = true;
    }
    pthread_mutex_unlock(&pool->mutex);
    if (readers) {
        *ret_readers = readers;
        return 0;
    }
    if (!may_open) {
        return err_set(err, -ERR_LIMIT, "too many queries at once");
    }
    int rc = readers_open(pool, ret_readers, err);
    if (rc < 0) {
        pthread_mutex_lock(&pool->mutex);
        pool->open_count--;
        pthread_mutex_unlock(&pool->mutex);
    }
    return rc;
}

void reader_pool_give_back(struct reader_pool *pool, struct readers *readers)
{
    if (!readers) {
        return;
    }
    pthread_mutex_lock(&pool->mutex);
    ASSERT(pool->idle_count < pool->open_count);
    pool->idle[pool->idle_count++] = readers;
    pthread_mutex_unlock(&pool->mutex);
}

bool readers_are_behind(struct readers *readers, uint64_t *log_seq)
{
    struct elog_bounds bounds;
    uint64_t store_seq = 0;
    struct err err;

    if (*log_seq == 0 && elog_bounds(readers->log, &bounds, &err) == 0) {
        *log_seq = bounds.head_seq;
    }
    if (store_reader_seq(readers->store, &store_seq, &err) < 0 ||
        store_seq >= *log_seq) {
        return false;
    }
    (void)nanosleep(&(struct timespec){.tv_nsec = WAIT_NS}, NULL);
    return true;
}

void readers_await(struct readers *readers)
{
    uint64_t log_seq = 0;

    for (int i = 0; i < READERS_WAITS_MAX; i++) {
        if (!readers_are_behind(readers, &log_seq)) {
            break;
        }
    }
}
