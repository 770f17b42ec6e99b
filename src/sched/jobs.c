#include <string.h>

#include "sched/admitted.h"
#include "sched/apps.h"
#include "sched/fronts.h"
#include "sched/hops.h"
#include "sched/lend.h"
#include "sched/penalty.h"
#include "sched/rates.h"
#include "sched/ripe.h"
#include "sched/standing.h"
#include "sched/sub_groups.h"
#include "sched/truce.h"

bool job_less(const void *context, uint32_t a, uint32_t b)
{
    const struct sched *sched = context;

    return job_is_before(&sched->jobs.items[a], &sched->jobs.items[b]);
}

uint32_t account_get(struct sched *sched, uint32_t queue, uint32_t pool,
                     uint32_t priority_class)
{
    struct queue *q = &sched->queues.items[queue];
    uint32_t at = q->account_first;

    for (; at != NONE; at = sched->accounts.items[at].next) {
        const struct account *account = &sched->accounts.items[at];
        if (account->pool == pool &&
            account->priority_class == priority_class) {
            return at;
        }
    }
    if (sched->spare_accounts.count) {
        at = sched->spare_accounts.items[--sched->spare_accounts.count];
    } else {
        at = (uint32_t)sched->accounts.count;
        VEC_PUSH(&sched->accounts, (struct account){0});
    }
    sched->accounts.items[at] = (struct account){
        .queue = queue,
        .pool = pool,
        .next = q->account_first,
        .run_first = NONE,
        .priority_class = (uint8_t)priority_class,
    };
    q->account_first = at;
    return at;
}

/* The key of a class's list, or of a list of gangs (class_index NONE) of one
 * level. */
static struct key128 list_key(uint32_t queue, uint32_t class_index,
                              uint32_t level, uint32_t pool, uint32_t app)
{
    uint32_t kind = (class_index == NONE) | (level & LIST_FOREIGN ? 2u : 0);

    return (struct key128){
        (uint64_t)queue << 32 |
            (class_index == NONE ? level & UINT8_MAX : class_index),
        (uint64_t)app << 32 | (uint32_t)(pool + 1) << 2 | kind,
    };
}

uint32_t list_get(struct sched *sched, uint32_t queue, uint32_t class_index,
                  uint32_t level, uint32_t pool, uint32_t app)
{
    struct key128 key = list_key(queue, class_index, level, pool, app);
    uint32_t at = map_find(&sched->list_map, key);

    if (at != MAP_NONE) {
        sched->lists.items[at].use_count++;
        return at;
    }
    if (sched->spare_lists.count) {
        at = sched->spare_lists.items[--sched->spare_lists.count];
    } else {
        at = (uint32_t)sched->lists.count;
        ASSERT(at < LIST_NONE);
        VEC_PUSH(&sched->lists, (struct list){0});
    }
    struct list *list = &sched->lists.items[at];
    *list = (struct list){
        .queue = queue,
        .class_index = class_index,
        .pool = pool,
        .app = app,
        .account = NONE,
        .use_count = 1,
        .place = NONE,
        .level = (uint8_t)level,
        .is_foreign = level & LIST_FOREIGN,
    };
    if (class_index != NONE) {
        struct class *class = &sched->classes.items[class_index];
        class->list_count++;
        list->account = account_get(sched, queue, pool, class->priority_class);
    }
    map_put(&sched->list_map, key, at);
    return at;
}

void list_put(struct sched *sched, uint32_t at)
{
    struct list *list = &sched->lists.items[at];

    if (--list->use_count > 0) {
        return;
    }
    ASSERT(list->seq.count == 0 && list->place == NONE);
    map_remove(&sched->list_map,
               list_key(list->queue, list->class_index, list_level(list),
                        list->pool, list->app));
    if (list->class_index != NONE) {
        sched->classes.items[list->class_index].list_count--;
    }
    VEC_PUSH(&sched->spare_lists, at);
}

void list_refresh(struct sched *sched, uint32_t at)
{
    const struct list *list = &sched->lists.items[at];
    bool is_in = list->seq.count > 0;

    if (list->app == NONE) {
        fronts_refresh(sched, at);
    } else if (is_in != (list->place != NONE)) {
        app_list(sched, list->app, at, is_in);
    }
}

