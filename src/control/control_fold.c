/* What each event does to the live state.  Live and replayed records come
 * the same way. */
#include "control/control_fold.h"

#include "control/control_apps.h"
#include "control/control_exchange.h"
#include "control/control_executors.h"
#include "control/control_health.h"
#include "control/control_pools.h"
#include "control/control_private.h"
#include "control/control_rounds.h"
#include "control/control_training.h"
#include "control/control_transitions.h"
#include "wire/policy_codec.h"

/* Policies. */

struct policy_box *policy_box_read(struct str text, struct err *err)
{
    struct policy_box *box = mem_alloc(sizeof(*box));

    box->text = str_dup(text);
    if (policy_read(str_of(box->text), "policy", &box->arena, &box->policy,
                    err) < 0) {
        policy_box_destroy(box);
        return NULL;
    }
    return box;
}

void policy_box_destroy(struct policy_box *box)
{
    if (box) {
        arena_fini(&box->arena);
        mem_free(box->text);
        mem_free(box);
    }
}

/* The state as a whole. */

void state_init(struct control *c, struct policy_box *policy, uint64_t seed)
{
    c->policy = policy;
    c->jobs = jobs_create();
    jobs_set_policy(c->jobs, &policy->policy);
    c->pools = pools_create(&policy->policy);
    c->dedup = dedup_create(seed);
    c->training = training_create();
    c->rounds.count = 0;
    c->node_generation = 1;
}

static void empty_tables(struct control *c)
{
    uint32_t count;
    const struct queue_entry **list =
        queue_table_list(c->config.queues, &count);

    for (uint32_t i = 0; i < count; i++) {
        queue_table_remove(c->config.queues, list[i]->name);
    }
    queue_list_free(list, count);
    list = queue_table_list(c->config.retry_policies, &count);
    for (uint32_t i = 0; i < count; i++) {
        queue_table_remove(c->config.retry_policies, list[i]->name);
    }
    queue_list_free(list, count);
}

void state_fini(struct control *c)
{
    rounds_abandon(c);
    executors_fini(c);
    empty_tables(c);
    jobs_destroy(c->jobs);
    pools_destroy(c->pools);
    dedup_destroy(c->dedup);
    training_destroy(c->training);
    policy_box_destroy(c->policy);
    pool_table_fini(&c->pool_table);
    names_fini(&c->queue_names);
    VEC_FREE(&c->queues);
    VEC_FREE(&c->classes);
    VEC_FREE(&c->links);
    VEC_FREE(&c->marks);
    VEC_FREE(&c->notes);
    VEC_FREE(&c->unchecked);
    VEC_FREE(&c->rounds);
    c->jobs = NULL;
    c->pools = NULL;
    c->dedup = NULL;
    c->training = NULL;
    c->policy = NULL;
}

/* Queues. */

uint32_t queue_find(const struct control *c, struct str name)
{
    return names_find(&c->queue_names, name);
}

static struct control_queue *queue_get(struct control *c, struct str name,
                                       uint32_t *ret_index)
{
    uint32_t index = names_find(&c->queue_names, name);

    if (index == NAMES_NONE) {
        index = names_add(&c->queue_names, name);
        while (c->queues.count <= index) {
            VEC_PUSH(&c->queues, (struct control_queue){0});
        }
        c->queues.items[index] = (struct control_queue){0};
        /* Not set (yet): nothing of it starts. */
        struct queue_record record = queue_record_plain(name);
        record.is_cordoned = true;
        pools_queue_set(c->pools, index, &record);
    }
    *ret_index = index;
    return &c->queues.items[index];
}

static void queue_drop_if_unused(struct control *c, uint32_t index)
{
    if (!c->queues.items[index].is_set &&
        c->queues.items[index].job_count == 0) {
        pools_queue_remove(c->pools, index);
        transitions_forget(c, index);
        names_unref(&c->queue_names, index);
    }
}

void queue_apply(struct control *c, const struct queue_record *record,
                 struct str encoded)
{
    uint32_t index;

    if (queue_table_put(c->config.queues, record, encoded) < 0) {
        return; /* QUEUES_MAX: batch_add_events() has refused it before */
    }
    queue_get(c, record->name, &index)->is_set = true;
    bool had_apps = pools_queue_has_applications(c->pools, index);
    pools_queue_set(c->pools, index, record);
    if (!had_apps && pools_queue_has_applications(c->pools, index)) {
        apps_feed(c, index);
    }
    c->is_plan_wanted = c->is_balance_wanted = true;
}

