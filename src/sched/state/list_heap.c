#include "sched/state/list_heap.h"

#include "base/heap.h"

static uint32_t job_of(const struct sched *sched, const struct front *front)
{
    return front->class_index == NONE ? sched->gangs.items[front->item].position
                                      : front->item;
}

static bool is_before(const struct sched *sched, const struct front *a,
                      const struct front *b)
{
    if (a->level != b->level) {
        return a->level > b->level;
    }
    if (a->priority != b->priority) {
        return a->priority < b->priority;
    }
    if (a->submitted_ms != b->submitted_ms) {
        return a->submitted_ms < b->submitted_ms;
    }
    return job_less(sched, job_of(sched, a), job_of(sched, b));
}

/* What is first in a list that is not empty. */
static struct front front_of(const struct sched *sched, uint32_t index)
{
    const struct list *list = &sched->lists.items[index];
    struct front front = {
        .list = index,
        .item = seq_get(&list->seq, (struct seq_cursor){0}),
        .class_index = list->class_index,
        .pool = list->pool,
        .level = list->level,
        .is_borrowed = list->is_borrowed,
    };
    const struct job *job = &sched->jobs.items[job_of(sched, &front)];

    ASSERT(front.item != NONE && list->app == NONE);
    front.priority = job->priority;
    front.submitted_ms = job->submitted_ms;
    return front;
}

static void note_place(struct sched *sched, const struct front *front,
                       size_t at)
{
    sched->lists.items[front->list].place = (uint32_t)at;
}

DEFINE_HEAP(list_heap, struct front, 2, struct sched *, is_before, note_place);

void list_heap_refresh(struct sched *sched, uint32_t index)
{
    struct list *list = &sched->lists.items[index];
    struct queue *queue = &sched->queues.items[list->queue];

    ASSERT(list->place == NONE ||
           queue->list_heap.items[list->place].list == index);
    if (list->seq.count == 0) {
        if (list->place != NONE) {
            list_heap_remove(sched, queue->list_heap.items,
                             --queue->list_heap.count, list->place);
            list->place = NONE;
        }
        return;
    }
    if (list->place != NONE &&
        queue->list_heap.items[list->place].item ==
            seq_get(&list->seq, (struct seq_cursor){0})) {
        return;
    }
    struct front front = front_of(sched, index);
    if (list->place == NONE) {
        VEC_RESERVE(&queue->list_heap, 1);
        list_heap_rise(sched, queue->list_heap.items, queue->list_heap.count++,
                       front);
    } else {
        list_heap_move(sched, queue->list_heap.items, queue->list_heap.count,
                       list->place, front);
    }
}

bool list_heap_are_right(const struct sched *sched, uint32_t index)
{
    const struct queue *queue = &sched->queues.items[index];

    for (size_t i = 0; i < queue->list_heap.count; i++) {
        const struct front *front = &queue->list_heap.items[i];
        const struct list *list = &sched->lists.items[front->list];
        if (list->place != i || list->queue != index || list->app != NONE ||
            list->seq.count == 0) {
            return false;
        }
        struct front now = front_of(sched, front->list);
        if (front->item != now.item || front->level != now.level ||
            front->priority != now.priority ||
            front->submitted_ms != now.submitted_ms ||
            front->class_index != now.class_index ||
            (i > 0 &&
             is_before(sched, front, &queue->list_heap.items[(i - 1) / 2]))) {
            return false;
        }
    }
    return true;
}
