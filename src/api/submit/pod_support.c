#include "api/submit/pod_support.h"

static int refuse(struct refusal *refusal, const char *field, const char *what)
{
    return refusal_set(refusal, "%s is not supported: %s", field, what);
}

/* Where other pods run. */
static int check_other_pods(const K8s__Io__Api__Core__V1__Affinity *affinity,
                            struct refusal *refusal)
{
    static const char what[] =
        "Berth does not place pods relative to other pods; use a gang with "
        "gangNodeUniformityLabel to keep pods together";

    if (affinity && affinity->podaffinity &&
        affinity->podaffinity
            ->n_requiredduringschedulingignoredduringexecution) {
        return refuse(refusal,
                      "affinity.podAffinity."
                      "requiredDuringSchedulingIgnoredDuringExecution",
                      what);
    }
    if (affinity && affinity->podantiaffinity &&
        affinity->podantiaffinity
            ->n_requiredduringschedulingignoredduringexecution) {
        return refuse(refusal,
                      "affinity.podAntiAffinity."
                      "requiredDuringSchedulingIgnoredDuringExecution",
                      what);
    }
    return 0;
}

static int check_spread(const K8s__Io__Api__Core__V1__PodSpec *pod,
                        struct refusal *refusal)
{
    for (size_t i = 0; i < pod->n_topologyspreadconstraints; i++) {
        const char *when = pod->topologyspreadconstraints[i]->whenunsatisfiable;
        if (!str_equal(str_of(when), STR("ScheduleAnyway"))) {
            return refuse(
                refusal,
                "topologySpreadConstraints with whenUnsatisfiable "
                "DoNotSchedule",
                "Berth does not spread pods; remove it, or set ScheduleAnyway");
        }
    }
    return 0;
}

/* What decides when, where and at whose cost a pod starts. */
static int check_scheduling(const K8s__Io__Api__Core__V1__PodSpec *pod,
                            struct refusal *refusal)
{
    struct str preemption = str_of(pod->preemptionpolicy);

    if (str_of(pod->nodename).byte_count) {
        return refuse(refusal, "nodeName",
                      "Berth chooses the node; use nodeSelector");
    }
    if (pod->n_schedulinggates) {
        return refuse(refusal, "schedulingGates",
                      "nothing would remove them; use berth.dev/hold, or "
                      "submit the job when it may start");
    }
    if (pod->schedulinggroup) {
        return refuse(refusal, "schedulingGroup",
                      "use the annotations of a gang");
    }
    if (preemption.byte_count &&
        !str_equal(preemption, STR("PreemptLowerPriority"))) {
        return refuse(refusal, "preemptionPolicy",
                      "its priority class says whether a job preempts");
    }
    return 0;
}

/* What a pod needs beside its containers' requests. */
static int check_resources(const K8s__Io__Api__Core__V1__PodSpec *pod,
                           struct refusal *refusal)
{
    if (pod->n_resourceclaims || (pod->resources && pod->resources->n_claims)) {
        return refuse(refusal, "resourceClaims",
                      "request devices as resources of a container");
    }
    return 0;
}

int pod_support_check(const K8s__Io__Api__Core__V1__PodSpec *pod,
                      struct refusal *refusal)
{
    int rc = check_other_pods(pod->affinity, refusal);

    rc = rc ? rc : check_spread(pod, refusal);
    rc = rc ? rc : check_scheduling(pod, refusal);
    return rc ? rc : check_resources(pod, refusal);
}
