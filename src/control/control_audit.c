#include "control/control_audit.h"

#include <inttypes.h>
#include <stdio.h>

#include "control/control_batch.h"
#include "control/control_checkpoint.h"
#include "control/control_fold.h"
#include "control/control_health.h"
#include "control/control_private.h"
#include "control/control_rounds.h"
#include "job/groups.h"

/* One event of the record, or one that was made again. */
struct audit_event {
    struct event_scope scope;
    struct event event;
    struct str encoded;
};

struct audit_list {
    VEC(struct audit_event) events;
    struct arena arena; /* of their arrays */
};

struct control_audit {
    struct clock clock; /* first member */
    struct rng rng;
    struct planner planner; /* plans at once; the log says when it is done */
    int64_t time_ms;        /* of the record */
    bool is_final;          /* the record cannot be tried once more */
    VEC(uint32_t) made;     /* shards of plans beside the leader that stand */
    struct control *control;
    struct inbox *inbox;
    struct queue_table *queues, *retry_policies;
    struct audit_list record, answers;
    struct control_audit_counts counts;
    struct control_difference *difference; /* during control_audit_read() */
    struct err *err;
};

static uint64_t audit_mono_ns(const struct clock *clock)
{
    const struct control_audit *audit =
        (const struct control_audit *)(const void *)clock;

    return (uint64_t)(audit->time_ms > 0 ? audit->time_ms : 0) * NS_PER_MS;
}

static int64_t audit_wall_ms(const struct clock *clock)
{
    return ((const struct control_audit *)(const void *)clock)->time_ms;
}

static void audit_fill(const struct rng *rng, void *bytes, size_t byte_count)
{
    (void)rng;
    memset(bytes, 0, byte_count); /* no decision depends on it */
}

static void audit_plan(struct planner *planner, struct planner_task *task)
{
    (void)planner;
    sched_plan(task->sched, task->now_ms, task->kind, task->decision_count_max,
               &task->plan);
}

static bool audit_is_planned(struct planner *planner,
                             const struct planner_task *task)
{
    (void)planner;
    (void)task;
    return true;
}

static void audit_wait(struct planner *planner, struct planner_task *task)
{
    (void)planner;
    (void)task;
}

struct control_audit *control_audit_create(void)
{
    struct control_audit *audit = mem_alloc(sizeof(*audit));
    auto_mem struct policy *policy = mem_alloc(sizeof(*policy));

    policy_defaults(policy);
    audit->clock = (struct clock){audit_mono_ns, audit_wall_ms};
    audit->rng.fill = audit_fill;
    audit->planner = (struct planner){audit_plan, audit_is_planned, audit_wait};
    audit->inbox = inbox_create(NULL, NULL);
    audit->queues = queue_table_create();
    audit->retry_policies = queue_table_create();
    struct control_config config = {
        .clock = &audit->clock,
        .rng = &audit->rng,
        .inbox = audit->inbox,
        .policy = policy,
        .queues = audit->queues,
        .retry_policies = audit->retry_policies,
        .planner = &audit->planner,
    };
    audit->control = control_create(&config);
    return audit;
}

static void list_clear(struct audit_list *list)
{
    list->events.count = 0;
    arena_reset(&list->arena);
}

static void list_fini(struct audit_list *list)
{
    VEC_FREE(&list->events);
    arena_fini(&list->arena);
}

void control_audit_destroy(struct control_audit *audit)
{
    if (!audit) {
        return;
    }
    control_destroy(audit->control);
    inbox_destroy(audit->inbox);
    queue_table_destroy(audit->queues);
    queue_table_destroy(audit->retry_policies);
    list_fini(&audit->record);
    list_fini(&audit->answers);
    VEC_FREE(&audit->made);
    mem_free(audit);
}

struct control_audit_counts
control_audit_counts(const struct control_audit *audit)
{
    return audit->counts;
}

/* What events are. */

enum role {
    ROLE_SAID,    /* by others; or time that passed */
    ROLE_DECIDED, /* by the leader */
    ROLE_EITHER,
};

