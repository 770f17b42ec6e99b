#include "sim/play/forecasting.h"

#include "control/what_if/what_if.h"

struct forecasting {
    VEC(struct forecast) first; /* by job; made_ms 0: none */
    struct err err;             /* of the last one, */
    int rc;                     /* and its code */
};

struct forecasting *forecasting_create(void)
{
    return mem_alloc(sizeof(struct forecasting));
}

void forecasting_destroy(struct forecasting *forecasting)
{
    if (forecasting) {
        VEC_FREE(&forecasting->first);
        mem_free(forecasting);
    }
}

static int play(const struct what_if_state *state, struct what_if **ret_what_if,
                struct err *err)
{
    struct what_if_bounds bounds = {.clock = NULL};
    int rc = what_if_create(state, NULL, &bounds, ret_what_if, err);

    return rc < 0
               ? rc
               : what_if_play_waiting(*ret_what_if, WHAT_IF_SPAN_MS_MAX, err);
}

static void keep_first(struct forecasting *forecasting,
                       const struct forecast *forecast)
{
    uint32_t job = world_job_number(forecast->job);

    while (forecasting->first.count <= job) {
        VEC_PUSH(&forecasting->first, (struct forecast){.made_ms = 0});
    }
    if (forecasting->first.items[job].made_ms == 0) {
        forecasting->first.items[job] = *forecast;
    }
}

static int make(struct forecasting *forecasting, struct what_if_state state)
{
    auto_ptr(what_if) by_p50 = NULL;
    auto_ptr(what_if) by_p90 = NULL;
    uint32_t count = 0;

    int rc = play(&state, &by_p50, &forecasting->err);
    state.run_times = WHAT_IF_P90;
    rc = rc < 0 ? rc : play(&state, &by_p90, &forecasting->err);
    if (rc < 0) {
        return rc;
    }
    struct forecast *list = what_if_forecasts(by_p50, by_p90, &count);
    for (uint32_t i = 0; i < count; i++) {
        keep_first(forecasting, &list[i]);
    }
    mem_free(list);
    return 0;
}

void forecasting_take(void *ctx, struct command *command, char *bytes,
                      size_t byte_count, int64_t now_ms)
{
    struct forecasting *forecasting = ctx;
    struct what_if_state state = {str_make(bytes, byte_count), now_ms,
                                  WHAT_IF_P50};

    forecasting->rc = make(forecasting, state);
    mem_free(bytes);
    command->result = COMMAND_OK;
    command->done(command, command->ctx);
}

int forecasting_make(struct forecasting *forecasting, struct world *world,
                     struct err *err)
{
    struct command *command = command_create(COMMAND_WHAT_IF);

    command->what_if.is_forecast = true;
    forecasting->rc = 0;
    auto_ptr(command) answer = world_ask(world, command, err);
    if (!answer) {
        return -ERR_UNAVAILABLE;
    }
    if (forecasting->rc < 0) {
        *err = forecasting->err;
    }
    return forecasting->rc;
}

void forecasting_judge(const struct forecasting *forecasting,
                       const struct world *world,
                       struct forecast_quality *ret_quality)
{
    size_t count = forecasting->first.count < world->jobs.count
                       ? forecasting->first.count
                       : world->jobs.count;

    for (size_t i = 0; i < count; i++) {
        const struct forecast *forecast = &forecasting->first.items[i];
        int64_t started_ms = world->jobs.items[i].started_ms;
        if (forecast->made_ms > 0 && started_ms >= 0) {
            forecast_judge(ret_quality, forecast, world_wall_ms(started_ms));
        }
    }
}
