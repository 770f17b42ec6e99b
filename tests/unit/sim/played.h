/*
 * played - a scenario played inside a test.
 */
#pragma once

#include "sim/play/play.h"
#include "unit.h"

/* A scenario that was played to its end. */
struct played {
    struct arena arena;
    struct tally tally;
    struct world *world;
    struct tally_result result;
};

/* Play a scenario's text into a log, or into one that is forgotten (NULL); the
 * test fails when it cannot be. */
static inline void play_into(struct played *played, const char *text,
                             int64_t seed, struct elog *log)
{
    struct scenario *scenario = NULL;
    struct play_options options = {.log = log};
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

/* The same into one that is forgotten. */
static inline void play_it(struct played *played, const char *text,
                           int64_t seed)
{
    play_into(played, text, seed, NULL);
}

/* The digest of its log. */
static inline uint64_t played_digest(const struct played *played)
{
    uint64_t digest = 0;
    struct err err;

    if (world_digest(played->world, &digest, &err) < 0) {
        fail_msg("%s", err.text);
    }
    return digest;
}

/* Free it. */
static inline void played_fini(struct played *played)
{
    tally_fini(&played->tally);
    world_destroy(played->world);
    arena_fini(&played->arena);
}
