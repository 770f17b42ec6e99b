/* What becomes of jobs: read off the log of the copy, and reported to it as
 * executors would. */
#include "base/heap.h"
#include "control/state/state.h"
#include "control/what_if/private.h"
#include "job/table/jobs.h"

enum { NEVER = -1, READ_BYTES = 4 << 20, REPORT_BYTES = 4 << 20 };

static bool ends_before(const void *ctx, const struct what_if_end *a,
                        const struct what_if_end *b)
{
    (void)ctx;
    return a->at_ms != b->at_ms ? a->at_ms < b->at_ms
                                : key128_compare(a->run.v, b->run.v) < 0;
}

DEFINE_HEAP(ends, struct what_if_end, 2, const void *, ends_before, HEAP_PLAIN);

/* Jobs. */

static struct what_if_tally *tally_of(struct what_if *what_if, struct str queue)
{
    uint32_t index = intern_find(&what_if->queue_names, queue);

    if (index == INTERN_NONE) {
        index = intern_add(&what_if->queue_names, queue);
        VEC_PUSH(&what_if->tallies, (struct what_if_tally){0});
    }
    /* Each queue that has a name has a tally. */
    ASSERT(what_if->tallies.count == intern_count(&what_if->queue_names));
    return &what_if->tallies.items[index];
}

static uint32_t name(struct what_if *what_if, struct str text)
{
    uint32_t index = intern_find(&what_if->names, text);

    return index == INTERN_NONE ? intern_add(&what_if->names, text) : index;
}

static struct what_if_job *job_of(struct what_if *what_if, struct job_id id,
                                  struct str queue, struct str job_set)
{
    uint32_t at = map_find(&what_if->index, id.v);

    if (at == MAP_NONE) {
        at = (uint32_t)what_if->jobs.count;
        (void)tally_of(what_if, queue);
        struct what_if_job job = {
            .id = id,
            .queue = intern_find(&what_if->queue_names, queue),
            .job_set = name(what_if, job_set),
            .node = INTERN_NONE,
            .executor = INTERN_NONE,
            .pool = INTERN_NONE,
            .started_ms = NEVER,
            .preempted_ms = NEVER,
            .ended_ms = NEVER,
            .last_preemption = WHAT_IF_NONE,
        };
        VEC_PUSH(&what_if->jobs, job);
        (void)map_put(&what_if->index, id.v, at);
    }
    ASSERT(key128_compare(what_if->jobs.items[at].id.v, id.v) == 0);
    return &what_if->jobs.items[at];
}

static int64_t course_ms(const struct what_if *what_if)
{
    ASSERT(what_if->now_ms >= what_if->began_ms); /* time goes on */
    return what_if->now_ms - what_if->began_ms;
}

/* Ends of runs. */

/* How long a run takes that is `age_ms` old; 0: nobody knows. */
static int64_t run_ms(const struct what_if *what_if,
                      const struct job_view *view, int64_t age_ms)
{
    struct run_times_of of = {view->queue, view->user, view->class_key};
    auto_arena arena = {0};
    struct requirement requirement;
    struct run_time time;

    if (requirement_unpack(view->class_key, &arena, &requirement) < 0 ||
        !run_times_predict(what_if->run_times, &of, requirement.deadline_ms,
                           age_ms, &time)) {
        return 0;
    }
    return what_if->by == WHAT_IF_P90 ? time.p90_ms : time.p50_ms;
}

/* A run began at a moment of the course (before it: a negative one); when it
 * ends, if that is known. */
static void add_end(struct what_if *what_if, const struct job_view *view,
                    int64_t began_ms)
{
    int64_t now_ms = course_ms(what_if);
    int64_t takes_ms = run_ms(what_if, view, now_ms - began_ms);

    if (takes_ms <= 0 || takes_ms > WHAT_IF_SPAN_MS_MAX + what_if->began_ms) {
        return;
    }
    int64_t at_ms = began_ms + takes_ms;
    struct what_if_end end = {
        .at_ms = at_ms > now_ms ? at_ms : now_ms, /* it is overdue */
        .run = view->run.id,
    };
    VEC_RESERVE(&what_if->ends, 1);
    ends_rise(NULL, what_if->ends.items, what_if->ends.count++, end);
}

