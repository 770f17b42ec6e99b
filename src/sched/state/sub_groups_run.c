/* The members of sub-groups that run, and what of them is surplus. */
#include "sched/state/exclusive.h"
#include "sched/state/sub_groups.h"
#include "sched/state/sub_groups_private.h"

void sub_groups_run(struct sched *sched, uint32_t job, int sign)
{
    if (!sub_groups_is_member(sched, job)) {
        return;
    }
    struct sub_members *members = sub_groups_members(sched, job);

    if (sign > 0) {
        seq_insert(&members->leased, job, sub_groups_less, sched);
    } else {
        seq_remove(&members->leased, job, sub_groups_less, sched);
    }
    const struct run *run = &sched->runs.items[sched->jobs.items[job].run];
    uint32_t pool = sched->accounts.items[run->account].pool;

    ASSERT(sign > 0 || (sched->terms_run_count > 0 &&
                        sched->pools.items[pool].terms_run_count > 0));
    sched->terms_run_count += (uint32_t)sign;
    sched->pools.items[pool].terms_run_count += (uint32_t)sign;
    ASSERT(sched->pools.items[pool].terms_run_count <=
           sched->terms_run_count); /* a pool has a part of all */
    if (exclusive_node_is_for(sub_groups_gang(sched, job))) {
        exclusive_node_count(sched, run, sign);
    }
}

static uint32_t lost_of(const struct sched *sched,
                        const struct sub_members *members)
{
    return members->lost_plan == sched->plan_count ? members->lost_count : 0;
}

uint32_t sub_group_running(const struct sched *sched, const struct gang *gang,
                           uint32_t sub_group)
{
    const struct sub_members *members = &gang->subs->items[sub_group];

    ASSERT(lost_of(sched, members) <= members->leased.count);
    return members->leased.count - lost_of(sched, members);
}

uint32_t sub_group_surplus(const struct sched *sched, const struct gang *gang,
                           uint32_t sub_group)
{
    const struct sub_members *members = &gang->subs->items[sub_group];
    uint32_t has = members->leased.count + members->succeeded_count -
                   lost_of(sched, members);
    uint32_t minimum = gang->subs->terms.sub_groups[sub_group].min_count;
    uint32_t running = members->leased.count - lost_of(sched, members);
    uint32_t above = has > minimum ? has - minimum : 0;

    return above < running ? above : running;
}

uint32_t sub_groups_lost(const struct sched *sched, const struct gang *gang)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < sub_groups_count(gang); i++) {
        count += lost_of(sched, &gang->subs->items[i]);
    }
    return count;
}

/* The item at a place from the end of a sequence. */
static uint32_t seq_from_end(const struct seq *seq, uint32_t place)
{
    uint32_t b = seq->block_count;

    ASSERT(place < seq->count);
    while (place >= seq->blocks[b - 1].count) {
        place -= seq->blocks[--b].count;
    }
    return seq->blocks[b - 1].items[seq->blocks[b - 1].count - 1 - place];
}

bool sub_group_is_base(const struct sched *sched, uint32_t job)
{
    if (!has_terms_running(sched) || !sub_groups_is_member(sched, job)) {
        return true;
    }
    const struct sub_groups *subs = sub_groups_gang(sched, job)->subs;
    struct sub_members *members = sub_groups_members(sched, job);
    uint32_t minimum =
        subs->terms.sub_groups[sub_group_of(sched, job)].min_count;
    uint32_t succeeded = members->succeeded_count;
    uint32_t base = minimum > succeeded ? minimum - succeeded : 0;

    if (base >= members->leased.count) {
        return true;
    }
    if (members->edge_plan != sched->plan_count) {
        members->edge_plan = sched->plan_count;
        members->edge =
            base ? seq_from_end(&members->leased, members->leased.count - base)
                 : NONE;
    }
    return members->edge != NONE && !sub_groups_less(sched, members->edge, job);
}

static bool is_preempted(const struct sched *sched, uint32_t job)
{
    return sched->runs.items[sched->jobs.items[job].run].state == RUN_PREEMPTED;
}

/* Whether a run is on a node that is part of its pool. */
static bool is_on_counted_node(const struct sched *sched, uint32_t job)
{
    const struct run *run = &sched->runs.items[sched->jobs.items[job].run];

    return node_is_in_total(&sched->nodes.items[run->node]);
}

uint32_t sub_group_last_surplus(const struct sched *sched,
                                const struct gang *gang, uint32_t sub_group)
{
    const struct seq *leased = &gang->subs->items[sub_group].leased;

    if (sub_group_surplus(sched, gang, sub_group) == 0) {
        return NONE;
    }
    for (uint32_t b = leased->block_count; b > 0; b--) {
        const struct seq_block *block = &leased->blocks[b - 1];
        for (uint32_t i = block->count; i > 0; i--) {
            if (!is_preempted(sched, block->items[i - 1]) &&
                is_on_counted_node(sched, block->items[i - 1])) {
                return block->items[i - 1];
            }
        }
    }
    return NONE;
}

void sub_groups_lose(struct sched *sched, uint32_t job, int sign)
{
    if (!has_terms_running(sched) || !sub_groups_is_member(sched, job)) {
        return;
    }
    struct sub_members *members = sub_groups_members(sched, job);

    if (members->lost_plan != sched->plan_count) {
        members->lost_plan = sched->plan_count;
        members->lost_count = 0;
    }
    ASSERT(sign > 0 || members->lost_count > 0); /* they come back once */
    members->lost_count += (uint32_t)sign;
}

void sched_job_succeeded(struct sched *sched, uint32_t job)
{
    ASSERT(job < sched->jobs.count && sched->jobs.items[job].list != LIST_NONE);
    if (!sub_groups_is_member(sched, job) ||
        sched->jobs.items[job].run == NONE) {
        return;
    }
    struct gang *gang = sub_groups_gang(sched, job);
    uint32_t sub_group = sub_group_of(sched, job);
    sub_group_set_succeeded(gang, sub_group,
                            sub_group_succeeded(gang, sub_group) + 1);
    sched->version++;
}
