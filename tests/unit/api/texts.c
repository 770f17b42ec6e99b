#include "texts.h"

const char *text_of_pod(K8s__Io__Api__Core__V1__PodSpec *pod,
                        const struct submit_rules *rules, struct arena *arena)
{
    struct refusal *refusal = arena_alloc(arena, sizeof(*refusal));
    struct pod_view view;

    if (pod_view_make(pod, arena, &view, refusal) < 0) {
        return refusal->text;
    }
    return validate_pod(&view, rules, refusal) < 0 ? refusal->text : "";
}

const char *text_of_request(Berth__Submission__Request *request,
                            struct arena *arena)
{
    struct refusal *refusal = arena_alloc(arena, sizeof(*refusal));

    return validate_request(request, refusal) < 0 ? refusal->text : "";
}

const char *text_of_rest(Berth__Submission__Item *item, struct arena *arena)
{
    struct refusal *refusal = arena_alloc(arena, sizeof(*refusal));
    struct submit_rules rules;

    submit_rules_defaults(&rules);
    rules.notify_targets[0] = STR("chat");
    rules.notify_targets[1] = STR("pager");
    rules.notify_target_count = 2;
    return validate_item_rest(item, &rules, refusal) < 0 ? refusal->text : "";
}

const char *text_of_usual_pod(K8s__Io__Api__Core__V1__PodSpec *pod,
                              struct arena *arena)
{
    struct submit_rules rules;

    submit_rules_defaults(&rules);
    return text_of_pod(pod, &rules, arena);
}

const char *text_of_shape(Berth__Submission__Item *item, struct arena *arena)
{
    struct refusal *refusal = arena_alloc(arena, sizeof(*refusal));
    struct submit_rules rules;
    struct str pod_spec;

    submit_rules_defaults(&rules);
    return validate_item_shape(item, &rules, &pod_spec, refusal) < 0
               ? refusal->text
               : "";
}
