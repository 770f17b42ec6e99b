/* Why no other pool runs a waiting job, in sentences and as data. */
#include <inttypes.h>

#include "control/explain/amounts.h"
#include "control/explain/explain.h"
#include "control/state/state.h"

static const char *const borrowing_names[] = {
    [POOLS_BORROW_NOWHERE] = "nowhere", [POOLS_BORROW_MAY] = "may",
    [POOLS_BORROW_OFF] = "off",         [POOLS_BORROW_CLASS] = "class",
    [POOLS_BORROW_GANG] = "gang",       [POOLS_BORROW_RUNS] = "runs",
    [POOLS_BORROW_QUEUE] = "queue",     [POOLS_BORROW_ROOM] = "room",
    [POOLS_BORROW_UNKNOWN] = "unknown",
};

static const char *const borrowing_texts[] = {
    [POOLS_BORROW_NOWHERE] = "",
    [POOLS_BORROW_MAY] = "Other pools, in the order in which it tries them:\n",
    [POOLS_BORROW_OFF] = "It may not borrow from other pools: its own pool "
                         "forbids it (disableBorrowing).\n",
    [POOLS_BORROW_CLASS] = "It may not borrow from other pools: its priority "
                           "class forbids it (mayBorrow).\n",
    [POOLS_BORROW_GANG] =
        "It does not borrow from other pools before its gang is complete.\n",
    [POOLS_BORROW_RUNS] =
        "It does not borrow from other pools: part of its gang already runs, "
        "and a gang is not split between pools.\n",
    [POOLS_BORROW_QUEUE] =
        "It does not borrow from other pools while its queue is cordoned.\n",
    [POOLS_BORROW_ROOM] = "It does not borrow from other pools: its own pool "
                          "has room, and something else keeps it waiting.\n",
    [POOLS_BORROW_UNKNOWN] =
        "Berth is planning its pool right now: ask again in a moment.\n",
};

static const char *const lending_names[] = {
    [POOLS_LEND_SHARING_OFF] = "sharingOff",
    [POOLS_LEND_NOT_LISTED] = "notListed",
    [POOLS_LEND_BUSY] = "busy",
    [POOLS_LEND_NO_ROOM] = "noRoom",
    [POOLS_LEND_LIMIT] = "limit",
    [POOLS_LEND_OWN_WORK] = "ownWork",
    [POOLS_LEND_TRIED] = "tried",
    [POOLS_LEND_NEXT] = "next",
    [POOLS_LEND_LATER] = "later",
    [POOLS_LEND_WITH] = "with",
};

/* Text. */

/* What lacks, where nodes have no room. */
static void put_room(struct strbuf *buf, struct control *c,
                     const struct sched_explanation *there)
{
    const char *comma = ": ";

    strbuf_add_text(buf,
                    there->nodes_total ? "has no room for it" : "has no nodes");
    if (there->wanted > 1) {
        strbuf_addf(buf, "%s%u of the %u members that must start at once fit",
                    comma, there->present, there->wanted);
        comma = ", ";
    }
    for (int i = 0; i < SCHED_EXCLUSIONS; i++) {
        if (there->nodes_excluded[i]) {
            strbuf_add_text(buf, comma);
            explain_put_exclusion(buf, there, i);
            comma = ", ";
        }
    }
    if (there->nearest_node != SCHED_NONE) {
        strbuf_addf(buf, "; node %.*s comes nearest, with ",
                    STR_ARG(pools_node_name(c->pools, there->nearest_node)));
        amounts_put_room(buf, c, &there->available, &there->needed);
    }
}

/* What else keeps it out, in numbers. */
static void put_limit(struct strbuf *buf, const struct control *c,
                      const struct sched_explanation *there)
{
    char text[WIRE_RFC3339_TEXT_BYTES_MAX];

    strbuf_addf(buf, "has room, but: %s", explain_wait_text(there->wait));
    if (there->wait == SCHED_WAIT_OVER_SHARE) {
        strbuf_addf(buf,
                    " It would take %.4g%% of the pool; the limit is %.4g%%.",
                    there->asked * 100, there->allowed * 100);
    } else if (there->wait == SCHED_WAIT_BUDGET) {
        strbuf_addf(
            buf, " It would be charged %.6g resource-minutes; %.6g are left.",
            there->asked, there->allowed);
    } else if (there->resource >= 0) {
        strbuf_add_text(buf, " Used ");
        amounts_put_one(buf, c, there->resource, there->used);
        strbuf_add_text(buf, " of ");
        amounts_put_one(buf, c, there->resource, there->limit);
        strbuf_add_char(buf, '.');
    }
    if (there->until_ms > 0) {
        strbuf_addf(buf, " Not before %s.", moment_put(there->until_ms, text));
    }
}

