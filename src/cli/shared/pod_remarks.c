#include "cli/shared/pod_remarks.h"

#include "cli/shared/nearest.h"

/* What a pod spec may hold and Berth, or one of its runtimes, does not take, in
 * the order of the bits. */
enum passed_over {
    PASSED_RESTART_POLICY,
    PASSED_PRIORITY,
    PASSED_AFFINITY,
    PASSED_ANTI_AFFINITY,
    PASSED_SPREAD,
    PASSED_MOUNT_PATH,
    PASSED_RESOURCE,
};

static const char *const why[] = {
    [PASSED_RESTART_POLICY] = "ignored, a failed pod is not started again",
    [PASSED_PRIORITY] = "ignored, priorityClassName decides",
    [PASSED_AFFINITY] = "ignored, preferences are not supported",
    [PASSED_ANTI_AFFINITY] = "ignored, preferences are not supported",
    [PASSED_SPREAD] = "ignored, preferences are not supported",
    [PASSED_MOUNT_PATH] = "not absolute, and refused where jobs run as "
                          "processes (runtime process)",
    [PASSED_RESOURCE] = "no resource of Kubernetes",
};

/* A pod spec, and what to call it: "jobs[0].podSpec". */
struct named_spec {
    struct pod_remarks *remarks;
    struct cli *cli;
    const char *name;
    const json_t *spec;
};

/* Remark on the member `path`, and say `more`. */
static void remark_more(const struct named_spec *pod, enum passed_over what,
                        const char *path, const char *more)
{
    if (!(pod->remarks->made & 1u << what)) {
        pod->remarks->made |= 1u << what;
        cli_remark(pod->cli, "%s.%s: %s%s", pod->name, path, why[what], more);
    }
}

static void remark(const struct named_spec *pod, enum passed_over what,
                   const char *path)
{
    remark_more(pod, what, path, "");
}

static void look_at_policy(const struct named_spec *pod)
{
    const char *policy =
        json_string_value(json_object_get(pod->spec, "restartPolicy"));

    if (policy && strcmp(policy, "Never") != 0) {
        remark(pod, PASSED_RESTART_POLICY, "restartPolicy");
    }
    if (json_is_integer(json_object_get(pod->spec, "priority"))) {
        remark(pod, PASSED_PRIORITY, "priority");
    }
}

static void look_at_affinity(const struct named_spec *pod)
{
    static const char *const keys[] = {"podAffinity", "podAntiAffinity"};
    const json_t *affinity = json_object_get(pod->spec, "affinity");

    for (size_t i = 0; i < ARRAY_COUNT(keys); i++) {
        const char *preferred =
            "preferredDuringSchedulingIgnoredDuringExecution";
        const json_t *terms =
            json_object_get(json_object_get(affinity, keys[i]), preferred);
        if (json_array_size(terms) > 0) {
            remark(pod, PASSED_AFFINITY + i,
                   cli_format(pod->cli, "affinity.%s.%s", keys[i], preferred));
        }
    }
}

static void look_at_spread(const struct named_spec *pod)
{
    const json_t *all = json_object_get(pod->spec, "topologySpreadConstraints");
    const json_t *constraint;
    size_t i;

    json_array_foreach(all, i, constraint)
    {
        const char *when =
            json_string_value(json_object_get(constraint, "whenUnsatisfiable"));
        if (when && strcmp(when, "ScheduleAnyway") == 0) {
            remark(pod, PASSED_SPREAD,
                   cli_format(pod->cli, "topologySpreadConstraints[%zu]", i));
        }
    }
}

/* Kubernetes takes such a path as one below the root. */
static void look_at_mounts(const struct named_spec *pod, const char *key)
{
    const json_t *container, *mount;
    size_t c, m;

    json_array_foreach(json_object_get(pod->spec, key), c, container)
    {
        json_array_foreach(json_object_get(container, "volumeMounts"), m, mount)
        {
            const char *path =
                json_string_value(json_object_get(mount, "mountPath"));
            if (path && *path != '/') {
                remark(pod, PASSED_MOUNT_PATH,
                       cli_format(pod->cli,
                                  "%s[%zu].volumeMounts[%zu].mountPath", key, c,
                                  m));
            }
        }
    }
}

/* A name without a vendor must be one that Kubernetes knows. */
static void look_at_resource(const struct named_spec *pod, size_t container,
                             const char *kind, const char *name)
{
    static const char *const known[] = {"cpu", "memory", "ephemeral-storage",
                                        "pods"};
    struct nearest nearest = nearest_to(name);

    for (size_t i = 0; i < ARRAY_COUNT(known); i++) {
        if (strcmp(known[i], name) == 0) {
            return;
        }
        nearest_try(&nearest, str_of(known[i]));
    }
    pod->remarks->is_unusual = true;
    if (!strchr(name, '/') && strncmp(name, "hugepages-", 10) != 0) {
        remark_more(pod, PASSED_RESOURCE,
                    cli_format(pod->cli, "containers[%zu].resources.%s.%s",
                               container, kind, name),
                    nearest.name.byte_count
                        ? cli_format(pod->cli, "; did you mean %.*s?",
                                     STR_ARG(nearest.name))
                        : "");
    }
}

static void look_at_containers(const struct named_spec *pod)
{
    static const char *const kinds[] = {"requests", "limits"};
    const json_t *containers = json_object_get(pod->spec, "containers");
    const json_t *container;
    const char *name;
    json_t *amount;
    size_t c;

    json_array_foreach(containers, c, container)
    {
        pod->remarks->is_unusual |=
            !json_array_size(json_object_get(container, "command")) &&
            !json_array_size(json_object_get(container, "args"));
        for (size_t k = 0; k < ARRAY_COUNT(kinds); k++) {
            json_t *amounts = json_object_get(
                json_object_get(container, "resources"), kinds[k]);
            json_object_foreach(amounts, name, amount)
            {
                look_at_resource(pod, c, kinds[k], name);
            }
        }
    }
}

static void look_at(struct pod_remarks *remarks, struct cli *cli,
                    const char *name, const json_t *spec)
{
    struct named_spec pod = {remarks, cli, name, spec};

    look_at_policy(&pod);
    look_at_affinity(&pod);
    look_at_spread(&pod);
    look_at_containers(&pod);
    look_at_mounts(&pod, "initContainers");
    look_at_mounts(&pod, "containers");
}

void pod_remarks_make(struct pod_remarks *remarks, struct cli *cli,
                      const json_t *job, size_t index)
{
    const json_t *group = json_object_get(job, "podGroup");
    const json_t *item;
    size_t i;

    look_at(remarks, cli, cli_format(cli, "jobs[%zu].podSpec", index),
            json_object_get(job, "podSpec"));
    json_array_foreach(json_object_get(job, "podSpecs"), i, item)
    {
        look_at(remarks, cli,
                cli_format(cli, "jobs[%zu].podSpecs[%zu]", index, i), item);
    }
    json_array_foreach(json_object_get(group, "subGroups"), i, item)
    {
        look_at(remarks, cli,
                cli_format(cli, "jobs[%zu].podGroup.subGroups[%zu].template",
                           index, i),
                json_object_get(item, "template"));
    }
}
