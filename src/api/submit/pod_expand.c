#include "api/submit/pod_expand.h"

#include "base/intern.h"
#include "base/vec.h"
#include "wire/kube/expand.h"

typedef K8s__Io__Api__Core__V1__Container container_t;

/* What is known of a container's variables: how long each is. */
struct lengths {
    struct intern names;
    VEC(size_t) items; /* by the index of the name */
};

static size_t length_of(const struct lengths *lengths, struct str name)
{
    uint32_t index = intern_find(&lengths->names, name);

    return index == INTERN_NONE ? 0 : lengths->items.items[index];
}

static void set_length(struct lengths *lengths, struct str name, size_t length)
{
    uint32_t index = intern_add(&lengths->names, name);

    while (lengths->items.count <= index) {
        VEC_PUSH(&lengths->items, 0);
    }
    lengths->items.items[index] = length;
}

/* How long a text gets; more than the bound is not counted further. */
static size_t expanded_length(const struct lengths *lengths, const char *text)
{
    struct expand_piece piece;
    size_t sum = 0;

    while (text && sum <= EXPAND_POD_BYTES_MAX && expand_next(&text, &piece)) {
        sum += piece.name.byte_count > 0 ? length_of(lengths, piece.name)
                                         : piece.text.byte_count;
    }
    return sum;
}

/* Without a reference a pod is no longer than it was sent. */
static bool has_reference(const container_t *container)
{
    bool is_found = false;

    for (size_t i = 0; !is_found && i < container->n_env; i++) {
        const char *value = container->env[i]->value;
        is_found = value && strstr(value, "$(");
    }
    for (size_t i = 0; !is_found && i < container->n_command; i++) {
        is_found = strstr(container->command[i], "$(");
    }
    for (size_t i = 0; !is_found && i < container->n_args; i++) {
        is_found = strstr(container->args[i], "$(");
    }
    return is_found;
}

static int count_container(const container_t *container, size_t *sum,
                           struct lengths *lengths, struct err *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < container->n_env; i++) {
        const K8s__Io__Api__Core__V1__EnvVar *env = container->env[i];
        size_t length =
            env->valuefrom ? 0 : expanded_length(lengths, env->value);
        rc = expand_count(sum, length, err);
        set_length(lengths, str_of(env->name), length);
    }
    for (size_t i = 0; rc == 0 && i < container->n_command; i++) {
        rc = expand_count(sum, expanded_length(lengths, container->command[i]),
                          err);
    }
    for (size_t i = 0; rc == 0 && i < container->n_args; i++) {
        rc = expand_count(sum, expanded_length(lengths, container->args[i]),
                          err);
    }
    return rc;
}

static int check_container(const container_t *container, size_t *sum,
                           struct refusal *refusal)
{
    struct lengths lengths = {0};
    struct err err;

    if (!has_reference(container)) {
        return 0;
    }
    int rc = count_container(container, sum, &lengths, &err);
    intern_fini(&lengths.names);
    VEC_FREE(&lengths.items);
    return rc == 0
               ? 0
               : refusal_set(refusal, "container %s: %s",
                             container->name ? container->name : "", err.text);
}

int pod_expand_check(const K8s__Io__Api__Core__V1__PodSpec *pod,
                     struct refusal *refusal)
{
    size_t sum = 0;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < pod->n_initcontainers; i++) {
        rc = check_container(pod->initcontainers[i], &sum, refusal);
    }
    for (size_t i = 0; rc == 0 && i < pod->n_containers; i++) {
        rc = check_container(pod->containers[i], &sum, refusal);
    }
    return rc;
}
