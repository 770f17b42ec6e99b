/* Repeats the decisions that are due for jobs, for groups and for failing
 * nodes, and the rejection of jobs that can never run. */
#include "control/audit/audit_private.h"
#include "control/decide/decide.h"
#include "job/table/groups.h"

/* Whether the record goes on with what is due to a job. */
static bool is_next(struct control_audit *audit, size_t at,
                    const struct job_decisions *decisions)
{
    auto_strbuf encoded = {0};

    for (uint32_t i = 0; i < decisions->event_count; i++) {
        struct audit_event made = {.scope = decisions->scope,
                                   .event = decisions->events[i]};
        const struct audit_event *got = audit_event_at(&audit->record, at + i);
        strbuf_clear(&encoded);
        log_encode_event(&encoded, &decisions->events[i]);
        made.encoded = strbuf_str(&encoded);
        if (!got || !audit_is_same(&made, got)) {
            audit_differ(audit, at + i, &made);
            return false;
        }
    }
    return true;
}

void audit_make_due(struct control_audit *audit, size_t *at)
{
    struct control *c = audit->control;
    bool goes_on = true;
    uint32_t count;

    ASSERT(*at <= audit->record.events.count);
    jobs_expire(c->jobs, c->batch.time_ms);
    auto_mem uint32_t *dirty = jobs_take_dirty(c->jobs, 0, &count);

    for (uint32_t i = 0; i < count; i++) {
        struct job_decisions decisions = {0};
        if (goes_on && !batch_is_touched(&c->batch, dirty[i])) {
            struct job_rules rules = batch_job_rules(c, dirty[i]);
            job_due(c->jobs, dirty[i], &rules, &c->batch.arena, &decisions);
            if (decisions.event_count == 0) {
                continue;
            }
            goes_on = is_next(audit, *at, &decisions);
            if (goes_on) {
                *at += decisions.event_count;
                goes_on = batch_add_due(c, dirty[i]);
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
    const struct audit_event *next = audit_event_at(&audit->record, at);
    uint32_t job = next ? jobs_find(c->jobs, next->event.job) : JOBS_NONE;
    struct job_view view;

    if (job == JOBS_NONE) {
        return false;
    }
    jobs_get(c->jobs, job, &view);
    return view.gang_index == gang;
}

bool audit_make_groups(struct control_audit *audit, size_t *at)
{
    struct control *c = audit->control;
    bool is_equal = true;
    uint32_t count;
    auto_mem uint32_t *gangs =
        jobs_take_groups(c->jobs, c->batch.time_ms, &count);

    for (uint32_t i = 0; i < count; i++) {
        if (is_equal && batch_group_is_silent(c, gangs[i])) {
            (void)batch_add_group(c, gangs[i]); /* none of it starts now */
            jobs_mark_group(c->jobs, gangs[i]);
        } else if (is_equal && is_next_of_gang(audit, *at, gangs[i]) &&
                   batch_add_group(c, gangs[i])) {
            is_equal = audit_compare(audit, at);
        } else {
            jobs_mark_group(c->jobs, gangs[i]);
        }
    }
    return is_equal;
}

bool audit_make_rejections(struct control_audit *audit, size_t *at)
{
    struct control *c = audit->control;
    const struct audit_event *next;

    while ((next = audit_event_at(&audit->record, *at)) &&
           next->event.type == EVENT_FAILED &&
           next->event.error.kind != ERROR_GANG_UNSCHEDULABLE) {
        uint32_t job = jobs_find(c->jobs, next->event.job);
        size_t before = *at;
        uint32_t look_count = 0;
        if (job != JOBS_NONE && jobs_state(c->jobs, job) == JOB_QUEUED &&
            !batch_is_touched(&c->batch, job)) {
            batch_check_member(c, job);
            if (!batch_is_touched(&c->batch, job)) {
                (void)batch_check_job(c, job, &look_count);
            }
        }
        if (!audit_compare(audit, at)) {
            return false;
        }
        if (*at == before) {
            return audit_differ(audit, *at, NULL);
        }
    }
    return true;
}

bool audit_make_health(struct control_audit *audit, size_t *at)
{
    const struct audit_event *next = audit_event_at(&audit->record, *at);

    if (next && next->event.type == EVENT_NODE_HEALTH) {
        batch_add_health(audit->control);
        return audit_compare(audit, at);
    }
    return true;
}