static struct class *class_of(struct sched *sched, const struct job *job)
{
    uint32_t c = sched->lists.items[job->list].class_index;

    return &sched->classes.items[c];
}

/* One more or less of what a queue has: only the first and the last matter to
 * whether it has jobs at all. */
static void count_of_queue(struct sched *sched, uint32_t queue, uint32_t *count,
                           int sign)
{
    *count += (uint32_t)sign;
    if (*count <= 1) {
        queue_refresh(sched, queue);
    }
}

/* Count a waiting job in (+1) or out (-1). */
static void count_waiting(struct sched *sched, const struct job *job, int sign)
{
    const struct list *list = &sched->lists.items[job->list];
    struct account *account = &sched->accounts.items[list->account];
    bool has_terms = job->gang != NONE && sched->gangs.items[job->gang].subs;

    if (!has_terms) { /* else what is asked for is demand, not all */
        amounts_count(&account->queued, &class_of(sched, job)->request, sign);
    }
    account->queued_count += (uint32_t)sign;
    sched->foreign_waiting_count += list->is_foreign ? (uint32_t)sign : 0;
    count_of_queue(sched, list->queue,
                   &sched->queues.items[list->queue].waiting_count, sign);
}

void job_wait(struct sched *sched, uint32_t index)
{
    struct job *job = &sched->jobs.items[index];

    count_waiting(sched, job, 1);
    if (job->gang != NONE && sched->gangs.items[job->gang].subs) {
        sub_groups_wait(sched, index);
    } else if (job->gang != NONE) {
        struct gang *gang = &sched->gangs.items[job->gang];
        amounts_add(&gang->waiting_sum, &class_of(sched, job)->request);
        gang->least_count = 0;
        seq_insert(&gang->waiting, index, job_less, sched);
    } else {
        seq_insert(&sched->lists.items[job->list].seq, index, job_less, sched);
        list_refresh(sched, job->list);
    }
}

void job_unwait(struct sched *sched, uint32_t index)
{
    struct job *job = &sched->jobs.items[index];

    count_waiting(sched, job, -1);
    if (job->gang != NONE && sched->gangs.items[job->gang].subs) {
        sub_groups_unwait(sched, index);
    } else if (job->gang != NONE) {
        struct gang *gang = &sched->gangs.items[job->gang];
        amounts_subtract(&gang->waiting_sum, &class_of(sched, job)->request);
        gang->least_count = 0;
        seq_remove(&gang->waiting, index, job_less, sched);
    } else {
        seq_remove(&sched->lists.items[job->list].seq, index, job_less, sched);
        list_refresh(sched, job->list);
    }
}

/* Chain a run into its account, or take it out. */
static void chain_account(struct sched *sched, uint32_t index, int sign)
{
    struct run *run = &sched->runs.items[index];
    struct account *account = &sched->accounts.items[run->account];

    if (sign > 0) {
        run->account_next = account->run_first;
        run->account_previous = NONE;
        if (account->run_first != NONE) {
            sched->runs.items[account->run_first].account_previous = index;
        }
        account->run_first = index;
    } else {
        if (run->account_next != NONE) {
            sched->runs.items[run->account_next].account_previous =
                run->account_previous;
        }
        if (run->account_previous != NONE) {
            sched->runs.items[run->account_previous].account_next =
                run->account_next;
        } else {
            account->run_first = run->account_next;
        }
    }
}

static void count_run(struct sched *sched, uint32_t index, int sign)
{
    struct run *run = &sched->runs.items[index];
    const struct job *job = &sched->jobs.items[run->job];
    struct account *account = &sched->accounts.items[run->account];

    amounts_count(&account->allocated, &class_of(sched, job)->request, sign);
    account->leased_count += (uint32_t)sign;
    count_of_queue(sched, account->queue,
                   &sched->queues.items[account->queue].leased_count, sign);
    uint32_t app = sched->lists.items[job->list].app;
    if (app != NONE) {
        app_use(sched, app, account->pool, &class_of(sched, job)->request,
                sign);
    }
    standing_change(sched, job->list, account->pool, sign);
    chain_account(sched, index, sign);
    ripe_note_run(sched, index, sign);
    lend_count_run(sched, run, sign);
    sched->protected_run_count += run->is_protected ? (uint32_t)sign : 0;
    node_add_run(sched, index, sign);
}

