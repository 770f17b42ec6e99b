/* Applications in checkpoints and in answers, and their checks. */
#include <stdlib.h>

#include "sched/apps/apps.h"
#include "sched/state/borrowed.h"

static struct str id_of(const struct app *app)
{
    return str_make(app->id, app->id_bytes);
}

static int compare_ids(const void *a, const void *b)
{
    const struct sched_application *x = a;
    const struct sched_application *y = b;

    return str_compare(x->id, y->id);
}

static int compare_submissions(const void *a, const void *b)
{
    const struct sched_application *x = a;
    const struct sched_application *y = b;

    if (x->submitted_ms != y->submitted_ms) {
        return x->submitted_ms < y->submitted_ms ? -1 : 1;
    }
    return compare_ids(a, b);
}

static struct sched_application answer_of(const struct app *app, int64_t now_ms)
{
    struct sched_application answer = {
        .id = id_of(app),
        .submitted_ms = app->submitted_ms,
        .until_ms = INT64_MAX,
        .ask_count = app->ask_count,
        .allocation_count = app->allocation_count,
        .has_stateaware_off = app->is_opted_out,
    };

    answer.state = app_state_at(app, now_ms, &answer.since_ms);
    if (app_state_lasts_ms(answer.state) != INT64_MAX) {
        answer.until_ms = answer.since_ms + app_state_lasts_ms(answer.state);
    }
    return answer;
}

uint32_t sched_applications(const struct sched *sched, uint32_t queue,
                            int64_t now_ms, struct arena *arena,
                            struct sched_application **ret_applications)
{
    const struct app_queue *apps =
        queue < sched->queues.count ? sched->queues.items[queue].apps : NULL;
    uint32_t count = 0, capacity = 0;

    *ret_applications = NULL;
    for (int state = 0; apps && state < SCHED_APP_STATES; state++) {
        capacity += apps->count[state];
    }
    if (capacity == 0) {
        return 0;
    }
    struct sched_application *list =
        arena_alloc_array(arena, capacity, sizeof(*list));
    for (int state = 0; state < SCHED_APP_STATES; state++) {
        for (uint32_t at = apps->first[state]; at != NONE;
             at = sched->apps.items[at].next) {
            list[count] = answer_of(&sched->apps.items[at], now_ms);
            count += list[count].state != SCHED_APP_EXPIRED &&
                     list[count].state != SCHED_APP_NEW;
        }
    }
    qsort(list, count, sizeof(*list), compare_submissions);
    *ret_applications = list;
    return count;
}

void sched_application_counts(const struct sched *sched, uint32_t queue,
                              uint32_t ret_counts[SCHED_APP_STATES])
{
    const struct app_queue *apps =
        queue < sched->queues.count ? sched->queues.items[queue].apps : NULL;

    for (int state = 0; state < SCHED_APP_STATES; state++) {
        ret_counts[state] = apps ? apps->count[state] : 0;
    }
}

/* A checkpoint's part: queues by name, applications by id. */

struct packed_app {
    struct str id;
    const struct app *app;
};

static int compare_packed(const void *a, const void *b)
{
    const struct packed_app *x = a;
    const struct packed_app *y = b;

    return str_compare(x->id, y->id);
}

static void pack_queue(const struct sched *sched, struct strbuf *buf,
                       const struct queue *queue)
{
    auto_arena arena = {0};
    uint32_t count = 0, capacity = 0;

    /* A new one only has borrowers, which come again by themselves. */
    for (int state = SCHED_APP_NEW + 1; state < SCHED_APP_STATES; state++) {
        capacity += queue->apps->count[state];
    }
    struct packed_app *list =
        arena_alloc_array(&arena, (size_t)capacity + 1, sizeof(*list));
    for (int state = SCHED_APP_NEW + 1; state < SCHED_APP_STATES; state++) {
        for (uint32_t at = queue->apps->first[state]; at != NONE;
             at = sched->apps.items[at].next) {
            const struct app *app = &sched->apps.items[at];
            list[count++] = (struct packed_app){id_of(app), app};
        }
    }
    qsort(list, count, sizeof(*list), compare_packed);
    pack_str(buf, str_make(queue->name, queue->name_bytes));
    pack_u64(buf, count);
    for (uint32_t i = 0; i < count; i++) {
        pack_str(buf, list[i].id);
        pack_u64(buf, list[i].app->state);
        pack_i64(buf, list[i].app->since_ms);
        pack_i64(buf, list[i].app->submitted_ms);
        pack_key128(buf, list[i].app->first.v);
        pack_u64(buf, list[i].app->is_opted_out);
    }
}

