/*
 * Flows, limits and budgets over random histories of a pool.
 *
 * Whatever starts, ends, waits and is admitted:
 *   - a flow is what the textbook's recursion gives, however often and at
 *     whatever times anybody looks; it is never below the usage
 *   - work of infinite lifetime starts only within its limit, and what is
 *     charged is within the budget
 *   - charges are given back exactly: with nothing left nothing is charged
 *   - the sums that are kept are those that a rebuild gives
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "prop.h"
#include "world.h"

enum { QUEUES = 3, CORES = 40, STEPS = 60, HALF_MS = 60000, OVER_PPM = 200000 };

static const char *const QUEUE_NAMES[QUEUES] = {"A", "B", "C"};

/* A flow as the textbook has it. */
struct model {
    double flow, usage;
    int64_t at_ms;
};

struct play {
    struct world world;
    struct model all[QUEUES], infinite[QUEUES];
    int64_t now_ms;
    bool is_window;
    const char *broken; /* what did not hold, or NULL */
};

static void model_advance(struct model *model, int64_t now_ms)
{
    double beta = pow(0.5, (double)(now_ms - model->at_ms) / HALF_MS);
    double above = model->flow - model->usage;

    model->flow = model->usage + (above > 0 ? above : 0) * beta;
    model->at_ms = now_ms;
}

static void model_set(struct model *model, int64_t now_ms, double usage)
{
    model_advance(model, now_ms);
    model->usage = usage;
    model->flow = model->flow > usage ? model->flow : usage;
}

static void must(struct play *play, bool holds, const char *what)
{
    if (!holds && !play->broken) {
        play->broken = what;
    }
}

static bool is_near(double a, double b)
{
    return fabs(a - b) < 1e-9;
}

static bool is_infinite(const struct world_job *job)
{
    return job->lifetime_s == INT64_MAX;
}

/* Whether a job counts as used. */
static bool is_used(struct play *play, uint32_t job)
{
    struct sched_admission ignored;

    return !play->world.is_gone[job] &&
           (play->world.node_of[job] != SCHED_NONE ||
            sched_job_admission(play->world.sched, job, &ignored));
}

/* What each queue uses now, told to the models. */
static void tell_models(struct play *play)
{
    for (int q = 0; q < QUEUES; q++) {
        int64_t all = 0, infinite = 0;
        for (uint32_t j = 0; j < play->world.job_count; j++) {
            const struct world_job *job = &play->world.records[j];
            if (strcmp(job->queue, QUEUE_NAMES[q]) == 0 && is_used(play, j)) {
                all += job->cores;
                infinite += is_infinite(job) ? job->cores : 0;
            }
        }
        model_set(&play->all[q], play->now_ms, (double)all / CORES);
        model_set(&play->infinite[q], play->now_ms, (double)infinite / CORES);
    }
}

static void check_flows(struct play *play)
{
    for (uint32_t q = 0; q < QUEUES; q++) {
        struct sched_queue_stats stats;
        sched_queue_stats(play->world.sched, q, 0, &stats);
        model_advance(&play->all[q], play->now_ms);
        model_advance(&play->infinite[q], play->now_ms);
        must(play, stats.flow >= stats.usage_share, "a flow is below usage");
        must(play, is_near(stats.usage_share, play->all[q].usage), "a usage");
        must(play, is_near(stats.flow, play->all[q].flow), "a flow");
        must(play, is_near(stats.infinite_flow, play->infinite[q].flow),
             "an infinite flow");
        must(play,
             stats.budget_left_minutes >= 0 &&
                 stats.budget_left_minutes <= stats.budget_minutes,
             "a budget");
    }
    must(play, sched_is_consistent(play->world.sched), "the sums");
}

static void submit(struct play *play, struct tape *tape)
{
    static const int64_t lifetimes_s[] = {INT64_MAX, 60, 600, -1};
    static const char *const gangs[] = {"f", "g", "h"};
    struct world_job job = {
        .queue = QUEUE_NAMES[draw(tape, 0, QUEUES - 1)],
        .cores = (int64_t)draw(tape, 1, 12),
        .lifetime_s = lifetimes_s[draw(tape, 0, 3)],
        .deadline_s = draw(tape, 0, 1) ? 300 : 0,
        .priority = (uint32_t)draw(tape, 0, 2),
    };

    if (draw(tape, 0, 4) == 4) {
        job.gang = gangs[draw(tape, 0, 2)];
        job.cardinality = 2;
        world_submit(&play->world, &job);
    }
    world_submit(&play->world, &job);
}

