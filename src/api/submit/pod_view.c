#include "api/submit/pod_view.h"

#include <stdlib.h>

#include "model/quantity.h"
#include "model/resource.h"

/* A map entry while its map is sorted; the place keeps the sort stable. */
struct placed_entry {
    void *entry;
    const char *key;
    size_t at;
};

/* Every map entry with a text key begins with its message and the key. */
static char **key_of(void *entry)
{
    return (char **)(void *)((char *)entry + sizeof(ProtobufCMessage));
}

/* What a key that was left out reads as; nobody writes to it. */
static char empty_text[] = "";

static bool is_tidy(void **entries, size_t count)
{
    bool is_sorted = true;

    for (size_t i = 0; i < count; i++) {
        if (!*key_of(entries[i])) {
            *key_of(entries[i]) = empty_text;
        }
        is_sorted &=
            i == 0 || strcmp(*key_of(entries[i - 1]), *key_of(entries[i])) < 0;
    }
    return is_sorted;
}

static int compare_placed(const void *a_void, const void *b_void)
{
    const struct placed_entry *a = a_void, *b = b_void;
    int c = strcmp(a->key, b->key);

    return c ? c : (a->at > b->at) - (a->at < b->at);
}

size_t pod_map_tidy(void **entries, size_t count)
{
    if (is_tidy(entries, count)) {
        return count;
    }
    auto_mem struct placed_entry *placed =
        mem_alloc_array(count, sizeof(*placed));
    for (size_t i = 0; i < count; i++) {
        placed[i] = (struct placed_entry){entries[i], *key_of(entries[i]), i};
    }
    qsort(placed, count, sizeof(*placed), compare_placed);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        bool is_last =
            i + 1 == count || strcmp(placed[i].key, placed[i + 1].key) != 0;
        if (is_last) {
            entries[kept++] = placed[i].entry;
        }
    }
    return kept;
}

static int
read_amount(struct pod_amount *ret_amount, struct str container,
            const char *name,
            const K8s__Io__Apimachinery__Pkg__Api__Resource__Quantity *quantity,
            struct refusal *refusal)
{
    struct str text = str_of(quantity ? quantity->string : NULL);
    int64_t milli = 0;
    /* Go reads a quantity that was left out as 0. */
    int rc = text.byte_count ? quantity_parse(text, &milli) : 0;

    if (rc < 0) {
        return refusal_set(
            refusal,
            "container %.*s defines %.*s for resource %s, which is "
            "%s",
            STR_ARG(container), STR_ARG(text), name,
            rc == -ERR_LIMIT ? "too large" : "not a quantity");
    }
    *ret_amount = (struct pod_amount){str_of(name),
                                      text.byte_count ? text : STR("0"), milli};
    return 0;
}

static int read_requests(struct pod_container *container, struct arena *arena,
                         struct refusal *refusal)
{
    K8s__Io__Api__Core__V1__ResourceRequirements *resources =
        container->message->resources;
    struct pod_amounts *requests = &container->requests;
    int rc = 0;

    resources->n_requests =
        pod_map_tidy((void **)resources->requests, resources->n_requests);
    requests->items = arena_alloc_array(arena, resources->n_requests,
                                        sizeof(requests->items[0]));
    for (size_t i = 0; i < resources->n_requests && rc == 0; i++) {
        rc = read_amount(&requests->items[i], container->name,
                         resources->requests[i]->key,
                         resources->requests[i]->value, refusal);
        requests->count++;
    }
    return rc;
}

/* As read_requests(): the entries are another type of the same shape. */
static int read_limits(struct pod_container *container, struct arena *arena,
                       struct refusal *refusal)
{
    K8s__Io__Api__Core__V1__ResourceRequirements *resources =
        container->message->resources;
    struct pod_amounts *limits = &container->limits;
    int rc = 0;

    resources->n_limits =
        pod_map_tidy((void **)resources->limits, resources->n_limits);
    limits->items =
        arena_alloc_array(arena, resources->n_limits, sizeof(limits->items[0]));
    for (size_t i = 0; i < resources->n_limits && rc == 0; i++) {
        rc = read_amount(&limits->items[i], container->name,
                         resources->limits[i]->key, resources->limits[i]->value,
                         refusal);
        limits->count++;
    }
    return rc;
}

static int view_container(struct pod_container *ret_container,
                          K8s__Io__Api__Core__V1__Container *message,
                          bool is_init, struct arena *arena,
                          struct refusal *refusal)
{
    *ret_container = (struct pod_container){
        .message = message, .name = str_of(message->name), .is_init = is_init};
    if (!message->resources) {
        return 0;
    }
    int rc = read_requests(ret_container, arena, refusal);
    return rc < 0 ? rc : read_limits(ret_container, arena, refusal);
}

int pod_view_make(K8s__Io__Api__Core__V1__PodSpec *message, struct arena *arena,
                  struct pod_view *ret_view, struct refusal *refusal)
{
    struct pod_view view = {
        .message = message,
        .main_count = (uint32_t)message->n_containers,
        .container_count =
            (uint32_t)(message->n_containers + message->n_initcontainers),
    };
    int rc = 0;

    view.containers = arena_alloc_array(arena, view.container_count,
                                        sizeof(view.containers[0]));
    for (uint32_t i = 0; i < view.container_count && rc == 0; i++) {
        bool is_init = i >= view.main_count;
        K8s__Io__Api__Core__V1__Container *container =
            is_init ? message->initcontainers[i - view.main_count]
                    : message->containers[i];
        rc = view_container(&view.containers[i], container, is_init, arena,
                            refusal);
    }
    message->n_nodeselector =
        pod_map_tidy((void **)message->nodeselector, message->n_nodeselector);
    if (rc == 0) {
        *ret_view = view;
    }
    return rc;
}

const struct pod_amount *pod_amounts_find(const struct pod_amounts *amounts,
                                          struct str name)
{
    uint32_t low = 0, high = amounts->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int c = str_compare(amounts->items[middle].name, name);
        if (c == 0) {
            return &amounts->items[middle];
        }
        if (c < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}

bool pod_view_requests(const struct pod_view *view, struct str name,
                       bool is_main_only)
{
    uint32_t count = is_main_only ? view->main_count : view->container_count;

    for (uint32_t i = 0; i < count; i++) {
        const struct pod_amount *amount =
            pod_amounts_find(&view->containers[i].requests, name);
        if (amount && amount->milli > 0) {
            return true;
        }
    }
    return false;
}