int64_t what_if_next_end(const struct what_if *what_if)
{
    return what_if->ends.count ? what_if->ends.items[0].at_ms : INT64_MAX;
}

static void report(struct what_if *what_if, const struct job_view *view,
                   enum event_type type)
{
    struct event_scope scope = {view->queue, view->job_set, view->user};
    struct event event;

    memset(&event, 0, sizeof(event));
    event.type = type;
    event.created_ms = what_if->now_ms;
    event.job = view->id;
    event.run = view->run.id;
    event.pod.executor_id = view->run.executor_id;
    event.pod.node_name = view->run.node_name;
    event.pod.pool = view->run.pool;
    log_batch_add(&what_if->reports, &scope, &event);
}

/* What is reported at one moment may be more than one command may hold. */
static int report_if_large(struct what_if *what_if, struct err *err)
{
    return log_batch_bytes(&what_if->reports) > REPORT_BYTES
               ? what_if_report(what_if, err)
               : 0;
}

int what_if_end_runs(struct what_if *what_if, struct err *err)
{
    const struct jobs *jobs = what_if->control->jobs;
    int rc = 0;

    while (rc == 0 && what_if_next_end(what_if) <= course_ms(what_if)) {
        uint32_t job = jobs_find_run(jobs, what_if->ends.items[0].run);
        struct job_view view;
        ends_remove(NULL, what_if->ends.items, --what_if->ends.count, 0);
        if (job != JOBS_NONE) {
            jobs_get(jobs, job, &view);
            report(what_if, &view, EVENT_RUN_SUCCEEDED);
            rc = report_if_large(what_if, err);
        }
    }
    return rc < 0 ? rc : what_if_report(what_if, err);
}

int what_if_report(struct what_if *what_if, struct err *err)
{
    int rc = 0;

    if (what_if->reports.event_count) {
        rc = what_if_post_batch(what_if, &what_if->reports, err);
        log_batch_clear(&what_if->reports);
    }
    return rc;
}

/* The beginning and the end. */

static void note_place(struct what_if *what_if, struct what_if_job *job,
                       const struct job_run *run)
{
    job->node = name(what_if, run->node_name);
    job->executor = name(what_if, run->executor_id);
    job->pool = name(what_if, run->pool);
}

int what_if_note_first(struct what_if *what_if, struct err *err)
{
    const struct control *c = what_if->control;
    struct job_view view;
    int rc = 0;

    for (uint32_t i = 0; i < jobs_index_end(c->jobs) && rc == 0; i++) {
        if (i % WHAT_IF_JOBS_AT_ONCE == 0) {
            rc = what_if_check(what_if, err);
        }
        if (!jobs_is_live(c->jobs, i)) {
            continue;
        }
        jobs_get(c->jobs, i, &view);
        if (!view.has_run) {
            tally_of(what_if, view.queue)->waited_count++;
            what_if->unstarted_count++;
            continue;
        }
        struct what_if_job *job =
            job_of(what_if, view.id, view.queue, view.job_set);
        job->ran_at_first = true;
        note_place(what_if, job, &view.run);
        add_end(what_if, &view,
                view.run.started_ms ? view.run.started_ms - what_if->began_ms
                                    : 0);
    }
    return rc;
}

int what_if_note_last(struct what_if *what_if, struct err *err)
{
    const struct control *c = what_if->control;
    int rc = 0;

    for (uint32_t i = 0; i < jobs_index_end(c->jobs) && rc == 0; i++) {
        struct job_view view;
        if (i % WHAT_IF_JOBS_AT_ONCE == 0) {
            rc = what_if_check_stop(what_if, err);
        }
        if (jobs_is_live(c->jobs, i)) {
            jobs_get(c->jobs, i, &view);
            struct what_if_tally *tally = tally_of(what_if, view.queue);
            tally->running_count += view.has_run;
            tally->waiting_count += !view.has_run;
        }
    }
    return rc;
}

/* News. */

struct reading {
    struct what_if *what_if;
    struct err *err;
    struct arena arena;
    bool has_reports;
};