static enum role role_of(enum event_type type)
{
    switch ((int)type) {
    case EVENT_REPRIORITISED:
    case EVENT_CANCELLED:
    case EVENT_SUCCEEDED:
    case EVENT_FAILED:
    case EVENT_LEASED:
    case EVENT_REQUEUED:
    case EVENT_ADMITTED:
    case EVENT_DISMISSED:
    case EVENT_ROUND_DONE:
    case EVENT_ROUND_BEGUN:
    case EVENT_ROUND_BACK:
    case EVENT_ROUND_DROPPED:
        return ROLE_DECIDED;
    case EVENT_CANCEL: /* decided: a job of a set that is cancelled */
    case EVENT_RUN_ERRORS:
    case EVENT_RUN_PREEMPTED:
    case EVENT_RUN_CANCELLED:
    case EVENT_NODE_HEALTH:
        return ROLE_EITHER;
    default:
        return ROLE_SAID;
    }
}

static const char *name_of(enum event_type type)
{
    switch ((int)type) {
    case EVENT_CANCEL:
        return "cancel";
    case EVENT_REPRIORITISED:
        return "reprioritised";
    case EVENT_CANCELLED:
        return "cancelled";
    case EVENT_SUCCEEDED:
        return "succeeded";
    case EVENT_FAILED:
        return "failed";
    case EVENT_LEASED:
        return "leased";
    case EVENT_REQUEUED:
        return "requeued";
    case EVENT_ADMITTED:
        return "admitted";
    case EVENT_DISMISSED:
        return "dismissed";
    case EVENT_ROUND_DONE:
        return "round done";
    case EVENT_ROUND_BEGUN:
        return "round begun";
    case EVENT_ROUND_BACK:
        return "round back";
    case EVENT_ROUND_DROPPED:
        return "round dropped";
    case EVENT_RUN_ERRORS:
        return "run errors";
    case EVENT_RUN_PREEMPTED:
        return "run preempted";
    case EVENT_RUN_CANCELLED:
        return "run cancelled";
    case EVENT_NODE_HEALTH:
        return "node health";
    default:
        return "event";
    }
}

/* Say what an event is, for people. */
static void describe(const struct audit_event *of, char text[512])
{
    char id[ID_TEXT_BYTES_MAX];
    size_t at = 0;

    if (!of) {
        snprintf(text, 512, "nothing");
        return;
    }
    const struct event *event = &of->event;
    at += (size_t)snprintf(text, 512, "%s (type %d)", name_of(event->type),
                           (int)event->type);
    if (!key128_is_none(event->job.v)) {
        at += (size_t)snprintf(text + at, 512 - at, " job %s",
                               job_id_format(event->job, id));
    }
    if (event->type == EVENT_LEASED) {
        snprintf(text + at, 512 - at, " to %.*s/%.*s priority %d attempt %u",
                 (int)(event->leased.executor_id.byte_count % 128),
                 event->leased.executor_id.p,
                 (int)(event->leased.node_name.byte_count % 128),
                 event->leased.node_name.p, event->leased.priority,
                 event->leased.attempt);
    } else if (event->type == EVENT_FAILED) {
        snprintf(text + at, 512 - at, ": %.*s",
                 (int)(event->error.message.byte_count % 256),
                 event->error.message.p ? event->error.message.p : "");
    }
}

/* Reading. */

static int take_item(const struct log_item *item, void *ctx)
{
    struct audit_list *list = ctx;

    VEC_PUSH(&list->events, (struct audit_event){
                                .scope = item->scope,
                                .event = item->event,
                                .encoded = item->encoded,
                            });
    return 0;
}

static bool is_same(const struct audit_event *a, const struct audit_event *b)
{
    return str_equal(a->scope.queue, b->scope.queue) &&
           str_equal(a->scope.job_set, b->scope.job_set) &&
           str_equal(a->scope.user, b->scope.user) &&
           str_equal(a->encoded, b->encoded);
}

/* Where decisions can begin, from `from` on: after the last that was said, at
 * the latest at the first that is certainly decided. */
static void bound_decisions(const struct audit_list *record, size_t from,
                            size_t *ret_least, size_t *ret_most)
{
    size_t count = record->events.count;

    *ret_least = from;
    *ret_most = count;
    for (size_t i = from; i < count; i++) {
        enum role role = role_of(record->events.items[i].event.type);
        if (role == ROLE_SAID) {
            *ret_least = i + 1;
        } else if (role == ROLE_DECIDED && *ret_most == count) {
            *ret_most = i;
        }
    }
}

/* Making again. */

/* The event at `at`, or NULL past the end. */
static const struct audit_event *event_at(const struct audit_list *list,
                                          size_t at)
{
    return at < list->events.count ? &list->events.items[at] : NULL;
}

