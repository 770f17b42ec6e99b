/* Why a job waits, as data. */
#include <inttypes.h>

#include "control/explain/explain.h"
#include "control/state/state.h"

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
    [SCHED_EXCLUDED_FAR] = "far",
    [SCHED_EXCLUDED_TOO_SMALL] = "tooSmall",
    [SCHED_EXCLUDED_FULL] = "full",
    [SCHED_EXCLUDED_RESERVED] = "reserved",
    [SCHED_EXCLUDED_HELD] = "held",
    [SCHED_EXCLUDED_GPUS] = "keptForGpus",
    [SCHED_EXCLUDED_WINDOW] = "maintenanceWindow",
    [SCHED_EXCLUDED_EXTRA] = "inUse",
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
    [SCHED_WAIT_COOLDOWN] = "truce",
    [SCHED_WAIT_RESERVED_SOON] = "reservedSoon",
    [SCHED_WAIT_PRICE] = "preemptionPrice",
    [SCHED_WAIT_GANG_PROTECTION] = "keptGang",
    [SCHED_WAIT_CLOSED] = "closedNodes",
    [SCHED_WAIT_LOAD] = "load",
    [SCHED_WAIT_FROZEN] = "frozen",
    [SCHED_WAIT_AWAY] = "away",
    [SCHED_WAIT_ADMITTED_FIRST] = "admittedFirst",
    [SCHED_WAIT_CANDIDATES] = "backfillCandidates",
    [SCHED_WAIT_GPUS_KEPT] = "keptForGpus",
    [SCHED_WAIT_WINDOW] = "maintenanceWindow",
    [SCHED_WAIT_PRIORITY] = "priority",
};

const char *explain_wait_name(enum sched_wait wait)
{
    ASSERT(wait < ARRAY_COUNT(wait_names)); /* and a word */
    return wait_names[wait];
}

const char *explain_exclusion_name(int exclusion)
{
    ASSERT(exclusion >= 0 && exclusion < SCHED_EXCLUSIONS);
    return exclusion_names[exclusion];
}

