/* Instances in which gangs with terms run. */
#include "instance.h"

enum { NOW = INSTANCE_GROUPS_NOW, SUB_GROUPS = 3 };

/* Whether a node is free for a gang that has its nodes whole, or for others. */
static bool is_open(const struct instance *instance, int index, int node)
{
    const struct instance_job *job = &instance->jobs[index];

    for (int j = 0; j < instance->job_count; j++) {
        const struct instance_job *other = &instance->jobs[j];
        if (other->is_there && other->node == node &&
            other->gang != job->gang && (job->is_whole || other->is_whole)) {
            return false;
        }
    }
    return true;
}

/* A member runs somewhere, waits, or has ended. */
static void draw_member(struct tape *tape, struct instance *instance, int index)
{
    struct instance_job *job = &instance->jobs[index];
    int node = pick(tape, 0, instance->node_count - 1);
    int way = pick(tape, 0, 7);

    if (way >= 3) {
        for (int i = 0; i < instance->node_count && job->node == NO_NODE; i++) {
            int n = (node + i) % instance->node_count;
            if (is_open(instance, index, n) &&
                instance_free(instance, n, 0) >= job->request[0] &&
                instance_free(instance, n, 1) >= job->request[1]) {
                job->node = n;
                job->leased =
                    once_in(tape, 2) ? pick(tape, 0, NOW) : pick(tape, 0, 3);
                job->was_leased = true;
                job->started = once_in(tape, 4) ? NOT_STARTED : job->leased;
            }
        }
    } else if (way == 1) {
        job->has_succeeded = true;
        job->is_there = false;
    } else if (way == 2) {
        job->is_there = false;
    }
}

/* Let the members of a gang run, or most of them. */
static void draw_running(struct tape *tape, struct instance *instance,
                         int first, int count)
{
    bool runs = false;
    int frozen_until = once_in(tape, 4) ? NOW + pick(tape, -100, 100) : 0;

    for (int j = first; j < first + count; j++) {
        draw_member(tape, instance, j);
        runs |= instance->jobs[j].node != NO_NODE ||
                instance->jobs[j].has_succeeded;
    }
    for (int j = first + count - 1; j >= first; j--) {
        struct instance_job *job = &instance->jobs[j];
        job->frozen_until = frozen_until;
        job->freezing = frozen_until ? 500 : 0;
        job->was_leased |= runs;
    }
}

/* What of a job's sub-group is there, or has succeeded. */
static int count_left(const struct instance *instance, int index)
{
    const struct instance_job *job = &instance->jobs[index];
    int count = 0;

    for (int j = 0; j < instance->job_count; j++) {
        const struct instance_job *other = &instance->jobs[j];
        count += other->gang == job->gang &&
                 other->sub_group == job->sub_group &&
                 (other->is_there || other->has_succeeded);
    }
    return count;
}

void instance_forget_groups(struct instance *instance, int now)
{
    for (int j = 0; j < instance->job_count; j++) {
        const struct instance_job *job = &instance->jobs[j];
        bool is_lost =
            job->has_terms && count_left(instance, j) < job->sub_minimum;
        for (int k = 0; k < instance->job_count && is_lost; k++) {
            bool is_of = instance->jobs[k].gang == job->gang;
            instance->jobs[k].admitted = is_of ? 0 : instance->jobs[k].admitted;
        }
    }
    instance_advance(instance, now);
}

void instance_lend(struct tape *tape, struct instance *instance)
{
    instance->is_object = once_in(tape, 2);
    instance->is_preemption_off = instance->is_object && once_in(tape, 4);
    for (int j = 0; j < instance->job_count; j++) {
        struct instance_job *job = &instance->jobs[j];
        bool is_first = !job->gang || job->gang == j + 1;
        job->is_borrowed = is_first ? once_in(tape, 3)
                                    : instance->jobs[job->gang - 1].is_borrowed;
    }
}

/* Sub-groups of the members of a gang. */
static void draw_terms(struct tape *tape, struct instance *instance, int first,
                       int count)
{
    int done = 0, lifetime = once_in(tape, 4) ? pick(tape, 0, 2000) : BY_CLASS;

    for (int s = 0; done < count; s++) {
        int size =
            s < SUB_GROUPS - 1 ? pick(tape, 1, count - done) : count - done;
        int minimum = pick(tape, s == 0, size);
        instance_set_sub_group(instance, first + done, size, s, minimum);
        for (int i = 0; i < size; i++) {
            instance->jobs[first + done + i].lifetime = lifetime;
        }
        done += size;
    }
}

/* Empty some nodes. */
static void clear_nodes(struct tape *tape, struct instance *instance)
{
    for (int n = 0; n < instance->node_count; n++) {
        bool is_empty = once_in(tape, 3);
        for (int j = 0; j < instance->job_count; j++) {
            struct instance_job *job = &instance->jobs[j];
            if (is_empty && job->node == n) {
                job->node = NO_NODE;
            }
        }
    }
}

void instance_draw_groups(struct tape *tape, struct instance *instance)
{
    instance_draw(tape, instance);
    instance_draw_elastic(tape, instance);
    bool has_exclusive_nodes = once_in(tape, 3);
    if (has_exclusive_nodes) {
        clear_nodes(tape, instance);
    }
    instance->load_percent = once_in(tape, 4) ? pick(tape, 50, 100) : 0;
    for (int first = 0, count; first < instance->job_count; first += count) {
        count = instance_gang_count(instance, first);
        if (!instance->jobs[first].gang || once_in(tape, 4)) {
            continue;
        }
        instance_reset_gang(instance, first, count);
        bool is_running = pick(tape, 0, 3) > 0;
        bool is_whole = has_exclusive_nodes && pick(tape, 0, 3) > 0;
        for (int j = first; j < first + count; j++) {
            instance->jobs[j].is_whole = is_whole;
        }
        draw_terms(tape, instance, first, count);
        if (is_running) {
            draw_running(tape, instance, first, count);
        }
    }
}

void instance_draw_hops(struct tape *tape, struct instance *instance)
{
    instance_draw_levels(tape, instance);
    for (int j = 0; j < instance->job_count; j++) {
        struct instance_job *job = &instance->jobs[j];
        const struct instance_job *other = job - 1;
        bool is_first = j == 0 || other->gang != job->gang ||
                        other->sub_group != job->sub_group;
        if (job->has_terms && is_first) {
            job->hops = instance_draw_cap(tape, instance);
        } else if (job->has_terms) {
            job->hops = other->hops;
        }
    }
}
