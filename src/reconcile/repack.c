#include "reconcile/repack.h"

static const char hostname_label[] = "kubernetes.io/hostname";

static bool is_same_list(const struct resource_list *a,
                         const struct resource_list *b)
{
    bool is_same = a->count == b->count;

    for (uint32_t i = 0; is_same && i < a->count; i++) {
        is_same = a->items[i].milli == resource_list_get(b, a->items[i].name);
    }
    return is_same;
}

static bool has_same_taints(const struct node_record *a,
                            const struct node_record *b)
{
    bool is_same = a->taint_count == b->taint_count;

    for (uint32_t i = 0; is_same && i < a->taint_count; i++) {
        is_same = a->taints[i].effect == b->taints[i].effect &&
                  str_equal(a->taints[i].key, b->taints[i].key) &&
                  str_equal(a->taints[i].value, b->taints[i].value);
    }
    return is_same;
}

/* The next label from `at` on that is not the host's name. */
static uint32_t skip_hostname(const struct node_record *node, uint32_t at)
{
    return at < node->label_count &&
                   str_equal(node->labels[at].key, str_of(hostname_label))
               ? at + 1
               : at;
}

static bool has_same_labels(const struct node_record *a,
                            const struct node_record *b)
{
    uint32_t i = 0, k = 0;

    for (;; i++, k++) {
        i = skip_hostname(a, i);
        k = skip_hostname(b, k);
        if (i >= a->label_count || k >= b->label_count) {
            return i >= a->label_count && k >= b->label_count;
        }
        if (!str_equal(a->labels[i].key, b->labels[k].key) ||
            !str_equal(a->labels[i].value, b->labels[k].value)) {
            return false;
        }
    }
}

bool repack_is_equal(const struct node_record *a, const struct node_record *b)
{
    return str_equal(a->pool, b->pool) &&
           str_equal(a->node_type, b->node_type) &&
           is_same_list(&a->total, &b->total) && has_same_taints(a, b) &&
           has_same_labels(a, b);
}

/* What a node has left of a resource that it lists. */
static int64_t left_of(const struct repack *repack, uint32_t index,
                       const struct resource_amount *of)
{
    const struct node_record *node = &repack->nodes[index];

    return of->milli - resource_list_get(&node->foreign, of->name) -
           repack->used(repack->ctx, index, of->name);
}

bool repack_has_room(const struct repack *repack, uint32_t index,
                     const struct resource_list *request)
{
    const struct resource_list *total = &repack->nodes[index].total;

    for (uint32_t i = 0; i < total->count; i++) {
        int64_t asked = resource_list_get(request, total->items[i].name);
        if (asked > 0 && asked > left_of(repack, index, &total->items[i])) {
            return false;
        }
    }
    return true;
}

/* Whether node `a` is left with less than node `b`: the first resource that
 * is not left alike decides; equals go by name. */
static bool is_fuller(const struct repack *repack, uint32_t a, uint32_t b)
{
    const struct resource_list *total = &repack->nodes[a].total;

    for (uint32_t i = 0; i < total->count; i++) {
        int64_t of_a = left_of(repack, a, &total->items[i]);
        int64_t of_b = left_of(repack, b, &total->items[i]);
        if (of_a != of_b) {
            return of_a < of_b;
        }
    }
    return str_compare(repack->nodes[a].name, repack->nodes[b].name) < 0;
}

uint32_t repack_choose(const struct repack *repack, uint32_t index,
                       const struct resource_list *request)
{
    const struct node_record *wanted = &repack->nodes[index];
    uint32_t best = REPACK_NONE;

    if (repack_has_room(repack, index, request)) {
        return index;
    }
    for (uint32_t i = 0; i < repack->node_count; i++) {
        const struct node_record *node = &repack->nodes[i];
        if (i != index && !node->is_unschedulable &&
            repack_is_equal(wanted, node) &&
            repack_has_room(repack, i, request) &&
            (best == REPACK_NONE || is_fuller(repack, i, best))) {
            best = i;
        }
    }
    return best;
}
