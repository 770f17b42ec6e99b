/* What is logged of plans that are made beside the leader, so that they can be
 * made again: when each began and was back, and what became of it.
 *
 * None of it is worth a record by itself.  It waits for the next one, and
 * stands there before all else: the state is the same until then.  A round
 * that began and ended between two records and changed nothing is not told. */
#include "control/round/rounds.h"
#include "control/state/state.h"

enum { FACTS_MAX = 4096 }; /* more are worth a record of their own */

static void add(struct control *c, const struct round_fact *fact)
{
    const struct pool_record *record =
        pools_shard_record(c->pools, fact->shard);
    struct event_scope scope = {0};
    struct event event;

    memset(&event, 0, sizeof(event));
    event.type = fact->type;
    event.created_ms = fact->at_ms;
    event.round.kind = fact->kind;
    event.round.started_ms = fact->at_ms;
    event.round.pool = record ? record->name : (struct str){0};
    event.round.seen_seq = (int64_t)fact->seen_seq;
    log_batch_add(&c->batch.log, &scope, &event);
}

void facts_open(struct control *c)
{
    for (size_t i = 0; i < c->facts.count; i++) {
        add(c, &c->facts.items[i]);
    }
    c->batch.quiet_count = (uint32_t)c->facts.count;
}

void fact_add(struct control *c, const struct round_fact *fact, bool is_quiet)
{
    add(c, fact);
    fact_keep(c, fact);
    c->batch.quiet_count += is_quiet;
}

void fact_keep(struct control *c, const struct round_fact *fact)
{
    VEC_PUSH(&c->facts, *fact);
}

bool facts_are_all(const struct control *c)
{
    return c->batch.log.event_count == c->batch.quiet_count &&
           c->facts.count <= FACTS_MAX;
}

static bool is_end(const struct round_fact *fact)
{
    return fact->type == EVENT_ROUND_DONE || fact->type == EVENT_ROUND_DROPPED;
}

/* Where a round that ends at `end` began, if that is told here too and no other
 * ended in between, which might have asked what its shard can lend; else
 * `end`. */
static size_t find_begin(const struct control *c, size_t end)
{
    uint32_t shard = c->facts.items[end].shard;

    for (size_t at = end; at-- > 0;) {
        const struct round_fact *fact = &c->facts.items[at];
        if (fact->shard == shard && fact->type == EVENT_ROUND_BEGUN) {
            return at;
        }
        if (is_end(fact)) {
            break;
        }
    }
    return end;
}

/* Take out what is told of the round of a shard between two places. */
static void take_out(struct control *c, size_t begin, size_t end)
{
    uint32_t shard = c->facts.items[end].shard;
    size_t left = begin;

    for (size_t at = begin; at < c->facts.count; at++) {
        if (at > end || c->facts.items[at].shard != shard) {
            c->facts.items[left++] = c->facts.items[at];
        }
    }
    c->facts.count = left;
}

void facts_pass(struct control *c)
{
    for (size_t at = 0; at < c->facts.count;) {
        size_t begin = is_end(&c->facts.items[at]) ? find_begin(c, at) : at;
        if (begin < at) {
            take_out(c, begin, at);
            at = begin;
        } else {
            at++;
        }
    }
}

void facts_logged(struct control *c)
{
    c->facts.count = 0;
}

void facts_failed(struct control *c)
{
    for (size_t i = 0; i < c->facts.count; i++) {
        struct round_fact *fact = &c->facts.items[i];
        if (fact->type == EVENT_ROUND_DONE) {
            fact->type = EVENT_ROUND_DROPPED;
        }
    }
}