void run_link(struct sched *sched, uint32_t index)
{
    struct run *run = &sched->runs.items[index];
    const struct job *job = &sched->jobs.items[run->job];
    const struct class *class = class_of(sched, job);

    run->level = (uint8_t)level_of(sched, run->priority);
    run->is_preemptible =
        sched->policy->classes[class->priority_class].is_preemptible;
    if (lend_is_foreign(sched, run->job)) { /* whatever its class is at home */
        run->level = 0;
        run->is_preemptible = true;
    }
    run->account =
        account_get(sched, sched->lists.items[job->list].queue,
                    sched->nodes.items[run->node].pool, class->priority_class);
    count_run(sched, index, 1);
    if (job->gang != NONE) {
        struct gang *gang = &sched->gangs.items[job->gang];
        seq_insert(&gang->leased, run->job, job_less, sched);
        if (gang->subs) {
            sub_groups_run(sched, run->job, 1);
        }
    }
}

void run_unlink(struct sched *sched, uint32_t index)
{
    const struct run *run = &sched->runs.items[index];
    const struct job *job = &sched->jobs.items[run->job];

    count_run(sched, index, -1);
    if (job->gang != NONE) {
        struct gang *gang = &sched->gangs.items[job->gang];
        seq_remove(&gang->leased, run->job, job_less, sched);
        if (gang->subs) {
            sub_groups_run(sched, run->job, -1);
        }
    }
}

static struct job *job_get(struct sched *sched, uint32_t index)
{
    ASSERT(index < sched->jobs.count);
    struct job *job = &sched->jobs.items[index];

    ASSERT(job->list != LIST_NONE);
    return job;
}

/* Whether a job has had a run: its gang was complete once, then. */
static void mark_leased(struct sched *sched, struct job *job, bool was_leased)
{
    if (job->gang != NONE) {
        sched->gangs.items[job->gang].started_count +=
            (uint32_t)was_leased - job->was_leased;
    }
    job->was_leased = was_leased;
}

/* The application of a job that comes to wait, which hears of it. */
static uint32_t app_of_new(struct sched *sched, const struct job *job,
                           const struct sched_job *record)
{
    uint32_t app = app_get(sched, record->queue, record->application);

    if (record->is_foreign) {
        app_guest(sched, app, 1, job, record->has_stateaware_off);
    } else if (record->is_back && sched->apps.items[app].lent_count > 0) {
        app_lend(sched, app, -1); /* it asked all the while */
    } else {
        app_count(sched, app, 1, 0, APP_ASKED);
        app_describe(sched, app, job, record->has_stateaware_off);
    }
    return app;
}

void sched_job_add(struct sched *sched, uint32_t index,
                   const struct sched_job *record)
{
    ASSERT(index < SCHED_JOBS_MAX && record->queue < sched->queues.count);
    ASSERT(sched->queues.items[record->queue].name);
    while (sched->jobs.count <= index) {
        VEC_PUSH(&sched->jobs, (struct job){
                                   .list = LIST_NONE,
                                   .gang = NONE,
                                   .run = NONE,
                               });
    }
    while (sched->job_flags.count <= index) {
        VEC_PUSH(&sched->job_flags, 0);
    }
    struct job *job = &sched->jobs.items[index];
    uint32_t pool =
        record->pool.byte_count ? pool_get(sched, record->pool) : NONE;
    uint32_t level = sched->classes.items[record->class_index].level |
                     (record->is_foreign ? (uint32_t)LIST_FOREIGN : 0);
    uint32_t app = NONE;

    ASSERT(job->list == LIST_NONE);
    sched->version++;
    truce_news(sched);
    *job = (struct job){
        .id = record->id,
        .submitted_ms = record->submitted_ms,
        .priority = record->priority,
        .gang = NONE,
        .run = NONE,
    };
    if (sched->queues.items[record->queue].apps) {
        app = app_of_new(sched, job, record);
    }
    job->list =
        list_get(sched, record->queue, record->class_index, level, pool, app) &
        LIST_NONE;
    if (record->gang_id.byte_count &&
        (record->gang_cardinality > 1 || record->gang_terms.byte_count)) {
        job->gang = gang_get(sched, record, level, pool);
        gang_detach(sched, job->gang);
        if (sched->gangs.items[job->gang].subs) {
            sub_groups_join(sched, index, record->sub_group);
        }
    }
    job_wait(sched, index);
    mark_leased(sched, job, record->was_leased);
    if (job->gang != NONE) {
        gang_attach(sched, job->gang);
    }
}

