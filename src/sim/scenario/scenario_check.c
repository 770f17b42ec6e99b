/* Checks rules over several keys of a scenario: names that must exist, and
 * values that must agree. */
#include <stdio.h>

#include "sim/scenario/scenario.h"

enum { NAMES_SHOWN = 8, MS_PER_S = 1000 };

/* Where something is wrong. */
struct place {
    char path[64];
    struct err *err;
};

static struct place place_of(const char *list, uint32_t index, struct err *err)
{
    struct place place = {.err = err};

    snprintf(place.path, sizeof(place.path), "%s[%u]", list, index);
    return place;
}

/* The value of a key names nothing: what it may be. */
static int say_names(const struct place *place, const char *key,
                     struct str value, const struct str *names, uint32_t count)
{
    auto_strbuf list = {0};

    for (uint32_t i = 0; i < count && i < NAMES_SHOWN; i++) {
        strbuf_addf(&list, " %.*s", STR_ARG(names[i]));
    }
    return err_set(place->err, -ERR_INVALID,
                   "%s.%s: \"%.*s\" is not one of:%s%s", place->path, key,
                   STR_ARG(value), strbuf_text(&list),
                   count > NAMES_SHOWN ? " ..." : "");
}

static int say(const struct place *place, const char *key, const char *what)
{
    return err_set(place->err, -ERR_INVALID, "%s.%s: %s", place->path, key,
                   what);
}

/* A number or a time is on the wrong side of another. */
static int say_bound(const struct place *place, const char *key, double value,
                     const char *what, double bound)
{
    return err_set(place->err, -ERR_INVALID, "%s.%s: %.10g %s, %.10g",
                   place->path, key, value, what, bound);
}

/* A name is that of an earlier entry of its list. */
static int say_twice(const struct place *place, struct str name,
                     const char *list, uint32_t index)
{
    return err_set(place->err, -ERR_INVALID,
                   "%s.name: \"%.*s\" is %s[%u] already", place->path,
                   STR_ARG(name), list, index);
}

static double s_of(int64_t ms)
{
    return (double)ms / MS_PER_S;
}

static bool is_among(struct str name, const struct str *names, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (str_equal(names[i], name)) {
            return true;
        }
    }
    return false;
}

static int check_pairs(const struct place *place, const char *key,
                       const struct setting_texts *texts)
{
    struct str left, right;

    for (uint32_t i = 0; i < texts->count; i++) {
        if (!scenario_pair(texts->items[i], &left, &right)) {
            return err_set(place->err, -ERR_INVALID,
                           "%s.%s[%u]: \"%.*s\" is not of the form key=value",
                           place->path, key, i, STR_ARG(texts->items[i]));
        }
    }
    return 0;
}

/* Clusters. */

static int check_cluster(const struct scenario *scenario, uint32_t index,
                         struct err *err)
{
    const struct scenario_cluster *cluster = &scenario->clusters[index];
    struct place place = place_of("clusters", index, err);

    for (uint32_t i = 0; i < index; i++) {
        if (str_equal(cluster->name, scenario->clusters[i].name)) {
            return say_twice(&place, cluster->name, "clusters", i);
        }
    }
    for (uint32_t i = 0; i < cluster->nodes_count; i++) {
        char list[32];
        snprintf(list, sizeof(list), "clusters[%u].nodes", index);
        struct place nodes = place_of(list, i, err);
        for (uint32_t k = 0; k < i; k++) {
            if (str_equal(cluster->nodes[i].name, cluster->nodes[k].name)) {
                return say_twice(&nodes, cluster->nodes[i].name, "nodes", k);
            }
        }
        int rc = check_pairs(&nodes, "labels", &cluster->nodes[i].labels);
        if (rc < 0) {
            return rc;
        }
    }
    return 0;
}

/* A queue that is there twice would have one of two weights. */
static int check_queue_name(const struct scenario *scenario, uint32_t index,
                            struct err *err)
{
    struct place place = place_of("queues", index, err);
    struct str name = scenario->queues[index].name;