static bool differ(struct control_audit *audit, size_t at,
                   const struct audit_event *expected)
{
    const struct audit_event *got = event_at(&audit->record, at);

    audit->difference->index = (uint32_t)at;
    describe(expected, audit->difference->expected);
    describe(got, audit->difference->got);
    if (expected && got && expected->event.type == got->event.type) {
        size_t length = strlen(audit->difference->got);
        snprintf(audit->difference->got + length,
                 sizeof(audit->difference->got) - length, ", with other bytes");
    }
    return false;
}

/* Compare what the batch has been given since it was empty with the record,
 * from `*at` on, and take it out again. */
static bool take_made(struct control_audit *audit, size_t *at)
{
    struct log_batch *log = &audit->control->batch.log;
    struct audit_list *made = &audit->answers;
    bool is_equal = true;

    list_clear(made);
    int rc = log_decode(log_batch_finish(log), &made->arena, take_item, made,
                        audit->err);
    ASSERT(rc == 0); /* we encoded it */
    for (size_t i = 0; i < made->events.count && is_equal; i++) {
        const struct audit_event *got = event_at(&audit->record, *at);
        is_equal = got && is_same(&made->events.items[i], got);
        if (!is_equal) {
            differ(audit, *at, &made->events.items[i]);
        }
        *at += is_equal;
    }
    log_batch_clear(log);
    return is_equal;
}

/* Whether the record goes on with what is owed to a job. */
static bool is_next(struct control_audit *audit, size_t at,
                    const struct job_decisions *decisions)
{
    auto_strbuf encoded = {0};

    for (uint32_t i = 0; i < decisions->event_count; i++) {
        struct audit_event made = {.scope = decisions->scope,
                                   .event = decisions->events[i]};
        const struct audit_event *got = event_at(&audit->record, at + i);
        strbuf_clear(&encoded);
        log_encode_event(&encoded, &decisions->events[i]);
        made.encoded = strbuf_str(&encoded);
        if (!got || !is_same(&made, got)) {
            differ(audit, at + i, &made);
            return false;
        }
    }
    return true;
}

/* What is owed to jobs, in order of their ids, as far as the record has it:
 * the rest is owed still. */
static void make_owed(struct control_audit *audit, size_t *at)
{
    struct control *c = audit->control;
    struct job_rules rules = {
        .retries_max = c->policy->policy.retries_max,
        .now_ms = c->batch.time_ms,
    };
    bool goes_on = true;
    uint32_t count;
    auto_mem uint32_t *dirty = jobs_take_dirty(c->jobs, 0, &count);

    for (uint32_t i = 0; i < count; i++) {
        struct job_decisions decisions = {0};
        if (goes_on && !batch_is_touched(&c->batch, dirty[i])) {
            job_owed(c->jobs, dirty[i], &rules, &c->batch.arena, &decisions);
            if (decisions.event_count == 0) {
                continue;
            }
            goes_on = is_next(audit, *at, &decisions);
            if (goes_on) {
                *at += decisions.event_count;
                goes_on = batch_add_owed(c, dirty[i]);
                log_batch_clear(&c->batch.log);
                continue;
            }
        }
        jobs_mark_dirty(c->jobs, dirty[i]);
    }
}

/* Whether the record goes on with an event about a member of the gang. */
static bool is_next_of_gang(struct control_audit *audit, size_t at,
                            uint32_t gang)
{
    struct control *c = audit->control;
    const struct audit_event *next = event_at(&audit->record, at);
    uint32_t job = next ? jobs_find(c->jobs, next->event.job) : JOBS_NONE;
    struct job_view view;

    if (job == JOBS_NONE) {
        return false;
    }
    jobs_get(c->jobs, job, &view);
    return view.gang_index == gang;
}

/* What is owed to groups as a whole, as far as the record has it. */
static bool make_groups(struct control_audit *audit, size_t *at)
{
    struct control *c = audit->control;
    bool is_equal = true;
    uint32_t count;
    auto_mem uint32_t *gangs =
        jobs_take_groups(c->jobs, c->batch.time_ms, &count);

    for (uint32_t i = 0; i < count; i++) {
        if (is_equal && is_next_of_gang(audit, *at, gangs[i]) &&
            batch_add_group(c, gangs[i])) {
            is_equal = take_made(audit, at);
        } else {
            jobs_mark_group(c->jobs, gangs[i]);
        }
    }
    return is_equal;
}

