/*
 * Preemption for fairness costs a bounded part of what is useful.
 *
 * Jobs, gangs and groups of several queues come to a cluster that is too small,
 * run for times that nobody is told of, and wait again when they are preempted.
 * A model of a few lines keeps since when each waits and what it has lost.
 * Then whatever comes (docs/fairness.md):
 *
 *     what a claim takes for fairness, all victims together, costs no more
 *     than it has waited, by its size, over the price;
 *     so all that is lost is at most that part of all that claims waited;
 *     a run goes for fairness only when it is as old as its job's losses ask;
 *     so no job loses more than 1 + 1/c times what it uses;
 *     all that is lost is no more than the limit times what is useful: the sum
 *     over jobs of the longest run of each.
 */
#include <stdio.h>
#include <string.h>

#include "drawn.h"
#include "prop.h"
#include "unit.h"
#include "world.h"

enum {
    ACTS = 60,
    ITEMS = 40,
    JOBS = 240,
    QUEUES = 4,
    CORES = 8, /* of a node; with 1, 2 or 4 nodes sizes are exact */
    RUNS = 3000,
    MILLI = 1000,
    STEP_MS = 600000,
    LENGTH_MS = 3600000,
};

static const char *const QUEUE_NAMES[QUEUES] = {"A", "B", "C", "D"};

/* What the model knows of a job. */
struct told {
    int64_t cores, length_ms; /* that it would run */
    int64_t since_ms, leased_ms;
    int64_t lost_ms; /* by fairness, and by promises */
    int64_t lost_by_share_ms;
    int64_t longest_ms; /* of its runs that were lost or ended */
};

struct history {
    struct world world;
    struct told jobs[JOBS];
    char gangs[ITEMS][8];
    struct gang_terms terms[ITEMS];
    uint32_t item_count, known_count, queue_count;
    int64_t now_ms, price_milli, protection_milli, limit_milli;
    u128 lost, waited;        /* in all, by core */
    u128 lost_in_all, useful; /* the same, with what was promised */
};

static void begin(struct history *history, struct tape *tape)
{
    static const char *const names[] = {"n0", "n1", "n2", "n3"};
    static const int64_t prices[] = {250, 500, 1000, 3000};
    static const int64_t protections[] = {0, 500, 1000, 4000};
    static const int64_t limits[] = {0, 1000, 1500, 4000};
    struct world *w = &history->world;
    struct pool_policy *pool = &w->policy.pools[0];
    uint32_t node_count = UINT32_C(1) << draw(tape, 0, 2);

    memset(history, 0, sizeof(*history));
    world_init(w);
    world_apply(pool, once_in(tape, 2) ? PROFILE_BERTH : PROFILE_ARMADA);
    history->price_milli = pool->preemption_price_milli =
        prices[draw(tape, 0, 3)];
    history->protection_milli = pool->loss_protection_milli =
        protections[draw(tape, 0, 3)];
    pool->over_share_price_milli = prices[draw(tape, 0, 3)];
    history->limit_milli = pool->loss_limit_milli = limits[draw(tape, 0, 3)];
    world_restart(w);
    w->requeues = true;
    for (uint32_t i = 0; i < node_count; i++) {
        (void)world_node(
            w, &(struct world_node){.name = names[i], .cores = CORES});
    }
    history->queue_count = (uint32_t)draw(tape, 2, QUEUES);
    for (uint32_t i = 0; i < history->queue_count; i++) {
        (void)world_queue(w, QUEUE_NAMES[i], (double)draw(tape, 2, 6) / 2);
    }
}

/* The model hears of new jobs, which are to run for some time. */
static void meet(struct history *history, struct tape *tape)
{
    const struct world *w = &history->world;
    int64_t length_ms = (int64_t)draw(tape, 1, LENGTH_MS);

    for (; history->known_count < w->job_count; history->known_count++) {
        const struct world_job *job = &w->records[history->known_count];
        history->jobs[history->known_count] = (struct told){
            .cores = job->cores ? job->cores : 1,
            .length_ms = length_ms,
            .since_ms = job->submitted_ms,
        };
    }
}

static void submit(struct history *history, struct tape *tape)
{
    struct world *w = &history->world;
    struct world_job job = {
        .queue = QUEUE_NAMES[draw(tape, 0, history->queue_count - 1)],
        .cores = (int64_t)draw(tape, 1, CORES),
        .priority_class = drawn_class(tape, 3),
        .priority = (uint32_t)(once_in(tape, 4) ? draw(tape, 0, 2) : 0),
        .submitted_ms = history->now_ms,
        .lifetime_s = once_in(tape, 4) ? (int64_t)draw(tape, 1, 900) : 0,
        .deadline_s = once_in(tape, 3) ? (int64_t)draw(tape, 1, 7200) : 0,
    };
    uint64_t kind = draw(tape, 0, 3);

    if (history->item_count == ITEMS || w->job_count + 16 > JOBS) {
        return;
    }
    char *name = history->gangs[history->item_count];
    (void)snprintf(name, sizeof(*history->gangs), "g%u", history->item_count);
    struct gang_terms *terms = &history->terms[history->item_count++];
    if (kind <= 1) {
        (void)world_submit_many(w, &job, (uint32_t)draw(tape, 1, 6));
    } else if (kind == 2) {
        job.gang = name;
        job.cardinality = (uint32_t)draw(tape, 1, 6);
        job.minimum = (uint32_t)draw(tape, 1, job.cardinality);
        (void)world_submit_many(w, &job, job.cardinality);
    } else {
        drawn_terms(tape, &(struct drawn_terms){2, 4, false}, terms);
        job.gang = name;
        (void)world_submit_group(w, &job, terms);
    }
    meet(history, tape);
}

