/* Text for people: why a job waits, how queues and pools stand. */
#include <inttypes.h>
#include <stdlib.h>

#include "control/control_private.h"
#include "wire/rfc3339.h"

enum { MILLI = 1000, PPM = 1000000 };

/* Amounts. */

static const struct resource_schema *schema_of(const struct control *c)
{
    return &c->policy->policy.schema;
}

/* Bytes for a person: exact where that is short ("64Mi"), else to a tenth
 * ("23.4Gi"). */
static void put_bytes(struct strbuf *buf, int64_t bytes)
{
    static const char suffixes[][3] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
    double amount = (double)bytes;
    size_t power = 0;

    while ((amount >= 1024 || amount <= -1024) &&
           power + 1 < ARRAY_COUNT(suffixes)) {
        amount /= 1024;
        power++;
    }
    bool is_whole = amount == (double)(int64_t)amount;
    strbuf_addf(buf, "%.*f%s", is_whole ? 0 : 1, amount, suffixes[power]);
}

void report_put_amount(struct strbuf *buf, const struct control *c, int column,
                       int64_t amount)
{
    int64_t unit = schema_of(c)->columns[column].unit_milli;
    struct str name = schema_of(c)->columns[column].name;
    bool is_bytes = resource_is_bytes(name);

    if (is_bytes && unit % MILLI == 0) {
        put_bytes(buf, amount * (unit / MILLI));
        strbuf_addf(buf, " %.*s", STR_ARG(name));
    } else if (unit % MILLI == 0) {
        strbuf_addf(buf, "%" PRId64 " %.*s", amount * (unit / MILLI),
                    STR_ARG(name));
    } else {
        strbuf_addf(buf, "%.12g %.*s",
                    (double)amount * (double)unit / (double)MILLI,
                    STR_ARG(name));
    }
}

static const struct resource_vec nothing;

void report_put_vec(struct strbuf *buf, const struct control *c,
                    const struct resource_vec *vec)
{
    report_put_room(buf, c, vec, &nothing);
}

void report_put_room(struct strbuf *buf, const struct control *c,
                     const struct resource_vec *vec,
                     const struct resource_vec *asked)
{
    bool is_first = true;

    for (uint32_t r = 0; r < schema_of(c)->column_count; r++) {
        bool is_asked = asked->v[r] > 0 && !c->policy->policy.is_floating[r];
        if (vec->v[r] != 0 || is_asked) {
            strbuf_add_text(buf, is_first ? "" : ", ");
            report_put_amount(buf, c, (int)r, vec->v[r]);
            is_first = false;
        }
    }
    if (is_first) {
        strbuf_add_text(buf, "nothing");
    }
}

/* Why a job waits. */

static const char *const exclusion_texts[SCHED_EXCLUSIONS] = {
    [SCHED_EXCLUDED_POOL] = "are of another pool",
    [SCHED_EXCLUDED_EXECUTOR] = "are of an executor that gets no new jobs",
    [SCHED_EXCLUDED_UNSCHEDULABLE] = "are cordoned or gone",
    [SCHED_EXCLUDED_QUARANTINED] = "are in quarantine, as too much fails there",
    [SCHED_EXCLUDED_TAINT] = "have a taint that the job does not tolerate",
    [SCHED_EXCLUDED_SELECTOR] = "do not match the node selector",
    [SCHED_EXCLUDED_AFFINITY] = "do not match the node affinity",
    [SCHED_EXCLUDED_AVOIDED] = "were tried before, in vain",
    [SCHED_EXCLUDED_UNIFORMITY] = "lack the gang's node label",
    [SCHED_EXCLUDED_TOO_SMALL] = "are too small even when empty",
    [SCHED_EXCLUDED_FULL] = "have too little free",
    [SCHED_EXCLUDED_RESERVED] = "are kept for a job that it would delay",
    [SCHED_EXCLUDED_HELD] = "are one group's alone",
};

static const char *const exclusion_names[SCHED_EXCLUSIONS] = {
    [SCHED_EXCLUDED_POOL] = "pool",
    [SCHED_EXCLUDED_EXECUTOR] = "executor",
    [SCHED_EXCLUDED_UNSCHEDULABLE] = "unschedulable",
    [SCHED_EXCLUDED_QUARANTINED] = "quarantined",
    [SCHED_EXCLUDED_TAINT] = "taint",
    [SCHED_EXCLUDED_SELECTOR] = "selector",
    [SCHED_EXCLUDED_AFFINITY] = "affinity",
    [SCHED_EXCLUDED_AVOIDED] = "avoided",
    [SCHED_EXCLUDED_UNIFORMITY] = "uniformity",
    [SCHED_EXCLUDED_TOO_SMALL] = "tooSmall",
    [SCHED_EXCLUDED_FULL] = "full",
    [SCHED_EXCLUDED_RESERVED] = "reserved",
    [SCHED_EXCLUDED_HELD] = "held",
};

