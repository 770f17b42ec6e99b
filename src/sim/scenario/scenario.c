#include "sim/scenario/scenario.h"

#include <stdlib.h>

#include "model/requirement.h"

#define RATE_MAX_ INT64_C(1000000000000) /* a million a second */
#define TIME_MAX_ INT64_C(315360000000)  /* ten years */
static const struct setting nodes_keys[] = {
    SETTING("name", TEXT, scenario_nodes, name,
            .about = "Their names are <cluster>-<name>-<index>.",
            .is_required = true),
    SETTING("count", INT, scenario_nodes, count, .min = 1, .max = 200000,
            .about = "Number of nodes."),
    SETTING("resources", AMOUNTS, scenario_nodes, resources,
            .about = "Capacity of each node.", .is_required = true),
    SETTING("labels", TEXTS, scenario_nodes, labels,
            .about = "Labels, as key=value."),
};

static void init_nodes(void *record)
{
    ((struct scenario_nodes *)record)->count = 1;
}

static const struct settings nodes_table =
    SETTINGS(nodes_keys, scenario_nodes, init_nodes);

static const struct setting failures_keys[] = {
    SETTING("meanBetween", DURATION, scenario_failures, mean_between_ms,
            .max = TIME_MAX_,
            .about = "Mean time from a node's repair to its next failure, "
                     "exponentially distributed; 0: nodes never fail."),
    SETTING("repair", DURATION, scenario_failures, repair_ms, .max = TIME_MAX_,
            .about = "How long a failed node is away. Its pods are lost."),
};
static const struct settings failures_table =
    SETTINGS(failures_keys, scenario_failures, NULL);

static const struct setting cluster_keys[] = {
    SETTING("name", TEXT, scenario_cluster, name, .about = "Its executor's id.",
            .is_required = true),
    SETTING("pool", TEXT, scenario_cluster, pool,
            .about = "The pool of its nodes."),
    SETTING("startDelay", DURATION, scenario_cluster, start_ms,
            .max = TIME_MAX_, .about = "Time from a lease to a running pod."),
    SETTING("stopDelay", DURATION, scenario_cluster, stop_ms, .max = TIME_MAX_,
            .about = "Time from a preemption to the end of the pod."),
    SETTING("reportDelay", DURATION, scenario_cluster, report_ms,
            .max = TIME_MAX_,
            .about =
                "How long the executor collects reports before it sends them."),
    SETTING("nodes", RECORDS, scenario_cluster, nodes,
            .about = "Its nodes, in groups of equal nodes.",
            .table = &nodes_table, .is_required = true,
            .count_offset = offsetof(struct scenario_cluster, nodes_count),
            .count_max = SCENARIO_NODE_GROUPS_MAX),
    SETTING("failures", RECORD, scenario_cluster, failures, .about = "",
            .table = &failures_table),
};

static void init_cluster(void *record)
{
    struct scenario_cluster *cluster = record;

    cluster->pool = STR("default");
    cluster->start_ms = 1000;
    cluster->report_ms = 5;
    cluster->failures.repair_ms = 600000;
}

static const struct settings cluster_table =
    SETTINGS(cluster_keys, scenario_cluster, init_cluster);

static const struct setting queue_keys[] = {
    SETTING("name", TEXT, scenario_queue, name, .about = "Its name.",
            .is_required = true),
    SETTING("weight", MILLI, scenario_queue, weight_milli, .min = 1,
            .max = 1000,
            .about = "Its weight, which is 1 / priority factor and at most 1."),
    SETTING("ordering", TEXT, scenario_queue, ordering,
            .choices = "priority fifo fair stateaware cfs",
            .about = "Order of its waiting jobs."),
};

static void init_queue(void *record)
{
    struct scenario_queue *queue = record;

    queue->weight_milli = 1000;
    queue->ordering = STR("priority");
}

static const struct settings queue_table_ =
    SETTINGS(queue_keys, scenario_queue, init_queue);

static const struct setting pool_keys[] = {
    SETTING("name", TEXT, scenario_pool, name, .about = "Its name.",
            .is_required = true),
    SETTING("nodeSelector", TEXTS, scenario_pool, node_selector,
            .about = "Its nodes have all of these labels, as key=value.",
            .is_required = true),
    SETTING("disablePreemption", BOOL, scenario_pool, is_preemption_off,
            .about = "Its own jobs may not preempt in it."),
    SETTING("disableBorrowing", BOOL, scenario_pool, is_borrowing_off,
            .about = "Its own jobs may not borrow from other pools."),
    SETTING("disableSharing", BOOL, scenario_pool, is_sharing_off,
            .about = "Jobs of other pools may not borrow from it."),
    SETTING("borrowingPools", TEXTS, scenario_pool, lenders,
            .about = "Pools from which its own jobs may borrow; empty: all."),
    SETTING("preemptionOrder", TEXT, scenario_pool, preemption_order,
            .choices = "preempt-first borrow-first",
            .about = "What its own jobs try first when it is full."),
};