static void put_lender(struct strbuf *buf, struct control *c,
                       const struct pools_lender *lender)
{
    strbuf_addf(buf, "  %.*s: ", STR_ARG(lender->name));
    switch (lender->why) {
    case POOLS_LEND_SHARING_OFF:
        strbuf_add_text(buf, "lends to nobody (disableSharing)");
        break;
    case POOLS_LEND_NOT_LISTED:
        strbuf_add_text(buf, "is not among the borrowingPools of its pool");
        break;
    case POOLS_LEND_BUSY:
        strbuf_add_text(buf, "is being planned right now and is tried later");
        break;
    case POOLS_LEND_NO_ROOM:
        put_room(buf, c, &lender->there);
        break;
    case POOLS_LEND_LIMIT:
        put_limit(buf, c, &lender->there);
        break;
    case POOLS_LEND_OWN_WORK:
        strbuf_addf(buf,
                    "has room, but lends nothing while its own jobs wait for "
                    "room (%u wait)",
                    lender->waiting_count);
        break;
    case POOLS_LEND_TRIED:
        strbuf_add_text(buf, "has room, but its last round found no place for "
                             "it and returned it");
        break;
    case POOLS_LEND_NEXT:
        strbuf_add_text(buf, "has room and is tried next");
        break;
    case POOLS_LEND_LATER:
        strbuf_addf(buf, "has room and is tried after %.*s",
                    STR_ARG(lender->before));
        break;
    case POOLS_LEND_WITH:
        strbuf_add_text(buf,
                        "has the job now; its next round looks for a place");
        break;
    }
    strbuf_add_char(buf, '\n');
}

void lending_put_text(struct strbuf *buf, struct control *c,
                      const struct waiting *waiting)
{
    strbuf_add_text(buf, borrowing_texts[waiting->borrowing]);
    for (uint32_t i = 0; i < waiting->lender_count; i++) {
        put_lender(buf, c, &waiting->lenders[i]);
    }
}

/* JSON. */

static void put_json_room(struct strbuf *buf, const struct control *c,
                          const struct sched_explanation *there)
{
    const char *comma = "";

    strbuf_addf(buf, ",\"nodesTotal\":%u,\"nodesFit\":%u", there->nodes_total,
                there->nodes_fit);
    if (there->wanted > 1) {
        strbuf_addf(buf, ",\"gangPresent\":%u,\"gangWanted\":%u",
                    there->present, there->wanted);
    }
    strbuf_add_text(buf, ",\"nodesExcluded\":{");
    for (int i = 0; i < SCHED_EXCLUSIONS; i++) {
        if (there->nodes_excluded[i]) {
            strbuf_addf(buf, "%s\"%s\":%u", comma, explain_exclusion_name(i),
                        there->nodes_excluded[i]);
            comma = ",";
        }
    }
    strbuf_add_char(buf, '}');
    if (there->nearest_node != SCHED_NONE) {
        strbuf_add_char(buf, ',');
        waiting_put_json_node(buf, c, "nearest", there->nearest_node);
        strbuf_add_text(buf, ",\"available\":");
        waiting_put_json_vec(buf, c, &there->available);
    }
}

static void put_json_limit(struct strbuf *buf, const struct control *c,
                           const struct sched_explanation *there)
{
    strbuf_addf(buf, ",\"limit\":\"%s\",\"untilMs\":%" PRId64,
                explain_wait_name(there->wait), there->until_ms);
    if (there->wait == SCHED_WAIT_OVER_SHARE ||
        there->wait == SCHED_WAIT_BUDGET) {
        strbuf_addf(buf, ",\"asked\":%.12g,\"allowed\":%.12g", there->asked,
                    there->allowed);
    }
    waiting_put_json_limit(buf, c, there);
}

static void put_json_lender(struct strbuf *buf, const struct control *c,
                            const struct pools_lender *lender)
{
    strbuf_addf(buf, "{\"reason\":\"%s\"", lending_names[lender->why]);
    explain_put_json_text(buf, "pool", lender->name);
    strbuf_addf(buf, ",\"waiting\":%u", lender->waiting_count);
    if (lender->before.byte_count) {
        explain_put_json_text(buf, "after", lender->before);
    }
    if (lender->there.wait != SCHED_WAIT_NOT) {
        put_json_room(buf, c, &lender->there);
    }
    if (lender->why == POOLS_LEND_LIMIT) {
        put_json_limit(buf, c, &lender->there);
    }
    strbuf_add_char(buf, '}');
}

void lending_put_json(struct strbuf *buf, struct control *c,
                      const struct waiting *waiting)
{
    if (waiting->borrowing == POOLS_BORROW_NOWHERE) {
        return;
    }
    strbuf_addf(buf, ",\"borrowing\":\"%s\",\"lenders\":[",
                borrowing_names[waiting->borrowing]);
    for (uint32_t i = 0; i < waiting->lender_count; i++) {
        strbuf_add_text(buf, i ? "," : "");
        put_json_lender(buf, c, &waiting->lenders[i]);
    }
    strbuf_add_char(buf, ']');
}