static const char *const wait_names[] = {
    [SCHED_WAIT_NOT] = "notWaiting",
    [SCHED_WAIT_TURN] = "turn",
    [SCHED_WAIT_GANG] = "gang",
    [SCHED_WAIT_QUEUE_CORDONED] = "queueCordoned",
    [SCHED_WAIT_NO_NODES] = "noNodes",
    [SCHED_WAIT_NEVER_FITS] = "neverFits",
    [SCHED_WAIT_CAPACITY] = "capacity",
    [SCHED_WAIT_GANG_CAPACITY] = "gangCapacity",
    [SCHED_WAIT_QUEUE_LIMIT] = "queueLimit",
    [SCHED_WAIT_RATE] = "rate",
    [SCHED_WAIT_QUEUE_RATE] = "queueRate",
    [SCHED_WAIT_RESOURCE_RATE] = "resourceRate",
    [SCHED_WAIT_LOOKBACK] = "lookback",
    [SCHED_WAIT_APP_STARTING] = "applicationStarting",
    [SCHED_WAIT_APP_TURN] = "applicationTurn",
    [SCHED_WAIT_APP_LIMIT] = "applicationLimit",
    [SCHED_WAIT_APP_NEED] = "applicationNeed",
    [SCHED_WAIT_ADMITTED] = "admitted",
    [SCHED_WAIT_RESERVED] = "reserved",
    [SCHED_WAIT_PASSED] = "passed",
    [SCHED_WAIT_OVER_SHARE] = "overShare",
    [SCHED_WAIT_BUDGET] = "excessBudget",
    [SCHED_WAIT_FLOATING] = "floatingResource",
    [SCHED_WAIT_TOPOLOGY] = "topology",
    [SCHED_WAIT_QUOTA] = "quota",
    [SCHED_WAIT_GROWTH] = "growth",
    [SCHED_WAIT_ROUND] = "roundWork",
};

static const char *const wait_texts[] = {
    [SCHED_WAIT_NOT] = "It has a node.",
    [SCHED_WAIT_TURN] = "It fits; the next round looks at it.",
    [SCHED_WAIT_GANG] = "Its gang is not complete.",
    [SCHED_WAIT_QUEUE_CORDONED] = "Its queue is cordoned or was deleted.",
    [SCHED_WAIT_NO_NODES] = "Its pools have no nodes.",
    [SCHED_WAIT_NEVER_FITS] = "It does not fit on any node, even an empty one.",
    [SCHED_WAIT_CAPACITY] = "Every node where it could run is full; it fits "
                            "when others have ended.",
    [SCHED_WAIT_GANG_CAPACITY] = "Not enough of its gang fits at once.",
    [SCHED_WAIT_QUEUE_LIMIT] = "Its queue is at its limit for its priority "
                               "class.",
    [SCHED_WAIT_RATE] = "Jobs are starting as fast as the limit allows.",
    [SCHED_WAIT_QUEUE_RATE] = "Jobs of its queue are starting as fast as the "
                              "limit allows.",
    [SCHED_WAIT_RESOURCE_RATE] = "Resources are being taken as fast as the "
                                 "limit allows.",
    [SCHED_WAIT_LOOKBACK] = "Too many jobs of its queue stand before it.",
    [SCHED_WAIT_APP_STARTING] = "Its queue starts one application at a time.",
    [SCHED_WAIT_APP_TURN] = "Another application of its queue starts before "
                            "its own.",
    [SCHED_WAIT_APP_LIMIT] = "As many applications of its queue run as the "
                             "queue allows.",
    [SCHED_WAIT_APP_NEED] = "An older application of its queue waits for what "
                            "it would take.",
    [SCHED_WAIT_ADMITTED] = "Its turn has come; it starts before what comes "
                            "after it, as soon as there is room.",
    [SCHED_WAIT_RESERVED] = "Its turn has come, and its place is reserved.",
    [SCHED_WAIT_PASSED] = "It would delay an admitted job where it fits.",
    [SCHED_WAIT_OVER_SHARE] = "Its queue would be too far above its share with "
                              "work that cannot be preempted.",
    [SCHED_WAIT_BUDGET] = "Its queue's budget for what is above its share is "
                          "used up.",
    [SCHED_WAIT_FLOATING] = "Its pools have too little left of a resource that "
                            "is of no node.",
    [SCHED_WAIT_TOPOLOGY] = "Not enough of a sub-group fits as near together "
                            "as it asks for.",
    [SCHED_WAIT_QUOTA] = "With it, or with what its gang needs at once, its "
                         "queue would have more than its quota.",
    [SCHED_WAIT_GROWTH] = "Its group runs with as many as it needs, and grows "
                          "when there is room that nobody needs.",
    [SCHED_WAIT_ROUND] = "The last round had no time left to look at it; the "
                         "next goes on there.",
};

