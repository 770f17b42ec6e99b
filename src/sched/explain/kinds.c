/* The nodes that a job could be on, by kind, and whether there are any. */
#include "sched/explain/private.h"
#include "sched/state/floating.h"

/* Count a node in its kind; false: there are too many kinds. */
static bool add_to_kind(const struct question *question, uint32_t index,
                        bool fits, struct sched_node_kind *kinds,
                        uint32_t *count)
{
    const struct sched *sched = question->sched;
    const struct resource_vec *capacity = &sched->nodes.items[index].capacity;
    const struct resource_vec *request = &question->class->request;
    uint32_t k = 0;

    while (k < *count &&
           memcmp(&kinds[k].capacity, capacity, sizeof(*capacity)) != 0) {
        k++;
    }
    if (k == SCHED_NODE_KINDS_MAX) {
        return false;
    }
    if (k == *count) {
        (*count)++;
        kinds[k] = (struct sched_node_kind){.first = index,
                                            .capacity = *capacity,
                                            .freest = index,
                                            .free = sched->free[index]};
    } else if (explain_shortfall(request, &sched->free[index]) <
               explain_shortfall(request, &kinds[k].free)) {
        kinds[k].freest = index;
        kinds[k].free = sched->free[index];
    }
    kinds[k].node_count++;
    kinds[k].fit_count += fits;
    return true;
}

uint32_t sched_explain_kinds(struct sched *sched, uint32_t job, int64_t now_ms,
                             struct sched_node_kind *ret_kinds,
                             uint32_t *ret_left_out_count)
{
    auto_arena arena = {0};
    struct sched_explanation answer;
    struct question question;
    uint32_t count = 0;

    explain_ask(sched, job, now_ms, &answer, &arena, &question);
    *ret_left_out_count = 0;
    for (struct seq_cursor at = {0}; !seq_is_end(&sched->nodes_by_name, at);
         seq_next(&sched->nodes_by_name, &at)) {
        uint32_t index = seq_get(&sched->nodes_by_name, at);
        if (!sched->nodes.items[index].record) {
            continue;
        }
        enum sched_exclusion why = explain_exclusion(&question, index);
        if (why >= SCHED_EXCLUDED_TOO_SMALL) {
            *ret_left_out_count += !add_to_kind(
                &question, index, why == SCHED_EXCLUSIONS, ret_kinds, &count);
        }
    }
    for (uint32_t k = 0; k < count; k++) {
        floating_strip(sched, &ret_kinds[k].capacity);
        floating_strip(sched, &ret_kinds[k].free);
    }
    return count;
}

void sched_explain_nodes(struct sched *sched, uint32_t job,
                         struct sched_explanation *ret_explanation)
{
    auto_arena arena = {0};
    struct question question;

    explain_ask(sched, job, 0, ret_explanation, &arena, &question);
    explain_nodes(&question);
}

bool sched_has_place(struct sched *sched, uint32_t job, uint32_t *ret_looks)
{
    auto_arena arena = {0};
    struct sched_explanation answer;
    struct question question;

    explain_ask(sched, job, 0, &answer, &arena, &question);
    for (uint32_t i = 0; i < sched->nodes.count; i++) {
        (*ret_looks)++;
        if (sched->nodes.items[i].record) {
            enum sched_exclusion why = explain_exclusion(&question, i);
            if (why >= SCHED_EXCLUDED_FULL) {
                return true;
            }
        }
    }
    return false;
}
