#include "wire/policy/policy_rules.h"

#include "model/gang_terms.h"

#define HOUR_MS INT64_C(3600000)

enum { COUNT_MAX = 1000000 };

static const struct setting quarantine_keys[] = {
    SETTING("disabled", BOOL, policy_quarantine_form, is_off,
            .about = "Whether quarantine is off: nodes stay in service however "
                     "many jobs fail there."),
    SETTING("window", DURATION, policy_quarantine_form, window_ms,
            .about = "Time for which ended runs count, and failed runs whose "
                     "cause can be the node.",
            .min = 60000, .max = 24 * HOUR_MS),
    SETTING(
        "minFailures", INT, policy_quarantine_form, failures_min,
        .about =
            "A node is quarantined when at least so many runs failed on it,",
        .min = 1, .max = COUNT_MAX),
    SETTING("minJobSets", INT, policy_quarantine_form, job_sets_min,
            .about = "from at least so many job sets,", .min = 1, .max = 16),
    SETTING("minFailureRate", PPM, policy_quarantine_form, failure_rate_ppm,
            .about = "at least this part of the runs that ended there,",
            .min = 1, .max = FRACTION_ONE_PPM),
    SETTING(
        "poolFactor", PPM, policy_quarantine_form, pool_factor_ppm,
        .about =
            "and at so many times the failure rate of the rest of its pool.",
        .max = 1000 * (int64_t)FRACTION_ONE_PPM),
    SETTING("probation", DURATION, policy_quarantine_form, probation_ms,
            .about = "It then gets no new job for so long, and afterwards one "
                     "job at a time.",
            .min = 1000, .max = 24 * HOUR_MS),
    SETTING("maxProbation", DURATION, policy_quarantine_form, probation_max_ms,
            .about =
                "If one of these fails, the probation doubles, up to this.",
            .min = 1000, .max = 7 * 24 * HOUR_MS),
    SETTING("trialSuccesses", INT, policy_quarantine_form, trial_successes,
            .about = "After so many of them succeeded, the quarantine ends.",
            .min = 1, .max = 1000),
    SETTING("maxQuarantined", PPM, policy_quarantine_form, nodes_max_ppm,
            .about = "At most this part of a pool's nodes may be in quarantine "
                     "or on trial.",
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
            .about = "Time between two growth steps while nothing changes.",
            .min = 1000, .max = 24 * HOUR_MS),
    SETTING("freezingWindow", DURATION, policy_elastic_form, freezing_window_ms,
            .about = "A gang that grew or shrank does neither again for so "
                     "long, unless its own freezing window says otherwise.",
            .max = GANG_SECONDS_MAX * INT64_C(1000)),
    SETTING("agingPerLevel", DURATION, policy_elastic_form, aging_per_level_ms,
            .about = "In queues with the ordering cfs, waiting for so long "
                     "counts as much as ten times the weight.",
            .min = 1000, .max = 30 * 24 * HOUR_MS),
    SETTING("cpuPerGpu", QUANTITY, policy_elastic_form, cpu_per_gpu_milli,
            .about = "A TrainingJob is refused if its trainer requests fewer "
                     "CPUs for each of its GPUs.",
            .max = INT64_C(1000000)),
    SETTING("scoreWeights", FRACTIONS, policy_elastic_form, score_weights,
            .about = "Weight of a unit of each resource (a GPU, a core, a GiB) "
                     "in the score; {}: GPUs 100, cpu 1, memory 0.1."),
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
