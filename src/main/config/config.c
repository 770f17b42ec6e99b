#include "control/round/planner.h"
#include "main/config/config_failures.h"
#include "main/config/config_notifications.h"
#include "wire/training/training_job.h"

enum {
    SECOND_MS = 1000,
    MINUTE_MS = 60000,
    HOUR_MS = 3600000,
    PROCESS_KEPT_RUNS_MAX = 100000, /* each is a directory to be listed */
};

#define DAY_MS (24 * (int64_t)HOUR_MS)
#define YEAR_MS (366 * DAY_MS)

/* A nested record: key, struct it is in, field, its table, meaning. */
#define SECTION(key, record, field, table_, about_) \
    SETTING(key, RECORD, record, field, .table = &table_, .about = about_)

static const struct setting tls_keys[] = {
    SETTING("certificate", TEXT, config_tls, certificate,
            .about = "PEM file of the server's certificate; empty: no TLS."),
    SETTING("key", TEXT, config_tls, key, .about = "PEM file of its key."),
    SETTING("clientCa", TEXT, config_tls, client_ca,
            .about = "PEM file of a CA. Clients must show a certificate that "
                     "it signed; empty: none is needed."),
};
static const struct settings tls_table = SETTINGS(tls_keys, config_tls, NULL);

static const struct setting rate_keys[] = {
    SETTING("requestsPerSecond", INT, config_rate, requests_per_s,
            .max = 1000000, .about = "Requests in a second; 0: no limit."),
    SETTING("bytesPerSecond", BYTES, config_rate, bytes_per_s,
            .max = (int64_t)1 << 40,
            .about = "Bytes of requests in a second, after decompression; 0: "
                     "no limit."),
};
static const struct settings rate_table =
    SETTINGS(rate_keys, config_rate, NULL);

static const struct setting server_keys[] = {
    SETTING("grpc", TEXT, config_server, grpc,
            .about =
                "Address of the gRPC services; port 0 takes any free port."),
    SETTING("http", TEXT, config_server, http,
            .about = "Address of /health and /metrics."),
    SETTING("data", TEXT, config_server, data,
            .about = "Directory of the log, the store and the jobs."),
    SECTION("tls", config_server, tls, tls_table, "TLS of the gRPC port."),
    SETTING("allowInsecureListen", BOOL, config_server,
            is_insecure_listen_allowed,
            .about = "Whether berthd may listen beyond this machine without "
                     "TLS or with anonymous access."),
    SETTING("threads", INT, config_server, thread_count, .min = 1, .max = 64,
            .about = "Threads that serve gRPC calls."),
    SETTING("maxReceiveBytes", BYTES, config_server, receive_bytes_max,
            .min = 65536, .max = 256 << 20,
            .about = "Size of the largest request, after decompression."),
    SETTING("maxCalls", INT, config_server, call_count_max, .min = 16,
            .max = 1000000, .about = "Calls that may be in progress at once."),
    SETTING("maxConnections", INT, config_server, connection_count_max,
            .min = 16, .max = 65536,
            .about = "Connections to the gRPC port at once; fewer where the "
                     "limit of open files allows no more."),
    SETTING("maxConnectionsPerAddress", INT, config_server,
            address_connection_count_max, .min = 1, .max = 65535,
            .about = "Of these, from one address (an IPv6 network of 64 bits "
                     "is one); over loopback, of one user."),
    SECTION("rateLimit", config_server, rate, rate_table,
            "Limits of each user (without credentials: of each local user or "
            "address), with bursts of four seconds' worth. Administrators and "
            "the calls of executors have no limit."),
    SETTING("maxMetricQueues", INT, config_server, metric_queue_count_max,
            .min = 1, .max = 100000,
            .about = "Queues with metrics of their own: those with jobs "
                     "first, then by name."),
    SETTING("maxStreams", INT, config_server, stream_count_max, .min = 16,
            .max = 1000000, .about = "Streams among these calls."),
};
static const struct settings server_table =
    SETTINGS(server_keys, config_server, NULL);

