#include "wire/policy_rules.h"

#include "model/gang_terms.h"

#define HOUR_MS INT64_C(3600000)

enum { COUNT_MAX = 1000000 };

static const struct setting quarantine_keys[] = {
    SETTING("disabled", BOOL, policy_quarantine_form, is_off,
            .about = "Whether nodes stay in service however much fails on "
                     "them."),
    SETTING("window", DURATION, policy_quarantine_form, window_ms,
            .about = "Runs that ended, and those of them that failed for a "
                     "cause that can be the node's, are counted for so long.",
            .min = 60000, .max = 24 * HOUR_MS),
    SETTING("minFailures", INT, policy_quarantine_form, failures_min,
            .about = "A node is taken out when at least so many runs failed "
                     "on it,",
            .min = 1, .max = COUNT_MAX),
    SETTING("minJobSets", INT, policy_quarantine_form, job_sets_min,
            .about = "of at least so many job sets,", .min = 1, .max = 16),
    SETTING("minFailureRate", PPM, policy_quarantine_form, failure_rate_ppm,
            .about = "at least this part of those that ended there,", .min = 1,
            .max = FRACTION_ONE_PPM),
    SETTING("poolFactor", PPM, policy_quarantine_form, pool_factor_ppm,
            .about = "and so many times the rate of the rest of its pool.",
            .max = 1000 * (int64_t)FRACTION_ONE_PPM),
    SETTING("probation", DURATION, policy_quarantine_form, probation_ms,
            .about = "It then gets no new job for so long, and one at a time "
                     "after that;",
            .min = 1000, .max = 24 * HOUR_MS),
    SETTING("maxProbation", DURATION, policy_quarantine_form, probation_max_ms,
            .about = "when one of these fails, none for twice as long, up to "
                     "this.",
            .min = 1000, .max = 7 * 24 * HOUR_MS),
    SETTING("trialSuccesses", INT, policy_quarantine_form, trial_successes,
            .about = "When so many have succeeded, it is as any other node.",
            .min = 1, .max = 1000),
    SETTING("maxQuarantined", PPM, policy_quarantine_form, nodes_max_ppm,
            .about = "Never more than this part of a pool's nodes is out or "
                     "on trial.",
            .max = FRACTION_ONE_PPM),
};

const struct settings policy_quarantine_table = {
    quarantine_keys, ARRAY_COUNT(quarantine_keys),
    sizeof(struct policy_quarantine_form), NULL};

void policy_quarantine_to_form(const struct quarantine_policy *rule,
                               struct policy_quarantine_form *ret_form)
{
    *ret_form = (struct policy_quarantine_form){
        .is_off = rule->is_off,
        .window_ms = rule->window_ms,
        .failures_min = rule->failures_min,
        .job_sets_min = rule->job_sets_min,
        .failure_rate_ppm = rule->failure_rate_ppm,
        .pool_factor_ppm = rule->pool_factor_ppm,
        .probation_ms = rule->probation_ms,
        .probation_max_ms = rule->probation_max_ms,
        .trial_successes = rule->trial_successes,
        .nodes_max_ppm = rule->nodes_max_ppm,
    };
}

struct quarantine_policy
policy_quarantine_from_form(const struct policy_quarantine_form *form)
{
    return (struct quarantine_policy){
        .is_off = form->is_off,
        .window_ms = form->window_ms,
        .failures_min = (uint32_t)form->failures_min,
        .job_sets_min = (uint32_t)form->job_sets_min,
        .failure_rate_ppm = form->failure_rate_ppm,
        .pool_factor_ppm = form->pool_factor_ppm,
        .probation_ms = form->probation_ms,
        .probation_max_ms = form->probation_max_ms,
        .trial_successes = (uint32_t)form->trial_successes,
        .nodes_max_ppm = form->nodes_max_ppm,
    };
}

/* Growth. */

