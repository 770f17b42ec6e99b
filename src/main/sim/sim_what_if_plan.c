/* The changes that the options of `what-if` ask for. */
#include <math.h>

#include "main/sim/sim_what_if.h"
#include "model/class_change.h"
#include "wire/change/change_text.h"
#include "wire/policy/policy_codec.h"

static int set_weight(const struct history *history,
                      struct sim_what_if_plan *plan, struct str name,
                      double weight, struct err *err)
{
    for (uint32_t i = 0; i < history->queues.count; i++) {
        if (str_equal(history->queues.items[i].name, name)) {
            struct history_weight of = {i, weight};
            VEC_PUSH(&plan->changes.weights, of);
            return 0;
        }
    }
    return err_set(err, -ERR_NOT_FOUND, "there was no queue \"%.*s\"",
                   STR_ARG(name));
}

static int set_class(struct sim_what_if_plan *plan,
                     const struct change_set *set, struct err *err)
{
    bool is_priority = set->kind == CHANGE_PRIORITY;
    struct class_change change = {
        .name = set->name,
        .has_priority = is_priority,
        .priority = is_priority ? (int32_t)set->value : 0,
        .resource = set->resource,
        .fraction_ppm =
            is_priority ? 0 : (int64_t)round(set->value * FRACTION_ONE_PPM),
    };

    plan->changes.policy = &plan->policy;
    return policy_change_class(&plan->policy, &change, err);
}

static int set_one(const struct history *history, struct sim_what_if_plan *plan,
                   const char *item, struct err *err)
{
    struct change_set set;

    int rc = change_read_set(item, &set, err);
    if (rc < 0) {
        return rc;
    }
    if ((set.kind == CHANGE_WEIGHT && set.value <= 0) ||
        (set.kind == CHANGE_LIMIT && (set.value < 0 || set.value > 1))) {
        return change_refuse_set(item, err);
    }
    return set.kind == CHANGE_WEIGHT
               ? set_weight(history, plan, set.name, set.value, err)
               : set_class(plan, &set, err);
}

static int add_nodes(struct sim_what_if_plan *plan, const char *item,
                     struct err *err)
{
    struct change_nodes asked;

    int rc = change_read_nodes(item, &asked, err);
    if (rc == 0) {
        struct history_more more = {str_of(asked.like), asked.count};
        VEC_PUSH(&plan->changes.nodes, more);
    }
    return rc;
}

int sim_what_if_plan_make(const struct sim_what_if_options *options,
                          const struct history *history,
                          struct sim_what_if_plan *plan, struct err *err)
{
    int rc = 0;

    plan->policy = history->policy;
    if (options->scheduling_path) {
        rc = sim_read_file(options->scheduling_path, &plan->text, err);
        if (rc == 0) {
            rc = policy_read_written(strbuf_str(&plan->text),
                                     options->scheduling_path, &plan->arena,
                                     &plan->policy, err);
        }
        plan->changes.policy = &plan->policy;
    }
    for (size_t i = 0; i < options->sets.count && rc == 0; i++) {
        rc = set_one(history, plan, options->sets.items[i], err);
    }
    for (size_t i = 0; i < options->nodes.count && rc == 0; i++) {
        rc = add_nodes(plan, options->nodes.items[i], err);
    }
    return rc;
}

void sim_what_if_plan_fini(struct sim_what_if_plan *plan)
{
    VEC_FREE(&plan->changes.weights);
    VEC_FREE(&plan->changes.nodes);
    arena_fini(&plan->arena);
    strbuf_fini(&plan->text);
}
