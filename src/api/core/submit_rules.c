#include "api/core/submit_rules.h"

void submit_rules_defaults(struct submit_rules *ret_rules)
{
    *ret_rules = (struct submit_rules){
        .classes = {STR("armada-default"), STR("armada-preemptible"),
                    STR("armada-resilient"), STR("experiment"), STR("offline"),
                    STR("normal"), STR("production")},
        .class_count = 7,
        .default_class = STR("armada-default"),
        .default_limits = {{STR("cpu"), STR("1")},
                           {STR("memory"), STR("1Gi")},
                           {STR("ephemeral-storage"), STR("8Gi")}},
        .default_limit_count = 3,
        .minimums = {{STR("memory"), STR("1Mi"), INT64_C(1048576000)}},
        .minimum_count = 1,
        .deadlines = {{STR("nvidia.com/gpu"), 1209600}},
        .deadline_count = 1,
        .tolerations =
            {
                {TOLERATION_ALWAYS, STR(""), STR("armadaproject.io/armada"),
                 STR("true"), STR("NoSchedule")},
                {TOLERATION_OF_CLASS, STR("armada-default"),
                 STR("armadaproject.io/pc-armada-default"), STR("true"),
                 STR("NoSchedule")},
                {TOLERATION_OF_CLASS, STR("armada-preemptible"),
                 STR("armadaproject.io/pc-armada-preemptible"), STR("true"),
                 STR("NoSchedule")},
                {TOLERATION_OF_RESOURCE, STR("nvidia.com/gpu"),
                 STR("armadaproject.io/gpu"), STR("true"), STR("NoSchedule")},
            },
        .toleration_count = 4,
        .pod_spec_bytes_max = 65535,
        .default_deadline_s = 259200,
        .grace_period_s_min = 1,
        .grace_period_s_max = 300,
        .needs_fractional_init_cpu = true,
    };
}

bool submit_rules_allow_class(const struct submit_rules *rules, struct str name)
{
    for (uint32_t i = 0; i < rules->class_count; i++) {
        if (str_equal(rules->classes[i], name)) {
            return true;
        }
    }
    return false;
}
