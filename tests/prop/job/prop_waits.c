/*
 * Jobs that wait for others, against a search through all that was said.
 *
 * Whatever becomes of jobs, in whatever order:
 *   - a job is held as long as one that it waits for has not ended
 *   - it ends as soon as one of them has ended otherwise than it was to
 *   - else it is free once all of them have ended
 *   - the table that is written and read back goes on the same way
 */
#include "held_jobs.h"
#include "prop.h"

enum { JOBS = 7, ACTS = 24 };

static struct policy policy;

struct world {
    struct jobs *jobs;
    struct job_id ids[JOBS];
    struct job_wait waits[JOBS][JOBS];
    uint32_t wait_counts[JOBS];
    enum job_state ends[JOBS]; /* JOB_NONE: it has not ended */
    struct arena arena;
};

static const struct event_scope scope = {{"q", 1}, {"set", 3}, {"anna", 4}};

static int number_of(const struct world *world, struct job_id id)
{
    int n = 0;

    while (key128_compare(world->ids[n].v, id.v) != 0) {
        n++;
    }
    return n;
}

static void apply(struct world *world, const struct event *event)
{
    struct jobs_change change;

    if (jobs_apply(world->jobs, &scope, event, &change) == JOBS_APPLIED &&
        job_state_is_ended(change.after)) {
        world->ends[number_of(world, event->job)] = change.after;
    }
}

static void apply_due(void *ctx, const struct event *event)
{
    apply(ctx, event);
}

static void submit(struct world *world, struct tape *tape, uint32_t n)
{
    uint8_t random[10] = {(uint8_t)n};
    auto_strbuf key = {0}, waits = {0}, digest_bytes = {0};
    struct requirement requirement = {.lifetime_ms = LIFETIME_BY_CLASS};
    struct event event = {.type = EVENT_SUBMIT, .created_ms = 1};

    world->ids[n] = event.job = job_id_make(1000, random);
    for (uint32_t on = 0; on < n; on++) {
        /* The leader lets nobody wait for what has ended. */
        if (world->ends[on] == JOB_NONE && once_in(tape, 3)) {
            world->waits[n][world->wait_counts[n]++] = (struct job_wait){
                world->ids[on], (enum job_want)pick(tape, 1, 3)};
        }
    }
    requirement_pack(&key, &requirement);
    job_waits_pack(&waits, world->waits[n], world->wait_counts[n]);
    struct job_digest digest = {.class_key = strbuf_str(&key),
                                .gang_cardinality = 1,
                                .gang_minimum = 1};
    if (world->wait_counts[n] > 0) {
        digest.waits = strbuf_str(&waits);
    }
    digest_pack(&digest_bytes, &digest);
    event.submit.digest = strbuf_str(&digest_bytes);
    apply(world, &event);
}

static void settle(struct world *world)
{
    held_jobs_settle(world->jobs, &world->arena, apply_due, world);
}

/* A job ends in one of the ways in which queued jobs and runs do. */
static void end_job(struct world *world, struct tape *tape, uint32_t n)
{
    struct event event = {.job = world->ids[n], .created_ms = 2};
    uint32_t job = jobs_find(world->jobs, event.job);

    if (job == JOBS_NONE) {
        return;
    }
    if (once_in(tape, 3) || jobs_is_held(world->jobs, job)) {
        event.type = once_in(tape, 2) ? EVENT_CANCELLED : EVENT_FAILED;
        event.error.is_terminal = true;
        event.error.kind = ERROR_POD;
        if (event.type == EVENT_CANCELLED) {
            memset(&event.cancel, 0, sizeof(event.cancel));
        }
        apply(world, &event);
        return;
    }
    event = held_jobs_lease(event.job);
    apply(world, &event);
    memset(&event.leased, 0, sizeof(event.leased));
    event.type = EVENT_RUN_SUCCEEDED;
    apply(world, &event);
}

/* What is to be of a job by what was said of the others. */
static bool is_right(const struct world *world, uint32_t n)
{
    uint32_t job = jobs_find(world->jobs, world->ids[n]);
    bool is_open = false, is_broken = false;

    for (uint32_t i = 0; i < world->wait_counts[n]; i++) {
        const struct job_wait *wait = &world->waits[n][i];
        enum job_state end = world->ends[number_of(world, wait->on)];
        is_open |= end == JOB_NONE;
        is_broken |=
            end != JOB_NONE && wait->want != JOB_WANT_ENDED &&
            (end == JOB_SUCCEEDED) != (wait->want == JOB_WANT_SUCCEEDED);
    }
    if (world->ends[n] != JOB_NONE) {
        return job == JOBS_NONE;
    }
    return job != JOBS_NONE && !is_broken &&
           jobs_is_held(world->jobs, job) == is_open;
}

static bool waits_are_kept(struct tape *tape)
{
    struct world world = {.jobs = jobs_create()};
    uint32_t count = 0;
    bool holds = true;

    policy_defaults(&policy);
    jobs_set_policy(world.jobs, &policy);
    for (int left = pick(tape, 0, ACTS); left > 0 && holds; left--) {
        int act = pick(tape, 0, 4);
        if (act <= 1 && count < JOBS) {
            submit(&world, tape, count++);
        } else if (act == 4) {
            holds = held_jobs_restore(&world.jobs, &policy);
        } else if (count > 0) {
            end_job(&world, tape, (uint32_t)pick(tape, 0, (int)count - 1));
        }
        if (once_in(tape, 2)) {
            continue; /* several ends in one batch */
        }
        settle(&world);
        jobs_assert_valid(world.jobs);
        for (uint32_t n = 0; n < count && holds; n++) {
            holds = is_right(&world, n);
        }
    }
    jobs_destroy(world.jobs);
    arena_fini(&world.arena);
    return holds;
}

int main(void)
{
    return prop_check("waits_are_kept", waits_are_kept, 20000, 0) ? 0 : 1;
}
