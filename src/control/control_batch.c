/* Forming the next batch, on the state after the last: commands, silence,
 * what is owed, the scheduler's plan; in this order. */
#include "control/control_batch.h"

#include <stdio.h>

#include "base/hash.h"
#include "control/control_answers.h"
#include "control/control_exchange.h"
#include "control/control_executors.h"
#include "control/control_explain.h"
#include "control/control_fold.h"
#include "control/control_health.h"
#include "control/control_private.h"
#include "control/control_rounds.h"
#include "control/control_training.h"

enum {
    /* Of jobs that may fit nowhere, in one batch: jobs passed by, jobs asked
     * about, and nodes looked at for them (but one job always). */
    SCANS_MAX = 16384,
    CHECKS_MAX = 1024,
    LOOKS_MAX = 50000,
    CLIENT_ID_AGE_MS_MAX = 7 * 24 * 3600 * 1000, /* then it is a new job */
};
_Static_assert(COMMAND_BYTES_MAX <= CONTROL_BATCH_BYTES_MAX / 2,
               "a command fits into a record beside others");

bool batch_is_touched(const struct batch *batch, uint32_t job)
{
    return job / 64 < batch->touched.count &&
           (batch->touched.items[job / 64] >> (job % 64) & 1);
}

void batch_touch(struct batch *batch, uint32_t job)
{
    while (batch->touched.count <= job / 64) {
        VEC_PUSH(&batch->touched, 0);
    }
    batch->touched.items[job / 64] |= (uint64_t)1 << (job % 64);
    VEC_PUSH(&batch->touched_jobs, job);
}

void batch_clear(struct batch *batch)
{
    for (size_t i = 0; i < batch->touched_jobs.count; i++) {
        batch->touched.items[batch->touched_jobs.items[i] / 64] = 0;
    }
    batch->touched_jobs.count = 0;
    batch->owed.count = 0;
    batch->planned.count = 0;
    batch->quiet_count = 0;
    batch->fresh.count = 0;
    map_fini(&batch->fresh_by_key);
    log_batch_clear(&batch->log);
    arena_reset(&batch->arena);
    batch->first = batch->last = NULL;
    batch->decision_count = 0;
    batch->submit_count = 0;
    batch->fresh_node_count = 0;
    batch->is_in_flight = batch->is_told = batch->is_announcement = false;
    batch->changes_pools = batch->moves_nodes = batch->is_counted = false;
    batch->deletes_a_queue = batch->has_training = false;
}

void batch_keep(struct batch *batch, struct command *command)
{
    command->next = NULL;
    if (batch->last) {
        batch->last->next = command;
    } else {
        batch->first = command;
    }
    batch->last = command;
}

void batch_add_decisions(struct batch *batch,
                         const struct job_decisions *decisions)
{
    for (uint32_t i = 0; i < decisions->event_count; i++) {
        log_batch_add(&batch->log, &decisions->scope, &decisions->events[i]);
    }
    batch->decision_count += decisions->event_count > 0;
}

/* Commands. */

/* The job that an item repeats; false if it is new.  A negative code when
 * that cannot be found out. */
static int find_original(struct control *c, struct str queue,
                         const struct submit_item *item, struct job_id *ret_job,
                         bool *ret_is_fresh)
{
    const struct control_hooks *hooks = &c->config.hooks;
    struct key128 key = dedup_key(c->dedup, queue, item->client_id);
    uint32_t fresh = map_find(&c->batch.fresh_by_key, key);
    struct job_id job;
    int found = 0;

    *ret_is_fresh = fresh != MAP_NONE;
    if (fresh != MAP_NONE) {
        *ret_job = c->batch.fresh.items[fresh];
        return 1;
    }
    if (dedup_find(c->dedup, key, &job)) {
        found = 1;
    } else if (dedup_has_forgotten(c->dedup) && hooks->find_client_id) {
        found = hooks->find_client_id(hooks->ctx, queue, item->client_id, &job);
    }
    if (found <= 0) {
        return found;
    }
    *ret_job = job;
    return c->batch.time_ms - job_id_time_ms(job) < CLIENT_ID_AGE_MS_MAX;
}

static bool is_new(const struct submit_item *item)
{
    return key128_compare(item->job.v, item->ret_job.v) == 0;
}

/* Find the originals of all items; how many are new, or a negative code.
 * Items of one request are not compared with each other. */
