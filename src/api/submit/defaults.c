#include "api/submit/defaults.h"

#include <math.h>

#include "api/core/message.h"
#include "api/submit/annotations.h"
#include "base/strbuf.h"

struct str defaults_fill_job_id(struct str value, struct str job_id,
                                struct arena *arena)
{
    const struct str escaped = STR("{{JobId}}"), wanted = STR("{JobId}");

    if (!value.byte_count ||
        !memmem(value.p, value.byte_count, wanted.p, wanted.byte_count)) {
        return value;
    }
    auto_strbuf out = strbuf_make(0);
    while (value.byte_count) {
        size_t taken = 1;
        if (str_starts_with(value, escaped)) {
            strbuf_add_text(&out, "JobId");
            taken = escaped.byte_count;
        } else if (str_starts_with(value, wanted)) {
            strbuf_add_str(&out, job_id);
            taken = wanted.byte_count;
        } else {
            strbuf_add_char(&out, value.p[0]);
        }
        value = str_make(value.p + taken, value.byte_count - taken);
    }
    return arena_str(arena, strbuf_str(&out));
}

static void put_annotation(Berth__Submission__Item *item, struct str key,
                           struct str value, struct arena *arena)
{
    Berth__Submission__Item__AnnotationsEntry *entry =
        arena_alloc(arena, sizeof(*entry));
    Berth__Submission__Item__AnnotationsEntry **entries =
        arena_alloc_array(arena, item->n_annotations + 1, sizeof(*entries));

    berth__submission__item__annotations_entry__init(entry);
    entry->key = message_text(key);
    entry->value = message_text(value);
    if (item->n_annotations) {
        memcpy(entries, item->annotations,
               item->n_annotations * sizeof(*entries));
    }
    entries[item->n_annotations++] = entry;
    item->annotations = entries;
}

static void put_label(Berth__Submission__Item *item, struct str key,
                      struct str value, struct arena *arena)
{
    Berth__Submission__Item__LabelsEntry *entry =
        arena_alloc(arena, sizeof(*entry));
    Berth__Submission__Item__LabelsEntry **entries =
        arena_alloc_array(arena, item->n_labels + 1, sizeof(*entries));

    berth__submission__item__labels_entry__init(entry);
    entry->key = message_text(key);
    entry->value = message_text(value);
    if (item->n_labels) {
        memcpy(entries, item->labels, item->n_labels * sizeof(*entries));
    }
    entries[item->n_labels++] = entry;
    item->labels = entries;
}

static void tidy_metadata(Berth__Submission__Item *item)
{
    item->n_labels = pod_map_tidy((void **)item->labels, item->n_labels);
    item->n_annotations =
        pod_map_tidy((void **)item->annotations, item->n_annotations);
}

static void fill_job_ids(Berth__Submission__Item *item, struct job_id job,
                         struct arena *arena)
{
    char text[ID_TEXT_BYTES_MAX];
    struct str id = str_of(job_id_format(job, text));

    for (size_t i = 0; i < item->n_labels; i++) {
        item->labels[i]->value = message_text(
            defaults_fill_job_id(str_of(item->labels[i]->value), id, arena));
    }
    for (size_t i = 0; i < item->n_annotations; i++) {
        item->annotations[i]->value = message_text(defaults_fill_job_id(
            str_of(item->annotations[i]->value), id, arena));
    }
}

void defaults_metadata(Berth__Submission__Item *item, bool is_gang,
                       struct job_id job, const struct submit_rules *rules,
                       struct arena *arena)
{
    struct str label = rules->default_gang_uniformity_label;

    tidy_metadata(item);
    fill_job_ids(item, job, arena);
    if (!is_gang) {
        return;
    }
    if (label.byte_count &&
        !annotation_find(item, ANNOTATION_GANG_UNIFORMITY).p) {
        put_annotation(item, STR(ANNOTATION_GANG_UNIFORMITY), label, arena);
    }
    if (!annotation_find(item, ANNOTATION_FAIL_FAST).p) {
        put_annotation(item, STR(ANNOTATION_FAIL_FAST), STR("true"), arena);
    }
    if (rules->adds_gang_id_label) {
        put_label(item, STR(ANNOTATION_GANG_ID),
                  annotation_find(item, ANNOTATION_GANG_ID), arena);
    }
    tidy_metadata(item);
}