static void put_exclusions(struct strbuf *buf,
                           const struct sched_explanation *e)
{
    for (int i = 0; i < SCHED_EXCLUSIONS; i++) {
        if (e->nodes_excluded[i]) {
            strbuf_addf(buf, "  %u of %u nodes %s\n", e->nodes_excluded[i],
                        e->nodes_total, exclusion_texts[i]);
        }
    }
}

static const char *moment(int64_t ms, char text[WIRE_RFC3339_TEXT_BYTES_MAX])
{
    return wire_rfc3339_format(ms / MILLI, (int32_t)(ms % MILLI) * NS_PER_MS, 3,
                               text);
}

/* What of the queue's applications keeps it back. */
static void put_application(struct strbuf *buf,
                            const struct sched_explanation *e)
{
    char since[WIRE_RFC3339_TEXT_BYTES_MAX];
    char until[WIRE_RFC3339_TEXT_BYTES_MAX];

    if (e->wait == SCHED_WAIT_APP_STARTING) {
        strbuf_addf(buf,
                    "Application %.*s is Starting since %s, until a second "
                    "of its jobs is leased, it has none left, or %s.\n",
                    STR_ARG(e->application), moment(e->since_ms, since),
                    moment(e->until_ms, until));
    } else if (e->wait == SCHED_WAIT_APP_TURN) {
        strbuf_addf(buf, "Application %.*s is the next to start.\n",
                    STR_ARG(e->application));
    } else if (e->wait == SCHED_WAIT_APP_NEED) {
        strbuf_addf(buf, "Application %.*s is to have room first.\n",
                    STR_ARG(e->application));
    } else if (e->wait == SCHED_WAIT_APP_LIMIT) {
        strbuf_addf(buf,
                    "%" PRId64 " of at most %" PRId64
                    " applications are Starting or Running.\n",
                    e->used, e->limit);
    }
}

/* Promises, and whom they are made to. */
static void put_reservation(struct strbuf *buf, struct control *c,
                            const struct sched_explanation *e)
{
    char until[WIRE_RFC3339_TEXT_BYTES_MAX];
    char id[ID_TEXT_BYTES_MAX];
    struct job_view view;

    if (e->wait == SCHED_WAIT_RESERVED) {
        strbuf_addf(buf,
                    "It starts by %s, unless nodes are lost or more "
                    "urgent work comes.\n",
                    moment(e->until_ms, until));
    } else if (e->for_job != SCHED_NONE) {
        jobs_get(c->jobs, e->for_job, &view);
        strbuf_addf(buf, "Nodes are kept for job %s of queue %.*s.\n",
                    job_id_format(view.id, id), STR_ARG(view.queue));
    }
}

/* Limits on what is above a share, in numbers. */
static void put_share(struct strbuf *buf, struct control *c,
                      const struct sched_explanation *e)
{
    char until[WIRE_RFC3339_TEXT_BYTES_MAX];
    char id[ID_TEXT_BYTES_MAX];
    struct job_view view;
    bool is_share = e->wait == SCHED_WAIT_OVER_SHARE;

    if (!is_share && e->wait != SCHED_WAIT_BUDGET) {
        return;
    }
    if (e->behind != SCHED_NONE) {
        jobs_get(c->jobs, e->behind, &view);
        strbuf_addf(buf, "So it is with job %s, which stands before it.\n",
                    job_id_format(view.id, id));
    }
    if (is_share) {
        strbuf_addf(buf,
                    "Such work of its queue would be %.4g%% of pool %.*s, "
                    "past use included; the limit is %.4g%%.\n",
                    e->asked * 100, STR_ARG(e->pool), e->allowed * 100);
    } else {
        strbuf_addf(buf,
                    "It would be charged %.6g of the %.6g resource-minutes "
                    "that are left in pool %.*s.\n",
                    e->asked, e->allowed, STR_ARG(e->pool));
    }
    if (e->until_ms > 0) {
        strbuf_addf(buf, "If nothing else changes, this ends at %s.\n",
                    moment(e->until_ms, until));
    }
}

