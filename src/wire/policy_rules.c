#include "wire/policy_rules.h"

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
