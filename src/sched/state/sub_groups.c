#include "sched/state/sub_groups.h"

#include "model/digest.h"
#include "sched/state/exclusive.h"

static bool id_less(const void *context, uint32_t a, uint32_t b)
{
    const struct sched *sched = context;

    return key128_compare(sched->jobs.items[a].id.v,
                          sched->jobs.items[b].id.v) < 0;
}

struct sub_groups *sub_groups_create(struct str packed)
{
    if (packed.byte_count == 0) {
        return NULL;
    }
    struct sub_groups *subs = mem_alloc(sizeof(*subs));

    subs->packed = str_dup(packed);
    subs->packed_bytes = (uint32_t)packed.byte_count;
    if (gang_terms_unpack(str_make(subs->packed, packed.byte_count),
                          &subs->terms) < 0) {
        mem_free(subs->packed);
        mem_free(subs);
        return NULL;
    }
    subs->items =
        mem_alloc_array(subs->terms.sub_group_count, sizeof(*subs->items));
    return subs;
}

void sub_groups_destroy(struct sub_groups *subs)
{
    if (!subs) {
        return;
    }
    for (uint32_t i = 0; i < subs->terms.sub_group_count; i++) {
        seq_fini(&subs->items[i].asked);
        seq_fini(&subs->items[i].spare);
        seq_fini(&subs->items[i].leased);
    }
    mem_free(subs->items);
    mem_free(subs->packed);
    mem_free(subs);
}

/* Kept beside the jobs, and only up to the last that needs it: jobs are many,
 * and few of them have a sub-group other than the first. */
void sub_groups_join(struct sched *sched, uint32_t job, uint32_t sub_group)
{
    const struct sub_groups *subs =
        sched->gangs.items[sched->jobs.items[job].gang].subs;

    ASSERT(sub_group < subs->terms.sub_group_count);
    if (sub_group == 0 && job >= sched->sub_groups.count) {
        return;
    }
    while (sched->sub_groups.count <= job) {
        VEC_PUSH(&sched->sub_groups, 0);
    }
    sched->sub_groups.items[job] = (uint8_t)sub_group;
}

uint32_t sub_group_of(const struct sched *sched, uint32_t job)
{
    return job < sched->sub_groups.count ? sched->sub_groups.items[job] : 0;
}

static struct gang *gang_of(const struct sched *sched, uint32_t job)
{
    return &sched->gangs.items[sched->jobs.items[job].gang];
}

/* Whether a job is of a gang with terms. */
static bool is_member(const struct sched *sched, uint32_t job)
{
    return sched->jobs.items[job].gang != NONE && gang_of(sched, job)->subs;
}

static struct sub_members *members_of(const struct sched *sched, uint32_t job)
{
    return &gang_of(sched, job)->subs->items[sub_group_of(sched, job)];
}

/* The gang asks for a member (+1), or no longer (-1). */
static void ask(struct sched *sched, uint32_t job, int sign)
{
    struct gang *gang = gang_of(sched, job);
    struct sub_members *members = members_of(sched, job);
    const struct list *list = &sched->lists.items[sched->jobs.items[job].list];
    const struct resource_vec *request =
        &sched->classes.items[list->class_index].request;

    amounts_add_times(&sched->accounts.items[list->account].queued, request,
                      sign);
    amounts_add_times(&gang->waiting_sum, request, sign);
    ASSERT_SLOW(sched->jobs.items[job].run == NONE);
    if (sign > 0) {
        seq_insert(&gang->waiting, job, job_less, sched);
        seq_insert(&members->asked, job, id_less, sched);
    } else {
        seq_remove(&gang->waiting, job, job_less, sched);
        seq_remove(&members->asked, job, id_less, sched);
    }
}

static void spare(struct sched *sched, uint32_t job, int sign)
{
    struct sub_members *members = members_of(sched, job);

    /* Spare members of one sub-group are spare ones of the gang. */
    ASSERT(members->spare.count <= gang_of(sched, job)->subs->spare_count);
    if (sign > 0) {
        seq_insert(&members->spare, job, id_less, sched);
    } else {
        seq_remove(&members->spare, job, id_less, sched);
    }
    gang_of(sched, job)->subs->spare_count += (uint32_t)sign;
}

bool sub_group_is_spare(const struct sched *sched, uint32_t job)
{
    if (!is_member(sched, job) || sched->jobs.items[job].run != NONE) {
        return false;
    }
    const struct seq *asked = &members_of(sched, job)->asked;

    return asked->count == 0 || id_less(sched, seq_last(asked), job);
}

bool sub_groups_wait(struct sched *sched, uint32_t job)
{
    if (!is_member(sched, job)) {
        return false;
    }
    /* One that was asked for has a lower id than what is spare: keep to it. */
    spare(sched, job, 1);
    struct sub_members *members = members_of(sched, job);
    if (members->asked.count &&
        id_less(sched, job, seq_last(&members->asked))) {
        uint32_t last = seq_last(&members->asked);
        ask(sched, last, -1);
        spare(sched, last, 1);
        spare(sched, job, -1);
        ask(sched, job, 1);
    }
    return true;
}

bool sub_groups_unwait(struct sched *sched, uint32_t job)
{
    if (!is_member(sched, job)) {
        return false;
    }
    const struct seq *asked = &members_of(sched, job)->asked;

    if (asked->count && !id_less(sched, seq_last(asked), job)) {
        ask(sched, job, -1);
    } else {
        spare(sched, job, -1);
    }
    return true;
}