/* How much fits near together. */
static void put_topology(struct strbuf *buf, const struct sched_explanation *e)
{
    char until[WIRE_RFC3339_TEXT_BYTES_MAX];

    if (e->domain.byte_count) {
        strbuf_addf(buf,
                    "Domain %.*s of pool %.*s holds %u of %u members within "
                    "%u hops, more than any other.\n",
                    STR_ARG(e->domain), STR_ARG(e->pool), e->present, e->wanted,
                    e->hops);
    } else {
        strbuf_addf(buf,
                    "No domain of pool %.*s holds any of %u members within %u "
                    "hops.\n",
                    STR_ARG(e->pool), e->wanted, e->hops);
    }
    if (e->empty < e->wanted) {
        strbuf_addf(buf, "Even when empty none would hold more than %u.\n",
                    e->empty);
    }
    if (e->until_ms > 0) {
        strbuf_addf(buf, "From %s on they may be further apart.\n",
                    moment(e->until_ms, until));
    }
}

static void put_details(struct strbuf *buf, struct control *c,
                        const struct sched_explanation *e)
{
    strbuf_add_text(buf, "It asks for ");
    report_put_vec(buf, c, &e->needed);
    strbuf_add_text(buf, ".\n");
    if (e->wait == SCHED_WAIT_TOPOLOGY) {
        put_topology(buf, e);
    } else if (e->wanted > 0) {
        strbuf_addf(buf, "%u of %u members of its gang %s.\n", e->present,
                    e->wanted,
                    e->wait == SCHED_WAIT_GANG ? "are there" : "fit");
    }
    put_application(buf, e);
    put_reservation(buf, c, e);
    put_share(buf, c, e);
    if (e->resource >= 0) {
        strbuf_add_text(buf, "Used ");
        report_put_amount(buf, c, e->resource, e->used);
        strbuf_add_text(buf, " of ");
        report_put_amount(buf, c, e->resource, e->limit);
        strbuf_add_text(buf, ".\n");
    }
    if (e->nearest_node != SCHED_NONE) {
        struct str name = pools_node_name(c->pools, e->nearest_node);
        strbuf_addf(buf, "Nearest is node %.*s with ", STR_ARG(name));
        report_put_room(buf, c, &e->available, &e->needed);
        strbuf_add_text(buf, ".\n");
    }
    if (e->nodes_fit > 0) {
        strbuf_addf(buf, "It fits on %u of %u nodes now.\n", e->nodes_fit,
                    e->nodes_total);
    }
    put_exclusions(buf, e);
    strbuf_addf(buf, "%u waiting jobs of its queue stand before it.\n",
                e->ahead);
}

static void put_waiting(struct strbuf *buf, struct control *c,
                        const struct waiting *waiting)
{
    strbuf_addf(buf, "%s\n", wait_texts[waiting->why.wait]);
    put_details(buf, c, &waiting->why);
    waiting_put_text(buf, c, waiting);
}

static void put_job(struct strbuf *buf, struct control *c, uint32_t job,
                    const struct waiting *waiting)
{
    struct job_view view;
    char id[ID_TEXT_BYTES_MAX];

    jobs_get(c->jobs, job, &view);
    strbuf_addf(buf, "Job %s of queue %.*s is %s.\n",
                job_id_format(view.id, id), STR_ARG(view.queue),
                job_state_name(view.state));
    pool_put_home(buf, c, job, view.has_run);
    if (view.has_run) {
        strbuf_addf(buf, "Run %u is on node %.*s of executor %.*s.\n",
                    view.run_count, STR_ARG(view.run.node_name),
                    STR_ARG(view.run.executor_id));
    } else {
        put_waiting(buf, c, waiting);
    }
}

/* A member with a text of a user's. */
static void put_json_text(struct strbuf *buf, const char *name, struct str text)
{
    strbuf_addf(buf, ",\"%s\":\"", name);
    for (size_t i = 0; i < text.byte_count; i++) {
        unsigned char byte = (unsigned char)text.p[i];
        if (byte == '"' || byte == '\\' || byte < 0x20) {
            strbuf_addf(buf, "\\u%04x", byte);
        } else {
            strbuf_add_char(buf, (char)byte);
        }
    }
    strbuf_add_char(buf, '"');
}

/* What the reason is about, where it is an application. */
static void put_json_application(struct strbuf *buf,
                                 const struct sched_explanation *e)
{
    if (e->application.byte_count) {
        put_json_text(buf, "application", e->application);
        strbuf_addf(buf, ",\"sinceMs\":%" PRId64, e->since_ms);
    }
    if (e->wait == SCHED_WAIT_APP_LIMIT) {
        strbuf_addf(buf, ",\"limit\":%" PRId64 ",\"used\":%" PRId64, e->limit,
                    e->used);
    }
}

