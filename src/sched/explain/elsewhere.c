/* Why a job could not start in another shard, which might lend it a node. */
#include "sched/explain/private.h"
#include "sched/state/exclusive.h"

/* What it asks for, in handles of the other state. */
static void translate(struct question *question,
                      const struct sched_elsewhere *there, struct arena *arena)
{
    const uint32_t *own = question->classes;
    uint32_t *classes =
        arena_alloc_array(arena, question->class_count, sizeof(*classes));

    for (uint32_t i = 0; i < question->class_count; i++) {
        classes[i] = i && own[i] == own[i - 1]
                         ? classes[i - 1]
                         : there->class_of(there->context, own[i]);
    }
    question->sched = there->sched;
    question->class_index =
        there->class_of(there->context, question->class_index);
    question->classes = classes;
    /* Classes may have been added: pointers to them are taken now. */
    question->class = &there->sched->classes.items[question->class_index];
    question->requirement =
        class_decode(there->sched, question->class_index, arena);
    question->job = NONE;
    question->record = NULL;
    question->avoided = there->avoided;
    question->avoided_count = there->avoided_count;
    question->pool = NONE;
    if (there->pool.byte_count) {
        /* One that nobody there knows has no nodes, as one past all has. */
        question->pool = intern_find(there->sched->pool_names, there->pool);
        if (question->pool == INTERN_NONE) {
            question->pool = (uint32_t)there->sched->pools.count;
        }
    }
}

/* How far a gang fits at once. */
static void answer_gang(const struct question *question)
{
    struct sched_explanation *answer = question->answer;
    uint32_t fitting = explain_fitting(question, question->needed_count, NULL);

    answer->present = fitting;
    answer->wanted = question->needed_count;
    if (fitting < question->needed_count &&
        (answer->wait == SCHED_WAIT_TURN ||
         answer->wait == SCHED_WAIT_CAPACITY)) {
        answer->wait = SCHED_WAIT_GANG_CAPACITY;
    }
}

static void answer_all(struct question *question)
{
    struct sched_explanation *answer = question->answer;

    explain_nodes(question);
    if (question->needed_count > 1) {
        answer_gang(question);
    }
    if (answer->wait == SCHED_WAIT_NO_NODES ||
        answer->wait == SCHED_WAIT_NEVER_FITS) {
        return;
    }
    if (question->sched->queues.items[question->queue].is_cordoned) {
        answer->wait = SCHED_WAIT_QUEUE_CORDONED;
    } else if (explain_quota(question)) {
        return;
    } else if (explain_floating(question)) {
        answer->wait = SCHED_WAIT_FLOATING;
    } else if (explain_limit(question)) {
        answer->wait = SCHED_WAIT_QUEUE_LIMIT;
    } else if (answer->wait == SCHED_WAIT_TURN) {
        (void)explain_rates(question);
    }
}

void sched_explain_at(struct sched *sched, uint32_t job,
                      const struct sched_elsewhere *there, int64_t now_ms,
                      struct sched_explanation *ret_explanation)
{
    auto_arena arena = {0};
    const struct job *record = &sched->jobs.items[job];
    const struct list *list = &sched->lists.items[record->list];
    struct question question = {
        .sched = sched,
        .job = job,
        .record = record,
        .queue = list->queue,
        .class_index = list->class_index,
        .class = &sched->classes.items[list->class_index],
        .now_ms = now_ms,
        .answer = ret_explanation,
    };

    if (record->gang != NONE) {
        const struct gang *gang = &sched->gangs.items[record->gang];
        question.uniformity = str_of(gang->uniformity);
        question.is_whole = exclusive_node_is_for(gang);
    }
    explain_ask_for(&question, &arena);
    nodes_sync(there->sched);
    translate(&question, there, &arena);
    explain_begin(&question);
    answer_all(&question);
}