static const struct setting elastic_keys[] = {
    SETTING("period", DURATION, policy_elastic_form, period_ms,
            .about = "Gangs that may grow are looked at so often, and when "
                     "something has changed.",
            .min = 1000, .max = 24 * HOUR_MS),
    SETTING("freezingWindow", DURATION, policy_elastic_form, freezing_window_ms,
            .about = "A gang that grew or shrank does neither for so long, "
                     "unless it says otherwise.",
            .max = GANG_SECONDS_MAX * INT64_C(1000)),
    SETTING("agingPerLevel", DURATION, policy_elastic_form, aging_per_level_ms,
            .about = "In queues that are ordered cfs having waited so long is "
                     "worth as much as ten times the weight.",
            .min = 1000, .max = 30 * 24 * HOUR_MS),
    SETTING("cpuPerGpu", QUANTITY, policy_elastic_form, cpu_per_gpu_milli,
            .about = "A trainer of a TrainingJob asks for so many CPUs for "
                     "each of its GPUs, or it is refused.",
            .max = INT64_C(1000000)),
    SETTING("scoreWeights", FRACTIONS, policy_elastic_form, score_weights,
            .about = "What a unit of each resource (a GPU, a core, a GiB) "
                     "counts in the score; {}: GPUs 100, cpu 1, memory 0.1."),
};

const struct settings policy_elastic_table = {
    elastic_keys, ARRAY_COUNT(elastic_keys), sizeof(struct policy_elastic_form),
    NULL};

void policy_elastic_to_form(const struct elastic_policy *rule,
                            struct policy_elastic_form *ret_form)
{
    *ret_form = (struct policy_elastic_form){
        .period_ms = rule->period_ms,
        .freezing_window_ms = rule->freezing_window_ms,
        .aging_per_level_ms = rule->aging_per_level_ms,
        .cpu_per_gpu_milli = rule->cpu_per_gpu_milli,
    };
}

void policy_elastic_from_form(const struct policy_elastic_form *form,
                              struct elastic_policy *rule)
{
    rule->period_ms = form->period_ms;
    rule->freezing_window_ms = form->freezing_window_ms;
    rule->aging_per_level_ms = form->aging_per_level_ms;
    rule->cpu_per_gpu_milli = form->cpu_per_gpu_milli;
}