    for (uint32_t i = 0; i < index; i++) {
        if (str_equal(name, scenario->queues[i].name)) {
            return say_twice(&place, name, "queues", i);
        }
    }
    return 0;
}

/* Streams of jobs. */

static int check_queue(const struct scenario *scenario, struct str queue,
                       const struct place *place)
{
    struct str names[SCENARIO_QUEUES_MAX];

    for (uint32_t i = 0; i < scenario->queue_count; i++) {
        names[i] = scenario->queues[i].name;
    }
    return is_among(queue, names, scenario->queue_count)
               ? 0
               : say_names(place, "queue", queue, names, scenario->queue_count);
}

static int check_class(const struct scenario *scenario, struct str class,
                       const struct place *place)
{
    const struct policy_form *form = &scenario->scheduling;
    struct str names[POLICY_CLASSES_MAX];

    for (uint32_t i = 0; i < form->class_count; i++) {
        names[i] = form->classes[i].name;
    }
    return is_among(class, names, form->class_count)
               ? 0
               : say_names(place, "priorityClass", class, names,
                           form->class_count);
}

/* Pools as objects, and those of clusters and of the configuration. */
static int check_pool(const struct scenario *scenario, struct str pool,
                      const struct place *place)
{
    const struct policy_form *form = &scenario->scheduling;
    struct str
        names[POOL_OBJECTS_MAX + SCENARIO_CLUSTERS_MAX + POLICY_POOLS_MAX];
    uint32_t count = 0;

    for (uint32_t i = 0; i < scenario->pool_count; i++) {
        names[count++] = scenario->pools[i].name;
    }
    for (uint32_t i = 0; i < scenario->cluster_count; i++) {
        struct str of = scenario->clusters[i].pool;
        if (!is_among(of, names, count)) {
            names[count++] = of;
        }
    }
    for (uint32_t i = 0; i < form->pool_count; i++) {
        struct str of = form->pools[i].name;
        if (!is_among(of, names, count)) {
            names[count++] = of;
        }
    }
    return pool.byte_count == 0 || is_among(pool, names, count)
               ? 0
               : say_names(place, "pool", pool, names, count);
}

static int check_sub_group(const struct scenario_sub_group *of,
                           const struct place *place)
{
    if (of->max > 0 && of->min > of->max) {
        return say_bound(place, "min", (double)of->min,
                         "is more than the sub-group's max", (double)of->max);
    }
    return of->min == 0 && of->max == 0
               ? say(place, "max", "must be 1 or more, as min is 0")
               : 0;
}

static int check_pod_group(const struct scenario_stream *stream, uint32_t index,
                           const struct place *place)
{
    const struct scenario_pod_group *group = &stream->pod_group;
    int64_t pod_count = 0, min_count = 0;

    if (stream->resources.count || stream->gang.size) {
        return say(place, stream->gang.size ? "gang" : "resources",
                   "cannot be given with podGroup, whose sub-groups have them");
    }
    for (uint32_t i = 0; i < group->sub_group_count; i++) {
        const struct scenario_sub_group *of = &group->sub_groups[i];
        char list[48];
        snprintf(list, sizeof(list), "jobs[%u].podGroup.subGroups", index);
        struct place sub = place_of(list, i, place->err);
        int rc = check_sub_group(of, &sub);
        if (rc < 0) {
            return rc;
        }
        pod_count += of->max ? of->max : of->min;
        min_count += of->min;
    }
    if (min_count == 0) {
        return say(place, "podGroup",
                   "one of its sub-groups must have a min of 1 or more");
    }
    return pod_count > SCENARIO_GROUP_PODS_MAX
               ? say_bound(place, "podGroup", (double)pod_count,
                           "pods are more than there may be",
                           SCENARIO_GROUP_PODS_MAX)
               : 0;
}

