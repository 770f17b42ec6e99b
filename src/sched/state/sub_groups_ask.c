/* What other rooms ask about a gang's sub-groups. */
#include "sched/state/sub_groups.h"
#include "sched/state/sub_groups_private.h"

struct str sub_groups_packed(const struct gang *gang)
{
    return gang->subs ? str_make(gang->subs->packed, gang->subs->packed_bytes)
                      : (struct str){0};
}

uint32_t sub_groups_count(const struct gang *gang)
{
    return gang->subs ? gang->subs->terms.sub_group_count : 0;
}

const struct sub_group *sub_group_terms(const struct gang *gang,
                                        uint32_t sub_group)
{
    ASSERT(sub_group < sub_groups_count(gang));
    return &gang->subs->terms.sub_groups[sub_group];
}

bool sub_groups_have_exclusive_nodes(const struct gang *gang)
{
    return gang->subs && gang->subs->terms.has_exclusive_nodes;
}

int64_t sub_groups_freezing_window_ms(const struct gang *gang)
{
    return gang->subs->terms.freezing_window_ms;
}

uint32_t sub_group_succeeded(const struct gang *gang, uint32_t sub_group)
{
    ASSERT(sub_group < sub_groups_count(gang));
    return gang->subs->items[sub_group].succeeded_count;
}

uint32_t sub_groups_succeeded(const struct gang *gang)
{
    return gang->subs ? gang->subs->succeeded_count : 0;
}

void sub_group_set_succeeded(struct gang *gang, uint32_t sub_group,
                             uint32_t count)
{
    uint32_t *succeeded = &gang->subs->items[sub_group].succeeded_count;

    ASSERT(sub_group < sub_groups_count(gang));
    /* The gang's count is the sum of those of its sub-groups. */
    ASSERT(gang->subs->succeeded_count >= *succeeded);
    gang->subs->succeeded_count += count - *succeeded;
    *succeeded = count;
}

int64_t sub_groups_requeued_ms(const struct gang *gang)
{
    return gang->subs ? gang->subs->requeued_ms : 0;
}

void sub_groups_set_requeued(struct gang *gang, int64_t requeued_ms)
{
    gang->subs->requeued_ms = requeued_ms;
}

const struct seq *sub_group_required(const struct gang *gang,
                                     uint32_t sub_group)
{
    ASSERT(sub_group < sub_groups_count(gang));
    return &gang->subs->items[sub_group].required;
}

const struct seq *sub_group_optional(const struct gang *gang,
                                     uint32_t sub_group)
{
    ASSERT(sub_group < sub_groups_count(gang));
    return &gang->subs->items[sub_group].optional;
}

const struct seq *sub_group_leased(const struct gang *gang, uint32_t sub_group)
{
    ASSERT(sub_group < sub_groups_count(gang));
    return &gang->subs->items[sub_group].leased;
}

uint32_t sub_groups_optional_count(const struct gang *gang)
{
    return gang->subs ? gang->subs->optional_count : 0;
}

void sub_groups_note_start(const struct sched *sched, struct gang *gang)
{
    if (gang->subs) {
        gang->subs->joined_plan = sched->plan_count;
    }
}

bool sub_groups_start_in_plan(const struct sched *sched,
                              const struct gang *gang)
{
    return gang->subs->joined_plan == sched->plan_count;
}

bool sub_groups_look(struct gang *gang, uint64_t look)
{
    bool is_first = gang->subs->seen != look;

    gang->subs->seen = look;
    return is_first;
}
