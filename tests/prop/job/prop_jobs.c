/*
 * The job table over any events, in any order.
 *
 *   - nothing is kept twice in two ways (jobs_assert_valid)
 *   - the encoding gives the same state back, at each prefix, and equal states
 *     are equal bytes, whatever the indexes
 *   - an event that came once changes nothing when it comes again
 *   - what is due, once folded, is due no more
 *   - a snapshot written while events go on is of the moment it was begun
 */
#include <string.h>

#include "job/due/job_action.h"
#include "job/table/groups.h"
#include "prop.h"

enum { IDS = 6, EVENTS = 60 };

static const enum event_type types[] = {
    EVENT_SUBMIT,        EVENT_LEASED,         EVENT_RUN_ASSIGNED,
    EVENT_RUN_RUNNING,   EVENT_RUN_SUCCEEDED,  EVENT_RUN_ERRORS,
    EVENT_RUN_PREEMPTED, EVENT_RUN_CANCELLED,  EVENT_REQUEUED,
    EVENT_SUCCEEDED,     EVENT_FAILED,         EVENT_CANCELLED,
    EVENT_CANCEL,        EVENT_PREEMPT,        EVENT_REPRIORITISE,
    EVENT_REPRIORITISED, EVENT_CANCEL_SET,     EVENT_REPRIORITISE_SET,
    EVENT_SELECTION,     EVENT_EXECUTOR_STATE, EVENT_HOLD_CHANGED,
};

static const enum error_kind kinds[] = {
    ERROR_LEASE_RETURNED, ERROR_LEASE_EXPIRED, ERROR_PREEMPTED, ERROR_POD,
    ERROR_REJECTED,
};

static const char *const executors[] = {"e", "f"};

static struct policy policy;

struct drawn {
    struct event event;
    struct event_scope scope;
    struct strbuf digest;
    struct str queue;
};

/* Terms of one auxiliary pod and two workers, of which one must run. */
static void put_terms(struct strbuf *packed, bool is_tolerant)
{
    struct gang_terms terms = {
        .kind = is_tolerant ? GANG_TRAINING_TOLERANT : GANG_POD_GROUP,
        .replace_timeout_ms = 3,
        .sub_group_count = 2,
        .sub_groups = {{STR("ps"), 1, 1, HOPS_ANY, 0, true},
                       {STR("worker"), 1, 2, HOPS_ANY, 0, false}},
    };

    gang_terms_pack(packed, &terms);
}

static void draw_digest(struct tape *tape, struct strbuf *packed)
{
    static const char *const gangs[] = {NULL, "g"};
    static const char *const pools[] = {NULL, "p"};
    static const char *const applications[] = {NULL, "a", "p"};
    auto_strbuf key = {0};
    struct requirement requirement = {
        .lifetime_ms = LIFETIME_BY_CLASS,
        .priority_class = draw(tape, 0, 1) ? STR("armada-default")
                                           : STR("armada-preemptible")};
    const char *gang = gangs[draw(tape, 0, 1)];
    uint64_t kind = draw(tape, 0, 2); /* 0: no terms */
    auto_strbuf terms = {0};

    requirement_pack(&key, &requirement);
    if (gang && kind > 0) {
        put_terms(&terms, kind == 2);
    }
    struct job_digest digest = {
        .class_key = strbuf_str(&key),
        .gang_id = str_of(gang),
        .gang_cardinality = gang ? 2 : 1,
        .gang_minimum = gang ? 2 : 1,
        .is_fail_fast = draw(tape, 0, 1),
        .on_preemption = (enum on_loss)draw(tape, 0, 1),
        .on_executor_lost = (enum on_loss)draw(tape, 0, 1),
        .pool = str_of(pools[draw(tape, 0, 1)]),
        .application_id = str_of(applications[draw(tape, 0, 2)]),
        .has_stateaware_off = draw(tape, 0, 1),
        .gang_terms = strbuf_str(&terms),
        .sub_group = (uint32_t)draw(tape, 0, 1),
    };
    digest_pack(packed, &digest);
}

