#include "anew.h"

#include <stdio.h>
#include <string.h>

#include "sched/state/state.h"

void past_begin(struct past *past)
{
    memset(past, 0, sizeof(*past));
    memset(past->leased_ms, 0xff, sizeof(past->leased_ms));
}

void past_note(struct past *past, const struct world *world, int64_t now_ms)
{
    for (uint32_t i = 0; i < world->job_count; i++) {
        bool is_leased = world->node_of[i] != SCHED_NONE;
        past->was_leased[i] |= is_leased;
        past->leased_ms[i] = !is_leased               ? -1
                             : past->leased_ms[i] < 0 ? now_ms
                                                      : past->leased_ms[i];
    }
}

void anew_begin(struct world *fresh, const struct world *world, int64_t now_ms)
{
    world_init(fresh);
    fresh->policy.pools[0] = world->policy.pools[0];
    world_restart(fresh);
    fresh->sched->forgets_victims = true;
    sched_set_time(fresh->sched, now_ms);
}

static void add_job(struct world *fresh, const struct world *world,
                    const struct past *past, uint32_t job)
{
    struct sched_job record = world_record(fresh, job);

    record.was_leased = past->was_leased[job];
    sched_job_add(fresh->sched, job, &record);
    for (uint32_t n = 0; n < 32; n++) {
        if (past->avoided[job] >> n & 1) {
            sched_job_avoid(fresh->sched, job, n);
        }
    }
    if (world->node_of[job] != SCHED_NONE) {
        int64_t age_ms = sched_job_age_of(world->sched, job);
        world_lease(fresh, job, world->node_of[job], past->leased_ms[job]);
        if (age_ms != INT64_MAX) {
            sched_job_age_from(fresh->sched, job, age_ms);
        }
    }
}

void anew_fill(struct world *fresh, struct world *world,
               const struct past *past)
{
    auto_strbuf bytes = {0};

    for (uint32_t i = 0; i < world->job_count; i++) {
        fresh->records[i] = world->records[i];
        fresh->node_of[i] = SCHED_NONE;
        fresh->is_gone[i] = world->is_gone[i];
        fresh->job_count++;
        if (!world->is_gone[i]) {
            add_job(fresh, world, past, i);
        }
    }
    sched_history_pack(world->sched, &bytes);
    int rc = sched_history_unpack(fresh->sched, strbuf_str(&bytes));
    ASSERT(rc == 0);
    /* Growth is looked at every few seconds: do so now, as the new one does. */
    world->sched->version++;
}

bool anew_is_same(const struct world *fresh, const struct world *world)
{
    auto_strbuf x = {0}, y = {0};

    sched_history_pack(world->sched, &x);
    sched_history_pack(fresh->sched, &y);
    return sched_is_consistent(fresh->sched) && x.byte_count == y.byte_count &&
           memcmp(x.bytes, y.bytes, x.byte_count) == 0;
}

static bool is_same_decision(const struct sched_decision *a,
                             const struct sched_decision *b)
{
    return a->job == b->job && a->action == b->action &&
           (a->action == SCHED_FAIL || a->action == SCHED_ADMIT ||
            a->action == SCHED_DISMISS || a->node == b->node) &&
           a->preemption == b->preemption && a->group == b->group &&
           a->is_scaling == b->is_scaling && a->for_job == b->for_job &&
           a->cause == b->cause && a->priority == b->priority &&
           a->charge == b->charge && a->is_backfilled == b->is_backfilled &&
           a->yields_to == b->yields_to &&
           a->yields_at_once == b->yields_at_once &&
           a->is_by_share == b->is_by_share && a->start_ms == b->start_ms;
}

bool anew_plans_same(struct sched *a, struct sched *b, int64_t now_ms,
                     enum round_kind kind)
{
    struct sched_plan plan;

    sched_plan(a, now_ms, kind, SCHED_DECISIONS_MAX, &plan);
    uint32_t count = plan.decision_count;
    int64_t wake_ms = plan.next_wake_ms;
    auto_mem struct sched_decision *copy =
        mem_alloc_array(count + 1, sizeof(*copy));
    for (uint32_t i = 0; i < count; i++) {
        copy[i] = plan.decisions[i];
    }
    sched_plan(b, now_ms, kind, SCHED_DECISIONS_MAX, &plan);
    bool is_same = plan.decision_count == count &&
                   (a == b || plan.next_wake_ms == wake_ms);
    for (uint32_t i = 0; is_same && i < count; i++) {
        is_same = is_same_decision(&copy[i], &plan.decisions[i]);
    }
    return is_same;
}

void show_plan(const struct sched_plan *plan)
{
    for (uint32_t i = 0; i < plan->decision_count; i++) {
        const struct sched_decision *d = &plan->decisions[i];
        fprintf(stderr,
                "%d %d job %d node %d for %d yields %d scaling %d group %u "
                "start %lld\n",
                (int)d->action, (int)d->preemption, (int)d->job, (int)d->node,
                (int)d->for_job, (int)d->yields_to, d->is_scaling, d->group,
                (long long)d->start_ms);
    }
}
