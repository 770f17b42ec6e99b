#include "reserve_fixture.h"

int reserve_setup(void **state)
{
    (void)world_setup(state);
    struct world *world = *state;

    pool_policy_apply(&world->policy.pools[0], PROFILE_BERTH);
    world_restart(world);
    return 0;
}

uint32_t reserve_submit(struct world *w, const char *queue, int64_t cores,
                        int64_t deadline_s, int64_t lifetime_s)
{
    return world_submit(w, &(struct world_job){.queue = queue,
                                               .priority_class = "fixed",
                                               .cores = cores,
                                               .deadline_s = deadline_s,
                                               .lifetime_s = lifetime_s,
                                               .submitted_ms = w->job_count});
}

bool reserve_runs(const struct world *w, uint32_t job)
{
    return !w->is_gone[job] && w->node_of[job] != SCHED_NONE;
}

int64_t reserve_promise(const struct world *w, uint32_t job)
{
    struct sched_admission admission;

    assert_true(sched_job_admission(w->sched, job, &admission));
    return admission.start_ms;
}

struct bk03 reserve_bk03(struct world *w, int64_t deadline_s)
{
    struct bk03 bk;

    world_node(w, &(struct world_node){"n", .cores = 10});
    world_queue(w, "A", 1);
    world_queue(w, "H", 1);
    world_queue(w, "Z", 1);
    bk.a = reserve_submit(w, "A", 6, deadline_s, 0);
    world_round(w, ROUND_BALANCE, 0);
    assert_true(reserve_runs(w, bk.a));
    bk.head = reserve_submit(w, "H", 8, 0, 0);
    world_round(w, ROUND_BALANCE, 0);
    assert_false(reserve_runs(w, bk.head));
    return bk;
}

bool reserve_passes(struct world *w, int64_t cores, int64_t deadline_s,
                    int64_t lifetime_s)
{
    uint32_t job = reserve_submit(w, "Z", cores, deadline_s, lifetime_s);

    world_round(w, ROUND_BALANCE, 0);
    bool is_running = reserve_runs(w, job);
    world_end(w, job);
    return is_running;
}
