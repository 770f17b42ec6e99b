/* How many members of a gang with terms fit at once. */
#include <string.h>

#include "sched/explain/private.h"
#include "sched/state/sub_groups.h"

/* The same question of a member of a sub-group. */
static struct question member_of(const struct question *question, uint32_t job,
                                 struct arena *arena)
{
    struct sched *sched = question->sched;
    struct question member = *question;

    member.job = job;
    member.record = &sched->jobs.items[job];
    member.class_index = class_of_job(sched, job);
    member.class = &sched->classes.items[member.class_index];
    member.requirement = class_decode(sched, member.class_index, arena);
    return member;
}

void explain_closest_of(const struct question *question, uint32_t job,
                        struct closest_nodes *ret_closest)
{
    auto_arena arena = {0};
    struct sched_explanation answer;
    struct question member = member_of(question, job, &arena);

    member.answer = &answer;
    member.closest = (struct closest_nodes){.count = 0};
    explain_begin(&member);
    explain_nodes(&member);
    *ret_closest = member.closest;
}

bool explain_sub_groups(struct question *question, const struct gang *gang)
{
    const struct sched *sched = question->sched;
    struct sched_explanation *answer = question->answer;
    auto_arena arena = {0};
    struct resource_vec *left =
        arena_alloc_array(&arena, sched->nodes.count, sizeof(*left));
    uint32_t asked_sum = 0, found_sum = 0;

    if (sched->nodes.count) {
        memcpy(left, sched->free, sched->nodes.count * sizeof(*left));
    }
    for (uint32_t i = 0; i < sub_groups_count(gang); i++) {
        const struct seq *asked = sub_group_required(gang, i);
        if (asked->count == 0) {
            continue;
        }
        struct question member =
            member_of(question, seq_get(asked, (struct seq_cursor){0}), &arena);
        uint32_t alone = explain_fitting(&member, asked->count, NULL);
        if (alone < asked->count) {
            answer->sub_group = sub_group_terms(gang, i)->name;
            question->lacking = i;
            answer->present = alone;
            answer->wanted = asked->count;
            return true;
        }
        asked_sum += asked->count;
        found_sum += explain_fitting(&member, asked->count, left);
    }
    answer->present = found_sum;
    answer->wanted = asked_sum;
    return found_sum < asked_sum;
}