static int find_originals(struct control *c, struct command *command,
                          bool *ret_must_wait)
{
    int fresh_count = 0;

    *ret_must_wait = false;
    for (uint32_t i = 0; i < command->submit.item_count; i++) {
        struct submit_item *item = &command->submit.items[i];
        bool is_of_batch = false;
        int found = 0;
        item->ret_job = item->job;
        if (item->is_further && !is_new(item - 1)) {
            item->ret_job = item[-1].ret_job;
            continue;
        }
        if (item->client_id.byte_count) {
            found = find_original(c, command->scope.queue, item, &item->ret_job,
                                  &is_of_batch);
        }
        if (found < 0) {
            return found;
        }
        if (!found) {
            item->ret_job = item->job;
        }
        fresh_count += !found;
        *ret_must_wait |= is_of_batch;
    }
    return fresh_count;
}

static void add_submission(struct control *c, struct command *command)
{
    if (command->submit.training_name.byte_count) {
        log_batch_add_encoded(&c->batch.log, &command->scope,
                              command->submit.training_event);
        c->batch.has_training = true;
    }
    for (uint32_t i = 0; i < command->submit.item_count; i++) {
        const struct submit_item *item = &command->submit.items[i];
        if (!is_new(item)) {
            c->metrics.duplicate_count++;
            continue;
        }
        log_batch_add_encoded(&c->batch.log, &command->scope, item->event);
        c->batch.submit_count++;
        if (item->client_id.byte_count) {
            struct key128 key =
                dedup_key(c->dedup, command->scope.queue, item->client_id);
            map_put(&c->batch.fresh_by_key, key,
                    (uint32_t)c->batch.fresh.count);
            VEC_PUSH(&c->batch.fresh, item->job);
        }
    }
}

/* A command is for a later batch. */
static void put_back(struct control *c, struct command *command)
{
    if (c->waiting_last) {
        c->waiting_last->next = command;
    } else {
        c->waiting_first = command;
    }
    c->waiting_last = command;
    c->waiting_byte_count += command->byte_count;
}

static void take_submit(struct control *c, struct command *command)
{
    uint32_t queue = queue_find(c, command->scope.queue);
    bool must_wait;
    char text[ERR_TEXT_BYTES_MAX];

    if (queue == NAMES_NONE || !c->queues.items[queue].is_set) {
        snprintf(text, sizeof(text), "could not find queue \"%.*s\"",
                 STR_ARG(command->scope.queue));
        command_answer(command, COMMAND_UNKNOWN_QUEUE, text);
        return;
    }
    if (command->submit.item_count >
        JOBS_MAX - jobs_count(c->jobs) - c->batch.submit_count) {
        command_answer(command, COMMAND_OVERLOADED,
                       "there are as many jobs as this server can hold");
        return;
    }
    bool is_training = command->submit.training_name.byte_count > 0;
    if (is_training && training_refuses(c, command)) {
        return;
    }
    int fresh_count = find_originals(c, command, &must_wait);
    if (fresh_count < 0) {
        command_answer(command, COMMAND_UNAVAILABLE,
                       "the client ids of older jobs cannot be read now");
        return;
    }
    add_submission(c, command);
    if (fresh_count > 0 || must_wait || is_training) {
        batch_keep(&c->batch, command);
    } else {
        command_answer(command, COMMAND_OK, "");
    }
}

/* What changes pools waits until no plan is being made; none begins until
 * then. */
static void add_events(struct control *c, struct command *command)
{
    bool must_wait = false;

    if (batch_add_events(c, command, &must_wait)) {
        batch_keep(&c->batch, command);
    } else if (must_wait) {
        c->holds_plans = true;
        put_back(c, command);
    }
}

static void take_command(struct control *c, struct command *command)
{
    switch (command->kind) {
    case COMMAND_SUBMIT:
        take_submit(c, command);
        break;
    case COMMAND_EVENTS:
        add_events(c, command);
        break;
    case COMMAND_EXCHANGE:
        if (exchange_take(c, command)) {
            batch_keep(&c->batch, command);
        }
        break;
    case COMMAND_SESSION_END:
        session_end(c, command);
        break;
    case COMMAND_TRAINING_UPDATE:
    case COMMAND_TRAINING_DELETE:
        c->batch.has_training = true;
        training_take(c, command);
        break;
    case COMMAND_QUERY_REPORT:
    case COMMAND_QUERY_QUEUES:
    case COMMAND_QUERY_APPS:
    case COMMAND_QUERY_NODES:
    case COMMAND_QUERY_EXECUTORS:
    case COMMAND_QUERY_POOLS:
    case COMMAND_POOL_METRICS:
    case COMMAND_EXPLAIN:
    case COMMAND_QUERY_ADMISSIONS:
    case COMMAND_QUERY_TRAINING:
    case COMMAND_QUERY_GANGS:
        report_answer(c, command);
        break;
    }
}