/* Tell a job's application, if it has one, that the job waits or asks for
 * nothing any more (`asks`), and has or loses a lease. */
static void tell_app(struct sched *sched, const struct job *job, int asks,
                     int allocations, enum app_event event)
{
    uint32_t app = sched->lists.items[job->list].app;
    bool is_guest = sched->lists.items[job->list].is_foreign;

    if (app == NONE) {
        return;
    }
    if (is_guest && event == APP_ALLOCATED) {
        bool is_opted_out = sched->apps.items[app].is_guest_opted_out;
        app_count(sched, app, 1, 0, APP_ASKED);
        app_describe(sched, app, job, is_opted_out);
        app_count(sched, app, -1, 1, APP_ALLOCATED);
        app_guest(sched, app, -1, job, false);
        return;
    }
    if (allocations || !is_guest) {
        app_count(sched, app, is_guest ? 0 : asks, allocations, event);
    }
    if (is_guest && asks) {
        app_guest(sched, app, asks, job, false);
    }
}

/* Starts that rate limits count. */
static void count_start(struct sched *sched, uint32_t index, int64_t now_ms)
{
    const struct run *run = &sched->runs.items[index];
    const struct job *job = &sched->jobs.items[run->job];
    const struct policy *policy = sched->policy;
    uint32_t p = sched->nodes.items[run->node].pool;

    struct bucket_rule all = rate_rule(&policy->rate_global);
    struct bucket_rule queue = rate_rule(&policy->rate_per_queue);
    uint32_t q = sched->lists.items[job->list].queue;

    bucket_take(&sched->bucket, &all, 1, now_ms);
    bucket_take(&sched->queues.items[q].bucket, &queue, 1, now_ms);
    for (uint32_t r = 0; p != NONE && r < policy->schema.column_count; r++) {
        struct bucket_rule rule = start_rule(sched, p, r);
        bucket_take(&sched->pools.items[p].start[r], &rule,
                    class_of(sched, job)->request.v[r], now_ms);
    }
}

void sched_job_lease(struct sched *sched, uint32_t index, uint32_t node,
                     int32_t priority, int64_t now_ms, bool is_counted)
{
    struct job *job = job_get(sched, index);
    uint32_t run;

    ASSERT(job->run == NONE && node < sched->nodes.count &&
           sched->nodes.items[node].name);
    sched->version++;
    admitted_leave(sched, index);
    if (job->gang != NONE) {
        gang_detach(sched, job->gang);
    }
    job_unwait(sched, index);
    if (sched->spare_runs.count) {
        run = sched->spare_runs.items[--sched->spare_runs.count];
    } else {
        run = (uint32_t)sched->runs.count;
        VEC_PUSH(&sched->runs, (struct run){0});
    }
    sched->runs.items[run] = (struct run){
        .job = index,
        .node = node,
        .priority = priority,
        .leased_ms = now_ms,
        .started_ms = INT64_MAX,
        .unit = NONE,
    };
    job->run = run;
    run_link(sched, run);
    tell_app(sched, job, -1, 1, APP_ALLOCATED);
    mark_leased(sched, job, true);
    if (job->gang != NONE) {
        gang_attach(sched, job->gang);
    }
    if (is_counted) {
        count_start(sched, run, now_ms);
    }
}

bool sched_job_started(struct sched *sched, uint32_t index)
{
    const struct job *job = job_get(sched, index);
    const struct class *class = class_of(sched, job);

    if (job->run == NONE ||
        sched->runs.items[job->run].started_ms != INT64_MAX) {
        return false;
    }
    ripe_age_from(sched, job->run, sched->now_ms);
    bool is_bound = class->deadline_ms != INT64_MAX;
    bool has_age =
        class->lifetime_ms > 0 && class->lifetime_ms != LIFETIME_INFINITE;
    if (is_bound || has_age) {
        node_count_change(sched, sched->runs.items[job->run].node);
    }
    bool matters = has_age || (is_bound && admitted_is_any(sched));
    sched->version += matters;
    return matters;
}

