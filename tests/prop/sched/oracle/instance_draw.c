#include "instance.h"

static void draw_job(struct tape *tape, struct instance *instance, int index)
{
    struct instance_job *job = &instance->jobs[index];

    *job = (struct instance_job){
        .is_there = true,
        .queue = pick(tape, 0, instance->queue_count - 1),
        .priority_class = once_in(tape, 2) ? pick(tape, 0, CLASS_COUNT - 1) : 0,
        .request = {pick(tape, 1, 4), pick(tape, 0, 3)},
        .rack = once_in(tape, 8) ? pick(tape, 1, 2) : 0,
        .is_tolerant = once_in(tape, 4),
        .priority = once_in(tape, 4) ? pick(tape, 0, 2) : 0,
        .submitted = pick(tape, 0, 5),
        .cardinality = 1,
        .minimum = 1,
        .node = NO_NODE,
        .lifetime = BY_CLASS,
        .charge = {0, 1},
        .started = NOT_STARTED,
        .promised = INT_MAX,
    };
    if (once_in(tape, 12)) {
        job->avoided = 1u << pick(tape, 0, instance->node_count - 1);
    }
}

/* The next few jobs as one gang; the number of its members. */
static int draw_gang(struct tape *tape, struct instance *instance, int first)
{
    int cardinality = pick(tape, 2, 5);
    int minimum = once_in(tape, 2) ? pick(tape, 1, cardinality) : cardinality;
    bool is_uniform = once_in(tape, 3);
    /* A member may be missing, or there may be one too many. */
    int count = cardinality + (once_in(tape, 8) ? pick(tape, -1, 1) : 0);
    bool is_mixed = once_in(tape, 4);

    for (int i = 0; i < count && first + i < INSTANCE_JOBS_MAX; i++) {
        struct instance_job *job = &instance->jobs[first + i];
        struct instance_job *head = &instance->jobs[first];
        draw_job(tape, instance, first + i);
        if (!is_mixed) {
            job->request[0] = head->request[0];
            job->request[1] = head->request[1];
            job->rack = head->rack;
            job->is_tolerant = head->is_tolerant;
        }
        job->queue = head->queue;
        job->priority_class = head->priority_class;
        job->gang = first + 1;
        job->cardinality = cardinality;
        job->minimum = minimum;
        job->is_uniform = is_uniform;
        instance->job_count = first + i + 1;
    }
    return instance->job_count - first;
}

static void place_some(struct tape *tape, struct instance *instance)
{
    for (int i = 0; i < instance->job_count; i++) {
        struct instance_job *job = &instance->jobs[i];
        int node = pick(tape, 0, instance->node_count);
        if (node == instance->node_count || once_in(tape, 4)) {
            continue;
        }
        if (job->request[0] <= instance_free(instance, node, 0) &&
            job->request[1] <= instance_free(instance, node, 1)) {
            job->node = node;
            job->leased = pick(tape, 0, 3);
            job->was_leased = true;
        }
    }
}

void instance_draw(struct tape *tape, struct instance *instance)
{
    *instance = (struct instance){
        .node_count = pick(tape, 1, INSTANCE_NODES_MAX),
        .queue_count = pick(tape, 1, INSTANCE_QUEUES_MAX),
        .over_share_percent = NO_LIMIT,
        .budget_minutes = NO_LIMIT,
        .protected_percent = once_in(tape, 3) ? pick(tape, 0, 100) : 100,
        .limit_percent = once_in(tape, 4) ? pick(tape, 20, 100) : 0,
        .is_fair_share_off = once_in(tape, 16),
        .is_urgency_off = once_in(tape, 16),
    };
    for (int i = 0; i < instance->node_count; i++) {
        instance->nodes[i] = (struct instance_node){
            .capacity = {pick(tape, 1, 8), pick(tape, 1, 8)},
            .rack = pick(tape, 0, 2),
            .is_tainted = once_in(tape, 8),
            .is_unschedulable = once_in(tape, 16),
        };
    }
    for (int i = 0; i < instance->queue_count; i++) {
        instance->queues[i] = (struct instance_queue){
            .factor_halves = once_in(tape, 2) ? pick(tape, 2, 6) : 2,
            .is_cordoned = once_in(tape, 16),
        };
    }
    int wanted = pick(tape, 0, INSTANCE_JOBS_MAX);
    while (instance->job_count < wanted) {
        if (once_in(tape, 8)) {
            draw_gang(tape, instance, instance->job_count);
        } else {
            draw_job(tape, instance, instance->job_count);
            instance->job_count++;
        }
    }
    place_some(tape, instance);
    instance->keeps_ms = once_in(tape, 2) ? pick(tape, 1, 2000) : 0;
    if (once_in(tape, 10)) {
        /* A node that shrank under its jobs. */
        instance->nodes[0].capacity[pick(tape, 0, 1)] = 1;
    }
    if (once_in(tape, 3)) {
        instance->kept_classes =
            (unsigned)pick(tape, 0, (1 << CLASS_COUNT) - 1);
    }
}

