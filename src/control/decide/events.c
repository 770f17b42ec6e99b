/* Adds sequences from outside to the batch: requests of users, reports of
 * executors. */
#include "control/decide/events.h"

#include "control/decide/decide.h"
#include "control/fold/fold.h"
#include "control/state/inbox.h"
#include "control/state/state.h"

static bool is_report(enum event_type type)
{
    switch ((int)type) {
    case EVENT_RUN_ASSIGNED:
    case EVENT_RUN_RUNNING:
    case EVENT_RUN_SUCCEEDED:
    case EVENT_RUN_ERRORS:
    case EVENT_RUN_PREEMPTED:
    case EVENT_INGRESS_INFO:
    case EVENT_UTILISATION:
        return true;
    default:
        return false;
    }
}

/* Whether who reports may report on the run of a job. */
static bool is_of_reporter(const struct looking *l, uint32_t job)
{
    const struct command *command = l->command;
    struct job_view view;

    if (command->events.executor_count == 0) {
        return true;
    }
    jobs_get(l->c->jobs, job, &view);
    for (uint32_t i = 0; i < command->events.executor_count; i++) {
        if (str_equal(view.run.executor_id, command->events.executors[i])) {
            return true;
        }
    }
    return false;
}

/* An executor reports at least once, also after the end: the leader does not
 * append a report that changes nothing, so that no stream shows it.  Nor does
 * it append reports on runs of other executors; it does not refuse them,
 * because an executor with a new name would repeat them for ever.  Nor does it
 * append a job taken up from elsewhere that it already has. */
static bool is_late(const struct looking *l, const struct event *event)
{
    const struct control *c = l->c;

    if (event->type == EVENT_SUBMIT) {
        return jobs_find(c->jobs, event->job) != JOBS_NONE;
    }
    if (!is_report(event->type)) {
        return false;
    }
    uint32_t job = jobs_find_run(c->jobs, event->run);
    if (job == JOBS_NONE || !jobs_has_id(c->jobs, job, event->job) ||
        !is_of_reporter(l, job)) {
        return true;
    }
    enum job_happening happening = job_happening_of(event);
    return happening != JOB_ON_OTHER &&
           job_state_next(jobs_state(c->jobs, job), happening) == JOB_NONE;
}

/* What is held in this batch does not start in it.  It says nothing of what
 * runs and of gangs, which are decided about together. */
static void touch_held(struct control *c, const struct event *event)
{
    uint32_t job = jobs_find(c->jobs, event->job);
    struct job_view view;

    if (job == JOBS_NONE || jobs_state(c->jobs, job) != JOB_QUEUED) {
        return;
    }
    jobs_get(c->jobs, job, &view);
    if (view.gang_index == JOBS_NONE && !batch_is_touched(&c->batch, job)) {
        batch_touch(&c->batch, job);
    }
}

/* A run that ends in this batch is not preempted in it as well; and a gang that
 * a user preempts is, as the log tells, what runs of it now. */
void batch_touch_ended(struct control *c, const struct event *event)
{
    enum job_happening happening = job_happening_of(event);
    struct job_view view;

    if (event->type == EVENT_HOLD_CHANGED) {
        touch_held(c, event);
    }
    if (event->type == EVENT_PREEMPT) {
        uint32_t job = jobs_find(c->jobs, event->job);
        if (job != JOBS_NONE) {
            jobs_get(c->jobs, job, &view);
            batch_leave(c, view.gang_index);
        }
    }
    if (happening >= JOB_ON_RUN_SUCCEEDED &&
        happening <= JOB_ON_RUN_CANCELLED) {
        uint32_t job = jobs_find_run(c->jobs, event->run);
        if (job != JOBS_NONE) {
            ASSERT(jobs_is_live(c->jobs, job)); /* runs end before jobs */
            batch_touch(&c->batch, job);
        }
    }
}

static bool changes_pools(enum event_type type)
{
    return type == EVENT_POOL_SET || type == EVENT_POOL_DELETED ||
           type == EVENT_POLICY_SET;
}

