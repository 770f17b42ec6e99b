#include "sched/evict/evictable.h"

#include "base/heap.h"
#include "base/time_add.h"
#include "sched/evict/losses.h"

static const struct class *class_of_run(const struct sched *sched,
                                        const struct run *run)
{
    uint32_t list = sched->jobs.items[run->job].list;

    return &sched->classes.items[sched->lists.items[list].class_index];
}

int64_t evictable_at_ms(const struct sched *sched, const struct run *run)
{
    int64_t lived_ms = evictable_lived_ms(sched, run);
    int64_t protected_ms = losses_protect_until_ms(sched, run);

    return lived_ms > protected_ms ? lived_ms : protected_ms;
}

int64_t evictable_lived_ms(const struct sched *sched, const struct run *run)
{
    int64_t lifetime_ms = class_of_run(sched, run)->lifetime_ms;

    if (lifetime_ms == 0) {
        return INT64_MIN;
    }
    return time_add_saturating(run->started_ms, lifetime_ms);
}

struct evictable_key evictable_key_of(const struct sched *sched, uint32_t index)
{
    const struct run *run = &sched->runs.items[index];
    const struct job *job = &sched->jobs.items[run->job];

    return (struct evictable_key){
        .leased_ms = run->leased_ms,
        .submitted_ms = job->submitted_ms,
        .priority = job->priority,
        .job = run->job,
        .level = run->level,
    };
}

/* The order of a seq of runs. */
static bool run_less(const void *context, uint32_t a, uint32_t b)
{
    const struct sched *sched = context;
    struct evictable_key first = evictable_key_of(sched, a);
    struct evictable_key second = evictable_key_of(sched, b);

    return evictable_goes_before(sched, &first, &second);
}

/* The heap of those that will be evictable. */

static bool is_evictable_before(const struct sched *sched,
                                const struct next_evictable *a,
                                const struct next_evictable *b)
{
    (void)sched;
    return a->at_ms < b->at_ms;
}

static void note_place(struct sched *sched, const struct next_evictable *item,
                       size_t at)
{
    sched->runs.items[item->run].evictable_place = (uint32_t)at;
}

DEFINE_HEAP(next_evictable, struct next_evictable, 2, struct sched *,
            is_evictable_before, note_place);

/* What an account remembers. */

static void add(struct sched *sched, struct evictable *evictable,
                uint32_t index)
{
    struct run *run = &sched->runs.items[index];
    int64_t at_ms = evictable_at_ms(sched, run);

    run->evictable_place = NONE;
    if (at_ms <= evictable->now_ms) {
        run->evictable_place = EVICTABLE_NOW;
        seq_insert(&evictable->runs, index, run_less, sched);
    } else if (at_ms != INT64_MAX) {
        VEC_RESERVE(&evictable->next, 1);
        next_evictable_rise(sched, evictable->next.items,
                            evictable->next.count++,
                            (struct next_evictable){at_ms, index});
    }
}

static void take(struct sched *sched, struct evictable *evictable,
                 uint32_t index)
{
    uint32_t place = sched->runs.items[index].evictable_place;

    if (place == EVICTABLE_NOW) {
        seq_remove(&evictable->runs, index, run_less, sched);
    } else if (place != NONE) {
        ASSERT(place < evictable->next.count &&
               evictable->next.items[place].run == index);
        next_evictable_remove(sched, evictable->next.items,
                              --evictable->next.count, place);
    }
}

static bool is_member(const struct sched *sched, uint32_t run)
{
    return sched->jobs.items[sched->runs.items[run].job].gang != NONE;
}

/* Ask all runs of an account, the oldest first: these mostly come in order. */
static void fill(struct sched *sched, struct evictable *evictable,
                 const struct account *account)
{
    uint32_t last = NONE;

    for (uint32_t run = account->run_first; run != NONE;
         run = sched->runs.items[run].account_next) {
        last = run;
    }
    for (uint32_t run = last; run != NONE;
         run = sched->runs.items[run].account_previous) {
        evictable->gang_run_count += is_member(sched, run);
        add(sched, evictable, run);
    }
}