void apps_pack(const struct sched *sched, struct strbuf *buf)
{
    uint32_t count = 0;

    for (size_t i = 0; i < sched->queues.count; i++) {
        count += sched->queues.items[i].apps != NULL;
    }
    if (count == 0) {
        return;
    }
    pack_u64(buf, count);
    for (struct seq_cursor at = {0}; !seq_is_end(&sched->queues_by_name, at);
         seq_next(&sched->queues_by_name, &at)) {
        const struct queue *queue =
            &sched->queues.items[seq_get(&sched->queues_by_name, at)];
        if (queue->apps) {
            pack_queue(sched, buf, queue);
        }
    }
}

static void unpack_app(struct sched *sched, uint32_t queue,
                       struct pack_reader *reader)
{
    struct str id = unpack_str(reader);
    struct app as = {
        .state =
            (enum sched_app_state)unpack_count(reader, SCHED_APP_STATES - 1),
    };

    as.since_ms = unpack_i64(reader);
    as.submitted_ms = unpack_i64(reader);
    as.first.v = unpack_key128(reader);
    as.is_opted_out = unpack_count(reader, 1);
    if (!reader->is_bad && queue != NONE) {
        app_restore(sched, app_get(sched, queue, id), &as);
    }
}

void apps_unpack(struct sched *sched, struct history_reader *history)
{
    struct pack_reader *reader = &history->pack;
    uint32_t queue_count = unpack_count(reader, QUEUES_MAX);

    for (uint32_t q = 0; q < queue_count && !reader->is_bad; q++) {
        uint32_t queue = queue_by_name(sched, unpack_str(reader));
        uint32_t app_count = unpack_count(reader, UINT32_MAX);
        if (queue != NONE && !sched->queues.items[queue].apps) {
            queue = NONE; /* it no longer goes by applications */
        }
        for (uint32_t i = 0; i < app_count && !reader->is_bad; i++) {
            unpack_app(sched, queue, reader);
        }
    }
    apps_restored(sched);
}

/* Whether what is kept by deltas is what the jobs say. */

struct sums {
    uint32_t ask_count, allocation_count, borrower_count, list_count;
};

static bool is_app_right(const struct sched *sched, uint32_t index,
                         const struct sums *sums)
{
    const struct app *app = &sched->apps.items[index];
    bool has_jobs = app->ask_count || app->allocation_count;
    bool is_new = app->state == SCHED_APP_NEW;
    bool is_at_rest =
        app->state == SCHED_APP_COMPLETING || app->state == SCHED_APP_COMPLETED;

    return app->ask_count == sums->ask_count + app->lent_count &&
           app->allocation_count == sums->allocation_count &&
           app->borrowers.count == sums->borrower_count &&
           app->lists.count == sums->list_count &&
           app->is_ready == (app->lists.count > 0) &&
           (is_new ? app->borrowers.count && !has_jobs
                   : has_jobs != is_at_rest) &&
           (app->state != SCHED_APP_ACCEPTED || app->allocation_count == 0) &&
           (app->state != SCHED_APP_STARTING || app->allocation_count == 1) &&
           app->state != SCHED_APP_EXPIRED;
}

bool apps_are_right(const struct sched *sched, struct arena *arena)
{
    struct sums *sums =
        arena_alloc_array(arena, sched->apps.count + 1, sizeof(*sums));

    for (size_t i = 0; i < sched->jobs.count; i++) {
        const struct job *job = &sched->jobs.items[i];
        uint32_t app =
            job->list == LIST_NONE ? NONE : sched->lists.items[job->list].app;
        if (app != NONE) {
            bool is_borrowed = borrowed_has(sched, (uint32_t)i);
            sums[app].ask_count += job->run == NONE && !is_borrowed;
            sums[app].borrower_count += job->run == NONE && is_borrowed;
            sums[app].allocation_count += job->run != NONE;
        }
        if (job->list != LIST_NONE &&
            (app != NONE) !=
                (sched->queues.items[sched->lists.items[job->list].queue]
                     .apps != NULL)) {
            return false;
        }
    }
    for (size_t i = 0; i < sched->lists.count; i++) {
        const struct list *list = &sched->lists.items[i];
        if (list->use_count && list->app != NONE) {
            sums[list->app].list_count += list->seq.count > 0;
        }
    }
    for (uint32_t i = 0; i < sched->apps.count; i++) {
        if (sched->apps.items[i].id && !is_app_right(sched, i, &sums[i])) {
            return false;
        }
    }
    return true;
}
