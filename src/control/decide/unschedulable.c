/* Ends jobs that can never run, once there are nodes to judge by.  It checks a
 * few jobs in each batch, one after the other. */
#include "base/hash.h"
#include "control/decide/decide.h"
#include "control/explain/explain.h"
#include "control/state/state.h"

enum {
    /* Of jobs that may fit nowhere, in one batch: jobs passed by, jobs asked
     * about, and nodes looked at for them (but one job always). */
    SCANS_MAX = 16384,
    CHECKS_MAX = 1024,
    LOOKS_MAX = 50000,
    /* A list of jobs has up to twice as many entries as there are jobs, and
     * these, before what ended meanwhile leaves it. */
    STALE_MAX = 4096,
};

/* Nodes that are only closed may open again: one that could hold the job then
 * is a place for it. */
static bool never_fits(const struct sched_explanation *e)
{
    return e->wait == SCHED_WAIT_NEVER_FITS && e->nodes_total > 0;
}

/* Every node that it could run on has had it. */
static bool is_exhausted(const struct sched_explanation *e)
{
    return e->nodes_excluded[SCHED_EXCLUDED_AVOIDED] > 0 &&
           e->nodes_excluded[SCHED_EXCLUDED_FULL] == 0 &&
           e->nodes_excluded[SCHED_EXCLUDED_RESERVED] == 0 &&
           e->nodes_excluded[SCHED_EXCLUDED_HELD] == 0 &&
           e->nodes_excluded[SCHED_EXCLUDED_GPUS] == 0 &&
           e->nodes_excluded[SCHED_EXCLUDED_WINDOW] == 0 &&
           e->nodes_excluded[SCHED_EXCLUDED_EXTRA] == 0 && e->nodes_fit == 0 &&
           e->closed_count == 0;
}

/* The question is about a whole gang, and what its minimum needs; but about a
 * member alone once runs of it have failed to start. */
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
static bool find_unschedulable(struct control *c, const uint32_t *members,
                               uint32_t count,
                               struct sched_explanation *ret_unschedulable,
                               uint32_t *ret_looks)
{
    enum { KINDS_MAX = 4 };
    uint32_t kind_count = 0, last = UINT32_MAX;

    for (uint32_t i = 0; i < count && kind_count < KINDS_MAX; i++) {
        uint32_t class_index = c->handles.items[members[i]].class_index;
        if (class_index == last) {
            continue;
        }
        last = class_index;
        kind_count++;
        pools_explain_nodes(c->pools, members[i], ret_unschedulable);
        *ret_looks += ret_unschedulable->nodes_total;
        if (never_fits(ret_unschedulable)) {
            return true;
        }
    }
    return false;
}

/* End all members of a gang that could never fit at once; an incomplete gang
 * is checked once it is complete.  False: it is too early to tell. */
