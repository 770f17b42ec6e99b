/* Logs plans that are made in parallel, so that an audit can repeat them: when
 * each began and returned, and whether it was used.
 *
 * None of this is worth a record of its own.  It waits for the next record and
 * stands at its beginning, because the state does not change until then.  A
 * round that began and ended between two records and changed nothing is not
 * logged. */
#include "control/round/rounds.h"
#include "control/state/state.h"

enum { ROUND_LOG_MAX = 4096 }; /* more are worth a record of their own */

static void add(struct control *c, const struct round_entry *entry)
{
    const struct pool_record *record =
        pools_shard_record(c->pools, entry->shard);
    struct event_scope scope = {0};
    struct event event;

    memset(&event, 0, sizeof(event));
    event.type = entry->type;
    event.created_ms = entry->at_ms;
    event.round.kind = entry->kind;
    event.round.started_ms = entry->at_ms;
    event.round.pool = record ? record->name : (struct str){0};
    event.round.seen_seq = (int64_t)entry->seen_seq;
    log_batch_add(&c->batch.log, &scope, &event);
}

static bool is_end(const struct round_entry *entry)
{
    return entry->type == EVENT_ROUND_DONE ||
           entry->type == EVENT_ROUND_DROPPED;
}

/* Whether a round of a shard begins only when the one before has ended. */
static bool rounds_follow(const struct control *c)
{
    for (size_t i = 0; i < c->round_log.count; i++) {
        const struct round_entry *entry = &c->round_log.items[i];
        size_t next = i + 1;
        while (next < c->round_log.count &&
               c->round_log.items[next].shard != entry->shard) {
            next++;
        }
        if (next < c->round_log.count &&
            is_end(entry) !=
                (c->round_log.items[next].type == EVENT_ROUND_BEGUN)) {
            return false;
        }
    }
    return true;
}

void round_log_open(struct control *c)
{
    ASSERT(c->batch.log.event_count == 0); /* it stands before all else */
    ASSERT_SLOW(rounds_follow(c));
    for (size_t i = 0; i < c->round_log.count; i++) {
        add(c, &c->round_log.items[i]);
    }
    c->batch.quiet_count = (uint32_t)c->round_log.count;
}

void round_log_add(struct control *c, const struct round_entry *entry,
                   bool is_quiet)
{
    ASSERT(entry->seen_seq <= c->seq); /* a plan is made on what was */
    add(c, entry);
    round_log_keep(c, entry);
    c->batch.quiet_count += is_quiet;
}

void round_log_keep(struct control *c, const struct round_entry *entry)
{
    VEC_PUSH(&c->round_log, *entry);
}

bool round_log_is_all(const struct control *c)
{
    return c->batch.log.event_count == c->batch.quiet_count &&
           c->round_log.count <= ROUND_LOG_MAX;
}

/* Where a round that ends at `end` began, if that is told here too and no other
 * ended in between, which might have asked what its shard can lend; else
 * `end`. */
static size_t find_begin(const struct control *c, size_t end)
{
    uint32_t shard = c->round_log.items[end].shard;

    for (size_t at = end; at-- > 0;) {
        const struct round_entry *entry = &c->round_log.items[at];
        if (entry->shard == shard && entry->type == EVENT_ROUND_BEGUN) {
            return at;
        }
        if (is_end(entry)) {
            break;
        }
    }
    return end;
}

/* Take out what is told of the round of a shard between two places. */
static void take_out(struct control *c, size_t begin, size_t end)
{
    uint32_t shard = c->round_log.items[end].shard;
    size_t left = begin;

    for (size_t at = begin; at < c->round_log.count; at++) {
        if (at > end || c->round_log.items[at].shard != shard) {
            c->round_log.items[left++] = c->round_log.items[at];
        }
    }
    c->round_log.count = left;
}

void round_log_defer(struct control *c)
{
    for (size_t at = 0; at < c->round_log.count;) {
        size_t begin = is_end(&c->round_log.items[at]) ? find_begin(c, at) : at;
        if (begin < at) {
            take_out(c, begin, at);
            at = begin;
        } else {
            at++;
        }
    }
}

void round_log_clear(struct control *c)
{
    c->round_log.count = 0;
}

void round_log_fail(struct control *c)
{
    for (size_t i = 0; i < c->round_log.count; i++) {
        struct round_entry *entry = &c->round_log.items[i];
        if (entry->type == EVENT_ROUND_DONE) {
            entry->type = EVENT_ROUND_DROPPED;
        }
    }
}