static void draw_details(struct tape *tape, struct drawn *d)
{
    struct event *event = &d->event;

    switch ((int)event->type) {
    case EVENT_SUBMIT:
        draw_digest(tape, &d->digest);
        event->submit.digest = strbuf_str(&d->digest);
        event->submit.priority = (uint32_t)draw(tape, 0, 2);
        break;
    case EVENT_LEASED:
        event->leased.executor_id = str_of(executors[draw(tape, 0, 1)]);
        event->leased.node_name = STR("n");
        event->leased.pool = STR("default");
        break;
    case EVENT_RUN_ERRORS:
    case EVENT_FAILED:
        event->error.kind = kinds[draw(tape, 0, 4)];
        event->error.is_terminal = draw(tape, 0, 3) > 0;
        event->error.is_run_attempted = draw(tape, 0, 1);
        event->error.message = STR("message");
        break;
    case EVENT_REQUEUED:
        event->requeued.priority = (uint32_t)draw(tape, 0, 2);
        event->requeued.avoids_node = draw(tape, 0, 1);
        break;
    case EVENT_REPRIORITISE:
    case EVENT_REPRIORITISED:
    case EVENT_REPRIORITISE_SET:
        event->reprioritise.priority = (uint32_t)draw(tape, 0, 2);
        break;
    case EVENT_SELECTION:
        event->selection.action = (enum selection_action)draw(tape, 0, 1);
        event->selection.queues = &d->queue;
        event->selection.queue_count = 1;
        event->selection.states = (enum state_set)draw(tape, 0, 15);
        break;
    case EVENT_EXECUTOR_STATE:
        event->executor.name = str_of(executors[draw(tape, 0, 1)]);
        event->executor.state = (enum executor_state)draw(tape, 0, 2);
        break;
    case EVENT_HOLD_CHANGED:
        event->hold.set = (uint32_t)draw(tape, 0, JOB_HOLD_ALL);
        event->hold.cleared = (uint32_t)draw(tape, 0, JOB_HOLD_ALL);
        event->hold.begin_ms = 1 + (int64_t)draw(tape, 0, 8); /* 0: none */
        event->hold.user = STR("anna");
        break;
    default:
        event->cancel.states = (enum state_set)draw(tape, 0, 15);
        event->cancel.reason = STR("reason");
        break;
    }
}

static void draw_event(struct tape *tape, struct drawn *d)
{
    uint8_t random[10] = {(uint8_t)draw(tape, 0, IDS - 1)};

    memset(d, 0, sizeof(*d));
    d->event.type = types[draw(tape, 0, sizeof(types) / sizeof(*types) - 1)];
    d->event.job = job_id_make(1000, random);
    d->event.run = run_id_make(d->event.job, (uint32_t)draw(tape, 0, 2));
    d->queue = STR("q");
    d->scope = (struct event_scope){
        STR("q"), draw(tape, 0, 4) ? STR("set") : STR("other"), STR("anna")};
    draw_details(tape, d);
}

static void encode(const struct jobs *jobs, struct strbuf *buf)
{
    strbuf_clear(buf);
    jobs_encode(jobs, buf);
}

static bool is_equal(const struct strbuf *a, const struct strbuf *b)
{
    return a->byte_count == b->byte_count &&
           memcmp(a->bytes, b->bytes, a->byte_count) == 0;
}

static bool comes_back(const struct jobs *jobs, const struct strbuf *encoded)
{
    auto_ptr(jobs) copy = jobs_create();
    auto_strbuf again = {0};
    struct err err;

    (void)jobs;
    if (jobs_decode(copy, strbuf_str(encoded), &err) < 0) {
        return false;
    }
    jobs_assert_valid(copy);
    encode(copy, &again);
    return is_equal(encoded, &again);
}

/* A new run, a returned lease or a fresh submission may follow once more. */
static bool may_repeat(enum event_type type)
{
    return type == EVENT_SUBMIT || type == EVENT_LEASED;
}

static bool folding(struct tape *tape)
{
    auto_ptr(jobs) jobs = jobs_create();
    auto_strbuf once = {0}, twice = {0};
    bool holds = true;

    policy_defaults(&policy);
    jobs_set_policy(jobs, &policy);
    for (uint64_t left = draw(tape, 0, EVENTS); left > 0 && holds; left--) {
        struct jobs_change change;
        struct drawn d;
        draw_event(tape, &d);
        jobs_apply(jobs, &d.scope, &d.event, &change);
        jobs_assert_valid(jobs);
        encode(jobs, &once);
        holds &= comes_back(jobs, &once);
        jobs_apply(jobs, &d.scope, &d.event, &change);
        encode(jobs, &twice);
        holds &= may_repeat(d.event.type) || is_equal(&once, &twice);
        strbuf_fini(&d.digest);
    }
    return holds;
}