static bool check_gang(struct control *c, uint32_t job, uint32_t *ret_looks)
{
    struct sched_explanation unschedulable;
    struct sched_gang_miss miss;
    struct job_decisions decisions;
    uint32_t count;

    enum pools_answer answer =
        pools_gang_may_fit(c->pools, job, c->loss_no, ret_looks, &miss);
    if (answer != POOLS_NO) {
        return answer == POOLS_YES;
    }
    uint32_t *members =
        pools_gang_waiting(c->pools, job, &c->batch.arena, &count);
    bool is_unschedulable =
        find_unschedulable(c, members, count, &unschedulable, ret_looks);
    struct str text = report_gang_rejection(
        c, job, &miss, is_unschedulable ? &unschedulable : NULL,
        &c->batch.arena);
    for (uint32_t i = 0; i < count; i++) {
        /* Who waits for the planner waits in the table. */
        ASSERT(jobs_state(c->jobs, members[i]) == JOB_QUEUED);
        if (!batch_is_touched(&c->batch, members[i])) {
            job_refuse(c->jobs, members[i], ERROR_REJECTED, text,
                       c->batch.time_ms, &decisions);
            batch_add_decisions(&c->batch, &decisions);
            batch_touch(&c->batch, members[i]);
            VEC_PUSH(&c->batch.due, members[i]);
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

/* A job has no place now: it ends, unless it may have one later. */
static void end_unplaceable(struct control *c, uint32_t job,
                            uint32_t *ret_looks)
{
    struct sched_explanation explanation;
    struct job_decisions decisions;

    pools_explain_nodes(c->pools, job, &explanation);
    *ret_looks += explanation.nodes_total;
    if (is_exhausted(&explanation)) {
        job_give_up(c->jobs, job, c->batch.time_ms, &c->batch.arena,
                    &decisions);
    } else if (never_fits(&explanation)) {
        job_refuse(c->jobs, job, ERROR_REJECTED,
                   report_rejection(c, job, &explanation, &c->batch.arena),
                   c->batch.time_ms, &decisions);
    } else {
        if (explanation.closed_count == 0) {
            VEC_PUSH(&c->doubtful, job); /* its pool has no nodes yet */
        }
        return;
    }
    batch_add_decisions(&c->batch, &decisions);
    batch_touch(&c->batch, job);
    VEC_PUSH(&c->batch.due, job);
}

bool batch_check_job(struct control *c, uint32_t job, uint32_t *ret_looks)
{
    struct control_class *class_ =
        &c->classes.items[c->handles.items[job].class_index];

    ASSERT(class_->job_count > 0); /* of this one at least */
    ASSERT(jobs_state(c->jobs, job) == JOB_QUEUED);
    if (is_of_gang(c, job)) {
        return check_gang(c, job, ret_looks);
    }
    enum pools_answer answer = pools_has_place(c->pools, job, ret_looks);
    if (answer == POOLS_LATER) {
        return false;
    }
    if (answer == POOLS_YES) {
        class_->checked_no = c->loss_no;
        class_->checked_shard = pools_job_shard(c->pools, job);
        class_->checked_pool = hash_pool(c, job);
        return true;
    }
    end_unplaceable(c, job, ret_looks);
    return true;
}

/* Whether the job is known to fit somewhere, or its place no longer matters; a
 * job that avoids nodes may fit on fewer nodes than its class. */
static bool needs_no_check(const struct control *c, uint32_t job)
{
    struct job_tried tried[JOBS_TRIED_MAX];

    if (!jobs_is_live(c->jobs, job) || jobs_state(c->jobs, job) != JOB_QUEUED ||
        !jobs_is_unproven(c->jobs, job) || !c->handles.items[job].is_planned) {
        return true;
    }
    const struct control_class *class_ =
        &c->classes.items[c->handles.items[job].class_index];
    return class_->checked_no == c->loss_no &&
           class_->checked_shard == pools_job_shard(c->pools, job) &&
           class_->checked_pool == hash_pool(c, job) &&
           jobs_tried(c->jobs, job, tried) == 0 && !is_of_gang(c, job);
}

/* Nodes are others: what nobody could say of jobs may be known now. */
static void ask_the_doubtful(struct control *c)
{
    if (c->doubtful_generation == c->node_generation) {
        return;
    }
    for (size_t i = 0; i < c->doubtful.count; i++) {
        VEC_PUSH(&c->unchecked, c->doubtful.items[i]);
    }
    c->doubtful.count = 0;
    c->doubtful_generation = c->node_generation;
}

/* Keep each job that still waits once, where it stands first: others may come
 * and end while nobody can say anything of them. */
static size_t drop_ended(struct control *c, uint32_t *jobs, size_t count)
{
    size_t kept_count = 0;

    if (count <= 2 * (size_t)jobs_count(c->jobs) + STALE_MAX) {
        return count;
    }
    bool *is_kept =
        arena_alloc_array(&c->batch.arena, c->handles.count, sizeof(*is_kept));
    for (size_t i = 0; i < count; i++) {
        uint32_t job = jobs[i];
        ASSERT(job < c->handles.count); /* all came through the fold */
        if (!is_kept[job] && jobs_is_live(c->jobs, job) &&
            jobs_state(c->jobs, job) == JOB_QUEUED) {
            is_kept[job] = true;
            jobs[kept_count++] = job;
        }
    }
    return kept_count;
}

/* What waits for its pool must not push the list along for ever. */
static void drop_checked(struct control *c)
{
    size_t left = c->unchecked.count - c->unchecked_first;

    ASSERT(c->unchecked_first <= c->unchecked.count);
    if (left > c->unchecked_first) {
        return;
    }
    if (left) {
        memmove(c->unchecked.items, c->unchecked.items + c->unchecked_first,
                left * sizeof(*c->unchecked.items));
    }
    c->unchecked_first = 0;
    c->unchecked.count = left;
}

void batch_end_unschedulable(struct control *c)
{
    uint32_t check_count = 0, look_count = 0;

    if (c->metrics.node_count == 0) {
        c->unchecked.count =
            c->unchecked_first +
            drop_ended(c, c->unchecked.items + c->unchecked_first,
                       c->unchecked.count - c->unchecked_first);
        return;
    }
    ask_the_doubtful(c);
    size_t end = c->unchecked.count;
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
    drop_checked(c);
    c->doubtful.count = drop_ended(c, c->doubtful.items, c->doubtful.count);
}