static void end_one(struct play *play, struct tape *tape)
{
    uint32_t count = play->world.job_count;

    if (count == 0) {
        return;
    }
    uint32_t job = (uint32_t)draw(tape, 0, count - 1);
    if (!play->world.is_gone[job]) {
        world_end(&play->world, job);
    }
}

/* Leases of infinite work leave its queue within the limit, as it was when
 * the round began. */
static void check_limits(struct play *play, const bool *had_more,
                         const double *limits)
{
    for (uint32_t q = 0; q < QUEUES; q++) {
        if (had_more[q]) {
            must(play,
                 play->infinite[q].flow <= limits[q] * (1 + 1e-9) ||
                     limits[q] < 0,
                 "the over-share limit");
        }
    }
}

static void play_round(struct play *play, struct tape *tape)
{
    double before[QUEUES], limits[QUEUES];
    bool had_more[QUEUES];

    for (uint32_t q = 0; q < QUEUES; q++) {
        struct sched_queue_stats stats;
        sched_queue_stats(play->world.sched, q, 0, &stats);
        before[q] = play->infinite[q].usage;
        limits[q] = stats.infinite_limit;
    }
    world_round(&play->world, draw(tape, 0, 1) ? ROUND_BALANCE : ROUND_FAST,
                play->now_ms);
    tell_models(play);
    for (uint32_t q = 0; q < QUEUES; q++) {
        had_more[q] = play->infinite[q].usage > before[q];
    }
    check_limits(play, had_more, limits);
}

static void step(struct play *play, struct tape *tape)
{
    play->now_ms += (int64_t)draw(tape, 0, 3) * 7000;
    sched_set_time(play->world.sched, play->now_ms);
    switch (draw(tape, 0, 4)) {
    case 0:
    case 1:
        submit(play, tape);
        break;
    case 2:
        end_one(play, tape);
        break;
    default:
        play_round(play, tape);
        break;
    }
    tell_models(play);
    if (draw(tape, 0, 2) == 0) {
        check_flows(play);
    }
}

static void start(struct play *play, struct tape *tape)
{
    struct pool_policy *pool = &play->world.policy.pools[0];

    world_init(&play->world);
    pool_policy_apply(pool, PROFILE_FLOW);
    pool->cost_weights_ppm[CPU] = FRACTION_ONE_PPM;
    pool->half_time_ms = HALF_MS;
    pool->over_share_ppm = OVER_PPM;
    pool->excess_budget_minutes = (int64_t)draw(tape, 0, 3);
    pool->admitted_window = (uint32_t)draw(tape, 0, 2);
    pool->admitted_window_per_queue = 1;
    world_restart(&play->world);
    for (int q = 0; q < QUEUES; q++) {
        world_queue(&play->world, QUEUE_NAMES[q], (double)draw(tape, 1, 3));
    }
    world_node(&play->world, &(struct world_node){"n", .cores = CORES - 10});
    world_node(&play->world, &(struct world_node){"o", .cores = 10});
}

static bool flows_hold(struct tape *tape)
{
    struct play *play = mem_alloc(sizeof(*play));

    start(play, tape);
    for (uint64_t left = draw(tape, 0, STEPS); left > 0 && !play->broken;
         left--) {
        step(play, tape);
    }
    check_flows(play);
    for (uint32_t j = 0; j < play->world.job_count; j++) {
        if (!play->world.is_gone[j]) {
            world_end(&play->world, j);
        }
    }
    tell_models(play);
    check_flows(play);
    for (uint32_t q = 0; q < QUEUES; q++) {
        struct sched_queue_stats stats;
        sched_queue_stats(play->world.sched, q, 0, &stats);
        must(play, stats.budget_left_minutes == stats.budget_minutes,
             "a refund");
    }
    bool holds = !play->broken;
    if (!holds) {
        fprintf(stderr, "  %s\n", play->broken);
    }
    world_fini(&play->world);
    mem_free(play);
    return holds;
}

int main(void)
{
    return prop_check("flows_hold", flows_hold, 1500, 0) ? 0 : 1;
}
