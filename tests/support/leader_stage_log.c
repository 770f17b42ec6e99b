/* What the log of a stage says, read as text. */
#include <stdio.h>

#include "leader_stage.h"

struct reading {
    struct job_id job;
    enum event_type type;
    uint32_t count;
    struct strbuf text;
    struct run_id run;
};

static const char *type_text(enum event_type type)
{
    switch ((int)type) {
    case EVENT_SUBMIT:
        return "submit";
    case EVENT_REPRIORITISE:
        return "reprioritise";
    case EVENT_REPRIORITISED:
        return "reprioritised";
    case EVENT_CANCEL:
        return "cancel";
    case EVENT_CANCELLED:
        return "cancelled";
    case EVENT_PREEMPT:
        return "preempt";
    case EVENT_SUCCEEDED:
        return "succeeded";
    case EVENT_FAILED:
        return "failed";
    case EVENT_LEASED:
        return "leased";
    case EVENT_RUN_PREEMPTED:
        return "run-preempted";
    case EVENT_REQUEUED:
        return "requeued";
    case EVENT_RUN_CANCELLED:
        return "run-cancelled";
    case EVENT_RUN_ASSIGNED:
        return "assigned";
    case EVENT_RUN_RUNNING:
        return "running";
    case EVENT_RUN_SUCCEEDED:
        return "run-succeeded";
    case EVENT_RUN_ERRORS:
        return "run-errors";
    case EVENT_ADMITTED:
        return "admitted";
    case EVENT_DISMISSED:
        return "dismissed";
    default:
        return "other";
    }
}

static int read_item(const struct log_item *item, void *ctx)
{
    struct reading *r = ctx;
    const struct event *event = &item->event;

    r->count += event->type == r->type;
    if (key128_is_none(r->job.v) ||
        key128_compare(event->job.v, r->job.v) != 0) {
        return 0;
    }
    if (r->type == EVENT_NONE) {
        strbuf_addf(&r->text, "%s%s", r->text.byte_count ? " " : "",
                    type_text(event->type));
    } else if (event->type == EVENT_FAILED && r->type == EVENT_FAILED) {
        strbuf_clear(&r->text);
        strbuf_add_str(&r->text, event->error.message);
    } else if (event->type == EVENT_RUN_PREEMPTED && r->type == event->type) {
        strbuf_clear(&r->text);
        strbuf_add_str(&r->text, event->preempted.reason);
    }
    if (event->type == EVENT_LEASED) {
        r->run = event->run;
    }
    return 0;
}

static int read_record(void *ctx, const struct elog_record *record)
{
    auto_arena arena = {0};
    struct err err;

    return log_decode(record->payload, &arena, read_item, ctx, &err);
}

static struct reading read_log(struct stage *stage, struct job_id job,
                               enum event_type type)
{
    struct reading r = {.job = job, .type = type};
    struct elog_reader *reader;
    struct elog_bounds bounds;
    struct err err;
    struct elog *log = elog_memory_open(stage->storage);

    int rc = elog_reader_open(log, &reader, &err);
    ASSERT(rc == 0);
    rc = elog_bounds(reader, &bounds, &err);
    ASSERT(rc == 0);
    struct elog_range range = {.from_seq = bounds.first_seq};
    rc = elog_read(reader, &range, read_record, &r, &err);
    ASSERT(rc >= 0);
    elog_reader_close(reader);
    elog_close(log);
    return r;
}

char *stage_history(struct stage *stage, struct job_id job)
{
    struct reading r = read_log(stage, job, EVENT_NONE);

    return strbuf_steal(&r.text);
}

char *stage_failure(struct stage *stage, struct job_id job)
{
    struct reading r = read_log(stage, job, EVENT_FAILED);

    return strbuf_steal(&r.text);
}

char *stage_preemption(struct stage *stage, struct job_id job)
{
    struct reading r = read_log(stage, job, EVENT_RUN_PREEMPTED);

    return strbuf_steal(&r.text);
}

struct run_id stage_run(struct stage *stage, struct job_id job)
{
    struct reading r = read_log(stage, job, EVENT_LEASED);

    return r.run;
}

bool stage_is_made_again(struct stage *stage,
                         struct control_audit_counts *ret_counts)
{
    struct elog *log = elog_memory_open(stage->storage);
    struct elog_reader *reader = NULL;
    struct control_audit *audit = control_audit_create();
    struct control_difference difference = {0};
    struct err err;
    int rc = elog_reader_open(log, &reader, &err);

    rc = rc < 0 ? rc : control_audit_begin(audit, reader, &err);
    while (rc >= 0 && (rc = control_audit_read(audit, reader, 100, &difference,
                                               &err)) > 0) {
    }
    if (rc < 0) {
        fprintf(stderr, "  %s: expected %s, got %s\n", err.text,
                difference.expected, difference.got);
    }
    if (ret_counts) {
        *ret_counts = control_audit_counts(audit);
    }
    control_audit_destroy(audit);
    elog_reader_close(reader);
    elog_close(log);
    return rc == 0;
}

uint32_t stage_count(struct stage *stage, enum event_type type)
{
    struct job_id none = {{0, 0}};

    return read_log(stage, none, type).count;
}