/* First all is judged: a command is appended whole or not at all. */
static int judge(const struct log_item *item, void *ctx)
{
    struct looking *l = ctx;

    l->event_count++;
    if (is_late(l, &item->event)) {
        l->late_count++;
        return 0;
    }
    if (changes_pools(item->event.type)) {
        l->must_wait = pools_is_any_busy(l->c->pools);
        l->c->batch.changes_pools |= !l->must_wait;
    } else if (item->event.type == EVENT_EXECUTOR_NODES &&
               pools_object_count(l->c->pools) > 0) {
        l->must_wait = pools_is_any_busy(l->c->pools);
        l->c->batch.moves_nodes |= !l->must_wait;
    }
    if (item->event.type == EVENT_WINDOW_SET ||
        item->event.type == EVENT_WINDOW_DELETED) {
        /* What is planned in this batch does not know of it yet. */
        l->c->batch.changes_windows = l->c->batch.moves_nodes = true;
    }
    if (l->must_wait || events_is_refused(l, &item->scope, &item->event)) {
        return -ERR_INVALID;
    }
    /* If the command is refused after all, these delay something, no more. */
    batch_touch_ended(l->c, &item->event);
    l->c->batch.deletes_a_queue |= item->event.type == EVENT_QUEUE_DELETED;
    l->c->batch.has_periodic |= l->command->events.is_periodic;
    return 0;
}

static int add_if_not_late(const struct log_item *item, void *ctx)
{
    struct looking *l = ctx;

    if (!is_late(l, &item->event)) {
        log_batch_add_encoded(&l->c->batch.log, &item->scope, item->encoded);
    }
    return 0;
}

static void soon_to_judge(const struct log_item *item, uint32_t stage,
                          void *ctx)
{
    fold_soon(item, stage, ((struct looking *)ctx)->c);
}

static int walk(struct looking *l, struct str bytes, log_item_fn *fn)
{
    struct log_taker taker = {fn, soon_to_judge, l};

    arena_reset(&l->c->scratch);
    return log_decode_sequence_ahead(bytes, &l->c->scratch, &taker, &l->err);
}

/* How many events a sequence has, and how many of them are late. */
struct judged {
    uint32_t event_count, late_count;
};

static bool judge_all(struct looking *l, const struct command *command,
                      struct judged *judged)
{
    for (uint32_t i = 0; i < command->events.sequence_count; i++) {
        l->event_count = l->late_count = 0;
        if (walk(l, command->events.sequences[i].bytes, judge) < 0) {
            if (!l->text && !l->must_wait) {
                events_refuse(l, COMMAND_INVALID, l->err.text);
            }
            return false;
        }
        judged[i] = (struct judged){l->event_count, l->late_count};
    }
    return true;
}

static void add_sequence(struct looking *l, struct str bytes,
                         const struct judged *judged)
{
    ASSERT(judged->late_count <= judged->event_count);
    l->c->metrics.late_count += judged->late_count;
    if (judged->late_count == judged->event_count) {
        return;
    }
    if (judged->late_count == 0) {
        log_batch_add_sequence(&l->c->batch.log, bytes, judged->event_count);
        return;
    }
    int rc = walk(l, bytes, add_if_not_late);
    ASSERT(rc == 0); /* it was sound a moment ago */
}

bool batch_add_events(struct control *c, struct command *command,
                      bool *ret_must_wait)
{
    struct looking l = {
        .c = c, .command = command, .object_wish = command->events.object_wish};
    uint32_t before = c->batch.log.event_count;
    struct judged *judged = arena_alloc_array(
        &c->batch.arena, command->events.sequence_count, sizeof(*judged));

    bool is_good = judge_all(&l, command, judged);
    *ret_must_wait = l.must_wait;
    if (l.must_wait) {
        return false;
    }
    if (!is_good) {
        command_answer(command, l.result, l.text);
        return false;
    }
    for (uint32_t i = 0; i < command->events.sequence_count; i++) {
        add_sequence(&l, command->events.sequences[i].bytes, &judged[i]);
    }
    if (c->batch.log.event_count == before) {
        command_answer(command, COMMAND_OK, ""); /* all of it was late */
        return false;
    }
    return true;
}
