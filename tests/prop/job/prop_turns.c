/*
 * Jobs of which only some may be planned at once, against a list of all that
 * happened.
 *
 * Whatever becomes of jobs, in whatever order:
 *   - a job without the turn is held for it, one that has it is not
 *   - those with the turn are as many as the limit lets, or all
 *   - who has the turn keeps it; it goes to the oldest that waits
 *   - the table that is written and read back goes on the same way
 */
#include "held_jobs.h"
#include "prop.h"

enum { JOBS = 9, GROUPS = 2, ACTS = 30 };

static struct policy policy;

struct world {
    struct jobs *jobs;
    struct job_id ids[JOBS];
    int groups[JOBS];
    bool has_ended[JOBS], has_turn[JOBS];
    uint32_t limits[GROUPS]; /* of those that are there */
    struct arena arena;
};

/* Of two queues, so that equal names are of different groups. */
static const struct event_scope scopes[GROUPS] = {
    {{"q", 1}, {"set", 3}, {"anna", 4}}, {{"r", 1}, {"set", 3}, {"anna", 4}}};

static enum jobs_answer apply(struct world *world, int n,
                              const struct event *event)
{
    struct jobs_change change;

    return jobs_apply(world->jobs, &scopes[world->groups[n]], event, &change);
}

static uint32_t count_of(const struct world *world, int group, bool with_turn)
{
    uint32_t count = 0;

    for (int n = 0; n < JOBS; n++) {
        count += !key128_is_none(world->ids[n].v) && !world->has_ended[n] &&
                 world->groups[n] == group &&
                 (!with_turn || world->has_turn[n]);
    }
    return count;
}

static void submit(struct world *world, struct tape *tape, int n)
{
    uint8_t random[10] = {(uint8_t)n};
    auto_strbuf key = {0}, digest_bytes = {0};
    struct requirement requirement = {.lifetime_ms = LIFETIME_BY_CLASS};
    struct event event = {.type = EVENT_SUBMIT, .created_ms = 1};
    uint32_t limit = (uint32_t)pick(tape, 1, 3);
    int group = world->groups[n] = pick(tape, 0, GROUPS - 1);

    if (count_of(world, group, false) == 0) {
        world->limits[group] = limit;
    }
    world->has_turn[n] = count_of(world, group, true) < world->limits[group];
    world->ids[n] = event.job = job_id_make(1000, random);
    requirement_pack(&key, &requirement);
    digest_pack(&digest_bytes,
                &(struct job_digest){.class_key = strbuf_str(&key),
                                     .gang_cardinality = 1,
                                     .gang_minimum = 1,
                                     .turn_group = STR("g"),
                                     .turn_limit = limit});
    event.submit.digest = strbuf_str(&digest_bytes);
    (void)apply(world, n, &event);
}

/* The turn of one that is gone goes on. */
static void pass_on(struct world *world, int group)
{
    for (int n = 0;
         n < JOBS && count_of(world, group, true) < world->limits[group]; n++) {
        world->has_turn[n] |= !key128_is_none(world->ids[n].v) &&
                              !world->has_ended[n] && world->groups[n] == group;
    }
}

static void apply_to_its(void *ctx, const struct event *event)
{
    struct world *world = ctx;

    for (int n = 0; n < JOBS; n++) {
        if (key128_compare(world->ids[n].v, event->job.v) == 0) {
            (void)apply(world, n, event);
        }
    }
}

static void settle(struct world *world)
{
    held_jobs_settle(world->jobs, &world->arena, apply_to_its, world);
}

/* A job ends, by itself or by its user; or its run fails and it waits again,
 * with the turn. */
static void end_job(struct world *world, struct tape *tape, int n)
{
    struct event event = {.job = world->ids[n], .created_ms = 2};
    uint32_t job = jobs_find(world->jobs, event.job);

    if (job == JOBS_NONE) {
        return;
    }
    if (once_in(tape, 3) || jobs_is_held(world->jobs, job)) {
        event.type = EVENT_CANCELLED;
    } else {
        event = held_jobs_lease(event.job);
        if (apply(world, n, &event) != JOBS_APPLIED) {
            return;
        }
        memset(&event.leased, 0, sizeof(event.leased));
        event.type = EVENT_RUN_SUCCEEDED;
    }
    (void)apply(world, n, &event);
    settle(world);
    if (jobs_find(world->jobs, event.job) == JOBS_NONE) {
        world->has_ended[n] = true;
        pass_on(world, world->groups[n]);
    }
}

static bool is_right(const struct world *world, int n)
{
    uint32_t job = jobs_find(world->jobs, world->ids[n]);

    return world->has_ended[n]
               ? job == JOBS_NONE
               : job != JOBS_NONE &&
                     jobs_is_held(world->jobs, job) != world->has_turn[n];
}

static bool turns_are_kept(struct tape *tape)
{
    struct world world = {.jobs = jobs_create()};
    int count = 0;
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
            end_job(&world, tape, pick(tape, 0, count - 1));
        }
        settle(&world);
        jobs_assert_valid(world.jobs);
        for (int n = 0; n < count && holds; n++) {
            holds = is_right(&world, n);
        }
    }
    jobs_destroy(world.jobs);
    arena_fini(&world.arena);
    return holds;
}

int main(void)
{
    return prop_check("turns_are_kept", turns_are_kept, 20000, 0) ? 0 : 1;
}
