/* Types of nodes in a policy, and which classes may use them. */
#include "wire/policy/policy_rules.h"

static const struct setting taint_keys[] = {
    SETTING("key", TEXT, policy_taint_form, key, .about = "Key of a taint.",
            .is_required = true),
    SETTING("value", TEXT, policy_taint_form, value,
            .about = "Its value; \"*\" is any."),
    SETTING("effect", TEXT, policy_taint_form, effect,
            .about = "Its effect, NoSchedule or NoExecute; \"\" is either."),
};

static const struct settings taint_table = {taint_keys, ARRAY_COUNT(taint_keys),
                                            sizeof(struct policy_taint_form),
                                            NULL};

static const struct setting node_type_keys[] = {
    SETTING("name", TEXT, policy_node_type_form, name,
            .about = "Name of the type, for awayNodeTypes.",
            .is_required = true),
    SETTING("taints", RECORDS, policy_node_type_form, taints,
            .about = "Taints that all nodes of the type have.",
            .table = &taint_table,
            .count_offset = offsetof(struct policy_node_type_form, taint_count),
            .count_max = POLICY_TAINTS_MAX, .is_required = true),
};

const struct settings policy_node_type_table = {
    node_type_keys, ARRAY_COUNT(node_type_keys),
    sizeof(struct policy_node_type_form), NULL};

static const struct setting away_keys[] = {
    SETTING("wellKnownNodeTypeName", TEXT, policy_away_form, type,
            .about = "One of wellKnownNodeTypes.", .is_required = true),
    SETTING("priority", INT, policy_away_form, priority,
            .about =
                "Priority of the jobs on such nodes: less than on other nodes.",
            .min = INT32_MIN, .max = INT32_MAX, .is_required = true),
};

const struct settings policy_away_table = {
    away_keys, ARRAY_COUNT(away_keys), sizeof(struct policy_away_form), NULL};

static struct str effect_word(enum taint_effect effect)
{
    return effect == TAINT_NO_SCHEDULE  ? STR("NoSchedule")
           : effect == TAINT_NO_EXECUTE ? STR("NoExecute")
                                        : STR("");
}

static int taint_from_form(const struct policy_taint_form *form,
                           struct taint *ret_taint, struct err *err)
{
    *ret_taint = (struct taint){form->key, form->value, TAINT_ANY};
    if (str_equal(form->effect, STR("NoSchedule"))) {
        ret_taint->effect = TAINT_NO_SCHEDULE;
    } else if (str_equal(form->effect, STR("NoExecute"))) {
        ret_taint->effect = TAINT_NO_EXECUTE;
    } else if (form->effect.byte_count) {
        return err_set(err, -ERR_INVALID,
                       "wellKnownNodeTypes[].taints[].effect: \"%.*s\" is "
                       "neither NoSchedule nor NoExecute",
                       STR_ARG(form->effect));
    }
    return 0;
}

void policy_types_to_form(const struct policy *policy, struct policy_form *form)
{
    form->node_type_count = policy->node_type_count;
    for (uint32_t i = 0; i < policy->node_type_count; i++) {
        const struct node_type *from = &policy->node_types[i];
        struct policy_node_type_form *to = &form->node_types[i];
        to->name = from->name;
        to->taint_count = from->taint_count;
        for (uint32_t t = 0; t < from->taint_count; t++) {
            to->taints[t] = (struct policy_taint_form){
                from->taints[t].key, from->taints[t].value,
                effect_word(from->taints[t].effect)};
        }
    }
    for (uint32_t c = 0; c < policy->class_count; c++) {
        const struct priority_class *from = &policy->classes[c];
        form->classes[c].away_count = from->away_count;
        for (uint32_t i = 0; i < from->away_count; i++) {
            form->classes[c].away[i] = (struct policy_away_form){
                policy->node_types[from->away[i].type_index].name,
                from->away[i].priority};
        }
    }
}