static void init_pool(void *record)
{
    ((struct scenario_pool *)record)->preemption_order = STR("preempt-first");
}

static const struct settings pool_table =
    SETTINGS(pool_keys, scenario_pool, init_pool);

static const struct setting run_time_keys[] = {
    SETTING("distribution", TEXT, scenario_run_time, distribution,
            .old_key = "spread",
            .choices = "fixed uniform exponential logUniform",
            .about = "fixed: always a. uniform: from a to b. exponential: with "
                     "mean a. logUniform: from a to b, uniform in the "
                     "logarithm."),
    SETTING("a", DURATION, scenario_run_time, a_ms, .max = TIME_MAX_,
            .about = "See distribution."),
    SETTING("b", DURATION, scenario_run_time, b_ms, .max = TIME_MAX_,
            .about = "See distribution."),
};
static const struct settings run_time_table =
    SETTINGS(run_time_keys, scenario_run_time, NULL);

static const struct setting gang_keys[] = {
    SETTING("size", INT, scenario_gang, size, .max = 1000000,
            .about = "Jobs of each gang, which start together; 0: no gangs."),
    SETTING("minimum", INT, scenario_gang, minimum, .max = 1000000,
            .about = "Jobs with which a gang may start; 0: all."),
    SETTING(
        "uniformity", TEXT, scenario_gang, uniformity,
        .about =
            "Node label that must have the same value for all jobs of a gang."),
};
static const struct settings gang_table =
    SETTINGS(gang_keys, scenario_gang, NULL);

static const struct setting sub_group_keys[] = {
    SETTING("name", TEXT, scenario_sub_group, name, .about = "Its name.",
            .is_required = true),
    SETTING("min", INT, scenario_sub_group, min, .max = 100000,
            .about = "Pods that the group requires to run."),
    SETTING("max", INT, scenario_sub_group, max, .max = 100000,
            .about = "Pods to which it may grow; 0: min."),
    SETTING("resources", AMOUNTS, scenario_sub_group, resources,
            .about = "Requests of each pod.", .is_required = true),
    SETTING(
        "maxHops", INT, scenario_sub_group, hops_max, .min = -1,
        .max = HOPS_MAX,
        .about =
            "Largest distance in hops between two of its pods; -1: no limit."),
    SETTING("maxHopsWait", DURATION, scenario_sub_group, hops_wait_ms,
            .max = TIME_MAX_,
            .about = "After waiting for so long, maxHops no longer applies; 0: "
                     "it always does."),
    SETTING("auxiliary", BOOL, scenario_sub_group, is_auxiliary,
            .about = "Whether its pods only run until the others have ended."),
};

static void init_sub_group(void *record)
{
    ((struct scenario_sub_group *)record)->hops_max = -1;
}

static const struct settings sub_group_table =
    SETTINGS(sub_group_keys, scenario_sub_group, init_sub_group);

static const struct setting pod_group_keys[] = {
    SETTING("kind", TEXT, scenario_pod_group, kind,
            .choices = "podGroup training trainingTolerant",
            .about = "How it ends: trainingTolerant fails when all its pods "
                     "have failed, the others when one has."),
    SETTING(
        "nodeReservation", TEXT, scenario_pod_group, node_reservation,
        .choices = "Whole Shared",
        .about =
            "Whether it has its nodes exclusively (Whole) or not (Shared)."),
    SETTING("freezingWindow", DURATION, scenario_pod_group, freezing_window_ms,
            .max = TIME_MAX_,
            .about =
                "After it grew or shrank, it does neither again for so long."),
    SETTING("replaceTimeout", DURATION, scenario_pod_group, replace_timeout_ms,
            .max = TIME_MAX_,
            .about = "A group that is below its minimum for so long is "
                     "preempted as a whole."),
    SETTING("subGroups", RECORDS, scenario_pod_group, sub_groups,
            .about = "Groups of equal pods.", .table = &sub_group_table,
            .count_offset =
                offsetof(struct scenario_pod_group, sub_group_count),
            .count_max = SUB_GROUPS_MAX),
};

static void init_pod_group(void *record)
{
    struct scenario_pod_group *group = record;

    group->kind = STR("podGroup");
    group->node_reservation = STR("Whole");
    group->freezing_window_ms = 300000;
    group->replace_timeout_ms = 300000;
}

static const struct settings pod_group_table =
    SETTINGS(pod_group_keys, scenario_pod_group, init_pod_group);

