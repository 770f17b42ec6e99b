#include "order_fixture.h"

int order_setup(void **state)
{
    (void)world_setup(state);
    struct world *world = *state;

    pool_policy_apply(&world->policy.pools[0], PROFILE_BERTH);
    world_restart(world);
    world_queue_by(world, "Q", &ORDER_BY_STATE);
    return 0;
}

void order_node(struct world *world, int64_t cores)
{
    world_node(world, &(struct world_node){"n", .cores = cores});
}

uint32_t order_ask(struct world *world, const char *application,
                   int64_t submitted_ms)
{
    sched_set_time(world->sched, submitted_ms);
    return world_submit(world, &(struct world_job){
                                   .queue = "Q",
                                   .application = application,
                                   .submitted_ms = submitted_ms,
                               });
}

void order_round(struct world *world, int64_t now_ms)
{
    world_round(world, ROUND_FAST, now_ms);
}

struct sched_application order_app(const struct world *world, const char *id,
                                   int64_t now_ms)
{
    auto_arena arena = {0};
    struct sched_application *list;
    struct sched_application answer = {.state = SCHED_APP_NEW};
    uint32_t count = sched_applications(world->sched, 0, now_ms, &arena, &list);

    for (uint32_t i = 0; i < count; i++) {
        if (str_equal(list[i].id, str_of(id))) {
            answer = list[i];
        }
    }
    return answer;
}

enum sched_app_state order_state_of(const struct world *world, const char *id,
                                    int64_t now_ms)
{
    return order_app(world, id, now_ms).state;
}

bool order_has_node(const struct world *world, uint32_t job)
{
    return world->node_of[job] != SCHED_NONE;
}
