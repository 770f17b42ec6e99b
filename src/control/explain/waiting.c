/* What a waiting job needs, and what is free where it could run: sentences. */
#include <inttypes.h>

#include "base/plural.h"
#include "control/explain/amounts.h"
#include "control/explain/explain.h"
#include "control/state/state.h"

enum { MS_PER_S = 1000, MILLI = 1000 };

void waiting_ask(struct control *c, uint32_t job, struct arena *arena,
                 struct waiting *ret_waiting)
{
    struct waiting *w = ret_waiting;
    struct job_view view;
    /* Not as of the newest record, which may be old: what ends at a time that
     * is past keeps nothing. */
    int64_t now_ms = control_now_ms(c);

    jobs_get(c->jobs, job, &view);
    *w = (struct waiting){.is_of_gang = view.gang_index != JOBS_NONE};
    pools_explain_need(c->pools, job, now_ms, &w->why, &w->need);
    if (w->why.wait != SCHED_WAIT_NOT) {
        w->kind_count = pools_explain_kinds(c->pools, job, now_ms, w->kinds,
                                            &w->left_out_count);
        w->borrowing =
            pools_explain_lending(c->pools, job, now_ms, &w->why, arena,
                                  &w->lenders, &w->lender_count);
    }
    w->is_yielding = view.has_run &&
                     pools_job_yielding(c->pools, job, &w->yielding) &&
                     jobs_is_live(c->jobs, w->yielding.for_job);
    w->is_gang_over_share =
        pools_gang_is_over_share(c->pools, job, &w->gang_over_share);
}

static void put_node(struct strbuf *buf, const struct control *c, uint32_t node)
{
    strbuf_addf(buf, "%.*s", STR_ARG(pools_node_name(c->pools, node)));
}

/* Text. */

/* A gang, and what others take first, may need more than any node has. */
static bool is_beyond_nodes(const struct waiting *waiting)
{
    for (int r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        int64_t most = 0;
        for (uint32_t i = 0; i < waiting->kind_count; i++) {
            int64_t has = waiting->kinds[i].capacity.v[r];
            most = has > most ? has : most;
        }
        if (waiting->need.missing.v[r] > most) {
            return true;
        }
    }
    return false;
}

/* How many nodes there are on which it could run. */
static uint32_t node_count(const struct waiting *waiting)
{
    uint32_t count = waiting->left_out_count;

    for (uint32_t i = 0; i < waiting->kind_count; i++) {
        count += waiting->kinds[i].node_count;
    }
    return count;
}

/* The only node would have to have more free than it has at all. */
static void put_beyond_only_node(struct strbuf *buf, const struct control *c,
                                 const struct waiting *waiting)
{
    const struct sched_need *need = &waiting->need;

    strbuf_add_text(buf, waiting->is_of_gang
                             ? "The whole gang and the jobs that go first need "
                             : "Other jobs go first: it and they need ");
    amounts_put(buf, c, &need->missing);
    strbuf_add_text(buf, " more than is free on node ");
    put_node(buf, c, need->node);
    strbuf_add_text(buf, ", the only one on which it could run; that is more "
                         "than the node has at all.\n");
}

static void put_room(struct strbuf *buf, const struct control *c,
                     const struct waiting *waiting)
{
    const struct sched_need *need = &waiting->need;
    bool is_only = node_count(waiting) == 1;

    if (is_only && is_beyond_nodes(waiting)) {
        put_beyond_only_node(buf, c, waiting);
        return;
    }
    if (need->is_exact) {
        strbuf_add_text(buf, "It would start if node ");
        put_node(buf, c, need->node);
        strbuf_add_text(buf,
                        is_only ? " had " : " (or an equivalent node) had ");
        amounts_put(buf, c, &need->missing);
        strbuf_add_text(buf, " more free; with less it would not.\n");
        return;
    }
    strbuf_add_text(buf, "Node ");
    put_node(buf, c, need->node);
    strbuf_add_text(buf, " lacks ");
    amounts_put(buf, c, &need->missing);
    strbuf_add_text(buf, ". That alone may not be enough: other jobs may go "
                         "first, or another limit may apply.\n");
}

/* What an amount is of. */
static const char *what_of(const struct sched_need *need)
{
    return need->kind == SCHED_NEED_QUOTA    ? "that quota"
           : need->kind == SCHED_NEED_BUDGET ? "that excess budget"
           : need->kind == SCHED_NEED_SHARE  ? "its queue's overShareFactor"
           : need->kind == SCHED_NEED_APPS   ? "that limit on applications"
           : need->kind == SCHED_NEED_FLOATING
               ? "the pool's amount of that resource"
               : "that limit";
}