/* Jobs that can never run; each is looked at again. */
static bool make_rejections(struct control_audit *audit, size_t *at)
{
    struct control *c = audit->control;
    const struct audit_event *next;

    while ((next = event_at(&audit->record, *at)) &&
           next->event.type == EVENT_FAILED &&
           next->event.error.kind != ERROR_GANG_UNSCHEDULABLE) {
        uint32_t job = jobs_find(c->jobs, next->event.job);
        size_t before = *at;
        uint32_t look_count = 0;
        if (job != JOBS_NONE && jobs_state(c->jobs, job) == JOB_QUEUED &&
            !batch_is_touched(&c->batch, job)) {
            (void)batch_check_job(c, job, &look_count);
        }
        if (!take_made(audit, at)) {
            return false;
        }
        if (*at == before) {
            return differ(audit, *at, NULL);
        }
    }
    return true;
}

static bool make_health(struct control_audit *audit, size_t *at)
{
    const struct audit_event *next = event_at(&audit->record, *at);

    if (next && next->event.type == EVENT_NODE_HEALTH) {
        batch_add_health(audit->control);
        return take_made(audit, at);
    }
    return true;
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

/* Plans beside the leader. */

static bool is_of_beside(enum event_type type)
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

    if (event->type == EVENT_ROUND_BEGUN) {
        round_begin(c, shard, event->round.kind, event->round.started_ms);
    } else if (event->type == EVENT_ROUND_BACK) {
        round_take_back(c, shard);
    } else {
        round_drop(c, shard);
    }
}

/* What stands of a plan that is back, told up to the event `round`. */
static bool make_beside(struct control_audit *audit, const struct event *round,
                        size_t *at)
{
    struct control *c = audit->control;
    uint32_t shard = rounds_shard(c, round->round.pool);

    audit->is_final = true;
    c->batch.time_ms = round->round.started_ms;
    size_t before = c->batch.planned.count;
    (void)round_finish(c, shard);
    if (c->batch.planned.count > before) {
        c->batch.planned.count--; /* it is not tried once more */
        VEC_PUSH(&audit->made, shard);
    }
    audit->counts.round_count++;
    return take_made(audit, at);
}

static bool is_back(struct control_audit *audit, const struct event *round)
{
    struct control *c = audit->control;

    return rounds_of(c, rounds_shard(c, round->round.pool))->is_back;
}

/* What happened since the record before, and first of all in this one; false
 * when it differs. */
static bool make_leading(struct control_audit *audit, size_t *at)
{
    struct control *c = audit->control;

    batch_clear(&c->batch);
    for (*at = 0; *at < audit->record.events.count;) {
        const struct event *event = &audit->record.events.items[*at].event;
        c->form_no++;
        if (is_of_beside(event->type)) {
            follow(audit, (*at)++);
        } else if (event->type != EVENT_ROUND_DONE ||
                   event->round.seen_seq == 0) {
            break;
        } else if (!is_back(audit, event)) {
            (*at)++;
            audit->counts.unseen_round_count++;
        } else if (!make_beside(audit, event, at)) {
            return false;
        }
    }
    return true;
}

/* Whether something stands from `at` to `end` that says when a plan beside the
 * leader began or was back. */
static bool has_beside(const struct control_audit *audit, size_t at, size_t end)
{
    for (; at < end; at++) {
        if (is_of_beside(type_at(audit, at))) {
            return true;
        }
    }
    return false;
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
        if (has_beside(audit, *at, end)) {
            return differ(audit, *at, NULL);
        }
        *at = end + 1;
        audit->counts.unseen_round_count++;
        return true;
    }
    batch_plan_round(c, rounds_shard(c, round->round.pool), round->round.kind);
    audit->counts.round_count++;
    return take_made(audit, at) && (*at > before || differ(audit, *at, NULL));
}

/* The plans, of one shard after the other, if the record says that any were
 * made. */
static bool make_plans(struct control_audit *audit, size_t *at)
{
    while (*at < audit->record.events.count) {
        size_t end = *at;
        if (is_of_beside(type_at(audit, *at))) {
            audit->is_final = true;
            follow(audit, (*at)++);
            continue;
        }
        const struct event *round = next_round(audit, &end);
        if (!round) {
            return audit->difference->expected[0] ? false
                                                  : differ(audit, *at, NULL);
        }
        if (is_back(audit, round) ? !make_beside(audit, round, at)
                                  : !make_round(audit, round, end, at)) {
            return false;
        }
    }
    return true;
}