static void on_queue_deleted(struct control *c, struct str name)
{
    uint32_t index = queue_find(c, name);

    queue_table_remove(c->config.queues, name);
    if (index == NAMES_NONE || !c->queues.items[index].is_set) {
        return;
    }
    struct queue_record record = queue_record_plain(name);
    record.is_cordoned = true;
    c->queues.items[index].is_set = false;
    pools_queue_set(c->pools, index, &record);
    queue_drop_if_unused(c, index);
}

/* Jobs, as the scheduler sees them. */

static uint32_t class_join(struct control *c, uint32_t index,
                           struct str class_key)
{
    auto_arena arena = {0};
    struct requirement requirement = {0};

    while (c->classes.count <= index) {
        VEC_PUSH(&c->classes, (struct control_class){0});
    }
    struct control_class *class_ = &c->classes.items[index];
    if (class_->job_count++ == 0) {
        if (requirement_unpack(class_key, &arena, &requirement) < 0) {
            /* A foreign log: it asks for what nobody has. */
            struct resource_amount amount = {STR("berth.dev/unknown"), 1000};
            requirement = (struct requirement){
                .lifetime_ms = LIFETIME_BY_CLASS,
                .requests = {arena_alloc(&arena, sizeof(amount)), 1}};
            requirement.requests.items[0] = amount;
        }
        class_->sched_class = pools_class_add(c->pools, &requirement);
        class_->checked_generation = 0;
    }
    return class_->sched_class;
}

void link_job(struct control *c, uint32_t job, struct str queue)
{
    struct job_view view;
    struct job_digest digest;
    struct job_link link;

    jobs_get(c->jobs, job, &view);
    jobs_digest(c->jobs, job, &digest);
    queue_get(c, queue, &link.queue)->job_count++;
    link.class_index = view.class_index;
    struct sched_job record = {
        .queue = link.queue,
        .class_index = class_join(c, view.class_index, view.class_key),
        .priority = view.priority,
        .submitted_ms = job_id_time_ms(view.id),
        .id = view.id,
        .pool = digest.pool,
        .gang_id = digest.gang_id,
        .gang_cardinality = digest.gang_cardinality,
        .gang_minimum = digest.gang_minimum,
        .gang_uniformity = digest.gang_uniformity,
        .gang_terms = digest.gang_terms,
        .sub_group = digest.sub_group,
        .was_leased = view.run_count > 0, /* a checkpoint is read back */
        .application = application_of(&view, &digest),
        .has_stateaware_off = digest.has_stateaware_off,
    };
    while (c->links.count <= job) {
        VEC_PUSH(&c->links, (struct job_link){0});
    }
    c->links.items[job] = link;
    pools_job_add(c->pools, job, &record);
}

/* A job less is of a class; the planner has been told. */
static void class_leave(struct control *c, uint32_t class_index)
{
    struct control_class *class_ = &c->classes.items[class_index];

    if (--class_->job_count == 0) {
        pools_class_remove(c->pools, class_->sched_class);
    }
}

/* A job asks for something else from now on. */
static void relink_job(struct control *c, uint32_t job)
{
    uint32_t before = c->links.items[job].class_index;
    struct job_view view;

    jobs_get(c->jobs, job, &view);
    c->links.items[job].class_index = view.class_index;
    pools_job_reclass(c->pools, job,
                      class_join(c, view.class_index, view.class_key));
    class_leave(c, before);
}

static void unlink_job(struct control *c, uint32_t job)
{
    struct job_link link = c->links.items[job];

    pools_job_remove(c->pools, job);
    class_leave(c, link.class_index);
    c->queues.items[link.queue].job_count--;
    queue_drop_if_unused(c, link.queue);
}

/* The node that a job which goes back to its queue must avoid. */
static uint32_t node_to_avoid(struct control *c, uint32_t job,
                              enum job_state before)
{
    struct job_tried tried[JOBS_TRIED_MAX];
    uint32_t count =
        before == JOB_RUN_RETURNED ? jobs_tried(c->jobs, job, tried) : 0;

    if (count == 0) {
        return SCHED_NONE;
    }
    uint32_t node = pools_node_index(c->pools, tried[count - 1].executor_id,
                                     tried[count - 1].node_name);
    return node == pools_job_node(c->pools, job) ? node : SCHED_NONE;
}

