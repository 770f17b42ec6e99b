/*
 * played - a scenario played inside a test.
 */
#pragma once

#include "sim/play.h"
#include "unit.h"

/* A scenario that was played to its end. */
struct played {
    struct arena arena;
    struct tally tally;
    struct world *world;
    struct tally_result result;
};

/* Play a scenario's text; the test fails when it cannot be. */
static inline void play_it(struct played *played, const char *text,
                           int64_t seed)
{
    struct scenario *scenario = NULL;
    struct play_options options = {0};
    struct err err;

    memset(played, 0, sizeof(*played));
    if (scenario_read(str_of(text), "s.yaml", &played->arena, &scenario, &err) <
        0) {
        fail_msg("%s", err.text);
    }
    scenario->seed = seed;
    if (play(scenario, &options, &played->tally, &played->world, &err) < 0) {
        fail_msg("%s", err.text);
    }
    tally_finish(&played->tally, &played->result);
}

/* Free it. */
static inline void played_fini(struct played *played)
{
    tally_fini(&played->tally);
    world_destroy(played->world);
    arena_fini(&played->arena);
}