static void put_json_share(struct strbuf *buf, const struct control *c,
                           const struct sched_explanation *e)
{
    char id[ID_TEXT_BYTES_MAX];
    struct job_view view;

    if (e->wait != SCHED_WAIT_OVER_SHARE && e->wait != SCHED_WAIT_BUDGET) {
        return;
    }
    put_json_text(buf, "pool", e->pool);
    strbuf_addf(buf, ",\"asked\":%.12g,\"allowed\":%.12g", e->asked,
                e->allowed);
    if (e->behind != SCHED_NONE) {
        jobs_get(c->jobs, e->behind, &view);
        strbuf_addf(buf, ",\"behind\":\"%s\"", job_id_format(view.id, id));
    }
}

static void put_json_topology(struct strbuf *buf,
                              const struct sched_explanation *e)
{
    if (e->wait == SCHED_WAIT_TOPOLOGY) {
        put_json_text(buf, "pool", e->pool);
        put_json_text(buf, "domain", e->domain);
        strbuf_addf(buf, ",\"hops\":%u,\"gangEmpty\":%u", e->hops, e->empty);
    }
}

/* Other strings inside are names that we chose, or ids: nothing to escape. */
static void put_job_json(struct strbuf *buf, struct control *c, uint32_t job,
                         const struct waiting *waiting)
{
    const struct sched_explanation e = waiting->why;
    struct job_view view;
    char id[ID_TEXT_BYTES_MAX];

    jobs_get(c->jobs, job, &view);
    strbuf_addf(buf, "{\"jobId\":\"%s\",\"state\":\"%s\"",
                job_id_format(view.id, id), job_state_name(view.state));
    if (!view.has_run) {
        strbuf_addf(buf,
                    ",\"reason\":\"%s\",\"nodesTotal\":%u,\"nodesFit\":%u,"
                    "\"ahead\":%u,\"gangPresent\":%u,\"gangWanted\":%u,"
                    "\"untilMs\":%" PRId64 ",\"nodesExcluded\":{",
                    wait_names[e.wait], e.nodes_total, e.nodes_fit, e.ahead,
                    e.present, e.wanted, e.until_ms);
        const char *comma = "";
        for (int i = 0; i < SCHED_EXCLUSIONS; i++) {
            if (e.nodes_excluded[i]) {
                strbuf_addf(buf, "%s\"%s\":%u", comma, exclusion_names[i],
                            e.nodes_excluded[i]);
                comma = ",";
            }
        }
        strbuf_add_char(buf, '}');
        put_json_topology(buf, &e);
        put_json_application(buf, &e);
        put_json_share(buf, c, &e);
        waiting_put_json(buf, c, waiting);
    }
    strbuf_add_char(buf, '}');
}

/* Which of the nodes that are too small comes nearest, and what it lacks. */
static void put_nearest_miss(struct strbuf *buf, const struct control *c,
                             const struct sched_explanation *e)
{
    struct resource_vec lack = {0};

    if (e->nearest_node == SCHED_NONE) {
        return;
    }
    for (uint32_t r = 0; r < schema_of(c)->column_count; r++) {
        if (e->needed.v[r] > e->available.v[r] &&
            !c->policy->policy.is_floating[r]) {
            lack.v[r] = e->needed.v[r] - e->available.v[r];
        }
    }
    if (memcmp(&lack, &nothing, sizeof(lack)) != 0) {
        struct str name = pools_node_name(c->pools, e->nearest_node);
        strbuf_addf(buf, "Nearest is node %.*s, which even when empty lacks ",
                    STR_ARG(name));
        report_put_vec(buf, c, &lack);
        strbuf_add_text(buf, ".\n");
    }
}

struct str report_rejection(struct control *c,
                            const struct sched_explanation *explanation,
                            struct arena *arena)
{
    auto_strbuf text = {0};

    strbuf_add_text(&text, "The job does not fit on any node. It asks for ");
    report_put_vec(&text, c, &explanation->needed);
    strbuf_add_text(&text, ".\n");
    put_nearest_miss(&text, c, explanation);
    put_exclusions(&text, explanation);
    return arena_str(arena, strbuf_str(&text));
}

struct str report_gang_rejection(struct control *c,
                                 const struct sched_gang_miss *miss,
                                 struct arena *arena)
{
    auto_strbuf text = {0};