/* Step 4. */
static void set_deadline(struct pod_view *pod, const struct submit_rules *rules)
{
    K8s__Io__Api__Core__V1__PodSpec *spec = pod->message;
    int64_t deadline_s = 0;

    if (spec->has_activedeadlineseconds) {
        return;
    }
    for (uint32_t i = 0; i < rules->deadline_count; i++) {
        const struct resource_deadline *deadline = &rules->deadlines[i];
        if (deadline->deadline_s > deadline_s &&
            pod_view_requests(pod, deadline->name, true)) {
            deadline_s = deadline->deadline_s;
        }
    }
    spec->has_activedeadlineseconds = true;
    spec->activedeadlineseconds =
        deadline_s ? deadline_s : rules->default_deadline_s;
}

static K8s__Io__Apimachinery__Pkg__Api__Resource__Quantity *
make_quantity(struct str text, struct arena *arena)
{
    K8s__Io__Apimachinery__Pkg__Api__Resource__Quantity *quantity =
        arena_alloc(arena, sizeof(*quantity));

    k8s__io__apimachinery__pkg__api__resource__quantity__init(quantity);
    quantity->string = message_text(text);
    return quantity;
}

static void put_request(K8s__Io__Api__Core__V1__ResourceRequirements *resources,
                        const struct resource_default *amount,
                        struct arena *arena)
{
    K8s__Io__Api__Core__V1__ResourceRequirements__RequestsEntry *entry =
        arena_alloc(arena, sizeof(*entry));

    k8s__io__api__core__v1__resource_requirements__requests_entry__init(entry);
    entry->key = message_text(amount->name);
    entry->value = make_quantity(amount->quantity, arena);
    resources->requests[resources->n_requests++] = entry;
}

static void put_limit(K8s__Io__Api__Core__V1__ResourceRequirements *resources,
                      const struct resource_default *amount,
                      struct arena *arena)
{
    K8s__Io__Api__Core__V1__ResourceRequirements__LimitsEntry *entry =
        arena_alloc(arena, sizeof(*entry));

    k8s__io__api__core__v1__resource_requirements__limits_entry__init(entry);
    entry->key = message_text(amount->name);
    entry->value = make_quantity(amount->quantity, arena);
    resources->limits[resources->n_limits++] = entry;
}

/* Room in both maps for `more` entries. */
static void grow(K8s__Io__Api__Core__V1__ResourceRequirements *resources,
                 uint32_t more, struct arena *arena)
{
    K8s__Io__Api__Core__V1__ResourceRequirements__RequestsEntry **requests =
        arena_alloc_array(arena, resources->n_requests + more,
                          sizeof(*requests));
    K8s__Io__Api__Core__V1__ResourceRequirements__LimitsEntry **limits =
        arena_alloc_array(arena, resources->n_limits + more, sizeof(*limits));

    if (resources->n_requests) {
        memcpy(requests, resources->requests,
               resources->n_requests * sizeof(*requests));
    }
    if (resources->n_limits) {
        memcpy(limits, resources->limits,
               resources->n_limits * sizeof(*limits));
    }
    resources->requests = requests;
    resources->limits = limits;
}

static bool is_named(const struct pod_container *container, struct str name)
{
    return pod_amounts_find(&container->requests, name) ||
           pod_amounts_find(&container->limits, name);
}

