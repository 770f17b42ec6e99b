/* What a waiting job needs, as data. */
#include <inttypes.h>

#include "control/explain/explain.h"
#include "control/state/state.h"
#include "model/quantity.h"

enum { MILLI = 1000 };

void waiting_put_json_vec(struct strbuf *buf, const struct control *c,
                          const struct resource_vec *vec)
{
    const struct resource_schema *schema = &c->policy->policy.schema;
    const char *comma = "";

    strbuf_add_char(buf, '{');
    for (uint32_t r = 0; r < schema->column_count; r++) {
        char text[QUANTITY_TEXT_BYTES_MAX];
        struct str name = schema->columns[r].name;
        if (vec->v[r] != 0) {
            quantity_format(vec->v[r] * schema->columns[r].unit_milli,
                            resource_is_bytes(name), text);
            strbuf_addf(buf, "%s\"%.*s\":\"%s\"", comma, STR_ARG(name), text);
            comma = ",";
        }
    }
    strbuf_add_char(buf, '}');
}

void waiting_put_json_node(struct strbuf *buf, const struct control *c,
                           const char *name, uint32_t node)
{
    explain_put_json_member(buf, name, pools_node_name(c->pools, node));
}

/* What is now, and by how much it would have to be more. */
static void put_json_more(struct strbuf *buf, const struct sched_need *need)
{
    double unit = need->kind == SCHED_NEED_BUDGET  ? MILLI
                  : need->kind == SCHED_NEED_SHARE ? (double)FRACTION_ONE_PPM
                                                   : 1;

    if (need->kind >= SCHED_NEED_BUDGET) {
        strbuf_addf(buf, ",\"is\":%.12g,\"more\":%.12g",
                    (double)need->base / unit, (double)need->more / unit);
    }
}

static void put_json_need(struct strbuf *buf, const struct control *c,
                          const struct sched_need *need)
{
    static const char *const kinds[] = {
        [SCHED_NEED_NONE] = "none",
        [SCHED_NEED_ROOM] = "room",
        [SCHED_NEED_LIMIT] = "limit",
        [SCHED_NEED_MEMBERS] = "members",
        [SCHED_NEED_TIME] = "time",
        [SCHED_NEED_QUOTA] = "quota",
        [SCHED_NEED_FLOATING] = "floatingResource",
        [SCHED_NEED_BUDGET] = "excessBudget",
        [SCHED_NEED_SHARE] = "overShare",
        [SCHED_NEED_APPS] = "applications",
    };

    strbuf_addf(buf, ",\"needs\":{\"kind\":\"%s\",\"exact\":%s",
                kinds[need->kind], need->is_exact ? "true" : "false");
    if (need->node != SCHED_NONE) {
        strbuf_add_char(buf, ',');
        waiting_put_json_node(buf, c, "node", need->node);
    }
    if (need->pool.byte_count) {
        explain_put_json_text(buf, "pool", need->pool);
    }
    put_json_more(buf, need);
    if (need->kind == SCHED_NEED_ROOM || need->kind == SCHED_NEED_LIMIT ||
        need->kind == SCHED_NEED_QUOTA || need->kind == SCHED_NEED_FLOATING) {
        strbuf_add_text(buf, ",\"missing\":");
        waiting_put_json_vec(buf, c, &need->missing);
    }
    if (need->kind == SCHED_NEED_MEMBERS) {
        strbuf_addf(buf, ",\"members\":%u", need->member_count);
    }
    if (need->kind == SCHED_NEED_TIME) {
        strbuf_addf(buf, ",\"untilMs\":%" PRId64, need->until_ms);
    }
    strbuf_add_char(buf, '}');
}

void waiting_put_json_limit(struct strbuf *buf, const struct control *c,
                            const struct sched_explanation *why)
{
    const struct resource_schema *schema = &c->policy->policy.schema;
    struct resource_vec limit = {0}, used = {0};

    if (why->resource < 0) {
        return;
    }
    limit.v[why->resource] = why->limit;
    used.v[why->resource] = why->used;
    strbuf_addf(buf, ",\"resource\":\"%.*s\",\"limitAmount\":",
                STR_ARG(schema->columns[why->resource].name));
    waiting_put_json_vec(buf, c, &limit);
    strbuf_add_text(buf, ",\"usedAmount\":");
    waiting_put_json_vec(buf, c, &used);
}

/* Amounts of a limit, promises, and whom they are made to. */
static void put_json_reason(struct strbuf *buf, struct control *c,
                            const struct sched_explanation *why)
{
    char text[ID_TEXT_BYTES_MAX];
    struct job_view view;

    waiting_put_json_limit(buf, c, why);
    if (why->resource >= 0 && why->asked_amount > 0) {
        struct resource_vec asked = {0};
        asked.v[why->resource] = why->asked_amount;
        strbuf_add_text(buf, ",\"askedAmount\":");
        waiting_put_json_vec(buf, c, &asked);
    }
    if (why->promised_ms > 0) {
        strbuf_addf(buf, ",\"promisedStartMs\":%" PRId64, why->promised_ms);
    }
    if (why->reserved_from_ms > 0) {
        strbuf_addf(buf, ",\"reservedFromMs\":%" PRId64, why->reserved_from_ms);
    }
    if (why->broken_ms > 0) {
        strbuf_addf(buf, ",\"brokenPromiseMs\":%" PRId64, why->broken_ms);
    }
    if (why->for_job == SCHED_NONE || !jobs_is_live(c->jobs, why->for_job)) {
        return;
    }
    bool is_kept = why->wait == SCHED_WAIT_GANG_PROTECTION;
    struct job_digest digest;
    jobs_get(c->jobs, why->for_job, &view);
    jobs_digest(c->jobs, why->for_job, &digest);
    strbuf_addf(buf, ",\"%s\":\"%s\"", is_kept ? "keptJob" : "forJob",
                job_id_format(view.id, text));
    if (digest.gang_id.byte_count) {
        explain_put_json_text(buf, is_kept ? "keptGang" : "forGang",
                              digest.gang_id);
    }
    if (is_kept) {
        strbuf_addf(buf, ",\"keptGangs\":%u", why->protected_count);
    }
}

void waiting_put_json(struct strbuf *buf, struct control *c,
                      const struct waiting *waiting)
{
    put_json_reason(buf, c, &waiting->why);
    put_json_need(buf, c, &waiting->need);
    strbuf_add_text(buf, ",\"asks\":");
    waiting_put_json_vec(buf, c, &waiting->why.needed);
    strbuf_add_text(buf, ",\"nodeKinds\":[");
    for (uint32_t i = 0; i < waiting->kind_count; i++) {
        const struct sched_node_kind *kind = &waiting->kinds[i];
        strbuf_add_text(buf, i ? ",{" : "{");
        waiting_put_json_node(buf, c, "like", kind->first);
        strbuf_addf(buf,
                    ",\"nodes\":%u,\"fit\":%u,\"capacity\":", kind->node_count,
                    kind->fit_count);
        waiting_put_json_vec(buf, c, &kind->capacity);
        strbuf_add_char(buf, ',');
        waiting_put_json_node(buf, c, "freest", kind->freest);
        strbuf_add_text(buf, ",\"free\":");
        waiting_put_json_vec(buf, c, &kind->free);
        strbuf_add_char(buf, '}');
    }
    strbuf_add_char(buf, ']');
    lending_put_json(buf, c, waiting);
}