/* Whether a command is about a TrainingJob, which one in this batch may be
 * about too. */
static bool is_about_training(const struct command *command)
{
    return command->kind == COMMAND_TRAINING_UPDATE ||
           command->kind == COMMAND_TRAINING_DELETE ||
           (command->kind == COMMAND_SUBMIT &&
            command->submit.training_name.byte_count > 0);
}

/* Whether a command is for the batch after this one: for want of room, or
 * since what is in this one decides how it is to be answered. */
static bool belongs_to_next(struct control *c, const struct command *command)
{
    if ((command->kind == COMMAND_EXCHANGE && exchange_must_wait(c, command)) ||
        (command->kind == COMMAND_SUBMIT && c->batch.deletes_a_queue) ||
        (is_about_training(command) && c->batch.has_training) ||
        (command->kind == COMMAND_EVENTS && command->events.pool_wish &&
         c->batch.changes_pools) ||
        rounds_must_wait(c, command)) {
        return true;
    }
    return log_batch_bytes(&c->batch.log) > CONTROL_BATCH_BYTES &&
           (command->kind == COMMAND_SUBMIT ||
            command->kind == COMMAND_EVENTS ||
            command->kind == COMMAND_EXCHANGE);
}

/* Take what waits, as long as the batch has room; keep the order of what is
 * left. */
static void take_commands(struct control *c)
{
    struct command *command = c->waiting_first;

    c->waiting_first = c->waiting_last = NULL;
    c->waiting_byte_count = 0;
    while (command) {
        struct command *next = command->next;
        command->next = NULL;
        if (belongs_to_next(c, command)) {
            put_back(c, command);
        } else if (command->kind != COMMAND_EXCHANGE &&
                   command->byte_count > COMMAND_BYTES_MAX) {
            /* Of an exchange only what is news gets into the record. */
            command_answer(command, COMMAND_OVERLOADED,
                           "the request is larger than one record of the "
                           "log may be");
        } else {
            take_command(c, command);
        }
        command = next;
    }
}

/* What is owed to jobs. */

bool batch_add_owed(struct control *c, uint32_t job)
{
    struct job_rules rules = {
        .retries_max = c->policy->policy.retries_max,
        .now_ms = c->batch.time_ms,
    };
    struct job_decisions decisions;

    job_owed(c->jobs, job, &rules, &c->batch.arena, &decisions);
    if (decisions.event_count == 0) {
        return false;
    }
    batch_add_decisions(&c->batch, &decisions);
    VEC_PUSH(&c->batch.owed, job);
    if (decisions.events[decisions.event_count - 1].type !=
        EVENT_REPRIORITISED) {
        batch_touch(&c->batch, job);
    }
    return true;
}

static void add_owed(struct control *c)
{
    uint32_t count;
    auto_mem uint32_t *dirty =
        jobs_take_dirty(c->jobs, CONTROL_DECISIONS_MAX, &count);

    for (uint32_t i = 0; i < count; i++) {
        /* A run that ends in this batch decides first; errors are long. */
        if (batch_is_touched(&c->batch, dirty[i]) ||
            log_batch_bytes(&c->batch.log) > 2 * CONTROL_BATCH_BYTES) {
            jobs_mark_dirty(c->jobs, dirty[i]);
        } else {
            batch_add_owed(c, dirty[i]);
        }
    }
}

/* Jobs that can never run, or no more, are ended, once there are nodes to
 * tell by. */

/* Nodes that are only closed may open again. */
static bool has_closed_nodes(const struct sched_explanation *e)
{
    return e->nodes_excluded[SCHED_EXCLUDED_EXECUTOR] > 0 ||
           e->nodes_excluded[SCHED_EXCLUDED_UNSCHEDULABLE] > 0 ||
           e->nodes_excluded[SCHED_EXCLUDED_QUARANTINED] > 0;
}

static bool never_fits(const struct sched_explanation *e)
{
    return e->wait == SCHED_WAIT_NEVER_FITS && e->nodes_total > 0 &&
           !has_closed_nodes(e);
}