/* Step 6 for one container. */
static void set_resources(struct pod_container *container,
                          const struct submit_rules *rules, struct arena *arena)
{
    K8s__Io__Api__Core__V1__ResourceRequirements *resources =
        container->message->resources;

    if (!resources) {
        resources = arena_alloc(arena, sizeof(*resources));
        k8s__io__api__core__v1__resource_requirements__init(resources);
        container->message->resources = resources;
    }
    grow(resources, rules->default_limit_count, arena);
    for (uint32_t i = 0; i < rules->default_limit_count; i++) {
        if (!is_named(container, rules->default_limits[i].name)) {
            put_request(resources, &rules->default_limits[i], arena);
            put_limit(resources, &rules->default_limits[i], arena);
        }
    }
    resources->n_requests =
        pod_map_tidy((void **)resources->requests, resources->n_requests);
    resources->n_limits =
        pod_map_tidy((void **)resources->limits, resources->n_limits);
}

static bool is_due(const struct toleration_rule *rule,
                   const struct pod_view *pod)
{
    switch (rule->cause) {
    case TOLERATION_ALWAYS:
        return true;
    case TOLERATION_OF_CLASS:
        return str_equal(rule->of, str_of(pod->message->priorityclassname));
    case TOLERATION_OF_RESOURCE:
        return pod_view_requests(pod, rule->of, false);
    }
    return false;
}

static K8s__Io__Api__Core__V1__Toleration *
make_toleration(const struct toleration_rule *rule, struct arena *arena)
{
    K8s__Io__Api__Core__V1__Toleration *toleration =
        arena_alloc(arena, sizeof(*toleration));

    k8s__io__api__core__v1__toleration__init(toleration);
    toleration->key = message_text(rule->key);
    toleration->operator_ = message_text(STR("Equal"));
    toleration->value = message_text(rule->value);
    toleration->effect = message_text(rule->effect);
    return toleration;
}

/* Step 7. */
static void add_tolerations(struct pod_view *pod,
                            const struct submit_rules *rules,
                            struct arena *arena)
{
    K8s__Io__Api__Core__V1__PodSpec *spec = pod->message;
    K8s__Io__Api__Core__V1__Toleration **tolerations =
        arena_alloc_array(arena, spec->n_tolerations + rules->toleration_count,
                          sizeof(*tolerations));

    if (spec->n_tolerations) {
        memcpy(tolerations, spec->tolerations,
               spec->n_tolerations * sizeof(*tolerations));
    }
    spec->tolerations = tolerations;
    for (uint32_t i = 0; i < rules->toleration_count; i++) {
        if (is_due(&rules->tolerations[i], pod)) {
            tolerations[spec->n_tolerations++] =
                make_toleration(&rules->tolerations[i], arena);
        }
    }
}

/* Step 8. */
static void set_grace_period(K8s__Io__Api__Core__V1__PodSpec *spec,
                             const struct submit_rules *rules)
{
    if (!spec->has_terminationgraceperiodseconds ||
        spec->terminationgraceperiodseconds == 0) {
        spec->has_terminationgraceperiodseconds = true;
        spec->terminationgraceperiodseconds = rules->grace_period_s_min;
    }
}

void defaults_pod(struct pod_view *pod, const struct submit_rules *rules,
                  struct arena *arena)
{
    K8s__Io__Api__Core__V1__PodSpec *spec = pod->message;

    set_deadline(pod, rules);
    if (!spec->priorityclassname || !*spec->priorityclassname) {
        spec->priorityclassname = message_text(rules->default_class);
    }
    for (uint32_t i = 0; i < pod->container_count; i++) {
        set_resources(&pod->containers[i], rules, arena);
    }
    add_tolerations(pod, rules, arena);
    set_grace_period(spec, rules);
}

uint32_t defaults_priority(double priority)
{
    if (!(priority > 0)) {
        return 0;
    }
    return priority >= (double)UINT32_MAX ? UINT32_MAX
                                          : (uint32_t)round(priority);
}

struct str defaults_external_job_uri(const Berth__Submission__Item *item)
{
    struct str uri = str_of(item->external_job_uri);

    return uri.byte_count ? uri
                          : annotation_find(item, ANNOTATION_EXTERNAL_JOB_URI);
}