static const struct setting stream_keys[] = {
    SETTING("name", TEXT, scenario_stream, name,
            .about = "Name of the stream in the summary, and of its job set.",
            .is_required = true),
    SETTING("queue", TEXT, scenario_stream, queue, .about = "Its queue.",
            .is_required = true),
    SETTING(
        "count", INT, scenario_stream, count, .max = 1 << 26,
        .about =
            "Number of jobs (or gangs); 0: as many as arrive until `last`."),
    SETTING("arrivals", TEXT, scenario_stream, arrivals,
            .choices = "atOnce steady poisson",
            .about = "atOnce: all at `first`. steady: evenly spaced. poisson: "
                     "at random."),
    SETTING("rate", PPM, scenario_stream, rate_micro, .max = RATE_MAX_,
            .about = "Requests a second, unless atOnce."),
    SETTING("first", DURATION, scenario_stream, first_ms, .max = TIME_MAX_,
            .about = "Time of the first arrival."),
    SETTING("last", DURATION, scenario_stream, last_ms, .max = TIME_MAX_,
            .about = "No job arrives after this; 0: no end."),
    SETTING("batch", INT, scenario_stream, batch, .min = 1, .max = 10000,
            .about = "Jobs (or gangs) in each request."),
    SETTING("resources", AMOUNTS, scenario_stream, resources,
            .about = "Requests of each job."),
    SETTING("nodeSelector", TEXTS, scenario_stream, node_selector,
            .about = "Node labels that each job needs, as key=value."),
    SETTING("priorityClass", TEXT, scenario_stream, priority_class,
            .about = "Priority class of the jobs."),
    SETTING("priority", INT, scenario_stream, priority, .max = UINT32_MAX,
            .about = "Priority within the queue; a smaller one goes first."),
    SETTING("runTime", RECORD, scenario_stream, run, .about = "",
            .table = &run_time_table),
    SETTING("deadlineStep", DURATION, scenario_stream, deadline_step_ms,
            .max = TIME_MAX_,
            .about = "Each job states its run time, rounded up to a multiple "
                     "of this, as its deadline; 0: see deadline."),
    SETTING("deadline", DURATION, scenario_stream, deadline_ms,
            .max = TIME_MAX_,
            .about = "Deadline of each job, at which it is stopped; 0: none."),
    SETTING("lifetime", TEXT, scenario_stream, lifetime,
            .about = "Lifetime of each job, after which it may be preempted: a "
                     "duration, or infinite; empty: the default of its class."),
    SETTING("failures", PPM, scenario_stream, failure_ppm, .max = 1000000,
            .about = "Fraction of jobs that fail by themselves."),
    SETTING("requeue", BOOL, scenario_stream, is_requeued,
            .about = "Whether a preempted job is requeued (true) or fails, as "
                     "with Armada (false)."),
    SETTING("gang", RECORD, scenario_stream, gang, .about = "",
            .table = &gang_table),
    SETTING("podGroup", RECORD, scenario_stream, pod_group, .about = "",
            .table = &pod_group_table),
    SETTING("user", TEXT, scenario_stream, user,
            .about = "User who submits the jobs; run times are predicted by "
                     "user. Empty: all jobs are of one user."),
    SETTING(
        "application", TEXT, scenario_stream, application,
        .about =
            "Application of the jobs; empty: the stream is one application."),
    SETTING("pool", TEXT, scenario_stream, pool,
            .about = "Home pool of the jobs; empty: the pools of the policy."),
};

static void init_stream(void *record)
{
    struct scenario_stream *stream = record;

    stream->arrivals = STR("atOnce");
    stream->rate_micro = 1000000;
    stream->batch = 1;
    stream->priority_class = STR("armada-preemptible");
    stream->run = (struct scenario_run_time){STR("fixed"), 60000, 60000};
    stream->is_requeued = true;
    init_pod_group(&stream->pod_group);
}

static const struct settings stream_table =
    SETTINGS(stream_keys, scenario_stream, init_stream);