static void apply_some(struct jobs *jobs, struct tape *tape, uint64_t count)
{
    for (; count > 0; count--) {
        struct jobs_change change;
        struct drawn d;
        draw_event(tape, &d);
        jobs_apply(jobs, &d.scope, &d.event, &change);
        if (change.after == JOB_RUNNING && jobs_is_live(jobs, change.job)) {
            jobs_run_started(jobs, change.job, 7);
        }
        strbuf_fini(&d.digest);
    }
}

static bool snapshots(struct tape *tape)
{
    auto_ptr(jobs) jobs = jobs_create();
    auto_ptr(jobs) copy = jobs_create();
    auto_strbuf begun = {0}, written = strbuf_make(SIZE_MAX / 2), again = {0};
    struct err err;

    policy_defaults(&policy);
    jobs_set_policy(jobs, &policy);
    apply_some(jobs, tape, draw(tape, 0, EVENTS));
    encode(jobs, &begun);
    jobs_snapshot_begin(jobs, &written);
    for (uint64_t turns = draw(tape, 0, 20); turns > 0; turns--) {
        (void)!jobs_snapshot_write(jobs, (uint32_t)draw(tape, 0, 1));
        apply_some(jobs, tape, draw(tape, 0, 5));
    }
    (void)!jobs_snapshot_write(jobs, UINT32_MAX);
    jobs_snapshot_end(jobs);
    jobs_assert_valid(jobs);
    if (jobs_decode(copy, strbuf_str(&written), &err) < 0) {
        return false;
    }
    jobs_assert_valid(copy);
    encode(copy, &again);
    return is_equal(&begun, &again);
}

/* Do what is due for groups; false when that cannot be. */
static bool settle_groups(struct jobs *jobs, struct arena *arena)
{
    uint32_t count;
    auto_mem uint32_t *gangs = jobs_take_groups(jobs, 5, &count);
    bool holds = true;

    for (uint32_t i = 0; i < count; i++) {
        struct group_action action;
        jobs_group_due(jobs, gangs[i], 5, arena, &action);
        for (uint32_t m = 0; m < action.member_count; m++) {
            struct job_decisions decisions = {.event_count = 0};
            struct jobs_change change;
            if (action.kind == GROUP_CANCEL) {
                job_end(jobs, action.members[m], action.reason, 5, &decisions);
            } else if (jobs_state(jobs, action.members[m]) != JOB_QUEUED) {
                job_preempt(jobs, action.members[m], action.reason,
                            (struct job_id){0}, 5, &decisions);
            }
            for (uint32_t k = 0; k < decisions.event_count; k++) {
                holds &= jobs_apply(jobs, &decisions.scope,
                                    &decisions.events[k], &change) != JOBS_LATE;
            }
        }
    }
    return holds;
}

static bool deciding(struct tape *tape)
{
    auto_ptr(jobs) jobs = jobs_create();
    auto_arena arena = {0};
    struct job_rules rules = {.retries_max = 1, .now_ms = 5};
    struct jobs_change change;

    policy_defaults(&policy);
    jobs_set_policy(jobs, &policy);
    for (uint64_t left = draw(tape, 0, EVENTS); left > 0; left--) {
        struct drawn d;
        draw_event(tape, &d);
        jobs_apply(jobs, &d.scope, &d.event, &change);
        strbuf_fini(&d.digest);
    }
    jobs_expire(jobs, rules.now_ms);
    for (int turn = 0; jobs_has_dirty(jobs); turn++) {
        uint32_t count;
        auto_mem uint32_t *dirty = jobs_take_dirty(jobs, 0, &count);
        if (turn > 4) {
            return false;
        }
        for (uint32_t i = 0; i < count; i++) {
            struct job_decisions decisions;
            job_due(jobs, dirty[i], &rules, &arena, &decisions);
            for (uint32_t k = 0; k < decisions.event_count; k++) {
                if (jobs_apply(jobs, &decisions.scope, &decisions.events[k],
                               &change) == JOBS_LATE) {
                    return false;
                }
            }
        }
        if (!settle_groups(jobs, &arena)) {
            return false;
        }
    }
    for (uint32_t job = 0; job < jobs_index_end(jobs); job++) {
        struct job_decisions decisions = {.event_count = 0};
        if (jobs_is_live(jobs, job)) {
            job_due(jobs, job, &rules, &arena, &decisions);
        }
        if (decisions.event_count > 0) {
            return false;
        }
    }
    jobs_assert_valid(jobs);
    return true;
}

int main(void)
{
    bool holds = prop_check("folding", folding, 1000, 0);

    holds &= prop_check("snapshots", snapshots, 3000, 0);
    return prop_check("deciding", deciding, 1000, 0) && holds ? 0 : 1;
}
