#include "api/submit/job_pod.h"

#include "wire/kube/pod_support.h"

/* What decides when and where a pod starts, which for a job the server does. */
static int check_start(const K8s__Io__Api__Core__V1__PodSpec *pod,
                       struct refusal *refusal)
{
    if (str_of(pod->nodename).byte_count) {
        return refusal_set(refusal,
                           "nodeName is not supported: Berth chooses the node; "
                           "use nodeSelector");
    }
    if (pod->n_schedulinggates) {
        return refusal_set(
            refusal,
            "schedulingGates is not supported: nothing would remove them; use "
            "berth.dev/hold, or submit the job when it may start");
    }
    return pod->schedulinggroup
               ? refusal_set(refusal, "schedulingGroup is not supported: use "
                                      "the annotations of a gang")
               : 0;
}

int job_pod_check(const K8s__Io__Api__Core__V1__PodSpec *pod,
                  struct refusal *refusal)
{
    struct err err;

    if (pod_support_check(pod, &err) < 0) {
        return refusal_set(refusal, "%s", err.text);
    }
    return check_start(pod, refusal);
}