static const struct setting scenario_keys[] = {
    SETTING("name", TEXT, scenario, name, .about = "A title."),
    SETTING("about", TEXT, scenario, about, .about = "A sentence."),
    SETTING("seed", INT, scenario, seed, .max = INT64_MAX,
            .about = "Random seed."),
    SETTING("duration", DURATION, scenario, duration_ms, .max = TIME_MAX_,
            .about = "Virtual time to play; 0: until all jobs have ended."),
    SETTING("warmup", DURATION, scenario, warmup_ms, .max = TIME_MAX_,
            .about = "Virtual time after which use counts in the means."),
    SETTING(
        "sample", DURATION, scenario, sample_ms, .min = 1, .max = TIME_MAX_,
        .about =
            "Time between two samples of use, of running and waiting jobs (one "
            "line of the CSV each) and of shares (means, in the summary)."),
    SETTING("clusters", RECORDS, scenario, clusters, .is_required = true,
            .about = "The clusters.", .table = &cluster_table,
            .count_offset = offsetof(struct scenario, cluster_count),
            .count_max = SCENARIO_CLUSTERS_MAX),
    SETTING("queues", RECORDS, scenario, queues, .is_required = true,
            .about = "The queues.", .table = &queue_table_,
            .count_offset = offsetof(struct scenario, queue_count),
            .count_max = SCENARIO_QUEUES_MAX),
    SETTING("pools", RECORDS, scenario, pools,
            .about = "Pool objects, in addition to the pools of the policy.",
            .table = &pool_table,
            .count_offset = offsetof(struct scenario, pool_count),
            .count_max = POOL_OBJECTS_MAX),
    SETTING("jobs", RECORDS, scenario, streams, .is_required = true,
            .about = "Streams of equal jobs.", .table = &stream_table,
            .count_offset = offsetof(struct scenario, stream_count),
            .count_max = SCENARIO_STREAMS_MAX, .is_pointer = true),
    SETTING("scheduling", RECORD, scenario, scheduling, .about = "",
            .table = &policy_settings),
};

static void init_scenario(void *record)
{
    struct scenario *scenario = record;

    scenario->seed = 1;
    scenario->sample_ms = 60000;
    policy_settings.init(&scenario->scheduling);
}

const struct settings scenario_settings =
    SETTINGS(scenario_keys, scenario, init_scenario);

enum draw_distribution scenario_distribution_of(struct str name)
{
    return str_equal(name, STR("uniform"))       ? DRAW_UNIFORM
           : str_equal(name, STR("exponential")) ? DRAW_EXPONENTIAL
           : str_equal(name, STR("logUniform"))  ? DRAW_LOG_UNIFORM
                                                 : DRAW_FIXED;
}

bool scenario_lifetime(struct str text, int64_t *ret_ms)
{
    if (text.byte_count == 0 || str_equal(text, STR("infinite"))) {
        *ret_ms = text.byte_count ? LIFETIME_INFINITE : LIFETIME_BY_CLASS;
        return true;
    }
    return setting_parse_duration(text, ret_ms) == 0 && *ret_ms >= 0;
}

bool scenario_pair(struct str text, struct str *ret_key, struct str *ret_value)
{
    const char *at = memchr(text.p, '=', text.byte_count);

    if (!at || at == text.p) {
        return false;
    }
    *ret_key = str_make(text.p, (size_t)(at - text.p));
    *ret_value = str_make(at + 1, text.byte_count - ret_key->byte_count - 1);
    return true;
}

int scenario_read(struct str text, const char *name, struct arena *arena,
                  struct scenario **ret_scenario, struct err *err)
{
    struct scenario *scenario = arena_alloc(arena, sizeof(*scenario));
    struct settings_reader reader = {name, arena, &scenario->warnings, NULL};
    struct err why;

    init_scenario(scenario);
    int rc = settings_read(&scenario_settings, text, &reader, scenario, err);
    if (rc < 0) {
        return rc;
    }
    rc = scenario_check(scenario, &why);
    *ret_scenario = scenario;
    return rc < 0 ? err_set(err, rc, "%s: %s", name, why.text) : 0;
}

static int64_t divided(int64_t value, int64_t divisor)
{
    int64_t part = value / divisor;

    return value > 0 && part < 1 ? 1 : part;
}

void scenario_scale(struct scenario *scenario, int64_t divisor)
{
    for (uint32_t i = 0; i < scenario->cluster_count; i++) {
        struct scenario_cluster *cluster = &scenario->clusters[i];
        for (uint32_t k = 0; k < cluster->nodes_count; k++) {
            cluster->nodes[k].count = divided(cluster->nodes[k].count, divisor);
        }
    }
    for (uint32_t i = 0; i < scenario->stream_count; i++) {
        struct scenario_stream *stream = &scenario->streams[i];
        stream->count = divided(stream->count, divisor);
        stream->rate_micro = divided(stream->rate_micro, divisor);
    }
}

static int compare_labels(const void *a, const void *b)
{
    return str_compare(((const struct label *)a)->key,
                       ((const struct label *)b)->key);
}

struct label *scenario_labels(const struct setting_texts *texts,
                              struct arena *arena)
{
    struct label *labels =
        arena_alloc_array(arena, texts->count, sizeof(*labels));

    for (uint32_t i = 0; i < texts->count; i++) {
        bool is_pair =
            scenario_pair(texts->items[i], &labels[i].key, &labels[i].value);
        ASSERT(is_pair); /* scenario_read() has looked */
    }
    qsort(labels, texts->count, sizeof(*labels), compare_labels);
    return labels;
}
