#include "api/submit/pod_advice.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/strbuf.h"

enum {
    MILLI = 1000,
    TEXT_BYTES_MAX = 512, /* a name of a container has 63 */
};

#define NOTHING_TO_RUN                                                      \
    "container %.*s has neither command, args nor image: there is nothing " \
    "to run"

static void remark(struct pod_remarks_made *remarks, const char *format, ...)
    printf_like(2, 3);

static void remark(struct pod_remarks_made *remarks, const char *format, ...)
{
    char text[TEXT_BYTES_MAX];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    for (uint32_t i = 0; i < remarks->count; i++) {
        if (strcmp(remarks->items[i], text) == 0) {
            return;
        }
    }
    if (remarks->count < POD_REMARKS_MAX) {
        remarks->items[remarks->count++] =
            arena_strdup(remarks->arena, str_of(text));
    }
}

/* What has a vendor's name is a device, as in Kubernetes. */
static bool is_device(struct str name)
{
    return memchr(name.p, '/', name.byte_count) != NULL;
}

/* Devices, huge pages and storage that are no column are counted by node, where
 * nodes have them. */
static bool is_scheduled(const struct submit_rules *rules, struct str name)
{
    for (uint32_t i = 0; i < rules->resource_count; i++) {
        if (str_equal(rules->resources[i], name)) {
            return true;
        }
    }
    return rules->resource_count == 0 || is_device(name) ||
           str_starts_with(name, STR("hugepages-")) ||
           str_equal(name, STR("ephemeral-storage"));
}

/* No node can offer a resource by which nothing is scheduled. */
static int refuse_resource(const struct submit_rules *rules,
                           const struct pod_container *container,
                           struct str name, struct refusal *refusal)
{
    auto_strbuf known = {0};

    for (uint32_t i = 0; i < rules->resource_count; i++) {
        strbuf_addf(&known, "%s%.*s", i ? ", " : "",
                    STR_ARG(rules->resources[i]));
    }
    return refusal_set(refusal,
                       "container %.*s requests \"%.*s\", which no node can "
                       "offer; jobs are scheduled by %s "
                       "(scheduling.supportedResourceTypes)",
                       STR_ARG(container->name), STR_ARG(name),
                       strbuf_text(&known));
}

static int check_amounts(const struct pod_container *container,
                         const struct submit_rules *rules,
                         struct refusal *refusal)
{
    for (uint32_t i = 0; i < container->requests.count; i++) {
        const struct pod_amount *amount = &container->requests.items[i];
        if (amount->milli > 0 && !is_scheduled(rules, amount->name)) {
            return refuse_resource(rules, container, amount->name, refusal);
        }
        if (is_device(amount->name) && amount->milli % MILLI != 0) {
            return refusal_set(refusal,
                               "container %.*s requests %.*s: \"%.*s\", which "
                               "must be a whole number",
                               STR_ARG(container->name), STR_ARG(amount->name),
                               STR_ARG(amount->quantity));
        }
    }
    return 0;
}

/* Whether its image may be one, which then may have a command of its own. */
static bool has_image(const struct pod_container *container)
{
    struct str image = str_of(container->message->image);

    return image.byte_count > 0 && !str_equal(image, STR("none"));
}

/* Whether there is something to run, as far as the server's own executor says
 * which runtime it has. */
static int check_command(const struct pod_container *container,
                         const struct submit_rules *rules,
                         struct pod_remarks_made *remarks,
                         struct refusal *refusal)
{
    bool has_command =
        container->message->n_command > 0 || container->message->n_args > 0;

    if (rules->runtime == RULES_RUNTIME_FAKE ||
        (has_command && has_image(container))) {
        return 0;
    }
    if (!has_command && !has_image(container)) {
        if (rules->runtime != RULES_RUNTIME_UNKNOWN) {
            return refusal_set(refusal, NOTHING_TO_RUN,
                               STR_ARG(container->name));
        }
        remark(remarks, NOTHING_TO_RUN, STR_ARG(container->name));
        return 0;
    }
    if (!has_command && rules->runtime == RULES_RUNTIME_PROCESS) {
        remark(remarks,
               "container %.*s has neither command nor args: it fails on the "
               "nodes of this server, whose runtime process uses no image",
               STR_ARG(container->name));
    }
    if (has_command && rules->runtime == RULES_RUNTIME_KUBERNETES) {
        remark(remarks,
               "container %.*s has no image: it fails on the nodes of this "
               "server, whose runtime kubernetes needs one",
               STR_ARG(container->name));
    }
    return 0;
}

int pod_advice_make(const struct pod_view *pod,
                    const struct submit_rules *rules,
                    struct pod_remarks_made *remarks, struct refusal *refusal)
{
    int rc = 0;

    for (uint32_t i = 0; i < pod->container_count && rc == 0; i++) {
        rc = check_amounts(&pod->containers[i], rules, refusal);
        rc = rc < 0
                 ? rc
                 : check_command(&pod->containers[i], rules, remarks, refusal);
    }
    return rc;
}