static void on_submitted(struct control *c, uint32_t job,
                         const struct log_item *item, uint64_t seq)
{
    struct job_digest digest;

    link_job(c, job, item->scope.queue);
    VEC_PUSH(&c->unchecked, job);
    c->metrics.submitted_count++;
    if (digest_unpack(item->event.submit.digest, &digest) == 0 &&
        digest.client_id.byte_count) {
        struct key128 key =
            dedup_key(c->dedup, item->scope.queue, digest.client_id);
        dedup_put(c->dedup, key, item->event.job, seq);
    }
}

static void on_leased(struct control *c, const struct jobs_change *change,
                      const struct event *event)
{
    uint32_t node = pools_node_index(c->pools, event->leased.executor_id,
                                     event->leased.node_name);

    pools_job_lease(c->pools, change->job, node, event->leased.priority,
                    event->created_ms, true);
    if (event->leased.is_backfilled) {
        pools_job_age_from(c->pools, change->job, event->created_ms);
    }
    if (event->leased.excess_charge > 0) {
        pools_job_charge(c->pools, change->job, event->leased.pool,
                         event->leased.excess_charge);
    }
    uint32_t head = jobs_find(c->jobs, event->leased.yields_to);
    if (head != JOBS_NONE) {
        pools_job_yield(c->pools, change->job, head);
    }
    note_run_began(c, change->run, event->leased.executor_id, event->run);
    c->metrics.leased_count++;
}

/* Decisions about jobs that change no state of theirs. */
static void fold_admission(struct control *c, const struct event *event)
{
    uint32_t job = jobs_find(c->jobs, event->job);

    if (job == JOBS_NONE) {
        return;
    }
    if (event->type == EVENT_ADMITTED) {
        int64_t start_ms = event->admitted.start_ms;
        pools_job_admit(c->pools, job, event->admitted.pool,
                        start_ms > 0 ? start_ms : SCHED_START_UNKNOWN,
                        event->admitted.excess_charge);
    } else {
        pools_job_dismiss(c->pools, job);
    }
}

static void on_ended(struct control *c, const struct jobs_change *change)
{
    c->metrics.succeeded_count += change->after == JOB_SUCCEEDED;
    c->metrics.failed_count +=
        change->after == JOB_FAILED || change->after == JOB_REJECTED;
    c->metrics.cancelled_count += change->after == JOB_CANCELLED;
    c->metrics.preempted_count += change->after == JOB_PREEMPTED;
    if (change->after == JOB_SUCCEEDED) {
        pools_job_succeeded(c->pools, change->job);
    }
    unlink_job(c, change->job);
}

/* For the metrics; before the planner is told. */
static void count_transition(struct control *c,
                             const struct jobs_change *change,
                             const struct log_item *item)
{
    struct str pool = {0};
    uint32_t queue = queue_find(c, item->scope.queue);

    if (change->before == change->after || c->state != CONTROL_LEADING) {
        return;
    }
    if (change->before != JOB_NONE) {
        uint32_t node = pools_job_node(c->pools, change->job);
        queue = c->links.items[change->job].queue;
        pool = node == SCHED_NONE ? pool : pools_node_pool(c->pools, node);
    }
    if (item->event.type == EVENT_LEASED) {
        pool = item->event.leased.pool;
    }
    if (queue != NAMES_NONE) {
        transitions_count(c, queue, pool, change);
    }
}

void note_finished(struct control *c, uint32_t job, enum job_state state)
{
    if ((state == JOB_RUN_SUCCEEDED || state == JOB_RUN_FAILED ||
         state == JOB_RUN_CANCELLED) &&
        pools_job_node(c->pools, job) != SCHED_NONE) {
        pools_job_finished(c->pools, job);
    }
}

/* Tell who listens of jobs that came to an end without a run's report. */
static void tell_end(struct control *c, const struct jobs_change *change,
                     const struct event *event)
{
    const struct control_hooks *hooks = &c->config.hooks;

    if (change->before == change->after || c->state != CONTROL_LEADING) {
        return;
    }
    if (change->after == JOB_REJECTED && hooks->rejected) {
        hooks->rejected(hooks->ctx, event->job, event->error.message);
    }
    if (change->after == JOB_CANCELLED && hooks->cancelled) {
        hooks->cancelled(hooks->ctx, event->job);
    }
}

