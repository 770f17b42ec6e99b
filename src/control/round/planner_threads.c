#include <pthread.h>

#include "control/round/planner.h"

struct planner_threads {
    struct planner planner; /* first member */
    void (*done)(void *ctx);
    void *ctx;
    pthread_mutex_t lock;
    pthread_cond_t news;               /* a task came, or the end */
    pthread_cond_t finished;           /* a task is done */
    struct planner_task *first, *last; /* to be made, oldest first */
    bool is_stopping;
    uint32_t thread_count;
    pthread_t threads[PLANNER_THREADS_MAX];
};

static struct planner_threads *threads_of(struct planner *planner)
{
    return (struct planner_threads *)planner;
}

static void threads_begin(struct planner *planner, struct planner_task *task)
{
    struct planner_threads *threads = threads_of(planner);

    pthread_mutex_lock(&threads->lock);
    ASSERT(!threads->is_stopping); /* nobody would make it */
    task->is_done = false;
    task->next = NULL;
    if (threads->last) {
        threads->last->next = task;
    } else {
        threads->first = task;
    }
    threads->last = task;
    pthread_cond_signal(&threads->news);
    pthread_mutex_unlock(&threads->lock);
}

static bool threads_is_done(struct planner *planner,
                            const struct planner_task *task)
{
    struct planner_threads *threads = threads_of(planner);

    pthread_mutex_lock(&threads->lock);
    bool is_done = task->is_done;
    pthread_mutex_unlock(&threads->lock);
    return is_done;
}

static void threads_wait(struct planner *planner, struct planner_task *task)
{
    struct planner_threads *threads = threads_of(planner);

    pthread_mutex_lock(&threads->lock);
    while (!task->is_done) {
        pthread_cond_wait(&threads->finished, &threads->lock);
    }
    pthread_mutex_unlock(&threads->lock);
}

/* The next task, or NULL at the end. */
static struct planner_task *take_task(struct planner_threads *threads)
{
    pthread_mutex_lock(&threads->lock);
    while (!threads->first && !threads->is_stopping) {
        pthread_cond_wait(&threads->news, &threads->lock);
    }
    struct planner_task *task = threads->first;
    if (task) {
        threads->first = task->next;
        threads->last = task->next ? threads->last : NULL;
    }
    pthread_mutex_unlock(&threads->lock);
    return task;
}

static void *work(void *ctx)
{
    struct planner_threads *threads = ctx;
    struct planner_task *task;

    while ((task = take_task(threads))) {
        sched_plan(task->sched, task->now_ms, task->kind,
                   task->decision_count_max, &task->plan);
        pthread_mutex_lock(&threads->lock);
        ASSERT(!task->is_done); /* one thread makes it */
        task->is_done = true;
        pthread_cond_broadcast(&threads->finished);
        pthread_mutex_unlock(&threads->lock);
        if (threads->done) {
            threads->done(threads->ctx);
        }
    }
    return NULL;
}

void planner_threads_stop(struct planner *planner)
{
    struct planner_threads *threads = threads_of(planner);

    if (!planner) {
        return;
    }
    pthread_mutex_lock(&threads->lock);
    ASSERT(!threads->first);
    threads->is_stopping = true;
    pthread_cond_broadcast(&threads->news);
    pthread_mutex_unlock(&threads->lock);
    for (uint32_t i = 0; i < threads->thread_count; i++) {
        (void)pthread_join(threads->threads[i], NULL);
    }
    (void)pthread_cond_destroy(&threads->finished);
    (void)pthread_cond_destroy(&threads->news);
    (void)pthread_mutex_destroy(&threads->lock);
    mem_free(threads);
}

struct planner *planner_threads_start(uint32_t thread_count,
                                      void (*done)(void *ctx), void *ctx,
                                      struct err *err)
{
    struct planner_threads *threads = mem_alloc(sizeof(*threads));

    ASSERT(thread_count > 0 && thread_count <= PLANNER_THREADS_MAX);
    threads->planner =
        (struct planner){threads_begin, threads_is_done, threads_wait};
    threads->done = done;
    threads->ctx = ctx;
    (void)pthread_mutex_init(&threads->lock, NULL);
    (void)pthread_cond_init(&threads->news, NULL);
    (void)pthread_cond_init(&threads->finished, NULL);
    for (; threads->thread_count < thread_count; threads->thread_count++) {
        if (pthread_create(&threads->threads[threads->thread_count], NULL, work,
                           threads) != 0) {
            planner_threads_stop(&threads->planner);
            (void)err_set(err, -ERR_IO, "cannot start a thread");
            return NULL;
        }
    }
    return &threads->planner;
}
