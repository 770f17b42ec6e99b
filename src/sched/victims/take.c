#include "sched/victims/take.h"

#include "sched/order/lanes.h"
#include "sched/place/place.h"
#include "sched/victims/affordable.h"
#include "sched/victims/group_victims.h"
#include "sched/victims/searches.h"
#include "sched/victims/victims.h"

/* Why a job goes. */
struct going {
    enum sched_preemption why, cause;
    bool is_by_share;
};

static void preempt(const struct search *search, uint32_t job,
                    const struct going *going)
{
    struct round *round = search->round;
    struct sched *sched = round->sched;
    struct run *run = &sched->runs.items[sched->jobs.items[job].run];
    uint32_t queue = sched->lists.items[sched->jobs.items[job].list].queue;
    uint32_t lane = round->lane_of_queue[queue];
    uint32_t node = run->node;

    ASSERT(job != search->job && run->state != RUN_PREEMPTED);
    place_preempt(round, job);
    round_decide(round, (struct sched_decision){
                            .action = SCHED_PREEMPT,
                            .preemption = going->why,
                            .cause = going->cause,
                            .job = job,
                            .node = node,
                            .for_job = search->job,
                            .is_by_share = going->is_by_share,
                        });
    if (lane != NONE && !round->lanes[lane].is_touched) {
        round->lanes[lane].is_touched = true;
        VEC_PUSH(&round->searches->touched, lane);
    }
    if (going->why == SCHED_PREEMPT_GANG) {
        round->growth_count++;
        round->rest_count++;
        VEC_PUSH(&round->watch.grown, node);
    }
}

/* All of a gang on a node that it has whole; elsewhere it goes on. */
static void preempt_held(const struct search *search,
                         const struct victim *victim, const struct going *going)
{
    struct round *round = search->round;
    const struct sched *sched = round->sched;
    uint32_t run = sched->jobs.items[victim->job].run;
    uint32_t count = group_victims_list(round, sched->runs.items[run].node,
                                        &sched->gangs.items[victim->group]);

    ASSERT(count > 0); /* the victim at least */
    for (uint32_t i = 0; i < count; i++) {
        preempt(search, round->searches->pods.items[i], going);
    }
}

static void preempt_victim(const struct search *search,
                           const struct victim *victim)
{
    struct sched *sched = search->round->sched;

    struct going going = {
        .why = victim->is_borrowed    ? SCHED_PREEMPT_HOME
               : victim->is_revocable ? SCHED_PREEMPT_YIELD
               : victim->is_surplus   ? SCHED_PREEMPT_SURPLUS
               : victim->is_evicted   ? SCHED_PREEMPT_FAIR_SHARE
                                      : SCHED_PREEMPT_URGENCY,
        .is_by_share = affordable_is_charged(search, victim),
    };

    if (sched->runs.items[sched->jobs.items[victim->job].run].state ==
        RUN_PREEMPTED) {
        return; /* with all of its gang */
    }
    if (victim->is_held && victim->gang == NONE) {
        preempt_held(search, victim, &going);
        return;
    }
    preempt(search, victim->job, &going);
    if (victim->gang == NONE) {
        return;
    }
    going.cause = going.why;
    going.why = SCHED_PREEMPT_GANG;
    const struct gang *gang = &sched->gangs.items[victim->gang];
    for (struct seq_cursor at = {0}; !seq_is_end(&gang->leased, at);
         seq_next(&gang->leased, &at)) {
        uint32_t job = seq_get(&gang->leased, at);
        const struct run *run = &sched->runs.items[sched->jobs.items[job].run];
        if (run->state != RUN_PREEMPTED) {
            preempt(search, job, &going);
        }
    }
}

/* Lanes whose work was preempted stand elsewhere in the heap now. */
static void refresh_touched(struct round *round)
{
    for (size_t i = 0; i < round->searches->touched.count; i++) {
        struct lane *lane = &round->lanes[round->searches->touched.items[i]];
        if (lane->is_touched) {
            lane->is_touched = false;
            lane_refresh(round, lane);
        }
    }
    round->searches->touched.count = 0;
}

void victims_take_room(const struct search *search, uint32_t node,
                       const struct victim_rules *rules)
{
    struct round *round = search->round;
    struct sched *sched = round->sched;
    const struct class *class = class_at(round, search->class_index);
    struct resource_vec before = sched->free[node];
    bool has_opened = false; /* whatever room there was is now for all */
    uint32_t count;
    const struct victim *victims = victims_choose(search, node, rules, &count);

    for (uint32_t i = count; i > 0; i--) {
        if (victims[i - 1].job != NONE) {
            has_opened |= victims[i - 1].is_held;
            preempt_victim(search, &victims[i - 1]);
        }
    }
    /* The node was chosen because the job fits there without them. */
    ASSERT(amounts_fit(&class->request, &sched->free[node]));
    struct resource_vec after = sched->free[node];
    amounts_subtract(&after, &class->request);
    if (has_opened || !amounts_fit(&after, &before)) {
        round->growth_count++;
        round->rest_count++;
        VEC_PUSH(&round->watch.grown, node);
    }
    refresh_touched(round);
}

bool victims_clear(const struct search *search, uint32_t node)
{
    struct round *round = search->round;
    struct victim_rules rules = victims_rules(search);
    uint32_t count;
    const struct victim *victims =
        class_at(round, search->class_index)->never_preempts
            ? NULL
            : victims_all(search, node, &rules, &count);

    if (!victims) {
        return false;
    }
    for (uint32_t i = count; i > 0; i--) {
        if (victims[i - 1].job != NONE) {
            preempt_victim(search, &victims[i - 1]);
        }
    }
    round->growth_count++;
    round->rest_count++;
    VEC_PUSH(&round->watch.grown, node);
    refresh_touched(round);
    return true;
}