void sched_job_age_from(struct sched *sched, uint32_t index, int64_t at_ms)
{
    const struct job *job = job_get(sched, index);

    ASSERT(job->run != NONE);
    ripe_age_from(sched, job->run, at_ms);
    node_count_change(sched, sched->runs.items[job->run].node);
    sched->version++;
}

int64_t sched_job_age_of(const struct sched *sched, uint32_t index)
{
    uint32_t run = sched->jobs.items[index].run;

    return run == NONE ? INT64_MAX : sched->runs.items[run].started_ms;
}

/* Take the lease off. */
static void drop_run(struct sched *sched, struct job *job)
{
    uint32_t run = job->run;

    admitted_forget_yielder(sched, run);
    penalty_take(sched, &sched->runs.items[run]);
    run_unlink(sched, run);
    job->run = NONE;
    VEC_PUSH(&sched->spare_runs, run);
}

static void forget_avoided(struct sched *sched, uint32_t index)
{
    if (!(sched->job_flags.items[index] & JOB_AVOIDS)) {
        return;
    }
    uint32_t at = map_remove(&sched->avoid_map, key_of_u64(index));
    struct avoid_list *avoid = &sched->avoids.items[at];
    for (uint32_t i = 0; i < avoid->count; i++) {
        sched->nodes.items[avoid->nodes[i]].avoid_count--;
        node_touch(sched, avoid->nodes[i]);
    }
    VEC_PUSH(&sched->spare_avoids, at);
    sched->job_flags.items[index] &= (uint8_t)~JOB_AVOIDS;
}

void sched_job_avoid(struct sched *sched, uint32_t index, uint32_t node)
{
    uint32_t at;

    (void)job_get(sched, index);
    ASSERT(node < sched->nodes.count && sched->nodes.items[node].name);
    sched->version++;
    if (!(sched->job_flags.items[index] & JOB_AVOIDS)) {
        if (sched->spare_avoids.count) {
            at = sched->spare_avoids.items[--sched->spare_avoids.count];
        } else {
            at = (uint32_t)sched->avoids.count;
            VEC_PUSH(&sched->avoids, (struct avoid_list){0});
        }
        sched->avoids.items[at] = (struct avoid_list){0};
        map_put(&sched->avoid_map, key_of_u64(index), at);
        sched->job_flags.items[index] |= JOB_AVOIDS;
    }
    if (job_avoids(sched, index, node)) {
        return;
    }
    at = map_find(&sched->avoid_map, key_of_u64(index));
    struct avoid_list *avoid = &sched->avoids.items[at];
    if (avoid->count == SCHED_AVOIDED_NODES_MAX) {
        sched->nodes.items[avoid->nodes[0]].avoid_count--;
        node_touch(sched, avoid->nodes[0]);
        avoid->count--;
        memmove(avoid->nodes, avoid->nodes + 1,
                avoid->count * sizeof(*avoid->nodes));
    }
    avoid->nodes[avoid->count++] = node;
    sched->nodes.items[node].avoid_count++;
}

void sched_job_requeue(struct sched *sched, uint32_t index, uint32_t avoid_node)
{
    struct job *job = job_get(sched, index);

    ASSERT(job->run != NONE);
    sched->version++;
    charge_refund(sched, index);
    if (avoid_node != NONE) {
        sched_job_avoid(sched, index, avoid_node);
    }
    if (job->gang != NONE) {
        gang_detach(sched, job->gang);
        hops_requeued(sched, &sched->gangs.items[job->gang]);
    }
    drop_run(sched, job);
    job_wait(sched, index);
    tell_app(sched, job, 1, -1, APP_RELEASED);
    if (job->gang != NONE) {
        gang_attach(sched, job->gang);
    }
}