void explain_put_json_member(struct strbuf *buf, const char *name,
                             struct str text)
{
    strbuf_addf(buf, "\"%s\":\"", name);
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

void explain_put_json_text(struct strbuf *buf, const char *name,
                           struct str text)
{
    strbuf_add_char(buf, ',');
    explain_put_json_member(buf, name, text);
}

/* What the reason is about, where it is an application. */
static void put_json_application(struct strbuf *buf,
                                 const struct sched_explanation *e)
{
    if (e->application.byte_count) {
        explain_put_json_text(buf, "application", e->application);
        strbuf_addf(buf, ",\"sinceMs\":%" PRId64, e->since_ms);
    }
    if (e->wait == SCHED_WAIT_APP_LIMIT) {
        strbuf_addf(buf, ",\"limit\":%" PRId64 ",\"used\":%" PRId64, e->limit,
                    e->used);
    }
}

static void put_json_share(struct strbuf *buf,
                           const struct sched_explanation *e)
{
    if (e->wait == SCHED_WAIT_PRICE) {
        strbuf_addf(buf, ",\"costHours\":%.6g,\"budgetHours\":%.6g", e->asked,
                    e->allowed);
    }
    if (e->wait != SCHED_WAIT_OVER_SHARE && e->wait != SCHED_WAIT_BUDGET) {
        return;
    }
    explain_put_json_text(buf, "pool", e->pool);
    strbuf_addf(buf, ",\"asked\":%.12g,\"allowed\":%.12g", e->asked,
                e->allowed);
}

/* The job ahead of it that the reason is about. */
static void put_json_behind(struct strbuf *buf, const struct control *c,
                            const struct sched_explanation *e)
{
    char id[ID_TEXT_BYTES_MAX];
    struct job_view view;

    if (e->behind != SCHED_NONE) {
        jobs_get(c->jobs, e->behind, &view);
        strbuf_addf(buf, ",\"behind\":\"%s\"", job_id_format(view.id, id));
    }
}

static void put_json_topology(struct strbuf *buf,
                              const struct sched_explanation *e)
{
    if (e->wait == SCHED_WAIT_TOPOLOGY) {
        explain_put_json_text(buf, "pool", e->pool);
        explain_put_json_text(buf, "domain", e->domain);
        strbuf_addf(buf, ",\"hops\":%u,\"gangEmpty\":%u", e->hops, e->empty);
    }
}

/* Of gangs: the sub-group that lacks room; and why one does not grow. */
static void put_json_gang(struct strbuf *buf, const struct sched_explanation *e)
{
    if (e->sub_group.byte_count) {
        explain_put_json_text(buf, "subGroup", e->sub_group);
    }
    if (e->wait == SCHED_WAIT_GROWTH) {
        strbuf_addf(buf, ",\"growth\":\"%s\"", wait_names[e->growth]);
    }
}

static void put_json_exclusions(struct strbuf *buf,
                                const struct sched_explanation *e)
{
    const char *comma = "";

    strbuf_add_text(buf, ",\"nodesExcluded\":{");
    for (int i = 0; i < SCHED_EXCLUSIONS; i++) {
        if (e->nodes_excluded[i]) {
            strbuf_addf(buf, "%s\"%s\":%u", comma, exclusion_names[i],
                        e->nodes_excluded[i]);
            comma = ",";
        }
    }
    strbuf_add_char(buf, '}');
}

/* Of one that waits. */
static void put_json_wait(struct strbuf *buf, struct control *c,
                          const struct waiting *waiting)
{
    const struct sched_explanation *e = &waiting->why;

    strbuf_addf(buf,
                ",\"reason\":\"%s\",\"nodesTotal\":%u,\"nodesFit\":%u,"
                "\"ahead\":%u,\"gangPresent\":%u,\"gangWanted\":%u,"
                "\"untilMs\":%" PRId64,
                wait_names[e->wait], e->nodes_total, e->nodes_fit, e->ahead,
                e->present, e->wanted, e->until_ms);
    if (e->shorter) {
        strbuf_addf(buf, ",\"aheadForShorterLimit\":%u", e->shorter);
    }
    put_json_exclusions(buf, e);
    if (e->extra.byte_count) {
        strbuf_add_char(buf, ',');
        explain_put_json_member(buf, "inUse", e->extra);
    }
    windows_put_json(buf, c, e);
    put_json_topology(buf, e);
    put_json_gang(buf, e);
    if (e->closed_count) {
        strbuf_addf(buf, ",\"nodesClosed\":%u", e->closed_count);
    }
    put_json_application(buf, e);
    put_json_share(buf, e);
    put_json_behind(buf, c, e);
    waiting_put_json(buf, c, waiting);
}

static void
put_json_gang_over_share(struct strbuf *buf,
                         const struct sched_gang_over_share *gang_over_share)
{
    strbuf_add_text(buf, ",\"oversize\":{");
    explain_put_json_member(buf, "pool", gang_over_share->pool);
    strbuf_addf(buf,
                ",\"part\":%.12g,\"kept\":%.12g,\"members\":%u,"
                "\"lifetimeMs\":%" PRId64 ",\"keptMs\":%" PRId64 "}",
                gang_over_share->part, gang_over_share->kept,
                gang_over_share->member_count, gang_over_share->lifetime_ms,
                gang_over_share->protected_ms);
}

/* Of one that runs; when it gives way is left out where nobody knows. */
static void put_json_yielding(struct strbuf *buf, struct control *c,
                              const struct sched_yielding *yielding)
{
    char id[ID_TEXT_BYTES_MAX];
    struct job_view view;
    int64_t from_ms = yielding->from_ms > 0 ? yielding->from_ms : 0;

    jobs_get(c->jobs, yielding->for_job, &view);
    strbuf_addf(buf, ",\"yields\":{\"toJob\":\"%s\"",
                job_id_format(view.id, id));
    if (from_ms != INT64_MAX) {
        strbuf_addf(buf, ",\"fromMs\":%" PRId64, from_ms);
    }
    strbuf_add_char(buf, '}');
}

/* Strings that are not a user's are names that we chose, or ids: nothing to
 * escape. */
void explain_put_json(struct strbuf *buf, struct control *c, uint32_t job,
                      const struct waiting *waiting)
{
    struct job_view view;
    char id[ID_TEXT_BYTES_MAX];

    jobs_get(c->jobs, job, &view);
    strbuf_addf(buf, "{\"jobId\":\"%s\",\"state\":\"%s\"",
                job_id_format(view.id, id), job_state_name(view.state));
    if (!view.has_run) {
        put_json_wait(buf, c, waiting);
    }
    silent_put_json(buf, c, &view);
    if (waiting->is_yielding) {
        put_json_yielding(buf, c, &waiting->yielding);
    }
    if (waiting->is_gang_over_share) {
        put_json_gang_over_share(buf, &waiting->gang_over_share);
    }
    strbuf_add_char(buf, '}');
}