static const struct setting user_keys[] = {
    SETTING("name", TEXT, config_user, name, .is_required = true,
            .about = "Name of the user."),
    SETTING("passwordHash", TEXT, config_user, password_hash,
            .about = "Hash of the user's password, as berthctl hash-password "
                     "prints it (crypt(3): yescrypt, bcrypt)."),
    SETTING("password", TEXT, config_user, password,
            .about = "The password itself; for this release only, use "
                     "passwordHash."),
    SETTING("groups", TEXTS, config_user, groups,
            .about = "Groups of the user, in addition to everyone."),
    SETTING("executors", TEXTS, config_user, executors,
            .about = "Ids of the executors that the user may act for, if it "
                     "has execute_jobs; []: the executor of its own name."),
};
static const struct settings user_table =
    SETTINGS(user_keys, config_user, NULL);

#define PERMISSION(name_, about_) \
    SETTING(#name_, TEXTS, config_permissions, name_, .about = about_)

static const struct setting permission_keys[] = {
    PERMISSION(submit_any_jobs, "Groups that may submit to any queue."),
    PERMISSION(cancel_any_jobs, "Groups that may cancel any job."),
    PERMISSION(preempt_any_jobs, "Groups that may preempt any job."),
    PERMISSION(reprioritize_any_jobs, "Groups that may reprioritize any job."),
    PERMISSION(watch_all_events,
               "Groups that may see any job, its events and its logs."),
    PERMISSION(create_queue, "Groups that may create and change queues."),
    PERMISSION(delete_queue, "Groups that may delete queues."),
    PERMISSION(cordon_queue, "Groups that may cordon queues."),
    PERMISSION(cordon_nodes,
               "Groups that may cordon nodes and make maintenance windows."),
    PERMISSION(execute_jobs, "Groups that executors belong to."),
    PERMISSION(update_executor_settings, "Groups that may cordon executors."),
    PERMISSION(create_retry_policy, "Groups that may create retry policies."),
    PERMISSION(update_retry_policy, "Groups that may change retry policies."),
    PERMISSION(delete_retry_policy, "Groups that may delete retry policies."),
    PERMISSION(backup, "Groups that may copy the log and the store."),
    PERMISSION(create_pool, "Groups that may create and change pools."),
    PERMISSION(delete_pool, "Groups that may delete pools."),
    PERMISSION(exec_any_jobs,
               "Groups that may run programs in any running job."),
};
static const struct settings permission_table =
    SETTINGS(permission_keys, config_permissions, NULL);

static const struct setting auth_keys[] = {
    SETTING("anonymousAuth", BOOL, config_auth, is_anonymous,
            .about = "Whether callers without credentials are accepted, as "
                     "user anonymous. Over loopback the server's own user, but "
                     "not its jobs, and root are then administrators; others "
                     "have the permissions of everyone and of uid:N for their "
                     "user id."),
    SETTING("basicAuthUsers", RECORDS, config_auth, users, .table = &user_table,
            .count_max = CONFIG_USERS_MAX,
            .count_offset = offsetof(struct config_auth, user_count),
            .about = "Users that authenticate by name and password."),
    SETTING("administratorGroups", TEXTS, config_auth, administrators,
            .about = "Groups whose members have every permission, and see "
                     "every job."),
    SECTION("permissionGroupMapping", config_auth, permissions,
            permission_table,
            "Groups that have each permission; none by default. Every caller "
            "is in the group everyone."),
};
static const struct settings auth_table =
    SETTINGS(auth_keys, config_auth, NULL);

static const struct setting deadline_keys[] = {
    SETTING("resource", TEXT, config_deadline, resource, .is_required = true,
            .about = "Resource that the job requests."),
    SETTING("deadline", DURATION, config_deadline, deadline_ms,
            .is_required = true, .min = SECOND_MS, .max = YEAR_MS,
            .about = "Deadline of such a job."),
};
static const struct settings deadline_table =
    SETTINGS(deadline_keys, config_deadline, NULL);

static const struct setting training_keys[] = {
    SETTING("launcher", TEXT, config_training, launcher,
            .about = "Program in the image that has start_trainer and the "
                     "other commands."),
    SETTING("image", TEXT, config_training, image,
            .about = "Image of a TrainingJob that names none."),
    SETTING("etcdImage", TEXT, config_training, etcd_image,
            .about = "Image of etcd for a fault-tolerant TrainingJob."),
};
static const struct settings training_table =
    SETTINGS(training_keys, config_training, NULL);

static const struct setting submission_keys[] = {
    SETTING("allowedPriorityClassNames", TEXTS, config_submission, classes,
            .about = "Priority classes that pods may name; []: all of "
                     "scheduling.priorityClasses, and armada-default, "
                     "armada-preemptible, armada-resilient, experiment, "
                     "offline, normal and production, which clients of Armada "
                     "and TrainingJobs name."),
    SETTING("defaultPriorityClassName", TEXT, config_submission, default_class,
            .about = "Class of a pod that names none; empty: that of "
                     "scheduling.defaultPriorityClassName."),
    SETTING("defaultJobLimits", AMOUNTS, config_submission, default_limits,
            .about = "Requests of a container for resources that it does not "
                     "name. A container that names none at all is refused."),
    SETTING("minJobResources", AMOUNTS, config_submission, minimums,
            .about = "The least that a container may request."),
    SETTING("maxPodSpecSizeBytes", BYTES, config_submission, pod_spec_bytes_max,
            .min = 1024, .max = 4 << 20,
            .about = "Size of the largest pod spec."),
    SETTING("minTerminationGracePeriod", DURATION, config_submission,
            grace_period_ms_min, .max = DAY_MS,
            .about = "Shortest grace period; 0 is replaced by it."),
    SETTING("maxTerminationGracePeriod", DURATION, config_submission,
            grace_period_ms_max, .max = DAY_MS,
            .about = "Longest grace period."),
    SETTING("defaultActiveDeadline", DURATION, config_submission,
            default_deadline_ms, .min = SECOND_MS, .max = YEAR_MS,
            .about = "Deadline of a job that names none."),
    SETTING("defaultActiveDeadlineByResourceRequest", RECORDS,
            config_submission, deadlines, .table = &deadline_table,
            .count_max = CONFIG_RULES_MAX,
            .count_offset = offsetof(struct config_submission, deadline_count),
            .about = "The same for jobs that request a resource."),
    SETTING("assertInitContainersRequestFractionalCpu", BOOL, config_submission,
            needs_fractional_init_cpu,
            .about = "Whether init containers must request less than a core."),
    SETTING("allowPreferredNodeAffinity", BOOL, config_submission,
            allows_preferred_nodes,
            .about = "Whether jobs may prefer nodes. By default they are "
                     "refused, as Armada does."),
    SECTION("trainingJobs", config_submission, training, training_table,
            "Defaults of the pods of TrainingJobs."),
};
static const struct settings submission_table =
    SETTINGS(submission_keys, config_submission, NULL);

static const struct setting log_keys[] = {
    SETTING("retention", DURATION, config_log, retention_ms, .min = HOUR_MS,
            .max = 20 * YEAR_MS,
            .about = "How long events are kept. Events that the checkpoint "
                     "needs are kept longer."),
    SETTING("checkpointRecords", INT, config_log, checkpoint_record_count,
            .min = 1000, .max = 100000000,
            .about = "Records of the log between two checkpoints."),
};
static const struct settings log_table = SETTINGS(log_keys, config_log, NULL);

static const struct setting messages_keys[] = {
    SETTING(
        "level", TEXT, config_messages, level,
        .choices = "error warn info debug",
        .about =
            "error: an operator must act. warn: berthd coped. info: its life "
            "cycle, changes by users, refused calls. debug: every call."),
    SETTING("format", TEXT, config_messages, format, .choices = "logfmt json",
            .about = "Format of each line: words key=value (logfmt), or JSON."),
};
static const struct settings messages_table =
    SETTINGS(messages_keys, config_messages, NULL);

static const struct setting planner_keys[] = {
    SETTING("threads", INT, config_planner, thread_count,
            .max = PLANNER_THREADS_MAX,
            .about = "Threads that plan pools in parallel once there are pool "
                     "objects; 0: one per core."),
    SETTING("forecastPeriod", DURATION, config_planner, forecast_period_ms,
            .max = 24 * HOUR_MS,
            .about = "How often the server forecasts when waiting jobs will "
                     "start; 0: never. If a forecast takes more than a "
                     "twentieth of this, the next one comes later."),
};
static const struct settings planner_table =
    SETTINGS(planner_keys, config_planner, NULL);

static const struct setting store_keys[] = {
    SETTING("retention", DURATION, config_store, retention_ms, .min = HOUR_MS,
            .max = 20 * YEAR_MS,
            .about = "How long finished jobs can be queried."),
    SETTING("deduplicationRetention", DURATION, config_store, deduplication_ms,
            .min = MINUTE_MS, .max = YEAR_MS,
            .about = "How long a repeated client id finds the job of its first "
                     "submission."),
    SETTING("maxBehindBytes", BYTES, config_store, behind_bytes_max,
            .min = 1 << 20, .max = (int64_t)64 << 30,
            .about =
                "Memory for submissions that are not in the store yet. While "
                "it is full, submissions are refused with RESOURCE_EXHAUSTED."),
};
static const struct settings store_table =
    SETTINGS(store_keys, config_store, NULL);

static const struct setting retention_keys[] = {
    SETTING("logs", DURATION, config_retention, logs_ms, .min = MINUTE_MS,
            .max = 20 * YEAR_MS,
            .about = "How long the logs of a run are kept after its end."),
    SETTING("maxRuns", INT, config_retention, log_run_count_max, .min = 1,
            .max = PROCESS_KEPT_RUNS_MAX,
            .about = "Ended runs whose logs are kept; the oldest go first."),
    SETTING("maxBytes", BYTES, config_retention, log_byte_count_max,
            .min = 1 << 20, .max = (int64_t)1 << 50,
            .about = "Space for the logs of ended runs; the oldest go first."),
    SETTING("folders", DURATION, config_retention, folders_ms,
            .max = 20 * YEAR_MS,
            .about = "How long a run's working directory and volumes are kept "
                     "after its end, but never longer than its logs. They may "
                     "have any size."),
    SETTING("maxFolders", INT, config_retention, folder_count_max,
            .max = PROCESS_KEPT_RUNS_MAX,
            .about = "Ended runs whose working directories are kept; the "
                     "oldest go first."),
    SETTING("outputs", DURATION, config_retention, outputs_ms, .min = MINUTE_MS,
            .max = 20 * YEAR_MS,
            .about = "How long files that a job left at its outputPath are "
                     "kept after its end."),
    SETTING("maxOutputs", INT, config_retention, output_count_max,
            .max = PROCESS_KEPT_RUNS_MAX,
            .about = "Ended jobs whose files at their outputPath are kept; of "
                     "the queue with most of them the oldest go first."),
    SETTING("maxOutputBytes", BYTES, config_retention, outputs_byte_count_max,
            .max = (int64_t)1 << 50,
            .about = "Space for the files that ended jobs left at their "
                     "outputPath; of the queue with most bytes the oldest go "
                     "first."),
    SETTING("maxOutputBytesPerJob", BYTES, config_retention,
            output_byte_count_max, .max = (int64_t)1 << 50,
            .about = "A job that leaves more than this at its outputPath "
                     "keeps it no longer than its other folders."),
};
static const struct settings retention_table =
    SETTINGS(retention_keys, config_retention, NULL);

static const struct setting process_keys[] = {
    SETTING("resources", AMOUNTS, config_process, resources,
            .about = "Resources that this machine offers; of cpu, memory and "
                     "nvidia.com/gpu all it has if they are not named, of "
                     "ephemeral-storage as much as is asked for. Others are "
                     "counted, but not given."),
    SETTING("devices", TEXT, config_process, devices,
            .about = "Directory of the device files nvidia0, nvidia1, ..., "
                     "each a GPU; empty: there are none."),
    SETTING("labels", TEXTS, config_process, labels,
            .about = "Labels of its node, each key=value, in addition to "
                     "kubernetes.io/hostname."),
    SETTING("taints", TEXTS, config_process, taints,
            .about =
                "Taints of its node, each key=value:effect or "
                "key:effect: only jobs that tolerate it run there. Effects "
                "are NoSchedule, PreferNoSchedule, and NoExecute."),
    SETTING("userId", INT, config_process, user_id, .min = 1, .max = UINT32_MAX,
            .about = "User id of jobs if the executor runs as root."),
    SETTING("groupId", INT, config_process, group_id, .min = 1,
            .max = UINT32_MAX,
            .about = "Group id of jobs if the executor runs as root."),
    SETTING("allowRootJobs", BOOL, config_process, is_root_allowed,
            .about = "Whether a job may request to run as root."),
    SETTING("allowedUsers", TEXTS, config_process, allowed_users,
            .about = "Accounts of this machine, by name or number, that a job "
                     "may name as runAsUser, with their group as runAsGroup. "
                     "Ids that no account has are always allowed."),
    SETTING("cgroups", BOOL, config_process, has_cgroups,
            .about = "Whether to use cgroups where they are available."),
    SETTING("namespaces", BOOL, config_process, has_namespaces,
            .about = "Whether pods get namespaces of their own where that is "
                     "allowed: processes, shared memory, /tmp. false: jobs "
                     "share the machine's."),
    SECTION("retention", config_process, retention, retention_table,
            "What is kept of runs that have ended."),
};
static const struct settings process_table =
    SETTINGS(process_keys, config_process, NULL);

static const struct setting kubernetes_keys[] = {
    SETTING("kubeconfig", TEXT, config_kubernetes, kubeconfig,
            .about = "kubeconfig file that says how to reach the cluster; "
                     "empty: the service account of the pod that the executor "
                     "runs in."),
    SETTING("context", TEXT, config_kubernetes, context,
            .about = "Context of the kubeconfig; empty: its current one."),
    SETTING("namespaces", TEXTS, config_kubernetes, namespaces,
            .about = "Namespaces in which pods of jobs may be created; []: in "
                     "all. A job of another namespace fails."),
    SETTING("poolLabel", TEXT, config_kubernetes, pool_label,
            .about = "Label of nodes whose value is their pool; nodes without "
                     "it are in executor.pool."),
    SETTING("nodeTypeLabel", TEXT, config_kubernetes, node_type_label,
            .about = "Label of nodes whose value is their type."),
    SETTING("priorityClassName", TEXT, config_kubernetes, priority_class,
            .about = "PriorityClass of all pods; empty: that of each job, "
                     "which the cluster must have."),
    SETTING("ingressHostnameSuffix", TEXT, config_kubernetes, hostname_suffix,
            .about = "End of the host names of ingresses, which begin with "
                     "container, port, pod and namespace."),
    SETTING("ingressCertificateSuffix", TEXT, config_kubernetes,
            certificate_suffix,
            .about = "End of the names of their TLS secrets, which begin with "
                     "the namespace and a dash; for ingresses that name none."),
    SETTING("ingressAnnotations", TEXTS, config_kubernetes, ingress_annotations,
            .about = "Annotations that the ingresses and objects of jobs may "
                     "have, and labels with a prefix; one that ends in * "
                     "stands for all that begin so; []: none. A job with "
                     "another fails."),
    SETTING("objectKinds", TEXTS, config_kubernetes, object_kinds,
            .about = "Kinds of objects that jobs may bring, such as v1/Secret "
                     "or batch/v1/Job; []: none. A job with another fails."),
    SETTING("retention", DURATION, config_kubernetes, retention_ms,
            .max = YEAR_MS,
            .about = "How long ended pods stay in the cluster, so that their "
                     "logs can be read; at most 1,000 of them."),
};
static const struct settings kubernetes_table =
    SETTINGS(kubernetes_keys, config_kubernetes, NULL);

static void init_fake_group(void *record)
{
    struct config_fake_group *group = record;

    *group = (struct config_fake_group){.name = STR("fake"), .count = 1};
}

static const struct setting fake_group_keys[] = {
    SETTING("name", TEXT, config_fake_group, name,
            .about = "Nodes are named EXECUTOR-NAME-INDEX."),
    SETTING("count", INT, config_fake_group, count, .min = 1, .max = 200000,
            .about = "Number of such nodes."),
    SETTING("resources", AMOUNTS, config_fake_group, resources,
            .is_required = true, .about = "Capacity of each node."),
    SETTING("labels", TEXTS, config_fake_group, labels,
            .about = "Labels of the nodes, each key=value."),
    SETTING("taints", TEXTS, config_fake_group, taints,
            .about = "Taints of the nodes, each key=value:effect or "
                     "key:effect."),
};
static const struct settings fake_group_table =
    SETTINGS(fake_group_keys, config_fake_group, init_fake_group);

static const struct setting fake_keys[] = {
    SETTING("nodes", RECORDS, config_fake, groups, .table = &fake_group_table,
            .count_max = CONFIG_FAKE_GROUPS_MAX,
            .count_offset = offsetof(struct config_fake, group_count),
            .about = "The nodes; []: 500 of 8 cpu, 128Gi, 256Gi of storage."),
    SETTING("distribution", TEXT, config_fake, distribution,
            .old_key = "spread", .choices = "fixed uniform exponential",
            .about = "Distribution of the run times: fixed (runTime), uniform "
                     "(from runTime to maxRunTime) or exponential (with mean "
                     "runTime)."),
    SETTING("runTime", DURATION, config_fake, run_a_ms, .max = YEAR_MS,
            .about = "How long a pod runs."),
    SETTING("maxRunTime", DURATION, config_fake, run_b_ms, .max = YEAR_MS,
            .about = "The longest run time of a uniform distribution."),
    SETTING("startDelay", DURATION, config_fake, start_delay_ms, .max = HOUR_MS,
            .about = "How long a pod is pending."),
    SETTING("failureRate", PPM, config_fake, failure_ppm, .max = 1000000,
            .about = "Fraction of pods that fail."),
    SETTING("seed", INT, config_fake, seed,
            .about = "Random seed; the same seed gives the same runs."),
    SETTING("pendingForeign", AMOUNTS, config_fake, pending,
            .about = "Requests of other pods that find no node."),
};
static const struct settings fake_table =
    SETTINGS(fake_keys, config_fake, NULL);

static const struct setting client_tls_keys[] = {
    SETTING("ca", TEXT, config_tls, client_ca,
            .about = "PEM file of the CA that signed the server's certificate; "
                     "empty: the system's CAs."),
    SETTING("certificate", TEXT, config_tls, certificate,
            .about = "PEM file of a certificate to show; empty: none."),
    SETTING("key", TEXT, config_tls, key, .about = "PEM file of its key."),
    SETTING("serverName", TEXT, config_tls, server_name,
            .about = "Name in the server's certificate if it is not the "
                     "server's address."),
};
static const struct settings client_tls_table =
    SETTINGS(client_tls_keys, config_tls, NULL);

static const struct setting executor_keys[] = {
    SETTING("enabled", BOOL, config_executor, is_enabled,
            .about = "Whether berthd --standalone runs jobs itself."),
    SETTING("id", TEXT, config_executor, id,
            .about = "Name of this executor, unique at its server."),
    SETTING("pool", TEXT, config_executor, pool, .about = "Pool of its nodes."),
    SETTING("server", TEXT, config_executor, server,
            .about = "berth-executor: address of the server."),
    SETTING("userName", TEXT, config_executor, user_name,
            .about = "berth-executor: name for basic authentication; empty: "
                     "none."),
    SETTING("password", TEXT, config_executor, password,
            .about = "berth-executor: password for it."),
    SETTING("forceNoTls", BOOL, config_executor, is_plain,
            .about = "berth-executor: whether to connect without TLS. Without "
                     "tls.ca a server on this machine is always reached "
                     "without it; with tls.ca none is."),
    SECTION("tls", config_executor, tls, client_tls_table,
            "TLS to the server."),
    SETTING("runtime", TEXT, config_executor, runtime,
            .choices = "process kubernetes fake",
            .about = "process: pods are processes of this machine. kubernetes: "
                     "pods are pods of a cluster. fake: nothing runs."),
    SETTING("heldStream", BOOL, config_executor, has_held_stream,
            .about =
                "Whether the server pushes leases as soon as it decides them."),
    SETTING("leasePeriod", DURATION, config_executor, lease_period_ms,
            .min = 10, .max = HOUR_MS,
            .about = "How often the executor asks for leases if the server "
                     "does not push them."),
    SECTION("errorCategories", config_executor, failures,
            config_failures_settings,
            "Names for failures of pods, which retry policies match on."),
    SECTION("process", config_executor, process, process_table,
            "Runtime process."),
    SECTION("kubernetes", config_executor, kubernetes, kubernetes_table,
            "Runtime kubernetes."),
    SECTION("fake", config_executor, fake, fake_table, "Runtime fake."),
};
static const struct settings executor_table =
    SETTINGS(executor_keys, config_executor, NULL);

static const struct setting hardening_keys[] = {
    SETTING("systemCallFilter", BOOL, config_hardening, has_filter,
            .about = "Whether the program and its helper deny themselves "
                     "system calls that they never need, such as those that "
                     "start programs or load kernel modules."),
    SETTING("user", TEXT, config_hardening, user,
            .about = "User that berthd and berth-executor become if started "
                     "as root; a helper process stays root, to start jobs. If "
                     "there is no user berth, the id 65533 serves. Empty: "
                     "they stay root."),
};
static const struct settings hardening_table =
    SETTINGS(hardening_keys, config_hardening, NULL);

static const struct setting config_keys[] = {
    SECTION("server", config, server, server_table,
            "Addresses and limits of berthd."),
    SECTION("auth", config, auth, auth_table, "Who may do what."),
    SECTION("submission", config, submission, submission_table,
            "Limits and defaults of submitted jobs."),
    SECTION("scheduling", config, scheduling, policy_settings,
            "The scheduling policy; berthd reads it again on SIGHUP."),
    SECTION("log", config, log, log_table, "The log of events."),
    SECTION("messages", config, messages, messages_table,
            "Messages on standard error; read again on SIGHUP."),
    SECTION("planner", config, planner, planner_table,
            "The planner, and forecasts."),
    SECTION("store", config, store, store_table, "The query store."),
    SECTION("executor", config, executor, executor_table,
            "The executor inside berthd --standalone, or berth-executor."),
    SECTION("notifications", config, notifications,
            config_notifications_settings,
            "Whom to tell when jobs and job sets have ended."),
    SECTION("hardening", config, hardening, hardening_table,
            "What berthd and berth-executor give up after their start."),
};

static void default_auth(struct config_auth *auth)
{
    /* Who can reach a loopback port may use it: what a first try needs.
     * config_check() keeps it from being offered to a network.  Nothing is
     * granted to anybody else. */
    auth->is_anonymous = true;
}

static void default_submission(struct config_submission *submission)
{
    static struct resource_amount limits[] = {
        {{"cpu", 3}, 1000},
        {{"ephemeral-storage", 17}, (INT64_C(8) << 30) * 1000},
        {{"memory", 6}, (INT64_C(1) << 30) * 1000},
    };
    static struct resource_amount minimums[] = {
        {{"memory", 6}, (INT64_C(1) << 20) * 1000},
    };

    struct training_rules rules;
    training_rules_defaults(&rules);
    *submission = (struct config_submission){
        .default_limits = {limits, ARRAY_COUNT(limits)},
        .minimums = {minimums, ARRAY_COUNT(minimums)},
        .pod_spec_bytes_max = 65535,
        .grace_period_ms_min = SECOND_MS,
        .grace_period_ms_max = 5 * MINUTE_MS,
        .default_deadline_ms = 72 * (int64_t)HOUR_MS,
        .deadlines = {{STR("nvidia.com/gpu"), 336 * (int64_t)HOUR_MS}},
        .deadline_count = 1,
        .needs_fractional_init_cpu = true,
        .training = {.launcher = rules.launcher,
                     .image = rules.image,
                     .etcd_image = rules.etcd_image},
    };
}

static void default_executor(struct config_executor *executor)
{
    *executor = (struct config_executor){
        .is_enabled = true,
        .id = STR("local"),
        .pool = STR("default"),
        .server = STR("localhost:50051"),
        .runtime = STR("process"),
        .has_held_stream = true,
        .lease_period_ms = 5 * SECOND_MS,
        .process = {.user_id = 65534,
                    .group_id = 65534,
                    .devices = STR("/dev"),
                    .has_cgroups = true,
                    .has_namespaces = true,
                    .retention = {.logs_ms = 7 * DAY_MS,
                                  .log_run_count_max = 10000,
                                  .log_byte_count_max = (int64_t)10 << 30,
                                  .folders_ms = 10 * MINUTE_MS,
                                  .folder_count_max = 1000,
                                  .outputs_ms = 7 * DAY_MS,
                                  .output_count_max = 1000,
                                  .outputs_byte_count_max = (int64_t)10 << 30,
                                  .output_byte_count_max = (int64_t)1 << 30}},
        .kubernetes = {.pool_label = STR("armadaproject.io/pool"),
                       .node_type_label = STR("armadaproject.io/node-type"),
                       .hostname_suffix = STR("svc"),
                       .certificate_suffix = STR("ingress-tls-certificate"),
                       .retention_ms = 10 * MINUTE_MS},
        .fake = {.distribution = STR("fixed"),
                 .run_a_ms = SECOND_MS,
                 .run_b_ms = SECOND_MS,
                 .seed = 1},
    };
}

static void init_config(void *record)
{
    struct config *config = record;

    config->server = (struct config_server){
        .grpc = STR("127.0.0.1:50051"),
        .http = STR("127.0.0.1:8081"),
        .data = STR("berth-data"),
        .thread_count = 2,
        .receive_bytes_max = 4 << 20,
        .call_count_max = 10000,
        .stream_count_max = 4000,
        .connection_count_max = 4096,
        .address_connection_count_max = 1024,
        .metric_queue_count_max = 1000,
        .rate = {.requests_per_s = 1000, .bytes_per_s = 16 << 20},
    };
    default_auth(&config->auth);
    default_submission(&config->submission);
    policy_settings.init(&config->scheduling);
    config->log = (struct config_log){14 * DAY_MS, 1000000};
    config->messages = (struct config_messages){STR("info"), STR("logfmt")};
    config->store = (struct config_store){42 * DAY_MS, 7 * DAY_MS, 256 << 20};
    config->planner = (struct config_planner){0, MINUTE_MS};
    default_executor(&config->executor);
    config->notifications = (struct config_notifications){
        .queued_count_max = 10000, .keep_ms = 6 * (int64_t)HOUR_MS};
    config->hardening =
        (struct config_hardening){.has_filter = true, .user = STR("berth")};
}

const struct settings config_settings =
    SETTINGS(config_keys, config, init_config);