static int check_arrivals(const struct scenario_stream *stream,
                          const struct place *place)
{
    bool is_at_once = str_equal(stream->arrivals, STR("atOnce"));

    if (stream->count == 0 && is_at_once) {
        return say(place, "count", "must be given where arrivals are atOnce");
    }
    if (stream->count == 0 && stream->last_ms == 0) {
        return say(place, "last", "must be given where there is no count");
    }
    if (!is_at_once && stream->rate_micro == 0) {
        return say(place, "rate",
                   "must be more than 0 unless arrivals are atOnce");
    }
    return stream->last_ms > 0 && stream->last_ms < stream->first_ms
               ? say_bound(place, "last", s_of(stream->last_ms),
                           "s is before first", s_of(stream->first_ms))
               : 0;
}

static int check_values(const struct scenario_stream *stream, uint32_t index,
                        const struct place *place)
{
    enum draw_distribution distribution =
        scenario_distribution_of(stream->run.distribution);
    bool has_two =
        distribution == DRAW_UNIFORM || distribution == DRAW_LOG_UNIFORM;
    int64_t lifetime_ms;

    if (has_two && stream->run.b_ms < stream->run.a_ms) {
        return say_bound(place, "runTime.b", s_of(stream->run.b_ms),
                         "s is less than runTime.a", s_of(stream->run.a_ms));
    }
    if (stream->gang.minimum > stream->gang.size) {
        return say_bound(place, "gang.minimum", (double)stream->gang.minimum,
                         "is more than gang.size", (double)stream->gang.size);
    }
    if (!scenario_lifetime(stream->lifetime, &lifetime_ms)) {
        return err_set(place->err, -ERR_INVALID,
                       "%s.lifetime: \"%.*s\" is neither a duration such as "
                       "90s, 5m or 1h30m nor infinite",
                       place->path, STR_ARG(stream->lifetime));
    }
    if (stream->pod_group.sub_group_count) {
        return check_pod_group(stream, index, place);
    }
    return stream->resources.count
               ? 0
               : say(place, "resources",
                     "must be given where there is no podGroup");
}

static int check_stream(const struct scenario *scenario, uint32_t index,
                        struct err *err)
{
    const struct scenario_stream *stream = &scenario->streams[index];
    struct place place = place_of("jobs", index, err);

    int rc = check_queue(scenario, stream->queue, &place);
    if (rc == 0) {
        rc = check_class(scenario, stream->priority_class, &place);
    }
    if (rc == 0) {
        rc = check_pool(scenario, stream->pool, &place);
    }
    if (rc == 0) {
        rc = check_arrivals(stream, &place);
    }
    if (rc == 0) {
        rc = check_values(stream, index, &place);
    }
    return rc < 0 ? rc
                  : check_pairs(&place, "nodeSelector", &stream->node_selector);
}

int scenario_check(const struct scenario *scenario, struct err *err)
{
    int rc = 0;

    if (scenario->cluster_count == 0 || scenario->queue_count == 0 ||
        scenario->stream_count == 0) {
        return err_set(err, -ERR_INVALID,
                       "clusters, queues and jobs must each have an entry");
    }
    if (scenario->duration_ms > 0 &&
        scenario->warmup_ms >= scenario->duration_ms) {
        return err_set(
            err, -ERR_INVALID,
            "warmup: %.10g s is not before the end, duration %.10g s",
            s_of(scenario->warmup_ms), s_of(scenario->duration_ms));
    }
    for (uint32_t i = 0; i < scenario->cluster_count && rc == 0; i++) {
        rc = check_cluster(scenario, i, err);
    }
    for (uint32_t i = 0; i < scenario->queue_count && rc == 0; i++) {
        rc = check_queue_name(scenario, i, err);
    }
    for (uint32_t i = 0; i < scenario->pool_count && rc == 0; i++) {
        struct place place = place_of("pools", i, err);
        rc = check_pairs(&place, "nodeSelector",
                         &scenario->pools[i].node_selector);
    }
    for (uint32_t i = 0; i < scenario->stream_count && rc == 0; i++) {
        rc = check_stream(scenario, i, err);
    }
    return rc;
}