/* Node types. */

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
            .about = "What awayNodeTypes call it.", .is_required = true),
    SETTING("taints", RECORDS, policy_node_type_form, taints,
            .about = "Its nodes have all of these.", .table = &taint_table,
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
            .about = "How urgent they are there: less than at home.",
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
                       "priorityClasses[%u].awayNodeTypes: only a preemptible "
                       "class has them",
                       c);
    }
    if (form->priority >= class_->priority) {
        return err_set(err, -ERR_INVALID,
                       "priorityClasses[%u].awayNodeTypes: the priority there "
                       "must be below the class's, %d",
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

/* Floating resources. */

/* Sums over all nodes of more than this would overflow; see floating.h. */
#define FLOATING_UNITS_MAX (INT64_C(1) << 39)

static void init_floating(void *record)
{
    ((struct policy_floating_form *)record)->resolution_milli = 1000;
}

static const struct setting floating_pool_keys[] = {
    SETTING("name", TEXT, policy_floating_pool_form, name,
            .about = "Name of a pool.", .is_required = true),
    SETTING("quantity", QUANTITY, policy_floating_pool_form, quantity_milli,
            .about = "How much all of it shares; pools not listed have none."),
};
static const struct settings floating_pool_table = {
    floating_pool_keys, ARRAY_COUNT(floating_pool_keys),
    sizeof(struct policy_floating_pool_form), NULL};

static const struct setting floating_keys[] = {
    SETTING("name", TEXT, policy_floating_form, name,
            .about = "Name of the resource, as pods request it.",
            .is_required = true),
    SETTING("resolution", QUANTITY, policy_floating_form, resolution_milli,
            .about = "As of supportedResourceTypes.", .min = 1,
            .max = INT64_C(1000000000000000)),
    SETTING("pools", RECORDS, policy_floating_form, pools,
            .about = "What pools have of it.", .table = &floating_pool_table,
            .count_offset = offsetof(struct policy_floating_form, pool_count),
            .count_max = POLICY_POOLS_MAX),
};
const struct settings policy_floating_table = {
    floating_keys, ARRAY_COUNT(floating_keys),
    sizeof(struct policy_floating_form), init_floating};

void policy_floating_to_form(const struct policy *policy,
                             struct policy_form *form)
{
    for (uint32_t r = 0; r < policy->schema.column_count; r++) {
        if (!policy->is_floating[r]) {
            continue;
        }
        struct policy_floating_form *to =
            &form->floating[form->floating_count++];
        to->name = policy->schema.columns[r].name;
        to->resolution_milli = policy->schema.columns[r].unit_milli;
        for (uint32_t p = 0; p < policy->pool_count; p++) {
            if (policy->pools[p].floating[r] > 0) {
                to->pools[to->pool_count++] =
                    (struct policy_floating_pool_form){
                        policy->pools[p].name,
                        policy->pools[p].floating[r] * to->resolution_milli};
            }
        }
    }
}

int policy_floating_columns(const struct policy_form *form,
                            struct policy *policy, struct err *err)
{
    for (uint32_t i = 0; i < form->floating_count; i++) {
        struct str name = form->floating[i].name;
        uint32_t column = policy->schema.column_count;
        if (name.byte_count == 0 ||
            resource_column(&policy->schema, name) >= 0) {
            return err_set(err, -ERR_INVALID,
                           "floatingResources[%u].name: \"%.*s\" is empty or "
                           "given twice",
                           i, STR_ARG(name));
        }
        if (column == RESOURCE_COLUMNS_MAX) {
            return err_set(err, -ERR_INVALID,
                           "floatingResources: with supportedResourceTypes "
                           "more than %d resources",
                           RESOURCE_COLUMNS_MAX);
        }
        policy->schema.columns[column].name = name;
        policy->schema.columns[column].unit_milli =
            form->floating[i].resolution_milli;
        policy->schema.column_count++;
        policy->is_floating[column] = policy->has_floating = true;
    }
    return 0;
}

static struct pool_policy *find_pool(struct policy *policy, struct str name)
{
    for (uint32_t p = 0; p < policy->pool_count; p++) {
        if (str_equal(policy->pools[p].name, name)) {
            return &policy->pools[p];
        }
    }
    return NULL;
}

static int floating_from_form(const struct policy_floating_form *form,
                              struct policy *policy, struct err *err)
{
    int column = resource_column(&policy->schema, form->name);

    for (uint32_t i = 0; i < form->pool_count; i++) {
        struct pool_policy *pool = find_pool(policy, form->pools[i].name);
        int64_t units = form->pools[i].quantity_milli / form->resolution_milli;
        if (!pool) {
            return err_set(err, -ERR_INVALID,
                           "floatingResources[].pools: \"%.*s\" is not one of "
                           "pools",
                           STR_ARG(form->pools[i].name));
        }
        if (units < 0 || units > FLOATING_UNITS_MAX) {
            return err_set(err, -ERR_INVALID,
                           "floatingResources[].pools[].quantity: of \"%.*s\" "
                           "out of range",
                           STR_ARG(form->name));
        }
        pool->floating[column] = units;
    }
    return 0;
}

int policy_floating_from_form(const struct policy_form *form,
                              struct policy *policy, struct err *err)
{
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < form->floating_count; i++) {
        rc = floating_from_form(&form->floating[i], policy, err);
    }
    return rc;
}

/* Topology. */

enum { LABEL_KEY_BYTES_MAX = 253 + 1 + 63 };

int policy_topology_from_form(const struct policy_pool_form *form,
                              uint32_t index, struct pool_policy *pool,
                              struct err *err)
{
    if (form->topology.count > GANG_LEVELS_MAX) {
        return err_set(err, -ERR_INVALID,
                       "pools[%u].topology: %u levels, at most %d are allowed",
                       index, form->topology.count, GANG_LEVELS_MAX);
    }
    for (uint32_t i = 0; i < form->topology.count; i++) {
        struct str key = form->topology.items[i];
        if (key.byte_count == 0 || key.byte_count > LABEL_KEY_BYTES_MAX) {
            return err_set(err, -ERR_INVALID,
                           "pools[%u].topology[%u]: not the key of a label",
                           index, i);
        }
        for (uint32_t k = 0; k < i; k++) {
            if (str_equal(key, form->topology.items[k])) {
                return err_set(err, -ERR_INVALID,
                               "pools[%u].topology[%u]: \"%.*s\" is given "
                               "twice",
                               index, i, STR_ARG(key));
            }
        }
        pool->topology[i] = key;
    }
    pool->level_count = form->topology.count;
    return 0;
}