void instance_make_uniform(struct instance *instance)
{
    instance->limit_percent = 0;
    for (int n = 0; n < instance->node_count; n++) {
        instance->nodes[n] = (struct instance_node){.capacity = {4, 8}};
    }
    for (int j = 0; j < instance->job_count; j++) {
        struct instance_job *job = &instance->jobs[j];
        *job = (struct instance_job){
            .is_there = true,
            .queue = job->queue,
            .request = {1, 1},
            .cardinality = 1,
            .minimum = 1,
            .submitted = job->submitted,
            .node = job->node,
            .lifetime = BY_CLASS,
            .charge = {0, 1},
            .started = NOT_STARTED,
            .promised = INT_MAX,
            .leased = job->leased,
        };
        if (job->node != NO_NODE && instance_free(instance, job->node, 0) < 0) {
            job->node = NO_NODE;
        }
    }
}

bool instance_take_times(struct instance *instance, int index)
{
    struct instance_job *job = &instance->jobs[index];

    if (!job->gang || job->gang == index + 1) {
        return false;
    }
    job->lifetime = instance->jobs[job->gang - 1].lifetime;
    job->deadline = instance->jobs[job->gang - 1].deadline;
    return true;
}

void instance_draw_times(struct tape *tape, struct instance *instance,
                         const struct drawn_times *times)
{
    for (int j = 0; j < instance->job_count; j++) {
        struct instance_job *job = &instance->jobs[j];
        if (instance_take_times(instance, j)) {
            continue;
        }
        if (!job->has_terms && once_in(tape, 2)) {
            job->lifetime =
                once_in(tape, times->endless_in)
                    ? ENDLESS
                    : pick(tape, 0, times->lifetime_max) * times->lifetime_ms;
        }
        job->deadline =
            once_in(tape, times->deadline_in)
                ? pick(tape, 1, times->deadline_max) * times->deadline_ms
                : 0;
    }
}

void instance_draw_flow(struct tape *tape, struct instance *instance)
{
    instance_draw(tape, instance);
    instance->is_weighted = once_in(tape, 2);
    instance->half_ms = once_in(tape, 2) ? pick(tape, 1, 100) * 1000 : 0;
    if (once_in(tape, 2)) {
        instance->over_share_percent = pick(tape, 0, 10) * 10;
    }
    if (once_in(tape, 2)) {
        instance->budget_minutes = pick(tape, 0, 4);
    }
    for (int j = 0; j < instance->job_count; j++) {
        struct instance_job *job = &instance->jobs[j];
        /* What ran before would have to be in the books. */
        job->node = NO_NODE;
        job->was_leased = false;
        job->minimum = job->cardinality;
    }
    instance_draw_times(tape, instance,
                        &(struct drawn_times){2, 5, 60000, 4, 10, 30000});
}

void instance_draw_apps(struct tape *tape, struct instance *instance)
{
    instance_draw(tape, instance);
    for (int q = 0; q < instance->queue_count; q++) {
        struct instance_queue *queue = &instance->queues[q];
        queue->ordering = (enum queue_ordering)pick(tape, 0, 3);
        queue->is_class_ignored = once_in(tape, 4);
        queue->allows_off = once_in(tape, 2);
        queue->running_apps_max = once_in(tape, 4) ? pick(tape, 1, 2) : 0;
    }
    for (int j = 0; j < instance->job_count; j++) {
        struct instance_job *job = &instance->jobs[j];
        job->app = job->gang ? instance->jobs[job->gang - 1].app
                             : pick(tape, 0, INSTANCE_APPS_MAX - 1);
        job->app = job->gang == j + 1 ? pick(tape, 0, INSTANCE_APPS_MAX - 1)
                                      : job->app;
        job->is_off = once_in(tape, 8);
        job->node = NO_NODE;
        job->was_leased = false;
    }
    for (int j = 0; j < instance->job_count; j++) {
        instance_submit(instance, j, 0);
    }
}

void instance_draw_levels(struct tape *tape, struct instance *instance)
{
    instance->has_topology = true;
    instance->has_rows = once_in(tape, 2);
    for (int n = 0; instance->has_rows && n < instance->node_count; n++) {
        instance->nodes[n].row = pick(tape, 0, 2);
    }
}

int instance_draw_cap(struct tape *tape, const struct instance *instance)
{
    return once_in(tape, 2) ? pick(tape, 0, instance->has_rows ? 5 : 3)
                            : NO_LIMIT;
}

/* Give the members of a gang sub-groups. */
static void draw_terms(struct tape *tape, struct instance *instance, int first,
                       int count, bool is_fast)
{
    int done = 0;

    for (int s = 0; done < count; s++) {
        int size = s < 2 ? pick(tape, 1, count - done) : count - done;
        int minimum =
            is_fast && once_in(tape, 2) ? pick(tape, s == 0, size) : size;
        int hops = instance_draw_cap(tape, instance);
        instance_set_sub_group(instance, first + done, size, s, minimum);
        for (int i = 0; i < size && instance->has_topology; i++) {
            instance->jobs[first + done + i].hops = hops;
        }
        done += size;
    }
}

void instance_draw_terms(struct tape *tape, struct instance *instance,
                         bool is_fast)
{
    instance_draw(tape, instance);
    if (once_in(tape, 2)) {
        instance_draw_levels(tape, instance);
        instance->is_fair_share_off = instance->is_urgency_off = true;
    }
    for (int first = 0, count; first < instance->job_count; first += count) {
        count = instance_gang_count(instance, first);
        if (instance->jobs[first].gang && once_in(tape, 2)) {
            instance_reset_gang(instance, first, count);
            draw_terms(tape, instance, first, count, is_fast);
        }
    }
}
