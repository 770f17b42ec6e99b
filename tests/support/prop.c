#include "prop.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DRAWS_MAX = 1 << 16, SHRINK_TRIES_MAX = 20000 };

struct tape {
    uint64_t state; /* of the generator; unused while replaying */
    bool is_replay;
    bool is_open;    /* the run was */
    size_t count;    /* recorded draws */
    size_t at;       /* next draw to replay */
    uint64_t *draws; /* owned, [DRAWS_MAX]; as offsets from low */
    const uint8_t *bytes;
    size_t byte_count;
};

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static uint64_t next_byte_word(struct tape *tape)
{
    uint64_t word = 0;
    size_t n = tape->byte_count < 4 ? tape->byte_count : 4;

    if (n) {
        memcpy(&word, tape->bytes, n);
    }
    tape->bytes += n;
    tape->byte_count -= n;
    return word;
}

uint64_t draw(struct tape *tape, uint64_t low, uint64_t high)
{
    uint64_t span = high - low;
    uint64_t offset = 0;

    if (tape->bytes) {
        offset = next_byte_word(tape);
    } else if (tape->is_replay) {
        offset = tape->at < tape->count ? tape->draws[tape->at++] : 0;
    } else {
        offset = next_random(&tape->state);
    }
    if (span != UINT64_MAX) {
        offset %= span + 1;
    }
    if (!tape->is_replay && !tape->bytes && tape->count < DRAWS_MAX) {
        tape->draws[tape->count++] = offset;
    }
    return low + offset;
}

void prop_note_open(struct tape *tape)
{
    tape->is_open = true;
}

static bool replay_holds(prop_fn *property, const uint64_t *draws, size_t count)
{
    struct tape tape = {.is_replay = true, .count = count};

    tape.draws = malloc((count ? count : 1) * sizeof(uint64_t));
    if (!tape.draws) {
        abort();
    }
    memcpy(tape.draws, draws, count * sizeof(uint64_t));
    bool holds = property(&tape);
    free(tape.draws);
    return holds;
}

/* Drop runs of draws, then make single draws smaller, while it still fails. */
static size_t shrink(prop_fn *property, uint64_t *draws, size_t count)
{
    uint64_t *trial = malloc((count ? count : 1) * sizeof(uint64_t));
    unsigned tries = 0;

    if (!trial) {
        abort();
    }
    for (size_t run = count / 2; run > 0; run /= 2) {
        for (size_t at = 0; at + run <= count && tries < SHRINK_TRIES_MAX;) {
            memcpy(trial, draws, at * sizeof(uint64_t));
            memcpy(trial + at, draws + at + run,
                   (count - at - run) * sizeof(uint64_t));
            tries++;
            if (!replay_holds(property, trial, count - run)) {
                count -= run;
                memcpy(draws, trial, count * sizeof(uint64_t));
            } else {
                at += run;
            }
        }
    }
    for (size_t at = 0; at < count; at++) {
        uint64_t good = 0; /* smallest value not yet tried */
        while (good < draws[at] && tries < SHRINK_TRIES_MAX) {
            uint64_t old = draws[at];
            draws[at] = good + (old - good) / 2;
            tries++;
            if (replay_holds(property, draws, count)) {
                good = draws[at] + 1;
                draws[at] = old;
            }
        }
    }
    free(trial);
    return count;
}

static void report(const char *name, uint64_t seed, uint64_t run,
                   const uint64_t *draws, size_t count)
{
    fprintf(stderr, "property %s fails: seed %" PRIu64 " run %" PRIu64 ", tape",
            name, seed, run);
    for (size_t i = 0; i < count; i++) {
        fprintf(stderr, " %" PRIu64, draws[i]);
    }
    fprintf(stderr, "\n");
}

static uint64_t env_number(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

static uint64_t seconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec;
}

/* How long to look: so many runs, or until a time. */
struct budget {
    uint64_t run_count;
    uint64_t end_s; /* UINT64_MAX: whenever the runs are done */
};

static struct budget budget_of(unsigned run_count)
{
    uint64_t seconds = env_number("PROP_SECONDS", 0);
    uint64_t otherwise = seconds ? UINT64_MAX : run_count;

    return (struct budget){
        .run_count = env_number("PROP_RUNS", otherwise),
        .end_s = seconds ? seconds_now() + seconds : UINT64_MAX,
    };
}

static bool is_spent(const struct budget *budget, uint64_t run)
{
    return run >= budget->run_count ||
           (budget->end_s < UINT64_MAX && seconds_now() >= budget->end_s);
}

static bool is_asked_for(const char *name)
{
    const char *only = getenv("PROP_ONLY");

    return !only || !*only || strstr(name, only) != NULL;
}

bool prop_check(const char *name, prop_fn *property, unsigned run_count,
                uint64_t seed)
{
    struct tape tape = {.draws = malloc(DRAWS_MAX * sizeof(uint64_t))};
    struct budget budget = budget_of(run_count);
    uint64_t run = 0, open = 0;
    bool holds = true;

    if (!tape.draws) {
        abort();
    }
    seed = seed ? seed : env_number("PROP_SEED", 1);
    for (; holds && is_asked_for(name) && !is_spent(&budget, run); run++) {
        tape.state = seed * 0x2545f4914f6cdd1du + run;
        tape.count = 0;
        tape.is_open = false;
        holds = property(&tape);
        open += tape.is_open;
        if (!holds) {
            size_t count = shrink(property, tape.draws, tape.count);
            report(name, seed, run, tape.draws, count);
        }
    }
    free(tape.draws);
    if (open > PROP_OPEN_FEW + run / PROP_OPEN_ONE_IN) {
        fprintf(stderr, "property %s: too many runs are open\n", name);
        holds = false;
    }
    if (getenv("PROP_COUNT") && is_asked_for(name)) {
        printf("%s: %" PRIu64 " runs from seed %" PRIu64 ", %" PRIu64
               " open%s\n",
               name, run, seed, open, holds ? "" : ", and fails");
        (void)fflush(stdout);
    }
    return holds;
}

bool prop_replay(prop_fn *property, const uint8_t *bytes, size_t byte_count)
{
    static const uint8_t none;
    struct tape tape = {.bytes = bytes ? bytes : &none,
                        .byte_count = byte_count};

    return property(&tape);
}