    strbuf_addf(&text,
                "The gang can never start: %u of its members must fit at once "
                "in one cluster",
                miss->needed);
    if (miss->label.byte_count) {
        strbuf_addf(&text, " on nodes of one value of the label %.*s",
                    STR_ARG(miss->label));
    }
    if (!miss->executor.byte_count) {
        strbuf_add_text(&text, ", and no node has that label.\n");
    } else if (miss->resource >= 0) {
        strbuf_add_text(&text, "; together they ask for ");
        report_put_amount(&text, c, miss->resource, miss->asked);
        strbuf_add_text(&text, ", and the nearest, ");
        strbuf_addf(&text, "cluster %.*s, has ", STR_ARG(miss->executor));
        report_put_amount(&text, c, miss->resource, miss->has);
        strbuf_add_text(&text, ".\n");
    } else {
        strbuf_addf(&text, "; the nearest, cluster %.*s of pool %.*s",
                    STR_ARG(miss->executor), STR_ARG(miss->pool));
        if (miss->label.byte_count) {
            strbuf_addf(&text, " with %.*s=%.*s", STR_ARG(miss->label),
                        STR_ARG(miss->value));
        }
        strbuf_addf(&text, ", holds at most %u of them when empty.\n",
                    miss->count);
    }
    return arena_str(arena, strbuf_str(&text));
}

/* Reports. */

static void put_queue_line(struct strbuf *buf, struct control *c,
                           uint32_t queue, uint32_t pool)
{
    struct sched_queue_stats stats;
    struct str name = names_get(&c->queue_names, queue);

    pools_queue_stats(c->pools, queue, pool, &stats);
    strbuf_addf(buf, "\t%.*s\t%.3f\t%.4f\t%.4f\t%.4f\t%.4f\t%u\t%u\n",
                STR_ARG(name), stats.weight, stats.fair_share,
                stats.adjusted_share, stats.actual_share, stats.demand_share,
                stats.leased_count, stats.queued_count);
}

static int compare_queues(const void *a, const void *b)
{
    const struct named_queue *x = a;
    const struct named_queue *y = b;

    return str_compare(x->name, y->name);
}

struct named_queue *queues_sorted(const struct control *c, uint32_t *ret_count)
{
    struct named_queue *queues =
        mem_alloc_array((size_t)c->queue_names.live_count + 1, sizeof(*queues));
    uint32_t count = 0;

    for (uint32_t i = 0; i < c->queues.count; i++) {
        if (c->queues.items[i].is_set || c->queues.items[i].job_count) {
            queues[count++] =
                (struct named_queue){names_get(&c->queue_names, i), i};
        }
    }
    qsort(queues, count, sizeof(*queues), compare_queues);
    *ret_count = count;
    return queues;
}

/* How many were admitted, and for whom nodes are kept. */
static void put_admitted(struct strbuf *buf, struct control *c,
                         const struct sched_pool_stats *stats)
{
    char id[ID_TEXT_BYTES_MAX], start[WIRE_RFC3339_TEXT_BYTES_MAX];
    struct job_view view;

    if (stats->admitted_count == 0) {
        return;
    }
    strbuf_addf(buf, "\tAdmitted:\t%u", stats->admitted_count);
    if (stats->head != SCHED_NONE && jobs_is_live(c->jobs, stats->head)) {
        jobs_get(c->jobs, stats->head, &view);
        strbuf_addf(buf, "; nodes are kept for job %s",
                    job_id_format(view.id, id));
        if (stats->head_start_ms != SCHED_START_UNKNOWN) {
            strbuf_addf(buf, ", which has room by %s",
                        moment(stats->head_start_ms, start));
        }
    }
    strbuf_add_char(buf, '\n');
}

/* What labels make of its nodes, and where they contradict each other. */
static void put_levels(struct strbuf *buf, const struct sched_pool_stats *stats)
{
    if (stats->level_count == 0) {
        return;
    }
    strbuf_addf(buf, "\tTopology:\t%u levels, %u domains", stats->level_count,
                stats->domain_count);
    if (stats->split_count) {
        strbuf_addf(buf, "; values found in several places: %u",
                    stats->split_count);
    }
    if (stats->bare_count) {
        strbuf_addf(buf, "; nodes that lack a label: %u", stats->bare_count);
    }
    strbuf_add_char(buf, '\n');
}

static void put_pool(struct strbuf *buf, struct control *c, uint32_t pool,
                     struct str only_queue)
{
    struct sched_pool_stats stats;
    struct str name = pools_pool_name(c->pools, pool);
    uint32_t count;
    auto_mem struct named_queue *queues = queues_sorted(c, &count);

