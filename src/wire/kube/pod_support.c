#include "wire/kube/pod_support.h"

static int refuse(struct err *err, const char *field, const char *what)
{
    return err_set(err, -ERR_INVALID, "%s is not supported: %s", field, what);
}

/* Where other pods run. */
static int check_other_pods(const K8s__Io__Api__Core__V1__Affinity *affinity,
                            struct err *err)
{
    static const char what[] =
        "Berth does not place pods relative to other pods; use a gang with "
        "gangNodeUniformityLabel to keep pods together";

    if (affinity && affinity->podaffinity &&
        affinity->podaffinity
            ->n_requiredduringschedulingignoredduringexecution) {
        return refuse(err,
                      "affinity.podAffinity."
                      "requiredDuringSchedulingIgnoredDuringExecution",
                      what);
    }
    if (affinity && affinity->podantiaffinity &&
        affinity->podantiaffinity
            ->n_requiredduringschedulingignoredduringexecution) {
        return refuse(err,
                      "affinity.podAntiAffinity."
                      "requiredDuringSchedulingIgnoredDuringExecution",
                      what);
    }
    return 0;
}

static int check_spread(const K8s__Io__Api__Core__V1__PodSpec *pod,
                        struct err *err)
{
    for (size_t i = 0; i < pod->n_topologyspreadconstraints; i++) {
        const char *when = pod->topologyspreadconstraints[i]->whenunsatisfiable;
        if (!str_equal(str_of(when), STR("ScheduleAnyway"))) {
            return refuse(
                err,
                "topologySpreadConstraints with whenUnsatisfiable "
                "DoNotSchedule",
                "Berth does not spread pods; remove it, or set ScheduleAnyway");
        }
    }
    return 0;
}

/* At whose cost a pod starts. */
static int check_preemption(const K8s__Io__Api__Core__V1__PodSpec *pod,
                            struct err *err)
{
    struct str preemption = str_of(pod->preemptionpolicy);
    bool is_known = preemption.byte_count == 0 ||
                    str_equal(preemption, STR("PreemptLowerPriority")) ||
                    str_equal(preemption, STR("Never"));

    return is_known ? 0
                    : err_set(err, -ERR_INVALID,
                              "preemptionPolicy %s is not supported: it is "
                              "PreemptLowerPriority or Never",
                              pod->preemptionpolicy);
}

/* What a pod needs beside its containers' requests. */
static int check_resources(const K8s__Io__Api__Core__V1__PodSpec *pod,
                           struct err *err)
{
    if (pod->n_resourceclaims || (pod->resources && pod->resources->n_claims)) {
        return refuse(err, "resourceClaims",
                      "request devices as resources of a container");
    }
    return 0;
}

int pod_support_check(const K8s__Io__Api__Core__V1__PodSpec *pod,
                      struct err *err)
{
    int rc = check_other_pods(pod->affinity, err);

    rc = rc ? rc : check_spread(pod, err);
    rc = rc ? rc : check_preemption(pod, err);
    return rc ? rc : check_resources(pod, err);
}