static bool make_from(struct control_audit *audit, size_t begin)
{
    struct control *c = audit->control;
    size_t at = begin;

    rounds_forget(c); /* of the try before */
    batch_clear(&c->batch);
    c->form_no++;
    c->batch.time_ms = audit->time_ms;
    audit->difference->expected[0] = '\0';
    for (size_t i = 0; i < begin; i++) {
        batch_touch_ended(c, &audit->record.events.items[i].event);
    }
    make_owed(audit, &at);
    bool is_equal = make_groups(audit, &at) && make_rejections(audit, &at) &&
                    make_health(audit, &at) && make_plans(audit, &at);
    if (!is_equal) {
        for (size_t i = 0; i < c->batch.owed.count; i++) {
            jobs_mark_dirty(c->jobs, c->batch.owed.items[i]);
        }
    }
    return is_equal;
}

/* Decide again what the record decides; false when it differs. */
static bool make_again(struct control_audit *audit)
{
    size_t from, least, most;

    if (!make_leading(audit, &from)) {
        return false;
    }
    bound_decisions(&audit->record, from, &least, &most);
    if (least > most) {
        return differ(audit, most, NULL); /* decided before all was said */
    }
    audit->is_final = false;
    for (size_t begin = least; begin <= most && !audit->is_final; begin++) {
        if (make_from(audit, begin)) {
            audit->counts.decision_count += audit->record.events.count - begin;
            return true;
        }
    }
    return false;
}

/* What the record says has happened: its plans stand. */
static void commit(struct control_audit *audit)
{
    struct control *c = audit->control;

    rounds_commit(c);
    for (size_t i = 0; i < audit->made.count; i++) {
        (void)pools_plan_commit(c->pools, audit->made.items[i]);
    }
    audit->made.count = 0;
    facts_logged(c);
}

static bool has_new_leader(const struct audit_list *record)
{
    for (size_t i = 0; i < record->events.count; i++) {
        if (record->events.items[i].event.type == EVENT_LEADER_STARTED) {
            return true;
        }
    }
    return false;
}

static int audit_record(void *ctx, const struct elog_record *record)
{
    struct control_audit *audit = ctx;
    struct control *c = audit->control;

    if (record->format_version > CONTROL_FORMAT_VERSION) {
        return err_set(audit->err, -ERR_VERSION,
                       "record %" PRIu64 " was written by a newer release",
                       record->seq);
    }
    audit->time_ms = record->time_ms;
    list_clear(&audit->record);
    int rc = log_decode(record->payload, &audit->record.arena, take_item,
                        &audit->record, audit->err);
    if (rc < 0) {
        return rc;
    }
    audit->difference->seq = record->seq;
    if (has_new_leader(&audit->record)) {
        rounds_abandon(c); /* those of the one before are gone with it */
    }
    if (!make_again(audit)) {
        return err_set(audit->err, -ERR_CONFLICT,
                       "record %" PRIu64 " differs at event %u", record->seq,
                       audit->difference->index);
    }
    rc = fold_payload(c, record->payload, record->seq, record->time_ms,
                      audit->err);
    commit(audit);
    if (has_new_leader(&audit->record)) {
        jobs_mark_all_dirty(c->jobs);
    }
    if (audit->counts.record_count++ == 0) {
        audit->counts.first_seq = record->seq;
    }
    audit->counts.last_seq = record->seq;
    audit->counts.event_count += audit->record.events.count;
    return rc;
}

int control_audit_begin(struct control_audit *audit, struct elog_reader *reader,
                        struct err *err)
{
    struct control *c = audit->control;
    struct elog_bounds bounds;

    int rc = elog_bounds(reader, &bounds, err);
    if (rc < 0 || bounds.first_seq == 1) {
        return rc;
    }
    c->reader = reader;
    rc = start_from_checkpoint(c, err);
    c->reader = NULL;
    jobs_mark_all_dirty(c->jobs);
    return rc;
}

int control_audit_read(struct control_audit *audit, struct elog_reader *reader,
                       uint32_t record_count_max,
                       struct control_difference *ret_difference,
                       struct err *err)
{
    struct elog_range range = {
        .from_seq = audit->control->seq + 1,
        .record_count_max = record_count_max,
    };

    audit->difference = ret_difference;
    audit->err = err;
    return elog_read(reader, &range, audit_record, audit, err);
}
