#include "executor/loop/log_readers.h"

#include <pthread.h>

/* A question, then its answer. */
struct item {
    struct item *next;
    struct strbuf bytes;
};

/* Taken at the front. */
struct items {
    struct item *first, *last;
};

struct log_readers {
    struct log_readers_options options;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t asked, idle;
    struct items questions, answers;
    uint32_t count;      /* of both, and of those under way */
    uint32_t busy_count; /* under way */
    bool is_stopping;
    pthread_t threads[LOG_READERS];
    uint32_t thread_count;
};

static void add(struct items *items, struct item *item)
{
    item->next = NULL;
    if (items->last) {
        items->last->next = item;
    } else {
        items->first = item;
    }
    items->last = item;
}

/* The first one, or NULL. */
static struct item *take(struct items *items)
{
    struct item *item = items->first;

    if (item) {
        items->first = item->next;
        items->last = items->first ? items->last : NULL;
    }
    return item;
}

static void free_item(struct item *item)
{
    strbuf_fini(&item->bytes);
    mem_free(item);
}

static void free_all(struct log_readers *readers, struct items *items)
{
    struct item *item;

    while ((item = take(items))) {
        free_item(item);
        readers->count--;
    }
}

/* Turn a question into its answer; with the lock held, but for the work. */
static void work(struct log_readers *readers, struct item *item)
{
    struct strbuf answer = strbuf_make(0);

    readers->busy_count++;
    pthread_mutex_unlock(&readers->lock);
    readers->options.answer(readers->options.ctx, strbuf_str(&item->bytes),
                            &answer);
    strbuf_fini(&item->bytes);
    item->bytes = answer;
    pthread_mutex_lock(&readers->lock);
    readers->busy_count--;
    add(&readers->answers, item);
    pthread_cond_signal(&readers->idle);
    pthread_mutex_unlock(&readers->lock);
    readers->options.wake(readers->options.ctx);
    pthread_mutex_lock(&readers->lock);
}

static void *run(void *ctx)
{
    struct log_readers *readers = ctx;

    pthread_mutex_lock(&readers->lock);
    while (!readers->is_stopping) {
        struct item *item = take(&readers->questions);
        if (item) {
            work(readers, item);
        } else {
            pthread_cond_wait(&readers->asked, &readers->lock);
        }
    }
    pthread_mutex_unlock(&readers->lock);
    return NULL;
}

struct log_readers *log_readers_start(const struct log_readers_options *options,
                                      struct err *err)
{
    struct log_readers *readers = mem_alloc(sizeof(*readers));

    readers->options = *options;
    (void)pthread_mutex_init(&readers->lock, NULL);
    (void)pthread_cond_init(&readers->asked, NULL);
    (void)pthread_cond_init(&readers->idle, NULL);
    while (readers->thread_count < LOG_READERS &&
           pthread_create(&readers->threads[readers->thread_count], NULL, run,
                          readers) == 0) {
        readers->thread_count++;
    }
    if (readers->thread_count == 0) {
        (void)err_set(err, -ERR_IO, "cannot start a thread");
        log_readers_stop(readers);
        return NULL;
    }
    return readers;
}

bool log_readers_ask(struct log_readers *readers, struct str question)
{
    pthread_mutex_lock(&readers->lock);
    bool has_room = readers->count < LOG_READERS_ASKED_MAX;
    if (has_room) {
        struct item *item = mem_alloc(sizeof(*item));
        item->bytes = strbuf_make(0);
        strbuf_add_str(&item->bytes, question);
        add(&readers->questions, item);
        readers->count++;
        pthread_cond_signal(&readers->asked);
    }
    pthread_mutex_unlock(&readers->lock);
    return has_room;
}

bool log_readers_take(struct log_readers *readers, struct strbuf *ret_answer)
{
    pthread_mutex_lock(&readers->lock);
    struct item *item = take(&readers->answers);
    readers->count -= item != NULL;
    pthread_mutex_unlock(&readers->lock);
    if (!item) {
        return false;
    }
    strbuf_fini(ret_answer);
    *ret_answer = item->bytes;
    mem_free(item);
    return true;
}

void log_readers_clear(struct log_readers *readers)
{
    pthread_mutex_lock(&readers->lock);
    free_all(readers, &readers->questions);
    while (readers->busy_count > 0) {
        pthread_cond_wait(&readers->idle, &readers->lock);
    }
    free_all(readers, &readers->answers);
    pthread_mutex_unlock(&readers->lock);
}

void log_readers_stop(struct log_readers *readers)
{
    if (!readers) {
        return;
    }
    log_readers_clear(readers);
    pthread_mutex_lock(&readers->lock);
    readers->is_stopping = true;
    pthread_cond_broadcast(&readers->asked);
    pthread_mutex_unlock(&readers->lock);
    for (uint32_t i = 0; i < readers->thread_count; i++) {
        (void)pthread_join(readers->threads[i], NULL);
    }
    (void)pthread_cond_destroy(&readers->idle);
    (void)pthread_cond_destroy(&readers->asked);
    (void)pthread_mutex_destroy(&readers->lock);
    mem_free(readers);
}
