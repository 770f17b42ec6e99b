#include "control/audit/audit.h"

#include <inttypes.h>

#include "control/audit/audit_private.h"
#include "control/decide/decide.h"
#include "control/fold/fold.h"
#include "control/leader/leader.h"
#include "control/round/rounds.h"

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

void control_audit_destroy(struct control_audit *audit)
{
    if (!audit) {
        return;
    }
    control_destroy(audit->control);
    inbox_destroy(audit->inbox);
    queue_table_destroy(audit->queues);
    queue_table_destroy(audit->retry_policies);
    audit_list_fini(&audit->record);
    audit_list_fini(&audit->answers);
    VEC_FREE(&audit->made);
    mem_free(audit);
}

struct control_audit_counts
control_audit_counts(const struct control_audit *audit)
{
    return audit->counts;
}

/* Making again. */

static bool make_from(struct control_audit *audit, size_t begin)
{
    struct control *c = audit->control;
    size_t at = begin;

    ASSERT(begin <= audit->record.events.count);
    rounds_forget(c); /* of the try before */
    batch_clear(&c->batch);
    c->form_no++;
    c->batch.time_ms = audit->time_ms;
    audit->difference->expected[0] = '\0';
    for (size_t i = 0; i < begin; i++) {
        batch_touch_ended(c, &audit->record.events.items[i].event);
    }
    audit_make_due(audit, &at);
    bool is_equal =
        audit_make_groups(audit, &at) && audit_make_rejections(audit, &at) &&
        audit_make_health(audit, &at) && audit_make_plans(audit, &at);
    if (!is_equal) {
        for (size_t i = 0; i < c->batch.due.count; i++) {
            jobs_mark_dirty(c->jobs, c->batch.due.items[i]);
        }
    }
    return is_equal;
}

/* Decide again what the record decides; false when it differs. */
static bool make_again(struct control_audit *audit)
{
    size_t from, least, most;

    if (!audit_make_leading(audit, &from)) {
        return false;
    }
    audit_bound(&audit->record, from, &least, &most);
    if (least > most) {
        return audit_differ(audit, most,
                            NULL); /* decided before all was said */
    }
    audit->is_final = false;
    for (size_t begin = least; begin <= most && !audit->is_final; begin++) {
        if (make_from(audit, begin)) {
            ASSERT(most <= audit->record.events.count);
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
    round_log_clear(c);
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
    int rc = audit_list_read(&audit->record, record->payload, audit->err);
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