static void put_amount(struct strbuf *buf, const struct control *c,
                       const struct sched_need *need)
{
    if (need->kind == SCHED_NEED_BUDGET) {
        strbuf_addf(buf, "%" PRId64 ".%03d resource-minutes",
                    need->more / MILLI, (int)(need->more % MILLI));
    } else if (need->kind == SCHED_NEED_SHARE) {
        strbuf_addf(buf, "%" PRId64 ".%06d", need->more / FRACTION_ONE_PPM,
                    (int)(need->more % FRACTION_ONE_PPM));
    } else if (need->kind == SCHED_NEED_APPS) {
        strbuf_addf(buf, "%" PRId64, need->more);
    } else {
        amounts_put(buf, c, &need->missing);
    }
}

static void put_limit(struct strbuf *buf, const struct control *c,
                      const struct sched_need *need)
{
    if (need->is_exact) {
        strbuf_addf(buf, "It would start if %s were ", what_of(need));
        put_amount(buf, c, need);
        strbuf_add_text(buf, " higher; with less it would not.\n");
        return;
    }
    strbuf_addf(buf, "To start it, %s would have to be at least ",
                what_of(need));
    put_amount(buf, c, need);
    strbuf_add_text(buf, " higher.\n");
}

static void put_need(struct strbuf *buf, const struct control *c,
                     const struct waiting *waiting)
{
    const struct sched_need *need = &waiting->need;
    char text[WIRE_RFC3339_TEXT_BYTES_MAX];

    switch (need->kind) {
    case SCHED_NEED_NONE:
        break;
    case SCHED_NEED_ROOM:
        put_room(buf, c, waiting);
        break;
    case SCHED_NEED_LIMIT:
    case SCHED_NEED_QUOTA:
    case SCHED_NEED_FLOATING:
    case SCHED_NEED_BUDGET:
    case SCHED_NEED_SHARE:
    case SCHED_NEED_APPS:
        put_limit(buf, c, need);
        break;
    case SCHED_NEED_MEMBERS:
        strbuf_addf(buf, "%u more of its gang must be submitted.\n",
                    need->member_count);
        break;
    case SCHED_NEED_TIME:
        wire_rfc3339_format(need->until_ms / MS_PER_S,
                            (int32_t)(need->until_ms % MS_PER_S) * NS_PER_MS, 3,
                            text);
        strbuf_addf(buf,
                    need->is_exact
                        ? "It would start at %s if nothing else changes."
                        : "It does not start before %s.",
                    text);
        strbuf_add_char(buf, '\n');
        break;
    }
}

static void put_kind(struct strbuf *buf, const struct control *c,
                     const struct sched_node_kind *kind,
                     const struct resource_vec *asked)
{
    strbuf_addf(buf, "  %u like ", kind->node_count);
    put_node(buf, c, kind->first);
    strbuf_add_text(buf, " (");
    amounts_put(buf, c, &kind->capacity);
    strbuf_addf(buf, "): it fits on %u; the most room for it is on ",
                kind->fit_count);
    put_node(buf, c, kind->freest);
    strbuf_add_text(buf, ": ");
    amounts_put_room(buf, c, &kind->free, asked);
    strbuf_add_char(buf, '\n');
}

void waiting_put_text(struct strbuf *buf, struct control *c,
                      const struct waiting *waiting)
{
    put_need(buf, c, waiting);
    if (waiting->need.kind == SCHED_NEED_ROOM && waiting->kind_count > 0 &&
        waiting->left_out_count == 0 && node_count(waiting) > 1 &&
        is_beyond_nodes(waiting)) {
        strbuf_add_text(buf, "No single node has that much. It must become "
                             "free on several nodes, ");
        strbuf_add_text(buf, waiting->is_of_gang
                                 ? "for the whole gang.\n"
                                 : "because other jobs go first.\n");
    }
    if (waiting->kind_count) {
        strbuf_add_text(buf, "Nodes on which it could run, by capacity:\n");
    }
    for (uint32_t i = 0; i < waiting->kind_count; i++) {
        put_kind(buf, c, &waiting->kinds[i], &waiting->why.needed);
    }
    if (waiting->left_out_count) {
        strbuf_addf(buf, "  %u of %s\n", waiting->left_out_count,
                    plural_of(waiting->left_out_count, "another shape",
                              "other shapes"));
    }
    lending_put_text(buf, c, waiting);
}
