/*
 * With no new input preemptions come to an end.
 *
 * Small clusters with all of it on: single jobs, gangs, groups with terms and
 * whole nodes, several queues and weights, classes, lifetimes, deadlines, the
 * three profiles with and without half-lives, borrowers, topology, host ports.
 * All that is preempted waits again.  Jobs come and end for a while; then
 * nothing happens any more but rounds: after so many of them none has anything
 * left to do, also when time goes on.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "anew.h"
#include "drawn.h"
#include "prop.h"
#include "sched/state/state.h"
#include "unit.h"
#include "world.h"

enum {
    ACTS = 30,
    ITEMS = 24, /* jobs, gangs and groups */
    JOBS = 160,
    NODES = 6,
    QUEUES = 4,
    RUNS = 1500,
    SECOND = 1000,
    ROUNDS_MAX = 120, /* until nothing is left to do */
};

struct history {
    struct world world;
    char gangs[ITEMS][8];
    struct gang_terms terms[ITEMS];
    uint32_t item_count, node_count, queue_count;
    int64_t now_ms;
    uint32_t preemption_count; /* in the end */
};

static const char *const QUEUE_NAMES[QUEUES] = {"A", "B", "C", "D"};

/* Drawing. */

static void add_node(struct history *history, struct tape *tape, uint32_t i)
{
    static const char *const names[NODES] = {"n0", "n1", "n2",
                                             "n3", "n4", "n5"};
    struct label labels[] = {
        {STR("agg"), i % 4 < 2 ? STR("x") : STR("y")},
        {STR("leaf"), i % 2 ? STR("odd") : STR("even")},
    };
    int64_t cores = (int64_t)draw(tape, 1, 12);

    (void)world_node(&history->world,
                     &(struct world_node){
                         .name = names[i],
                         .cores = cores,
                         .memory_gb = once_in(tape, 3)
                                          ? (int64_t)draw(tape, 1, 24)
                                          : 4 * cores,
                         .labels = labels,
                         .label_count = 2,
                     });
}

static void begin(struct history *history, struct tape *tape)
{
    struct world *w = &history->world;
    struct pool_policy *pool = &w->policy.pools[0];

    memset(history, 0, sizeof(*history));
    world_init(w);
    pool_policy_apply(pool, (enum pool_profile)draw(tape, 0, 2));
    pool->reservation_delay_ms = once_in(tape, 2) ? 0 : 60000;
    if (pool->half_time_ms || once_in(tape, 4)) {
        pool->half_time_ms = once_in(tape, 2) ? 0 : 60000;
    }
    if (pool->admitted_window && once_in(tape, 3)) {
        pool->admitted_window = (uint32_t)draw(tape, 1, 3);
        pool->admitted_window_per_queue = (uint32_t)draw(tape, 1, 2);
    }
    if (once_in(tape, 3)) {
        pool->topology[0] = STR("leaf");
        pool->topology[1] = STR("agg");
        pool->level_count = 2;
    }
    world_restart(w);
    w->requeues = true;
    history->node_count = (uint32_t)draw(tape, 1, NODES);
    for (uint32_t i = 0; i < history->node_count; i++) {
        add_node(history, tape, i);
    }
    history->queue_count = (uint32_t)draw(tape, 1, QUEUES);
    for (uint32_t i = 0; i < history->queue_count; i++) {
        (void)world_queue(w, QUEUE_NAMES[i], (double)draw(tape, 2, 6) / 2);
    }
}

/* Some jobs have a port of their node. */
static struct host_port port = {.protocol = HOST_TCP, .port = 80};

static struct world_job draw_job(struct history *history, struct tape *tape)
{
    return (struct world_job){
        .queue = QUEUE_NAMES[draw(tape, 0, history->queue_count - 1)],
        .cores = (int64_t)draw(tape, 1, 6),
        .memory_gb = once_in(tape, 3) ? (int64_t)draw(tape, 1, 12) : 0,
        .priority_class = drawn_class(tape, 3),
        .priority = (uint32_t)(once_in(tape, 4) ? draw(tape, 0, 2) : 0),
        .submitted_ms = history->now_ms,
        .lifetime_s = once_in(tape, 4) ? (int64_t)draw(tape, 1, 90) : 0,
        .deadline_s = once_in(tape, 4) ? (int64_t)draw(tape, 1, 90) : 0,
        .is_borrowed = once_in(tape, 8),
        .ports = &port,
        .port_count = once_in(tape, 4),
    };
}

