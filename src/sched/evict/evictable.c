#include "sched/evict/evictable.h"

#include "base/time_add.h"

static const struct class *class_of_run(const struct sched *sched,
                                        const struct run *run)
{
    uint32_t list = sched->jobs.items[run->job].list;

    return &sched->classes.items[sched->lists.items[list].class_index];
}

int64_t ripe_at_ms(const struct sched *sched, const struct run *run)
{
    int64_t lifetime_ms = class_of_run(sched, run)->lifetime_ms;

    if (lifetime_ms == 0) {
        return INT64_MIN;
    }
    return moment_after(run->started_ms, lifetime_ms);
}

struct ripe_key ripe_key_of(const struct sched *sched, uint32_t index)
{
    const struct run *run = &sched->runs.items[index];
    const struct job *job = &sched->jobs.items[run->job];

    return (struct ripe_key){
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
    struct ripe_key first = ripe_key_of(sched, a);
    struct ripe_key second = ripe_key_of(sched, b);

    return ripe_goes_before(sched, &first, &second);
}

/* The heap of those that will be ripe. */

static void put(struct sched *sched, struct ripe *ripe, uint32_t at,
                struct ripening item)
{
    ripe->next.items[at] = item;
    sched->runs.items[item.run].ripe_place = at;
}

static void rise(struct sched *sched, struct ripe *ripe, uint32_t at,
                 struct ripening item)
{
    while (at > 0 && item.at_ms < ripe->next.items[(at - 1) / 2].at_ms) {
        put(sched, ripe, at, ripe->next.items[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    put(sched, ripe, at, item);
}

static void sink(struct sched *sched, struct ripe *ripe, uint32_t at,
                 struct ripening item)
{
    for (;;) {
        uint32_t child = at * 2 + 1;
        if (child + 1 < ripe->next.count &&
            ripe->next.items[child + 1].at_ms < ripe->next.items[child].at_ms) {
            child++;
        }
        if (child >= ripe->next.count ||
            ripe->next.items[child].at_ms >= item.at_ms) {
            break;
        }
        put(sched, ripe, at, ripe->next.items[child]);
        at = child;
    }
    put(sched, ripe, at, item);
}

static void heap_remove(struct sched *sched, struct ripe *ripe, uint32_t at)
{
    struct ripening last = ripe->next.items[--ripe->next.count];

    if (at == ripe->next.count) {
        return;
    }
    if (at > 0 && last.at_ms < ripe->next.items[(at - 1) / 2].at_ms) {
        rise(sched, ripe, at, last);
    } else {
        sink(sched, ripe, at, last);
    }
}

/* What an account remembers. */

static void add(struct sched *sched, struct ripe *ripe, uint32_t index)
{
    struct run *run = &sched->runs.items[index];
    int64_t at_ms = ripe_at_ms(sched, run);

    run->ripe_place = NONE;
    if (at_ms <= ripe->now_ms) {
        run->ripe_place = RIPE_NOW;
        seq_insert(&ripe->runs, index, run_less, sched);
    } else if (at_ms != INT64_MAX) {
        VEC_PUSH(&ripe->next, (struct ripening){at_ms, index});
        rise(sched, ripe, (uint32_t)ripe->next.count - 1,
             (struct ripening){at_ms, index});
    }
}

static void take(struct sched *sched, struct ripe *ripe, uint32_t index)
{
    uint32_t place = sched->runs.items[index].ripe_place;

    if (place == RIPE_NOW) {
        seq_remove(&ripe->runs, index, run_less, sched);
    } else if (place != NONE) {
        heap_remove(sched, ripe, place);
    }
}

static bool is_member(const struct sched *sched, uint32_t run)
{
    return sched->jobs.items[sched->runs.items[run].job].gang != NONE;
}

/* Ask all runs of an account, the oldest first: these mostly come in order. */
static void fill(struct sched *sched, struct ripe *ripe,
                 const struct account *account)
{
    uint32_t last = NONE;

    for (uint32_t run = account->run_first; run != NONE;
         run = sched->runs.items[run].account_next) {
        last = run;
    }
    for (uint32_t run = last; run != NONE;
         run = sched->runs.items[run].account_previous) {
        ripe->gang_run_count += is_member(sched, run);
        add(sched, ripe, run);
    }
}

const struct ripe *ripe_of(struct sched *sched, uint32_t index, int64_t now_ms)
{
    struct account *account = &sched->accounts.items[index];

    if (account->ripe && now_ms < account->ripe->now_ms) {
        ripe_forget(sched, index); /* a question about another time */
    }
    struct ripe *ripe = account->ripe;
    if (!ripe) {
        ripe = account->ripe = mem_alloc(sizeof(*ripe));
        ripe->now_ms = now_ms;
        fill(sched, ripe, account);
    }
    ripe->now_ms = now_ms;
    while (ripe->next.count && ripe->next.items[0].at_ms <= now_ms) {
        uint32_t run = ripe->next.items[0].run;
        heap_remove(sched, ripe, 0);
        add(sched, ripe, run);
    }
    return ripe;
}

int64_t ripe_next_ms(const struct ripe *ripe)
{
    return ripe->next.count ? ripe->next.items[0].at_ms : INT64_MAX;
}

void ripe_note_run(struct sched *sched, uint32_t run, int sign)
{
    struct ripe *ripe =
        sched->accounts.items[sched->runs.items[run].account].ripe;

    if (!ripe) {
        return;
    }
    ripe->gang_run_count += is_member(sched, run) * (uint32_t)sign;
    if (sign > 0) {
        add(sched, ripe, run);
    } else {
        take(sched, ripe, run);
    }
}

void ripe_age_from(struct sched *sched, uint32_t index, int64_t started_ms)
{
    struct run *run = &sched->runs.items[index];
    struct ripe *ripe = sched->accounts.items[run->account].ripe;
    bool is_moving = ripe && class_of_run(sched, run)->lifetime_ms != 0;

    if (is_moving) {
        take(sched, ripe, index);
    }
    run->started_ms = started_ms;
    if (is_moving) {
        add(sched, ripe, index);
    }
}

void ripe_forget(struct sched *sched, uint32_t account)
{
    struct ripe *ripe = sched->accounts.items[account].ripe;

    if (ripe) {
        seq_fini(&ripe->runs);
        VEC_FREE(&ripe->next);
        mem_free(ripe);
        sched->accounts.items[account].ripe = NULL;
    }
}

void ripe_fini(struct sched *sched)
{
    for (uint32_t i = 0; i < sched->accounts.count; i++) {
        ripe_forget(sched, i);
    }
}

/* Whether a run is where its time says. */
static bool is_run_right(const struct sched *sched, const struct ripe *ripe,
                         uint32_t index)
{
    const struct run *run = &sched->runs.items[index];
    int64_t at_ms = ripe_at_ms(sched, run);

    if (at_ms <= ripe->now_ms) {
        return run->ripe_place == RIPE_NOW;
    }
    if (at_ms == INT64_MAX) {
        return run->ripe_place == NONE;
    }
    return run->ripe_place < ripe->next.count &&
           ripe->next.items[run->ripe_place].run == index &&
           ripe->next.items[run->ripe_place].at_ms == at_ms;
}

static bool is_account_right(const struct sched *sched,
                             const struct account *account)
{
    const struct ripe *ripe = account->ripe;
    uint32_t ripe_count = 0, next_count = 0, gang_run_count = 0;
    uint32_t last = NONE;

    for (uint32_t run = account->run_first; run != NONE;
         run = sched->runs.items[run].account_next) {
        uint32_t place = sched->runs.items[run].ripe_place;
        if (!is_run_right(sched, ripe, run)) {
            return false;
        }
        ripe_count += place == RIPE_NOW;
        next_count += place < RIPE_NOW;
        gang_run_count += is_member(sched, run);
    }
    for (struct seq_cursor at = {0}; !seq_is_end(&ripe->runs, at);
         seq_next(&ripe->runs, &at)) {
        uint32_t run = seq_get(&ripe->runs, at);
        if (last != NONE && !run_less(sched, last, run)) {
            return false;
        }
        last = run;
    }
    return ripe_count == ripe->runs.count && next_count == ripe->next.count &&
           gang_run_count == ripe->gang_run_count;
}

bool ripe_is_right(const struct sched *sched)
{
    for (size_t i = 0; i < sched->accounts.count; i++) {
        const struct account *account = &sched->accounts.items[i];
        if (account->ripe && !is_account_right(sched, account)) {
            return false;
        }
    }
    return true;
}