/* What it means to the TrainingJob that it is a pod of. */
static void note_training(struct control *c, const struct jobs_change *change,
                          const struct event *event)
{
    bool is_failed = event->type == EVENT_FAILED;

    if (training_count(c->training) == 0) {
        return;
    }
    if ((event->type == EVENT_LEASED && event->leased.is_growth) ||
        (event->type == EVENT_RUN_PREEMPTED && event->preempted.is_scaling)) {
        training_scaled(c->training, event->job);
    }
    training_note(c->training, event->job, change->after,
                  is_failed ? event->error.message : STR(""), c->now_ms);
}

/* Where a pod is may be another node of the pool than it was leased for: its
 * executor found that one short of room (BK-11). */
static void note_node(struct control *c, const struct jobs_change *change,
                      const struct event *event)
{
    struct job_view view;
    struct str name = event->pod.node_name;

    if ((event->type != EVENT_RUN_ASSIGNED &&
         event->type != EVENT_RUN_RUNNING) ||
        !name.byte_count ||
        pools_job_node(c->pools, change->job) == SCHED_NONE) {
        return;
    }
    jobs_get(c->jobs, change->job, &view);
    const struct control_executor *executor =
        control_find_executor(c, view.run.executor_id);
    if (str_equal(name, view.run.node_name) || !executor ||
        names_find(&executor->node_names, name) == NAMES_NONE) {
        return;
    }
    uint32_t node = pools_node_index(c->pools, view.run.executor_id, name);
    uint32_t from = pools_job_node(c->pools, change->job);
    if (str_equal(pools_node_pool(c->pools, node),
                  pools_node_pool(c->pools, from))) {
        pools_job_repack(c->pools, change->job, node);
        jobs_run_moved(c->jobs, change->job, name);
    }
}

/* Its gang is frozen from now on; before the job may go. */
static void note_scaled(struct control *c, uint32_t job,
                        const struct event *event)
{
    bool is_growth = event->type == EVENT_LEASED && event->leased.is_growth;
    bool is_cut =
        event->type == EVENT_RUN_PREEMPTED && event->preempted.is_scaling;

    if (is_growth || is_cut) {
        pools_gang_scaled(c->pools, job, event->created_ms);
    }
}

/* It takes nothing for fairness for a while; before the job may go. */
static void note_truce(struct control *c, uint32_t job,
                       const struct event *event)
{
    bool took = event->type == EVENT_LEASED && event->leased.is_by_share;
    bool gave =
        event->type == EVENT_RUN_PREEMPTED && event->preempted.is_yielding;

    if (took || gave) {
        pools_job_truce(c->pools, job);
    }
}

static void on_job_change(struct control *c, const struct jobs_change *change,
                          const struct log_item *item, uint64_t seq)
{
    const struct event *event = &item->event;

    health_note(c, change, event);
    note_training(c, change, event);
    if (change->before == JOB_RUNNING) {
        note_finished(c, change->job, change->after);
    }
    count_transition(c, change, item);
    note_node(c, change, event);
    note_scaled(c, change->job, event);
    note_truce(c, change->job, event);
    if (change->before == JOB_LEASED && change->after != JOB_LEASED) {
        note_run_acknowledged(c, change->run);
    }
    if (change->before != change->after &&
        (change->after == JOB_RUN_CANCELLED ||
         change->after == JOB_RUN_PREEMPTED ||
         change->after == JOB_RUN_EXPIRED)) {
        note_run_unwanted(c, change->run, event->run);
    }
    tell_end(c, change, event);
    if (job_state_is_ended(change->after)) {
        on_ended(c, change);
    } else if (event->type == EVENT_SUBMIT) {
        on_submitted(c, change->job, item, seq);
    } else if (event->type == EVENT_LEASED) {
        on_leased(c, change, event);
        return; /* a plan's own work wants no plan */
    } else if (event->type == EVENT_REQUEUED) {
        pools_job_requeue(c->pools, change->job,
                          node_to_avoid(c, change->job, change->before));
        VEC_PUSH(&c->unchecked, change->job);
        c->metrics.requeued_count++;
    } else if (change->after == JOB_RUNNING && change->before != JOB_RUNNING) {
        c->is_balance_wanted |= pools_job_started(c->pools, change->job);
        jobs_run_started(c->jobs, change->job,
                         pools_job_age_of(c->pools, change->job));
        return;
    } else if (event->type == EVENT_REPRIORITISED) {
        pools_job_reprioritise(c->pools, change->job,
                               event->reprioritise.priority);
    } else if (event->type == EVENT_RECLASSIFIED) {
        relink_job(c, change->job);
    } else {
        return;
    }
    c->is_plan_wanted = c->is_balance_wanted = true;
}

