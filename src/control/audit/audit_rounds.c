/* Repeats rounds: in the step in which they were made, or in parallel as the
 * log says. */
#include "control/audit/audit_private.h"
#include "control/round/rounds.h"

static bool is_of_async(enum event_type type)
{
    return type == EVENT_ROUND_BEGUN || type == EVENT_ROUND_BACK ||
           type == EVENT_ROUND_DROPPED;
}

static enum event_type type_at(const struct control_audit *audit, size_t at)
{
    return audit->record.events.items[at].event.type;
}

/* When a plan begins, is back or comes to nothing is the log's to say. */
static void follow(struct control_audit *audit, size_t at)
{
    struct control *c = audit->control;
    const struct event *event = &audit->record.events.items[at].event;
    uint32_t shard = rounds_shard(c, event->round.pool);

    ASSERT(is_of_async(event->type));
    if (event->type == EVENT_ROUND_BEGUN) {
        round_begin(c, shard, event->round.kind, event->round.started_ms);
    } else if (event->type == EVENT_ROUND_BACK) {
        round_take_back(c, shard);
    } else {
        round_drop(c, shard);
    }
}

/* What stands of a plan that is back, told up to the event `round`. */
static bool make_async(struct control_audit *audit, const struct event *round,
                       size_t *at)
{
    struct control *c = audit->control;
    uint32_t shard = rounds_shard(c, round->round.pool);

    audit->is_final = true;
    c->batch.time_ms = round->round.started_ms;
    size_t before = c->batch.planned.count;
    ASSERT(rounds_of(c, shard)->is_back); /* else nothing stands of it */
    (void)round_finish(c, shard);
    if (c->batch.planned.count > before) {
        c->batch.planned.count--; /* it is not tried once more */
        VEC_PUSH(&audit->made, shard);
    }
    audit->counts.round_count++;
    return audit_compare(audit, at);
}

static bool is_back(struct control_audit *audit, const struct event *round)
{
    struct control *c = audit->control;

    return rounds_of(c, rounds_shard(c, round->round.pool))->is_back;
}

bool audit_make_leading(struct control_audit *audit, size_t *at)
{
    struct control *c = audit->control;

    batch_clear(&c->batch);
    for (*at = 0; *at < audit->record.events.count;) {
        const struct event *event = &audit->record.events.items[*at].event;
        c->form_no++;
        if (is_of_async(event->type)) {
            follow(audit, (*at)++);
        } else if (event->type != EVENT_ROUND_DONE ||
                   event->round.seen_seq == 0) {
            break;
        } else if (!is_back(audit, event)) {
            (*at)++;
            audit->counts.unseen_round_count++;
        } else if (!make_async(audit, event, at)) {
            return false;
        }
    }
    return true;
}

/* Whether something stands from `at` to `end` that says when a plan beside the
 * leader began or was back. */
static bool has_async(const struct control_audit *audit, size_t at, size_t end)
{
    for (; at < end; at++) {
        if (is_of_async(type_at(audit, at))) {
            return true;
        }
    }
    return false;
}

/* The next round that the record tells of, from `*at` on, and its place; or
 * NULL. */
static const struct event *next_round(const struct control_audit *audit,
                                      size_t *at)
{
    for (; *at < audit->record.events.count; (*at)++) {
        const struct event *event = &audit->record.events.items[*at].event;
        if (event->type == EVENT_ROUND_DONE) {
            return event;
        }
    }
    return NULL;
}

/* The round of which the record goes on to tell, from `*at` up to `end`; it
 * was made in the leader's step, or by a release that did not say when it
 * began. */
static bool make_round(struct control_audit *audit, const struct event *round,
                       size_t end, size_t *at)
{
    struct control *c = audit->control;
    size_t before = *at;

    if (round->round.seen_seq) {
        if (has_async(audit, *at, end)) {
            return audit_differ(audit, *at, NULL);
        }
        *at = end + 1;
        audit->counts.unseen_round_count++;
        return true;
    }
    ASSERT(before <= end && end < audit->record.events.count);
    batch_plan_round(c, rounds_shard(c, round->round.pool), round->round.kind);
    audit->counts.round_count++;
    return audit_compare(audit, at) &&
           (*at > before || audit_differ(audit, *at, NULL));
}

bool audit_make_plans(struct control_audit *audit, size_t *at)
{
    while (*at < audit->record.events.count) {
        size_t end = *at;
        if (is_of_async(type_at(audit, *at))) {
            audit->is_final = true;
            follow(audit, (*at)++);
            continue;
        }
        const struct event *round = next_round(audit, &end);
        if (!round) {
            return audit->difference->expected[0]
                       ? false
                       : audit_differ(audit, *at, NULL);
        }
        if (is_back(audit, round) ? !make_async(audit, round, at)
                                  : !make_round(audit, round, end, at)) {
            return false;
        }
    }
    return true;
}