/* One that was submitted meanwhile counts too: then it ends sooner. */
static void note_waits_no_more(struct what_if *what_if)
{
    what_if->unstarted_count -= what_if->unstarted_count > 0;
}

static void note_leased(struct reading *reading, const struct event *event,
                        struct what_if_job *job)
{
    struct what_if *what_if = reading->what_if;
    uint32_t index = jobs_find_run(what_if->control->jobs, event->run);
    struct job_view view;

    if (job->started_ms == NEVER && !job->ran_at_first) {
        job->started_ms = course_ms(what_if);
        note_waits_no_more(what_if);
    }
    if (!job->ran_at_first && job->last_preemption == WHAT_IF_NONE) {
        job->node = name(what_if, event->leased.node_name);
        job->executor = name(what_if, event->leased.executor_id);
        job->pool = name(what_if, event->leased.pool);
    }
    if (index != JOBS_NONE) {
        jobs_get(what_if->control->jobs, index, &view);
        report(what_if, &view, EVENT_RUN_RUNNING);
        add_end(what_if, &view, course_ms(what_if));
        reading->has_reports = true;
    }
}

static void note_preempted(struct what_if *what_if, struct what_if_job *job)
{
    struct what_if_preemption preemption = {course_ms(what_if),
                                            job->last_preemption};

    if (job->preempted_ms == NEVER) {
        job->preempted_ms = course_ms(what_if);
    }
    /* It is preempted after it was, or at the same moment. */
    ASSERT(job->last_preemption == WHAT_IF_NONE ||
           job->preempted_ms <= preemption.at_ms);
    job->last_preemption = (uint32_t)what_if->preemptions.count;
    VEC_PUSH(&what_if->preemptions, preemption);
}

static void note_ended(struct what_if *what_if, const struct event *event,
                       struct what_if_job *job)
{
    if (job->ended_ms == NEVER) {
        job->ended_ms = course_ms(what_if);
        if (job->started_ms == NEVER && !job->ran_at_first) {
            note_waits_no_more(what_if);
        }
    }
    job->is_refused |= event->type == EVENT_FAILED &&
                       (event->error.kind == ERROR_REJECTED ||
                        event->error.kind == ERROR_GANG_UNSCHEDULABLE);
}

static int note_event(const struct log_item *item, void *ctx)
{
    struct reading *reading = ctx;
    struct what_if *what_if = reading->what_if;
    const struct event *event = &item->event;

    if (event->type == EVENT_SUBMIT) {
        tally_of(what_if, item->scope.queue)->waited_count++;
        return 0;
    }
    if (event->type != EVENT_LEASED && event->type != EVENT_RUN_PREEMPTED &&
        event->type != EVENT_SUCCEEDED && event->type != EVENT_FAILED &&
        event->type != EVENT_CANCELLED) {
        return 0;
    }
    struct what_if_job *job =
        job_of(what_if, event->job, item->scope.queue, item->scope.job_set);
    if (event->type == EVENT_LEASED) {
        note_leased(reading, event, job);
    } else if (event->type == EVENT_RUN_PREEMPTED) {
        note_preempted(what_if, job);
    } else {
        note_ended(what_if, event, job);
    }
    return 0;
}

static int note_record(void *ctx, const struct elog_record *record)
{
    struct reading *reading = ctx;

    reading->what_if->read_seq = record->seq;
    arena_reset(&reading->arena);
    return log_decode(record->payload, &reading->arena, note_event, reading,
                      reading->err);
}

int what_if_note_news(struct what_if *what_if, struct err *err)
{
    struct reading reading = {.what_if = what_if, .err = err};
    int count;

    do {
        struct elog_range range = {
            .from_seq = what_if->read_seq + 1,
            .byte_count_max = READ_BYTES,
        };
        count = elog_read(what_if->reader, &range, note_record, &reading, err);
        int rc = count < 0 ? count : what_if_check(what_if, err);
        rc = rc < 0 ? rc : report_if_large(what_if, err);
        count = rc < 0 ? rc : count;
    } while (count > 0);
    arena_fini(&reading.arena);
    return count < 0 ? count : reading.has_reports;
}