/* Every node that it could run on has had it. */
static bool is_exhausted(const struct sched_explanation *e)
{
    return e->nodes_excluded[SCHED_EXCLUDED_AVOIDED] > 0 &&
           e->nodes_excluded[SCHED_EXCLUDED_FULL] == 0 &&
           e->nodes_excluded[SCHED_EXCLUDED_RESERVED] == 0 &&
           e->nodes_excluded[SCHED_EXCLUDED_HELD] == 0 && e->nodes_fit == 0 &&
           !has_closed_nodes(e);
}

/* A gang is asked about as a whole, and for what its minimum needs; but one
 * of its jobs that was tried in vain by itself. */
static bool is_of_gang(const struct control *c, uint32_t job)
{
    struct job_tried tried[JOBS_TRIED_MAX];
    struct job_view view;

    jobs_get(c->jobs, job, &view);
    return view.gang_index != JOBS_NONE && jobs_tried(c->jobs, job, tried) == 0;
}

/* A member that fits on no node even alone: what it lacks says more than how
 * many fit.  Members that are alike are looked at once, and a few kinds are
 * enough; false: there is none among them. */
static bool find_misfit(struct control *c, const uint32_t *members,
                        uint32_t count, struct sched_explanation *ret_misfit,
                        uint32_t *ret_looks)
{
    enum { KINDS_MAX = 4 };
    uint32_t kind_count = 0, last = UINT32_MAX;

    for (uint32_t i = 0; i < count && kind_count < KINDS_MAX; i++) {
        uint32_t class_index = c->links.items[members[i]].class_index;
        if (class_index == last) {
            continue;
        }
        last = class_index;
        kind_count++;
        pools_explain_nodes(c->pools, members[i], ret_misfit);
        *ret_looks += ret_misfit->nodes_total;
        if (never_fits(ret_misfit)) {
            return true;
        }
    }
    return false;
}

/* End all of a gang that no nodes could ever hold together; one that is not
 * complete is asked about when it is.  False: nobody can say yet. */
static bool check_gang(struct control *c, uint32_t job, uint32_t *ret_looks)
{
    struct sched_explanation misfit;
    struct sched_gang_miss miss;
    struct job_decisions decisions;
    uint32_t count;

    enum pools_answer answer =
        pools_gang_may_fit(c->pools, job, ret_looks, &miss);
    if (answer != POOLS_NO) {
        return answer == POOLS_YES;
    }
    uint32_t *members =
        pools_gang_waiting(c->pools, job, &c->batch.arena, &count);
    bool is_misfit = find_misfit(c, members, count, &misfit, ret_looks);
    struct str text = report_gang_rejection(
        c, &miss, is_misfit ? &misfit : NULL, &c->batch.arena);
    for (uint32_t i = 0; i < count; i++) {
        if (!batch_is_touched(&c->batch, members[i])) {
            job_refuse(c->jobs, members[i], ERROR_REJECTED, text,
                       c->batch.time_ms, &decisions);
            batch_add_decisions(&c->batch, &decisions);
            batch_touch(&c->batch, members[i]);
            VEC_PUSH(&c->batch.owed, members[i]);
        }
    }
    return true;
}

/* Pools of the configuration have one shard and different nodes. */
static uint64_t hash_pool(const struct control *c, uint32_t job)
{
    struct str name = pools_job_names(c->pools, job);

    return hash_bytes(name.p, name.byte_count, 0);
}

/* End a job that no node can hold; nodes looked at are added to
 * `ret_looks`. */
bool batch_check_job(struct control *c, uint32_t job, uint32_t *ret_looks)
{
    struct control_class *class_ =
        &c->classes.items[c->links.items[job].class_index];
    struct sched_explanation explanation;
    struct job_decisions decisions;

    if (is_of_gang(c, job)) {
        return check_gang(c, job, ret_looks);
    }
    enum pools_answer answer = pools_has_place(c->pools, job, ret_looks);
    if (answer == POOLS_LATER) {
        return false;
    }
    if (answer == POOLS_YES) {
        class_->checked_generation = c->node_generation;
        class_->checked_shard = pools_job_shard(c->pools, job);
        class_->checked_pool = hash_pool(c, job);
        return true;
    }
    pools_explain_nodes(c->pools, job, &explanation);
    *ret_looks += explanation.nodes_total;
    if (is_exhausted(&explanation)) {
        job_give_up(c->jobs, job, c->batch.time_ms, &c->batch.arena,
                    &decisions);
    } else if (never_fits(&explanation)) {
        job_refuse(c->jobs, job, ERROR_REJECTED,
                   report_rejection(c, &explanation, &c->batch.arena),
                   c->batch.time_ms, &decisions);
    } else {
        return true;
    }
    batch_add_decisions(&c->batch, &decisions);
    batch_touch(&c->batch, job);
    VEC_PUSH(&c->batch.owed, job);
    return true;
}