    pools_pool_stats(c->pools, pool, &stats);
    strbuf_addf(buf, "Pool %.*s:\n", STR_ARG(name));
    strbuf_addf(buf, "\tNodes:\t%u\n\tTotal:\t", stats.node_count);
    report_put_vec(buf, c, &stats.total);
    strbuf_add_text(buf, "\n\tAllocated:\t");
    report_put_vec(buf, c, &stats.allocated);
    strbuf_addf(buf, "\n\tActive queues:\t%u\n", stats.active_queue_count);
    put_levels(buf, &stats);
    put_admitted(buf, c, &stats);
    strbuf_add_text(buf, "\tQueue\tWeight\tFair share\tAdjusted\tActual\t"
                         "Demand\tLeased\tQueued\n");
    for (uint32_t i = 0; i < count; i++) {
        if (only_queue.byte_count == 0 ||
            str_equal(only_queue, queues[i].name)) {
            put_queue_line(buf, c, queues[i].index, pool);
        }
    }
}

static void answer_report(struct control *c, struct command *command)
{
    auto_strbuf text = {0};
    struct job_id job = command->report.job;

    if (!key128_is_none(job.v)) {
        uint32_t index = jobs_find(c->jobs, job);
        if (index == JOBS_NONE) {
            strbuf_add_text(&text, "no report: the job is not queued, leased, "
                                   "pending or running\n");
        } else {
            struct waiting waiting;
            waiting_ask(c, index, &waiting);
            put_job(&text, c, index, &waiting);
        }
    } else {
        for (uint32_t i = 0; i < pools_pool_count(c->pools); i++) {
            put_pool(&text, c, i, command->report.queue);
        }
    }
    command->report.text = arena_str(&command->arena, strbuf_str(&text));
    command_answer(command, COMMAND_OK, "");
}

static void answer_explain(struct control *c, struct command *command)
{
    auto_strbuf text = {0}, json = {0};
    uint32_t job = jobs_find(c->jobs, command->explain.job);
    struct waiting waiting;

    if (job == JOBS_NONE) {
        command_answer(command, COMMAND_NOT_FOUND,
                       "the job is unknown, or has ended");
        return;
    }
    waiting_ask(c, job, &waiting);
    put_job(&text, c, job, &waiting);
    put_job_json(&json, c, job, &waiting);
    command->explain.text = arena_str(&command->arena, strbuf_str(&text));
    command->explain.json = arena_str(&command->arena, strbuf_str(&json));
    command_answer(command, COMMAND_OK, "");
}

static int64_t ppm(double share)
{
    return (int64_t)(share * (double)PPM + 0.5);
}

/* Runs by queue, pool and state. */
static void count_runs(struct control *c, struct queue_share *shares,
                       const uint32_t *row_of_queue, uint32_t pool_count)
{
    for (uint32_t job = 0; job < jobs_index_end(c->jobs); job++) {
        struct job_view view;
        if (!jobs_is_live(c->jobs, job) ||
            jobs_state(c->jobs, job) == JOB_QUEUED) {
            continue;
        }
        jobs_get(c->jobs, job, &view);
        for (uint32_t p = 0; p < pool_count; p++) {
            struct queue_share *share =
                &shares[row_of_queue[c->links.items[job].queue] * pool_count +
                        p];
            if (str_equal(share->pool, view.run.pool)) {
                share->leased_count += view.state == JOB_LEASED;
                share->pending_count += view.state == JOB_PENDING;
                share->running_count += view.state == JOB_RUNNING;
            }
        }
    }
}

struct resource_list name_amounts(struct control *c,
                                  const struct resource_vec *vec,
                                  struct arena *arena)
{
    const struct resource_schema *schema = &c->policy->policy.schema;
    struct resource_list list = {
        .items = arena_alloc_array(arena, schema->column_count,
                                   sizeof(struct resource_amount)),
    };

    for (uint32_t i = 0; i < schema->column_count; i++) {
        if (vec->v[i] == 0) {
            continue;
        }
        struct str name = arena_str(arena, schema->columns[i].name);
        int rc = resource_list_add(&list, name,
                                   vec->v[i] * schema->columns[i].unit_milli);
        ASSERT(rc == 0); /* each column's name is another */
    }
    return list;
}

/* Resource-minutes; less than 0 is no budget. */
static int64_t milli(double minutes)
{
    if (minutes < 0) {
        return -1;
    }
    return minutes < 1e15 ? (int64_t)(minutes * 1e3 + 0.5)
                          : (int64_t)1000000000000000000;
}