/* Everything else. */

void policy_apply(struct control *c, struct str text)
{
    struct err err;
    struct policy_box *fresh = policy_box_read(text, &err);

    if (!fresh) {
        return; /* refused before it was appended; a foreign log */
    }
    struct policy_box *old = c->policy;
    c->policy = fresh;
    c->is_policy_logged = true;
    jobs_set_policy(c->jobs, &fresh->policy);
    pools_policy_set(c->pools, &fresh->policy);
    policy_box_destroy(old);
    for (size_t i = 0; i < c->executors.count; i++) {
        if (c->executors.items[i]) {
            executor_sync(c, c->executors.items[i]);
        }
    }
    pending_sync(c);
    c->node_generation++;
    c->is_plan_wanted = c->is_balance_wanted = true;
}

static void on_retry_policy(struct control *c, const struct event *event)
{
    struct queue_record record = {.name = event->retry_policy.name};

    if (event->type == EVENT_RETRY_POLICY_SET) {
        int rc = queue_table_put(c->config.retry_policies, &record,
                                 event->retry_policy.encoded);
        (void)rc; /* QUEUES_MAX: as with queues */
    } else {
        queue_table_remove(c->config.retry_policies, event->retry_policy.name);
    }
}

static void fold_other(struct control *c, const struct log_item *item)
{
    const struct event *event = &item->event;

    switch ((int)event->type) {
    case EVENT_QUEUE_SET:
        queue_apply(c, &event->queue.record, event->queue.encoded);
        break;
    case EVENT_QUEUE_DELETED:
        on_queue_deleted(c, event->queue.record.name);
        break;
    case EVENT_RETRY_POLICY_SET:
    case EVENT_RETRY_POLICY_DELETED:
        on_retry_policy(c, event);
        break;
    case EVENT_EXECUTOR_NODES:
    case EVENT_EXECUTOR_SETTINGS:
    case EVENT_EXECUTOR_DELETED:
    case EVENT_EXECUTOR_STATE:
        executor_fold(c, event);
        break;
    case EVENT_ADMITTED:
    case EVENT_DISMISSED:
        fold_admission(c, event);
        break;
    case EVENT_LEADER_STARTED:
        pools_sweep_reset(c->pools);
        break;
    case EVENT_NODE_HEALTH:
        health_fold(c, event);
        break;
    case EVENT_POOL_SET:
    case EVENT_POOL_DELETED:
        pool_fold(c, event);
        break;
    case EVENT_POLICY_SET:
        policy_apply(c, event->policy.text);
        break;
    case EVENT_TRAINING_JOB_SET:
    case EVENT_TRAINING_JOB_DELETED:
        training_fold(c, item);
        break;
    default:
        break;
    }
}

struct folding {
    struct control *c;
    uint64_t seq;
};

static int fold_item(const struct log_item *item, void *ctx)
{
    struct folding *folding = ctx;
    struct control *c = folding->c;
    struct jobs_change change;
    enum jobs_answer answer =
        jobs_apply(c->jobs, &item->scope, &item->event, &change);

    c->metrics.event_count++;
    c->events_since_checkpoint++;
    if (answer == JOBS_LATE) {
        c->metrics.late_count++;
    } else if (answer == JOBS_APPLIED && change.job != JOBS_NONE) {
        on_job_change(c, &change, item, folding->seq);
    }
    fold_other(c, item);
    return 0;
}

int fold_payload(struct control *c, struct str payload, uint64_t seq,
                 int64_t time_ms, struct err *err)
{
    struct folding folding = {c, seq};

    arena_reset(&c->scratch);
    if (time_ms > c->now_ms) {
        c->now_ms = time_ms;
    }
    pools_set_time(c->pools, time_ms);
    training_expire(c->training, time_ms);
    int rc = log_decode(payload, &c->scratch, fold_item, &folding, err);
    if (rc < 0) {
        return rc;
    }
    c->seq = seq;
    if (c->marks.count == 0 ||
        c->now_ms - c->marks.items[c->marks.count - 1].time_ms >= 3600 * 1000) {
        VEC_PUSH(&c->marks, (struct time_mark){seq, c->now_ms});
    }
    return 0;
}