const struct evictable *evictable_of(struct sched *sched, uint32_t index,
                                     int64_t now_ms)
{
    struct account *account = &sched->accounts.items[index];

    if (account->evictable && now_ms < account->evictable->now_ms) {
        evictable_forget(sched, index); /* a question about another time */
    }
    struct evictable *evictable = account->evictable;
    if (!evictable) {
        evictable = account->evictable = mem_alloc(sizeof(*evictable));
        evictable->now_ms = now_ms;
        fill(sched, evictable, account);
    }
    evictable->now_ms = now_ms;
    while (evictable->next.count && evictable->next.items[0].at_ms <= now_ms) {
        uint32_t run = evictable->next.items[0].run;
        next_evictable_remove(sched, evictable->next.items,
                              --evictable->next.count, 0);
        add(sched, evictable, run);
    }
    return evictable;
}

int64_t evictable_next_ms(const struct evictable *evictable)
{
    return evictable->next.count ? evictable->next.items[0].at_ms : INT64_MAX;
}

void evictable_note_run(struct sched *sched, uint32_t run, int sign)
{
    struct evictable *evictable =
        sched->accounts.items[sched->runs.items[run].account].evictable;

    if (!evictable) {
        return;
    }
    ASSERT(sign == 1 ||
           (sign == -1 && evictable->gang_run_count >= is_member(sched, run)));
    evictable->gang_run_count += is_member(sched, run) * (uint32_t)sign;
    if (sign > 0) {
        add(sched, evictable, run);
    } else {
        take(sched, evictable, run);
    }
}

void evictable_age_from(struct sched *sched, uint32_t index, int64_t started_ms)
{
    struct run *run = &sched->runs.items[index];
    struct evictable *evictable = sched->accounts.items[run->account].evictable;
    bool is_moving =
        evictable && (class_of_run(sched, run)->lifetime_ms != 0 ||
                      losses_protect_until_ms(sched, run) != INT64_MIN);

    if (is_moving) {
        take(sched, evictable, index);
    }
    run->started_ms = started_ms;
    if (is_moving) {
        add(sched, evictable, index);
    }
}

void evictable_forget(struct sched *sched, uint32_t account)
{
    struct evictable *evictable = sched->accounts.items[account].evictable;

    if (evictable) {
        seq_fini(&evictable->runs);
        VEC_FREE(&evictable->next);
        mem_free(evictable);
        sched->accounts.items[account].evictable = NULL;
    }
}

void evictable_forget_queue(struct sched *sched, uint32_t queue)
{
    for (uint32_t at = sched->queues.items[queue].account_first; at != NONE;
         at = sched->accounts.items[at].next) {
        evictable_forget(sched, at);
    }
}

void evictable_fini(struct sched *sched)
{
    for (uint32_t i = 0; i < sched->accounts.count; i++) {
        evictable_forget(sched, i);
    }
}

/* Whether a run is where its time says. */
static bool is_run_right(const struct sched *sched,
                         const struct evictable *evictable, uint32_t index)
{
    const struct run *run = &sched->runs.items[index];
    int64_t at_ms = evictable_at_ms(sched, run);

    if (at_ms <= evictable->now_ms) {
        return run->evictable_place == EVICTABLE_NOW;
    }
    if (at_ms == INT64_MAX) {
        return run->evictable_place == NONE;
    }
    return run->evictable_place < evictable->next.count &&
           evictable->next.items[run->evictable_place].run == index &&
           evictable->next.items[run->evictable_place].at_ms == at_ms;
}

static bool is_account_right(const struct sched *sched,
                             const struct account *account)
{
    const struct evictable *evictable = account->evictable;
    uint32_t evictable_count = 0, next_count = 0, gang_run_count = 0;
    uint32_t last = NONE;

    for (uint32_t run = account->run_first; run != NONE;
         run = sched->runs.items[run].account_next) {
        uint32_t place = sched->runs.items[run].evictable_place;
        if (!is_run_right(sched, evictable, run)) {
            return false;
        }
        evictable_count += place == EVICTABLE_NOW;
        next_count += place < EVICTABLE_NOW;
        gang_run_count += is_member(sched, run);
    }
    for (struct seq_cursor at = {0}; !seq_is_end(&evictable->runs, at);
         seq_next(&evictable->runs, &at)) {
        uint32_t run = seq_get(&evictable->runs, at);
        if (last != NONE && !run_less(sched, last, run)) {
            return false;
        }
        last = run;
    }
    return evictable_count == evictable->runs.count &&
           next_count == evictable->next.count &&
           gang_run_count == evictable->gang_run_count;
}

bool evictable_is_right(const struct sched *sched, struct arena *scratch)
{
    (void)scratch;
    for (size_t i = 0; i < sched->accounts.count; i++) {
        const struct account *account = &sched->accounts.items[i];
        if (account->evictable && !is_account_right(sched, account)) {
            return false;
        }
    }
    return true;
}