/* A run was lost or has ended, which was useful as far as it is the job's
 * longest. */
static void note_run(struct history *history, uint32_t job)
{
    struct told *told = &history->jobs[job];
    int64_t run_ms = history->now_ms - told->leased_ms;

    if (run_ms > told->longest_ms) {
        history->useful +=
            (u128)(run_ms - told->longest_ms) * (u128)told->cores;
        told->longest_ms = run_ms;
    }
}

/* Jobs end that have run for as long as they would. */
static void end_jobs(struct history *history)
{
    struct world *w = &history->world;

    for (uint32_t i = 0; i < w->job_count; i++) {
        if (!w->is_gone[i] && w->node_of[i] != SCHED_NONE &&
            history->now_ms - history->jobs[i].leased_ms >=
                history->jobs[i].length_ms) {
            note_run(history, i);
            sched_set_time(w->sched, history->now_ms);
            sched_job_ended_well(w->sched, i);
            world_end(w, i);
        }
    }
}

static bool is_lost(const struct sched_decision *decision)
{
    return decision->action == SCHED_PREEMPT &&
           (decision->is_by_share ||
            decision->preemption == SCHED_PREEMPT_YIELD);
}

/* What a group of decisions costs, and what its claim has waited, by core. */
struct account {
    u128 cost, budget;
    bool is_by_share;
};

static bool note_lost(struct history *history, uint32_t job, bool is_by_share)
{
    struct told *told = &history->jobs[job];
    int64_t run_ms = history->now_ms - told->leased_ms;
    bool holds = !is_by_share ||
                 run_ms * MILLI >= history->protection_milli * told->lost_ms;

    told->lost_ms += run_ms;
    history->lost_in_all += (u128)run_ms * (u128)told->cores;
    note_run(history, job);
    if (is_by_share) {
        told->lost_by_share_ms += run_ms;
        history->lost += (u128)run_ms * (u128)told->cores;
    }
    int64_t c = history->protection_milli;
    return holds && (c == 0 || told->lost_by_share_ms * c <=
                                   told->length_ms * (c + MILLI));
}

static bool settle_account(struct history *history,
                           const struct account *account)
{
    if (!account->is_by_share) {
        return true;
    }
    history->waited += account->budget;
    return account->cost * (u128)history->price_milli <=
           account->budget * MILLI;
}

/* What the last round decided is within the bounds. */
static bool is_bounded(struct history *history)
{
    const struct sched_plan *plan = &history->world.plan;
    struct account account = {0};
    bool holds = true;

    for (uint32_t i = 0; i < plan->decision_count; i++) {
        const struct sched_decision *decision = &plan->decisions[i];
        struct told *told = &history->jobs[decision->job];
        u128 product =
            (u128)(history->now_ms - told->since_ms) * (u128)told->cores;
        if (decision->action == SCHED_PREEMPT) {
            account.cost += is_lost(decision) ? product : 0;
            account.is_by_share |= decision->is_by_share;
            holds &= !is_lost(decision) ||
                     note_lost(history, decision->job, decision->is_by_share);
            told->since_ms = history->now_ms;
        } else if (decision->action == SCHED_LEASE) {
            account.budget += product;
            told->leased_ms = history->now_ms;
        }
        if (i + 1 == plan->decision_count ||
            plan->decisions[i + 1].group != decision->group) {
            holds &= settle_account(history, &account);
            account = (struct account){0};
        }
    }
    return holds &&
           history->lost * (u128)history->price_milli <=
               history->waited * MILLI &&
           (history->limit_milli == 0 ||
            history->lost_in_all * MILLI <=
                history->useful * (u128)history->limit_milli);
}

static uint32_t preemption_count; /* of all histories, to see that it tests */

static bool losses_are_bounded(struct tape *tape)
{
    auto_mem struct history *history = mem_alloc(sizeof(*history));
    bool holds = true;

    begin(history, tape);
    for (int i = 0; i < ACTS && holds; i++) {
        struct world *w = &history->world;
        if (once_in(tape, 2)) {
            submit(history, tape);
        } else {
            history->now_ms += (int64_t)draw(tape, 1, STEP_MS);
        }
        end_jobs(history);
        world_round(w, ROUND_BALANCE, history->now_ms);
        for (uint32_t d = 0; d < w->plan.decision_count; d++) {
            preemption_count += w->plan.decisions[d].is_by_share &&
                                w->plan.decisions[d].action == SCHED_PREEMPT;
        }
        holds = is_bounded(history);
    }
    holds &= sched_is_consistent(history->world.sched);
    world_fini(&history->world);
    return holds;
}

int main(void)
{
    bool holds = prop_check("losses_are_bounded", losses_are_bounded, RUNS, 0);

    (void)printf("%u preemptions for fairness\n", preemption_count);
    return holds && preemption_count ? 0 : 1;
}