/* Whether it is known that the job fits somewhere, or no longer matters; one
 * that was tried in vain may fit less than its class. */
static bool needs_no_check(const struct control *c, uint32_t job)
{
    struct job_tried tried[JOBS_TRIED_MAX];

    if (!jobs_is_live(c->jobs, job) || jobs_state(c->jobs, job) != JOB_QUEUED) {
        return true;
    }
    const struct control_class *class_ =
        &c->classes.items[c->links.items[job].class_index];
    return class_->checked_generation &&
           class_->checked_shard == pools_job_shard(c->pools, job) &&
           class_->checked_pool == hash_pool(c, job) &&
           jobs_tried(c->jobs, job, tried) == 0 && !is_of_gang(c, job);
}

static void add_rejections(struct control *c)
{
    size_t end = c->unchecked.count;
    uint32_t check_count = 0, look_count = 0;

    if (c->metrics.node_count == 0) {
        return;
    }
    for (uint32_t scanned = 0;
         c->unchecked_first < end && scanned < SCANS_MAX &&
         check_count < CHECKS_MAX && look_count < LOOKS_MAX;
         scanned++) {
        uint32_t job = c->unchecked.items[c->unchecked_first++];
        if (needs_no_check(c, job)) {
            continue;
        }
        if (pools_is_busy(c->pools, pools_job_shard(c->pools, job))) {
            VEC_PUSH(&c->unchecked, job); /* nobody can say before it is back */
            continue;
        }
        bool is_known = true;
        if (!batch_is_touched(&c->batch, job)) {
            check_count++;
            is_known = batch_check_job(c, job, &look_count);
        }
        /* A lender may be away too; or the append may fail. */
        if (!is_known || batch_is_touched(&c->batch, job)) {
            VEC_PUSH(&c->unchecked, job);
        }
    }
    size_t left = c->unchecked.count - c->unchecked_first;
    if (left <= c->unchecked_first) {
        /* What waits for its pool must not push the list along for ever. */
        if (left) {
            memmove(c->unchecked.items, c->unchecked.items + c->unchecked_first,
                    left * sizeof(*c->unchecked.items));
        }
        c->unchecked_first = 0;
        c->unchecked.count = left;
    }
}

/* The plan. */

static void add_lease(struct control *c, const struct sched_decision *decision)
{
    struct job_decisions decisions;
    struct job_run run = {
        .executor_id = pools_node_executor(c->pools, decision->node),
        .node_name = pools_node_name(c->pools, decision->node),
        .pool = pools_node_pool(c->pools, decision->node),
        .priority = decision->priority,
        .is_backfilled = decision->is_backfilled,
        .excess_charge = decision->charge,
    };

    if (decision->yields_to != SCHED_NONE) {
        struct job_view head;
        jobs_get(c->jobs, decision->yields_to, &head);
        run.yields_to = head.id;
    }
    job_lease(c->jobs, decision->job, &run, c->batch.time_ms, &decisions);
    decisions.events[0].leased.is_growth = decision->is_scaling;
    decisions.events[0].leased.is_by_share = decision->is_by_share;
    batch_add_decisions(&c->batch, &decisions);
    executor_get(c, run.executor_id)->in_batch_count++;
}

static void add_preemption(struct control *c,
                           const struct sched_decision *decision)
{
    struct job_decisions decisions;
    struct job_view preempting = {0};

    if (decision->for_job != SCHED_NONE &&
        jobs_is_live(c->jobs, decision->for_job)) {
        jobs_get(c->jobs, decision->for_job, &preempting);
    }
    struct str reason = preemption_reason(c, decision);
    if (pools_job_is_away(c->pools, decision->job)) {
        job_recall(c->jobs, decision->job, reason, preempting.id,
                   c->batch.time_ms, &decisions);
    } else {
        job_preempt(c->jobs, decision->job, reason, preempting.id,
                    c->batch.time_ms, &decisions);
    }
    decisions.events[0].preempted.is_scaling = decision->is_scaling;
    decisions.events[0].preempted.is_yielding =
        decision->preemption == SCHED_PREEMPT_YIELD;
    batch_add_decisions(&c->batch, &decisions);
}