static void fill_share(struct control *c, struct command *command,
                       const struct named_queue *queue, uint32_t pool,
                       struct queue_share *share)
{
    struct sched_queue_stats stats;
    const struct queue_entry *entry =
        queue_table_find(c->config.queues, queue->name);

    struct application_counts applications;

    pools_queue_stats(c->pools, queue->index, pool, &stats);
    apps_count(c, queue->index, &applications);
    *share = (struct queue_share){
        .queue = arena_str(&command->arena, queue->name),
        .pool = arena_str(&command->arena, pools_pool_name(c->pools, pool)),
        .weight_micro = (int64_t)(stats.weight * (double)PPM),
        .fair_share_ppm = ppm(stats.fair_share),
        .adjusted_share_ppm = ppm(stats.adjusted_share),
        .actual_share_ppm = ppm(stats.actual_share),
        .demand_share_ppm = ppm(stats.demand_share),
        .usage_ppm = ppm(stats.usage_share),
        .flow_ppm = ppm(stats.flow),
        .infinite_flow_ppm = ppm(stats.infinite_flow),
        .infinite_limit_ppm =
            stats.infinite_limit < 0 ? -1 : ppm(stats.infinite_limit),
        .budget_milli = milli(stats.budget_minutes),
        .budget_left_milli = milli(stats.budget_left_minutes),
        .queued_count = stats.queued_count,
        .is_cordoned = !entry || entry->record.is_cordoned,
        .applications = applications,
        .allocated = name_amounts(c, &stats.allocated, &command->arena),
    };
    queue_entry_unref(entry);
}

/* Jobs that the last round looked at. */
static void count_looked(const struct control *c, struct queue_share *shares,
                         const uint32_t *row_of_queue, uint32_t pool_count)
{
    uint32_t count;
    const struct sched_looked *looked = pools_looked(c->pools, &count);

    for (uint32_t i = 0; i < count; i++) {
        const struct control_queue *queue = &c->queues.items[looked[i].queue];
        if (queue->is_set || queue->job_count) {
            shares[row_of_queue[looked[i].queue] * pool_count +
                   looked[i].pool_index]
                .considered_count = looked[i].job_count;
        }
    }
}

static void answer_queues(struct control *c, struct command *command)
{
    uint32_t count, pool_count = pools_pool_count(c->pools);
    auto_mem struct named_queue *queues = queues_sorted(c, &count);
    auto_mem uint32_t *row_of_queue =
        mem_alloc_array(c->queues.count + 1, sizeof(*row_of_queue));

    command->queues.share_count = count * pool_count;
    command->queues.shares =
        arena_alloc_array(&command->arena, (size_t)count * pool_count,
                          sizeof(*command->queues.shares));
    for (uint32_t i = 0; i < count; i++) {
        row_of_queue[queues[i].index] = i;
        for (uint32_t p = 0; p < pool_count; p++) {
            fill_share(c, command, &queues[i], p,
                       &command->queues.shares[i * pool_count + p]);
        }
    }
    count_runs(c, command->queues.shares, row_of_queue, pool_count);
    count_looked(c, command->queues.shares, row_of_queue, pool_count);
    transitions_answer(c, command);
    command_answer(command, COMMAND_OK, "");
}

void report_answer(struct control *c, struct command *command)
{
    if (command->kind == COMMAND_QUERY_REPORT) {
        answer_report(c, command);
    } else if (command->kind == COMMAND_QUERY_QUEUES) {
        answer_queues(c, command);
    } else if (command->kind == COMMAND_QUERY_APPS) {
        apps_answer(c, command);
    } else if (command->kind == COMMAND_QUERY_NODES) {
        nodes_answer(c, command);
    } else if (command->kind == COMMAND_QUERY_EXECUTORS) {
        clusters_answer(c, command);
    } else if (command->kind == COMMAND_QUERY_POOLS ||
               command->kind == COMMAND_POOL_METRICS) {
        pool_objects_answer(c, command);
    } else if (command->kind == COMMAND_QUERY_ADMISSIONS) {
        admissions_answer(c, command);
    } else if (command->kind == COMMAND_QUERY_TRAINING) {
        training_answer(c, command);
    } else {
        answer_explain(c, command);
    }
}

void control_assert_valid(struct control *c)
{
    jobs_assert_valid(c->jobs);
    ASSERT(pools_is_consistent(c->pools));
    for (uint32_t job = 0; job < jobs_index_end(c->jobs); job++) {
        if (jobs_is_live(c->jobs, job)) {
            bool waits = jobs_state(c->jobs, job) == JOB_QUEUED;
            ASSERT(waits == (pools_job_node(c->pools, job) == SCHED_NONE));
        }
    }
}
