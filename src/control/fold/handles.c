/* The scheduler's handles of queues, classes and jobs. */
#include "control/fold/apps.h"
#include "control/fold/fold.h"
#include "control/state/state.h"
#include "control/state/transitions.h"

/* Queues. */

uint32_t queue_find(const struct control *c, struct str name)
{
    return intern_find(&c->queue_names, name);
}

static struct control_queue *queue_get(struct control *c, struct str name,
                                       uint32_t *ret_index)
{
    uint32_t index = intern_find(&c->queue_names, name);

    if (index == INTERN_NONE) {
        index = intern_add(&c->queue_names, name);
        while (c->queues.count <= index) {
            VEC_PUSH(&c->queues, (struct control_queue){0});
        }
        c->queues.items[index] = (struct control_queue){0};
        /* Not set (yet): nothing of it starts. */
        struct queue_record record = queue_record_plain(name);
        record.is_cordoned = true;
        pools_queue_set(c->pools, index, &record);
    }
    ASSERT(index < c->queues.count); /* a name has a row */
    *ret_index = index;
    return &c->queues.items[index];
}

static void queue_drop_if_unused(struct control *c, uint32_t index)
{
    if (!c->queues.items[index].is_set &&
        c->queues.items[index].job_count == 0) {
        pools_queue_remove(c->pools, index);
        transitions_forget(c, index);
        /* Whoever gets the row next begins with no counts. */
        ASSERT(c->queues.items[index].transition_first == 0);
        intern_unref(&c->queue_names, index);
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

void queue_forget(struct control *c, struct str name)
{
    uint32_t index = queue_find(c, name);

    queue_table_remove(c->config.queues, name);
    if (index == INTERN_NONE || !c->queues.items[index].is_set) {
        return;
    }
    struct queue_record record = queue_record_plain(name);
    record.is_cordoned = true;
    c->queues.items[index].is_set = false;
    pools_queue_set(c->pools, index, &record);
    queue_drop_if_unused(c, index);
}

/* Jobs and their classes. */

/* What a class asks for, by its key; of a foreign log: what nobody has. */
static void class_requirement(struct str class_key, struct arena *arena,
                              struct requirement *ret_requirement)
{
    struct resource_amount unknown = {STR("berth.dev/unknown"), 1000};

    if (requirement_unpack(class_key, arena, ret_requirement) == 0) {
        return;
    }
    *ret_requirement = (struct requirement){
        .lifetime_ms = LIFETIME_BY_CLASS,
        .requests = {arena_alloc(arena, sizeof(unknown)), 1},
    };
    ret_requirement->requests.items[0] = unknown;
}

/* A job more is of a class; the planner's handle of it. */
static uint32_t class_join(struct control *c, uint32_t index,
                           struct str class_key)
{
    while (c->classes.count <= index) {
        VEC_PUSH(&c->classes, (struct control_class){0});
    }
    struct control_class *class_ = &c->classes.items[index];
    if (class_->job_count++ == 0) {
        auto_arena arena = {0};
        struct requirement requirement = {0};
        class_requirement(class_key, &arena, &requirement);
        class_->sched_class = pools_class_add(c->pools, &requirement);
        class_->checked_no = 0;
    }
    return class_->sched_class;
}

/* Tell the planner of a job that has handles. */
static void plan_job(struct control *c, uint32_t job)
{
    struct job_handles *handles = &c->handles.items[job];
    struct job_tried tried[JOBS_TRIED_MAX];
    struct job_view view;
    struct job_digest digest;

    jobs_get(c->jobs, job, &view);
    jobs_digest(c->jobs, job, &digest);
    struct sched_job record = {
        .queue = handles->queue,
        .class_index = c->classes.items[handles->class_index].sched_class,
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
    handles->is_planned = true;
    pools_job_add(c->pools, job, &record);
    uint32_t count = jobs_tried(c->jobs, job, tried);
    for (uint32_t i = 0; i < count; i++) {
        pools_job_avoid(c->pools, job,
                        pools_node_index(c->pools, tried[i].executor_id,
                                         tried[i].node_name));
    }
}

void job_handles_make(struct control *c, uint32_t job, struct str queue)
{
    struct job_handles handles = {0};
    struct job_view view;

    jobs_get(c->jobs, job, &view);
    queue_get(c, queue, &handles.queue)->job_count++;
    handles.class_index = view.class_index;
    (void)class_join(c, view.class_index, view.class_key);
    while (c->handles.count <= job) {
        VEC_PUSH(&c->handles, (struct job_handles){0});
    }
    c->handles.items[job] = handles;
    if (!jobs_is_held(c->jobs, job)) {
        plan_job(c, job);
    }
}

bool job_handles_sync(struct control *c, uint32_t job)
{
    struct job_handles *handles = &c->handles.items[job];
    bool is_held = jobs_is_held(c->jobs, job);

    if (is_held && handles->is_planned) {
        pools_job_remove(c->pools, job);
        handles->is_planned = false;
    } else if (!is_held && !handles->is_planned) {
        plan_job(c, job);
        return true;
    }
    return false;
}

/* A job less is of a class; the planner has been told. */
static void class_leave(struct control *c, uint32_t class_index)
{
    struct control_class *class_ = &c->classes.items[class_index];

    ASSERT(class_->job_count > 0); /* it had the job that leaves */
    if (--class_->job_count == 0) {
        pools_class_remove(c->pools, class_->sched_class);
    }
}

void job_handles_renew(struct control *c, uint32_t job)
{
    uint32_t before = c->handles.items[job].class_index;
    struct job_view view;

    ASSERT(jobs_is_live(c->jobs, job)); /* what has ended asks for nothing */
    jobs_get(c->jobs, job, &view);
    c->handles.items[job].class_index = view.class_index;
    uint32_t class_index = class_join(c, view.class_index, view.class_key);
    if (c->handles.items[job].is_planned) {
        pools_job_reclass(c->pools, job, class_index);
    }
    class_leave(c, before);
}

void job_handles_drop(struct control *c, uint32_t job)
{
    struct job_handles handles = c->handles.items[job];

    if (handles.is_planned) {
        pools_job_remove(c->pools, job);
    }
    class_leave(c, handles.class_index);
    ASSERT(c->queues.items[handles.queue].job_count > 0);
    c->queues.items[handles.queue].job_count--;
    queue_drop_if_unused(c, handles.queue);
}