void sub_groups_run(struct sched *sched, uint32_t job, int sign)
{
    if (!is_member(sched, job)) {
        return;
    }
    struct sub_members *members = members_of(sched, job);

    if (sign > 0) {
        seq_insert(&members->leased, job, id_less, sched);
    } else {
        seq_remove(&members->leased, job, id_less, sched);
    }
    const struct run *run = &sched->runs.items[sched->jobs.items[job].run];
    uint32_t pool = sched->accounts.items[run->account].pool;

    ASSERT(sign > 0 || (sched->terms_run_count > 0 &&
                        sched->pools.items[pool].terms_run_count > 0));
    sched->terms_run_count += (uint32_t)sign;
    sched->pools.items[pool].terms_run_count += (uint32_t)sign;
    if (exclusive_node_is_for(gang_of(sched, job))) {
        exclusive_node_count(sched, run, sign);
    }
}

/* How many of a sub-group must yet start. */
static uint32_t missing_of(const struct sub_groups *subs, uint32_t index)
{
    const struct sub_members *members = &subs->items[index];
    uint32_t has = members->leased.count + members->succeeded_count;
    uint32_t minimum = subs->terms.sub_groups[index].min_count;

    return minimum > has ? minimum - has : 0;
}

void sub_groups_choose(struct sched *sched, struct gang *gang)
{
    struct sub_groups *subs = gang->subs;

    for (uint32_t i = 0; subs && i < subs->terms.sub_group_count; i++) {
        struct sub_members *members = &subs->items[i];
        uint32_t missing = missing_of(subs, i);
        while (members->asked.count > missing) {
            uint32_t job = seq_last(&members->asked);
            ask(sched, job, -1);
            spare(sched, job, 1);
        }
        ASSERT(members->asked.count <= missing);
        while (members->asked.count < missing && members->spare.count) {
            uint32_t job = seq_get(&members->spare, (struct seq_cursor){0});
            spare(sched, job, -1);
            ask(sched, job, 1);
        }
    }
}

bool sub_groups_are_complete(const struct gang *gang)
{
    const struct sub_groups *subs = gang->subs;

    for (uint32_t i = 0; i < subs->terms.sub_group_count; i++) {
        if (subs->items[i].asked.count < missing_of(subs, i)) {
            return false;
        }
    }
    return true;
}

bool sub_groups_are_met(const struct gang *gang)
{
    return gang->subs && gang->leased.count > 0 && gang->waiting.count == 0 &&
           sub_groups_are_complete(gang);
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

    for (uint32_t i = 0; i < gang->subs->terms.sub_group_count; i++) {
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

uint32_t sub_groups_spare(const struct gang *gang)
{
    return gang->subs ? gang->subs->spare_count : 0;
}

bool sub_group_is_base(const struct sched *sched, uint32_t job)
{
    if (!has_terms_running(sched) || !is_member(sched, job)) {
        return true;
    }
    const struct sub_groups *subs = gang_of(sched, job)->subs;
    struct sub_members *members = members_of(sched, job);
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
    return members->edge != NONE && !id_less(sched, members->edge, job);
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
    if (!has_terms_running(sched) || !is_member(sched, job)) {
        return;
    }
    struct sub_members *members = members_of(sched, job);

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
    if (!is_member(sched, job) || sched->jobs.items[job].run == NONE) {
        return;
    }
    members_of(sched, job)->succeeded_count++;
    gang_of(sched, job)->subs->succeeded_count++;
    sched->version++;
}

static bool is_part_right(const struct sched *sched, const struct seq *part,
                          bool is_leased, const struct sub_members *members)
{
    uint32_t last = NONE;

    for (struct seq_cursor at = {0}; !seq_is_end(part, at);
         seq_next(part, &at)) {
        uint32_t job = seq_get(part, at);
        if (members_of(sched, job) != members ||
            (sched->jobs.items[job].run != NONE) != is_leased ||
            (last != NONE && !id_less(sched, last, job))) {
            return false;
        }
        last = job;
    }
    return true;
}

bool sub_groups_are_right(const struct sched *sched, const struct gang *gang)
{
    const struct sub_groups *subs = gang->subs;
    uint32_t asked = 0, spare_count = 0, leased = 0, succeeded = 0;

    for (uint32_t i = 0; i < subs->terms.sub_group_count; i++) {
        const struct sub_members *members = &subs->items[i];
        uint32_t missing = missing_of(subs, i);
        if (!is_part_right(sched, &members->asked, false, members) ||
            !is_part_right(sched, &members->spare, false, members) ||
            !is_part_right(sched, &members->leased, true, members) ||
            members->asked.count > missing ||
            (members->asked.count < missing && members->spare.count)) {
            return false;
        }
        asked += members->asked.count;
        spare_count += members->spare.count;
        leased += members->leased.count;
        succeeded += members->succeeded_count;
    }
    return asked == gang->waiting.count && spare_count == subs->spare_count &&
           leased == gang->leased.count && succeeded == subs->succeeded_count;
}

uint32_t sub_groups_first(const struct sched *sched,
                          const struct sub_groups *subs)
{
    uint32_t first = NONE;

    for (uint32_t i = 0; i < subs->terms.sub_group_count; i++) {
        const struct seq *parts[] = {&subs->items[i].asked,
                                     &subs->items[i].spare,
                                     &subs->items[i].leased};
        for (size_t p = 0; p < ARRAY_COUNT(parts); p++) {
            if (parts[p]->count) {
                uint32_t job = seq_get(parts[p], (struct seq_cursor){0});
                first =
                    first == NONE || id_less(sched, job, first) ? job : first;
            }
        }
    }
    ASSERT(first == NONE || first < sched->jobs.count);
    return first;
}