static void job_remove(struct sched *sched, uint32_t index, bool is_lent)
{
    struct job *job = job_get(sched, index);
    uint32_t app = sched->lists.items[job->list].app;

    sched->version++;
    truce_forget(sched, index, false);
    truce_news(sched);
    charge_refund(sched, index);
    if (job->gang == NONE) {
        admitted_leave(sched, index);
    } else {
        gang_detach(sched, job->gang);
    }
    bool was_leased = job->run != NONE;
    if (was_leased) {
        drop_run(sched, job);
    } else {
        job_unwait(sched, index);
    }
    if (!is_lent) {
        tell_app(sched, job, -!was_leased, -was_leased, APP_RELEASED);
    } else if (app != NONE) {
        app_lend(sched, app, 1);
    }
    mark_leased(sched, job, false);
    if (job->gang != NONE) {
        gang_attach(sched, job->gang);
    }
    forget_avoided(sched, index);
    /* Whoever has the number next was not missed. */
    sched->job_flags.items[index] &=
        (uint8_t) ~(JOB_SWEPT_FAST | JOB_SWEPT_BALANCE);
    list_put(sched, job->list);
    *job = (struct job){.list = LIST_NONE, .gang = NONE, .run = NONE};
    if (app != NONE) {
        app_drop_new(sched, app);
    }
}

void sched_job_remove(struct sched *sched, uint32_t index)
{
    job_remove(sched, index, false);
}

void sched_job_lend(struct sched *sched, uint32_t index)
{
    ASSERT(job_get(sched, index)->run == NONE &&
           !sched_job_is_foreign(sched, index));
    job_remove(sched, index, true);
}

void sched_job_reprioritise(struct sched *sched, uint32_t index,
                            uint32_t priority)
{
    struct job *job = job_get(sched, index);

    sched->version++;
    truce_news(sched);
    if (job->gang != NONE) {
        gang_detach(sched, job->gang);
    }
    if (job->run == NONE) {
        job_unwait(sched, index);
        job->priority = priority;
        job_wait(sched, index);
    } else {
        sched->is_relinking = true;
        run_unlink(sched, job->run);
        job->priority = priority;
        run_link(sched, job->run);
        sched->is_relinking = false;
    }
    if (job->gang != NONE) {
        gang_attach(sched, job->gang);
    }
}

bool sched_job_repack(struct sched *sched, uint32_t index, uint32_t node)
{
    struct job *job = job_get(sched, index);

    ASSERT(job->run != NONE && node < sched->nodes.count);
    uint32_t from = sched->runs.items[job->run].node;
    if (sched->nodes.items[node].pool != sched->nodes.items[from].pool) {
        return false;
    }
    if (from == node) {
        return true;
    }
    sched->version++;
    if (job->gang != NONE) {
        gang_detach(sched, job->gang);
    }
    sched->is_relinking = true;
    run_unlink(sched, job->run);
    sched->runs.items[job->run].node = node;
    run_link(sched, job->run);
    sched->is_relinking = false;
    if (job->gang != NONE) {
        gang_attach(sched, job->gang);
    }
    return true;
}

uint32_t sched_job_node(const struct sched *sched, uint32_t index)
{
    if (index >= sched->jobs.count ||
        sched->jobs.items[index].list == LIST_NONE ||
        sched->jobs.items[index].run == NONE) {
        return NONE;
    }
    return sched->runs.items[sched->jobs.items[index].run].node;
}

struct resource_vec sched_job_request(const struct sched *sched, uint32_t index)
{
    ASSERT(index < sched->jobs.count &&
           sched->jobs.items[index].list != LIST_NONE);
    uint32_t list = sched->jobs.items[index].list;

    return sched->classes.items[sched->lists.items[list].class_index].request;
}

void jobs_fini(struct sched *sched)
{
    for (size_t i = 0; i < sched->lists.count; i++) {
        seq_fini(&sched->lists.items[i].seq);
    }
    for (size_t i = 0; i < sched->gangs.count; i++) {
        seq_fini(&sched->gangs.items[i].waiting);
        seq_fini(&sched->gangs.items[i].leased);
        mem_free(sched->gangs.items[i].id);
        mem_free(sched->gangs.items[i].uniformity);
        sub_groups_destroy(sched->gangs.items[i].subs);
    }
    VEC_FREE(&sched->jobs);
    VEC_FREE(&sched->job_flags);
    VEC_FREE(&sched->sub_groups);
    VEC_FREE(&sched->lists);
    VEC_FREE(&sched->spare_lists);
    VEC_FREE(&sched->gangs);
    VEC_FREE(&sched->spare_gangs);
    VEC_FREE(&sched->runs);
    VEC_FREE(&sched->spare_runs);
    VEC_FREE(&sched->avoids);
    VEC_FREE(&sched->spare_avoids);
    map_fini(&sched->list_map);
    map_fini(&sched->gang_map);
    map_fini(&sched->avoid_map);
}