static void add_gang_failure(struct control *c,
                             const struct sched_decision *decision)
{
    struct job_decisions decisions;

    job_refuse(c->jobs, decision->job, ERROR_GANG_UNSCHEDULABLE,
               STR("the gang started with its minimum cardinality, without "
                   "this member"),
               c->batch.time_ms, &decisions);
    batch_add_decisions(&c->batch, &decisions);
}

/* A job is admitted, or no longer. */
static void add_admission(struct control *c,
                          const struct sched_decision *decision)
{
    bool is_admitted = decision->action == SCHED_ADMIT;
    struct job_view view;

    jobs_get(c->jobs, decision->job, &view);
    struct job_decisions decisions = {
        .scope = {view.queue, view.job_set, {0}},
        .event_count = 1,
    };
    struct event *event = &decisions.events[0];
    event->type = is_admitted ? EVENT_ADMITTED : EVENT_DISMISSED;
    event->created_ms = c->batch.time_ms;
    event->job = view.id;
    event->admitted.pool = pools_pool_name(c->pools, decision->pool_index);
    if (is_admitted && decision->start_ms != SCHED_START_UNKNOWN) {
        event->admitted.start_ms = decision->start_ms;
    }
    event->admitted.excess_charge = decision->charge;
    batch_add_decisions(&c->batch, &decisions);
}

/* Whether a decision still stands beside what is in the batch already. */
static bool decision_stands(struct control *c,
                            const struct sched_decision *decision)
{
    const struct policy *policy = &c->policy->policy;

    if (!jobs_is_live(c->jobs, decision->job)) {
        return false;
    }
    enum job_state state = jobs_state(c->jobs, decision->job);
    bool is_touched = batch_is_touched(&c->batch, decision->job);
    if (decision->action == SCHED_PREEMPT) {
        /* A run that has ended, or ends in this batch, makes room too. */
        return true;
    }
    if (decision->action == SCHED_LEASE) {
        const struct control_executor *executor =
            executor_get(c, pools_node_executor(c->pools, decision->node));
        if (policy->unacknowledged_max > 0 &&
            executor->unacknowledged_count + executor->in_batch_count >=
                policy->unacknowledged_max) {
            return false;
        }
    }
    return state == JOB_QUEUED && !is_touched;
}

static void add_decision(struct control *c,
                         const struct sched_decision *decision)
{
    bool is_moot = decision->action == SCHED_PREEMPT &&
                   (!job_state_has_run(jobs_state(c->jobs, decision->job)) ||
                    batch_is_touched(&c->batch, decision->job));

    if (is_moot) {
        return;
    }
    switch (decision->action) {
    case SCHED_LEASE:
        add_lease(c, decision);
        break;
    case SCHED_PREEMPT:
        add_preemption(c, decision);
        break;
    case SCHED_FAIL:
        add_gang_failure(c, decision);
        break;
    case SCHED_ADMIT:
    case SCHED_DISMISS:
        add_admission(c, decision);
        return; /* another may follow */
    }
    batch_touch(&c->batch, decision->job);
}

bool batch_add_plan(struct control *c, const struct sched_plan *plan)
{
    uint32_t begin = 0;

    while (begin < plan->decision_count) {
        uint32_t end = begin;
        bool stands = true;
        uint32_t group = plan->decisions[begin].group;
        for (;
             end < plan->decision_count && plan->decisions[end].group == group;
             end++) {
            stands &= decision_stands(c, &plan->decisions[end]);
        }
        if (!stands) {
            return false;
        }
        for (; begin < end; begin++) {
            add_decision(c, &plan->decisions[begin]);
        }
    }
    return true;
}

bool batch_form(struct control *c)
{
    struct batch *batch = &c->batch;
    int64_t wall_ms = c->config.clock->wall_ms(c->config.clock);

    batch_clear(batch);
    c->form_no++;
    batch->log.buf.byte_count_max = CONTROL_BATCH_BYTES_MAX;
    batch->time_ms = wall_ms > c->now_ms ? wall_ms : c->now_ms;
    facts_open(c);
    take_commands(c);
    if (control_mono_ns(c) >= c->retry_ns) {
        batch_add_silence(c);
        add_owed(c);
        batch_add_groups(c);
        add_rejections(c);
        /* Plans are for nodes as they will be, and in the pools in which. */
        bool may_plan = !batch_add_health(c) && !batch->moves_nodes;
        if (may_plan && (!c->config.plans_alone || facts_are_all(c))) {
            rounds_add(c);
        }
    }
    if (facts_are_all(c)) {
        facts_pass(c);
        return false;
    }
    return true;
}