static void submit(struct history *history, struct tape *tape)
{
    struct world *w = &history->world;
    struct world_job job = draw_job(history, tape);
    uint64_t kind = draw(tape, 0, 2);

    if (history->item_count == ITEMS || w->job_count + 16 > JOBS) {
        return;
    }
    char *name = history->gangs[history->item_count];
    (void)snprintf(name, sizeof(*history->gangs), "g%u", history->item_count);
    history->item_count++;
    if (kind == 0) {
        (void)world_submit_many(w, &job, (uint32_t)draw(tape, 1, 8));
    } else if (kind == 1) {
        job.gang = name;
        job.cardinality = (uint32_t)draw(tape, 1, 6);
        job.minimum = (uint32_t)draw(tape, 1, job.cardinality);
        job.uniformity = once_in(tape, 4) ? "leaf" : NULL;
        (void)world_submit_many(w, &job, job.cardinality);
    } else {
        struct gang_terms *terms = &history->terms[history->item_count - 1];
        drawn_terms(tape, &(struct drawn_terms){2, 4, false}, terms);
        job.gang = name;
        (void)world_submit_group(w, &job, terms);
    }
}

static void end_one(struct history *history, struct tape *tape)
{
    struct world *w = &history->world;

    if (w->job_count == 0) {
        return;
    }
    uint32_t job = (uint32_t)draw(tape, 0, w->job_count - 1);
    if (!w->is_gone[job]) {
        world_end(w, job);
    }
}

static void act(struct history *history, struct tape *tape)
{
    history->now_ms += (int64_t)draw(tape, 0, 20) * SECOND;
    sched_set_time(history->world.sched, history->now_ms);
    switch (draw(tape, 0, 5)) {
    case 0:
    case 1:
    case 2:
        submit(history, tape);
        break;
    case 3:
        end_one(history, tape);
        break;
    default:
        world_round(&history->world, (enum round_kind)draw(tape, 0, 1),
                    history->now_ms);
    }
}

/* With PROP_SHOW set: what there is. */

static void show(const struct history *history)
{
    const struct world *w = &history->world;

    for (uint32_t i = 0; i < w->job_count; i++) {
        const struct world_job *job = &w->records[i];
        if (!w->is_gone[i]) {
            fprintf(stderr,
                    "job %u: %s %s %d cores %d GB life %d end %d gang %s "
                    "(%u of %u)%s%s at %lld\n",
                    i, job->queue, job->priority_class, (int)job->cores,
                    (int)job->memory_gb, (int)job->lifetime_s,
                    (int)job->deadline_s, job->gang ? job->gang : "-",
                    job->minimum, job->cardinality,
                    job->terms
                        ? job->terms->has_exclusive_nodes ? " whole" : " terms"
                        : "",
                    job->is_borrowed ? " foreign" : "",
                    (long long)job->submitted_ms);
            fprintf(stderr, "    on %s\n", world_node_of(w, i));
            for (uint32_t k = 0; job->terms && k < job->terms->sub_group_count;
                 k++) {
                const struct sub_group *sub = &job->terms->sub_groups[k];
                fprintf(stderr, "    %u to %u, hops %d\n", sub->min_count,
                        sub->max_count, (int)sub->hops_max);
            }
        }
    }
    for (uint32_t i = 0; i < history->node_count; i++) {
        struct sched_node_stats stats;
        sched_node_stats(w->sched, i, &stats);
        fprintf(stderr, "node %u: %d cores %d GB\n", i,
                (int)(stats.capacity.v[CPU] / 1000),
                (int)(stats.capacity.v[MEMORY] / 1000));
    }
    fprintf(stderr, "profile %d half %d window %u levels %u\n",
            (int)w->policy.pools[0].profile,
            (int)w->policy.pools[0].half_time_ms,
            w->policy.pools[0].admitted_window, w->policy.pools[0].level_count);
}

/* Rounds until none has anything to do; false: too many. */
static bool settles(struct history *history)
{
    struct world *w = &history->world;

    for (uint32_t i = 0; i < ROUNDS_MAX; i++) {
        history->now_ms += SECOND;
        sched_set_time(w->sched, history->now_ms);
        w->sched->version++; /* look again */
        world_round(w, ROUND_BALANCE, history->now_ms);
        history->preemption_count += w->preempted_count;
        if (w->plan.decision_count == 0) {
            return true;
        }
        if (getenv("PROP_SHOW") && i > ROUNDS_MAX - 8) {
            fprintf(stderr, "at %d s\n", (int)(history->now_ms / SECOND));
            show_plan(&w->plan);
        }
    }
    return false;
}

static bool preemptions_come_to_an_end(struct tape *tape)
{
    struct history *history = mem_alloc(sizeof(*history));

    begin(history, tape);
    for (uint64_t left = draw(tape, 0, ACTS); left > 0; left--) {
        act(history, tape);
    }
    bool holds = settles(history);
    for (uint32_t i = 0; holds && i < 3; i++) {
        history->now_ms += (int64_t)3600 * SECOND;
        holds = settles(history);
    }
    if (!holds && getenv("PROP_SHOW")) {
        show(history);
    }
    world_fini(&history->world);
    mem_free(history);
    return holds;
}

int main(void)
{
    return prop_check("preemptions_come_to_an_end", preemptions_come_to_an_end,
                      RUNS, 0)
               ? 0
               : 1;
}