static int node_type_from_form(const struct policy_node_type_form *form,
                               struct policy *policy, struct err *err)
{
    struct node_type *type = &policy->node_types[policy->node_type_count];

    for (uint32_t i = 0; i < policy->node_type_count; i++) {
        if (str_equal(policy->node_types[i].name, form->name)) {
            return err_set(err, -ERR_INVALID,
                           "wellKnownNodeTypes[%u].name: \"%.*s\" is given "
                           "twice",
                           policy->node_type_count, STR_ARG(form->name));
        }
    }
    if (form->taint_count == 0) {
        return err_set(err, -ERR_INVALID,
                       "wellKnownNodeTypes[%u].taints: at least one is needed",
                       policy->node_type_count);
    }
    type->name = form->name;
    type->taint_count = form->taint_count;
    int rc = 0;
    for (uint32_t t = 0; rc == 0 && t < form->taint_count; t++) {
        rc = taint_from_form(&form->taints[t], &type->taints[t], err);
    }
    policy->node_type_count++;
    return rc;
}

static int away_from_form(const struct policy_away_form *form, uint32_t c,
                          struct policy *policy, struct err *err)
{
    struct priority_class *class_ = &policy->classes[c];
    uint32_t type = 0;

    while (type < policy->node_type_count &&
           !str_equal(policy->node_types[type].name, form->type)) {
        type++;
    }
    if (type == policy->node_type_count) {
        return err_set(err, -ERR_INVALID,
                       "priorityClasses[%u].awayNodeTypes: \"%.*s\" is not one "
                       "of wellKnownNodeTypes",
                       c, STR_ARG(form->type));
    }
    if (!class_->is_preemptible) {
        return err_set(err, -ERR_INVALID,
                       "priorityClasses[%u].awayNodeTypes: allowed only for a "
                       "preemptible class",
                       c);
    }
    if (form->priority >= class_->priority) {
        return err_set(err, -ERR_INVALID,
                       "priorityClasses[%u].awayNodeTypes: the priority must "
                       "be below the class's, %d",
                       c, class_->priority);
    }
    class_->away[class_->away_count++] =
        (struct away_type){type, (int32_t)form->priority};
    return 0;
}

static bool is_level_known(const int32_t *levels, uint32_t count,
                           int32_t priority)
{
    for (uint32_t i = 0; i < count; i++) {
        if (levels[i] == priority) {
            return true;
        }
    }
    return false;
}

/* The planner keeps sums by priority on every node. */
static int check_levels(const struct policy *policy, struct err *err)
{
    int32_t levels[POLICY_CLASSES_MAX * (1 + POLICY_AWAY_MAX)];
    uint32_t count = 0;

    for (uint32_t c = 0; c < policy->class_count; c++) {
        const struct priority_class *class_ = &policy->classes[c];
        if (!is_level_known(levels, count, class_->priority)) {
            levels[count++] = class_->priority;
        }
        for (uint32_t i = 0; i < class_->away_count; i++) {
            if (!is_level_known(levels, count, class_->away[i].priority)) {
                levels[count++] = class_->away[i].priority;
            }
        }
    }
    return count <= POLICY_LEVELS_MAX
               ? 0
               : err_set(err, -ERR_INVALID,
                         "priorityClasses: more than %d different priorities, "
                         "with those of awayNodeTypes",
                         POLICY_LEVELS_MAX);
}

int policy_types_from_form(const struct policy_form *form,
                           struct policy *policy, struct err *err)
{
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < form->node_type_count; i++) {
        rc = node_type_from_form(&form->node_types[i], policy, err);
    }
    for (uint32_t c = 0; rc == 0 && c < form->class_count; c++) {
        const struct policy_class_form *from = &form->classes[c];
        for (uint32_t i = 0; rc == 0 && i < from->away_count; i++) {
            rc = away_from_form(&from->away[i], c, policy, err);
        }
    }
    return rc == 0 ? check_levels(policy, err) : rc;
}
