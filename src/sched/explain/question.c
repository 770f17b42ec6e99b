/* Questions about a job: which pools it may go to, and what it asks for. */
#include "sched/explain/private.h"
#include "sched/place/gpu_nodes.h"
#include "sched/state/nodes.h"
#include "sched/state/sub_groups.h"

bool explain_is_in_pools(const struct question *question, uint32_t pool)
{
    return pool_is_for(question->sched, pool, question->pool);
}

void explain_begin(const struct question *question)
{
    *question->answer = (struct sched_explanation){
        .nearest_node = NONE,
        .resource = -1,
        .for_job = NONE,
        .behind = NONE,
        .needed = question->class->request,
        .deadline_ms = question->class->deadline_ms,
    };
}

/* Whether any node has a resource that is no column, where such count. */
static bool is_on_a_node(const struct sched *sched, struct str name)
{
    for (uint32_t i = 0; i < sched->nodes.count; i++) {
        const struct node_record *record = sched->nodes.items[i].record;
        if (record && resource_list_get(&record->total, name) > 0) {
            return sched->policy->rules_revision >= POLICY_RULES_EXTRAS;
        }
    }
    return false;
}

/* A resource that a job asks for and neither policy nor nodes have; "": none.
 */
static struct str unknown_of(const struct sched *sched,
                             const struct requirement *requirement)
{
    const struct resource_list *requests = &requirement->requests;

    for (uint32_t i = 0; i < requests->count; i++) {
        if (requests->items[i].milli > 0 &&
            resource_column(&sched->policy->schema, requests->items[i].name) <
                0 &&
            !is_on_a_node(sched, requests->items[i].name)) {
            return requests->items[i].name;
        }
    }
    return (struct str){"", 0};
}

/* What each pool keeps for jobs that ask for GPUs; NULL: nothing. */
static struct gpu_nodes **ask_gpus(struct sched *sched, int64_t now_ms,
                                   struct arena *arena)
{
    struct gpu_nodes **gpus = NULL;

    for (uint32_t p = 0; p < sched->pools.count; p++) {
        struct gpu_nodes *of_pool = gpu_nodes_make(sched, p, now_ms, arena);
        if (of_pool && !gpus) {
            gpus = arena_alloc_array(arena, sched->pools.count, sizeof(*gpus));
        }
        if (of_pool) {
            gpus[p] = of_pool;
        }
    }
    return gpus;
}

void explain_ask(struct sched *sched, uint32_t job, int64_t now_ms,
                 struct sched_explanation *answer, struct arena *arena,
                 struct question *ret_question)
{
    ASSERT(job < sched->jobs.count && sched->jobs.items[job].list != LIST_NONE);
    nodes_sync(sched);
    const struct job *record = &sched->jobs.items[job];
    const struct list *list = &sched->lists.items[record->list];

    *ret_question = (struct question){
        .sched = sched,
        .job = job,
        .record = record,
        .queue = list->queue,
        .class_index = list->class_index,
        .pool = list->pool,
        .class = &sched->classes.items[list->class_index],
        .requirement = class_decode(sched, list->class_index, arena),
        .lacking = NONE,
        .gpus = ask_gpus(sched, now_ms, arena),
        .now_ms = now_ms,
        .answer = answer,
    };
    if (record->gang != NONE) {
        const struct gang *gang = &sched->gangs.items[record->gang];
        ret_question->pool = gang_pool(sched, gang);
        ret_question->uniformity = str_of(gang->uniformity);
        ret_question->is_growth = sub_groups_are_met(gang);
        if (ret_question->is_growth) {
            explain_reach(ret_question);
        }
    }
    explain_begin(ret_question);
    answer->unknown = unknown_of(sched, ret_question->requirement);
}

void explain_ask_for(struct question *question, struct arena *arena)
{
    const struct sched *sched = question->sched;
    uint32_t *classes = &question->class_index;

    question->class_count = question->needed_count = 1;
    question->start_count = 1;
    question->asked = question->started = question->class->request;
    if (question->record->gang != NONE) {
        const struct gang *gang = &sched->gangs.items[question->record->gang];
        uint32_t count = 0;
        classes =
            arena_alloc_array(arena, gang->waiting.count, sizeof(*classes));
        for (struct seq_cursor at = {0}; !seq_is_end(&gang->waiting, at);
             seq_next(&gang->waiting, &at)) {
            classes[count++] = class_of_job(sched, seq_get(&gang->waiting, at));
        }
        ASSERT(count == gang->waiting.count);
        question->class_count = count;
        question->needed_count = gang_needed(gang);
        question->asked = gang_least(sched, question->record->gang);
        question->start_count = count;
        question->started = gang->waiting_sum;
    }
    question->classes = classes;
}
