#include "executor/port/change_queue.h"

enum { POD_TEXTS = 5 };

static void free_taken(struct change_queue *queue)
{
    for (; queue->freed < queue->first; queue->freed++) {
        mem_free(queue->items.items[queue->freed].memory);
    }
    if (queue->first == queue->items.count) {
        queue->items.count = queue->first = queue->freed = 0;
    }
}

void change_queue_fini(struct change_queue *queue)
{
    queue->first = queue->items.count;
    free_taken(queue);
    VEC_FREE(&queue->items);
}

static char *copy_text(char *to, struct str *text)
{
    if (text->byte_count > 0) {
        memcpy(to, text->p, text->byte_count);
    }
    text->p = to;
    return to + text->byte_count;
}

/* Move the texts of a change, and its pod, into memory of their own. */
static void own_texts(struct queued_change *queued)
{
    struct runtime_change *change = &queued->change;
    struct runtime_pod pod = {0};
    struct str *texts[POD_TEXTS] = {&pod.queue, &pod.job_set, &pod.namespace_,
                                    &pod.pod_name, &pod.node_name};
    size_t byte_count = sizeof(pod) + change->text.byte_count;

    if (change->pod) {
        pod = *change->pod;
    }
    for (int i = 0; i < POD_TEXTS; i++) {
        byte_count += texts[i]->byte_count;
    }
    queued->memory = mem_alloc(byte_count);
    char *p = copy_text((char *)queued->memory + sizeof(pod), &change->text);
    for (int i = 0; i < POD_TEXTS; i++) {
        p = copy_text(p, texts[i]);
    }
    memcpy(queued->memory, &pod, sizeof(pod));
    change->pod = change->pod ? queued->memory : NULL;
}

void change_queue_push(struct change_queue *queue,
                       const struct runtime_change *change)
{
    struct queued_change queued = {.change = *change};

    ASSERT((change->kind == RUNTIME_APPEARED) == (change->pod != NULL));
    if (change->pod || change->text.byte_count > 0) {
        own_texts(&queued);
    }
    VEC_PUSH(&queue->items, queued);
}

uint32_t change_queue_take(struct change_queue *queue,
                           struct runtime_change *ret_changes,
                           uint32_t change_max)
{
    uint32_t count = 0;

    free_taken(queue);
    while (count < change_max && !change_queue_is_empty(queue)) {
        ret_changes[count++] = queue->items.items[queue->first++].change;
    }
    return count;
}
