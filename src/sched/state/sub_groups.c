#include "sched/state/sub_groups.h"

#include "sched/state/sub_groups_private.h"

bool sub_groups_less(const void *context, uint32_t a, uint32_t b)
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
        seq_fini(&subs->items[i].required);
        seq_fini(&subs->items[i].optional);
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

struct gang *sub_groups_gang(const struct sched *sched, uint32_t job)
{
    return &sched->gangs.items[sched->jobs.items[job].gang];
}

bool sub_groups_is_member(const struct sched *sched, uint32_t job)
{
    return sched->jobs.items[job].gang != NONE &&
           sub_groups_gang(sched, job)->subs;
}

struct sub_members *sub_groups_members(const struct sched *sched, uint32_t job)
{
    return &sub_groups_gang(sched, job)->subs->items[sub_group_of(sched, job)];
}

/* The gang asks for a member (+1), or no longer (-1). */
static void ask(struct sched *sched, uint32_t job, int sign)
{
    struct gang *gang = sub_groups_gang(sched, job);
    struct sub_members *members = sub_groups_members(sched, job);
    const struct list *list = &sched->lists.items[sched->jobs.items[job].list];
    const struct resource_vec *request =
        &sched->classes.items[list->class_index].request;

    amounts_add_times(&sched->accounts.items[list->account].queued, request,
                      sign);
    amounts_add_times(&gang->waiting_sum, request, sign);
    ASSERT_SLOW(sched->jobs.items[job].run == NONE);
    if (sign > 0) {
        seq_insert(&gang->waiting, job, job_less, sched);
        seq_insert(&members->required, job, sub_groups_less, sched);
    } else {
        seq_remove(&gang->waiting, job, job_less, sched);
        seq_remove(&members->required, job, sub_groups_less, sched);
    }
}

static void make_optional(struct sched *sched, uint32_t job, int sign)
{
    struct sub_members *members = sub_groups_members(sched, job);

    /* Optional members of one sub-group are optional ones of the gang. */
    ASSERT(members->optional.count <=
           sub_groups_gang(sched, job)->subs->optional_count);
    if (sign > 0) {
        seq_insert(&members->optional, job, sub_groups_less, sched);
    } else {
        seq_remove(&members->optional, job, sub_groups_less, sched);
    }
    sub_groups_gang(sched, job)->subs->optional_count += (uint32_t)sign;
}

bool sub_group_is_optional(const struct sched *sched, uint32_t job)
{
    if (!sub_groups_is_member(sched, job) ||
        sched->jobs.items[job].run != NONE) {
        return false;
    }
    const struct seq *required = &sub_groups_members(sched, job)->required;

    return required->count == 0 ||
           sub_groups_less(sched, seq_last(required), job);
}

bool sub_groups_wait(struct sched *sched, uint32_t job)
{
    if (!sub_groups_is_member(sched, job)) {
        return false;
    }
    /* Members that the gang asks for have lower ids than optional ones: keep it
     * so. */
    make_optional(sched, job, 1);
    struct sub_members *members = sub_groups_members(sched, job);
    if (members->required.count &&
        sub_groups_less(sched, job, seq_last(&members->required))) {
        uint32_t last = seq_last(&members->required);
        ask(sched, last, -1);
        make_optional(sched, last, 1);
        make_optional(sched, job, -1);
        ask(sched, job, 1);
    }
    return true;
}

bool sub_groups_unwait(struct sched *sched, uint32_t job)
{
    if (!sub_groups_is_member(sched, job)) {
        return false;
    }
    const struct seq *required = &sub_groups_members(sched, job)->required;

    if (required->count && !sub_groups_less(sched, seq_last(required), job)) {
        ask(sched, job, -1);
    } else {
        make_optional(sched, job, -1);
    }
    return true;
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
        while (members->required.count > missing) {
            uint32_t job = seq_last(&members->required);
            ask(sched, job, -1);
            make_optional(sched, job, 1);
        }
        ASSERT(members->required.count <= missing);
        while (members->required.count < missing && members->optional.count) {
            uint32_t job = seq_get(&members->optional, (struct seq_cursor){0});
            make_optional(sched, job, -1);
            ask(sched, job, 1);
        }
    }
}

bool sub_groups_are_complete(const struct gang *gang)
{
    const struct sub_groups *subs = gang->subs;

    for (uint32_t i = 0; i < subs->terms.sub_group_count; i++) {
        if (subs->items[i].required.count < missing_of(subs, i)) {
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

static bool is_part_right(const struct sched *sched, const struct seq *part,
                          bool is_leased, const struct sub_members *members)
{
    uint32_t last = NONE;

    for (struct seq_cursor at = {0}; !seq_is_end(part, at);
         seq_next(part, &at)) {
        uint32_t job = seq_get(part, at);
        if (sub_groups_members(sched, job) != members ||
            (sched->jobs.items[job].run != NONE) != is_leased ||
            (last != NONE && !sub_groups_less(sched, last, job))) {
            return false;
        }
        last = job;
    }
    return true;
}

bool sub_groups_are_right(const struct sched *sched, const struct gang *gang)
{
    const struct sub_groups *subs = gang->subs;
    uint32_t required = 0, optional_count = 0, leased = 0, succeeded = 0;

    if (!subs) {
        return true;
    }
    for (uint32_t i = 0; i < subs->terms.sub_group_count; i++) {
        const struct sub_members *members = &subs->items[i];
        uint32_t missing = missing_of(subs, i);
        if (!is_part_right(sched, &members->required, false, members) ||
            !is_part_right(sched, &members->optional, false, members) ||
            !is_part_right(sched, &members->leased, true, members) ||
            members->required.count > missing ||
            (members->required.count < missing && members->optional.count)) {
            return false;
        }
        required += members->required.count;
        optional_count += members->optional.count;
        leased += members->leased.count;
        succeeded += members->succeeded_count;
    }
    return required == gang->waiting.count &&
           optional_count == subs->optional_count &&
           leased == gang->leased.count && succeeded == subs->succeeded_count;
}

uint32_t sub_groups_first(const struct sched *sched, const struct gang *gang)
{
    const struct sub_groups *subs = gang->subs;
    uint32_t first = NONE;

    for (uint32_t i = 0; i < subs->terms.sub_group_count; i++) {
        const struct seq *parts[] = {&subs->items[i].required,
                                     &subs->items[i].optional,
                                     &subs->items[i].leased};
        for (size_t p = 0; p < ARRAY_COUNT(parts); p++) {
            if (parts[p]->count) {
                uint32_t job = seq_get(parts[p], (struct seq_cursor){0});
                first = first == NONE || sub_groups_less(sched, job, first)
                            ? job
                            : first;
            }
        }
    }
    ASSERT(first == NONE || first < sched->jobs.count);
    return first;
}
