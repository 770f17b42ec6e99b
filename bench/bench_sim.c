/*
 * bench_sim - the simulator at full size: how fast virtual time passes with a
 * million slots, and whether they are used as they must (MX-01, MX-02), how
 * long a real log takes under EASY, and how well a day of gangs and small jobs
 * uses its pools (MX-03).
 *
 *     bench_sim EXAMPLES [SCALE]
 *
 * EXAMPLES is examples/sim.  SCALE divides MX-01 (1: ten million jobs, 3 GB of
 * memory and some minutes) and MX-02 (six million jobs, 1 GB, some minutes).
 * The real log is looked for in $BERTH_TRACES, and left out if it is not there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "main/common/machine.h"
#include "sim/play/play.h"
#include "sim/swf/swf.h"
#include "sim/world/text_file.h"

enum {
    SDSC_PROCESSORS = 128,
    MS_PER_S = 1000,
    /* MX-01: the pool is full by then; a steady state from then on; leases
     * are counted over so long. */
    FULL_MS = 600 * 1000,
    STEADY_MS = 3600 * 1000,
    WINDOW_MS = 600 * 1000,
};

/* What came of a scenario. */
struct played {
    struct tally tally;
    struct tally_result result;
    struct world *world;
    double virtual_s, real_s;
};

static void die(const char *what, const struct err *err)
{
    fprintf(stderr, "bench_sim: %s: %s\n", what, err->text);
    exit(1);
}

static double now_s(void)
{
    return (double)machine_clock.mono_ns(&machine_clock) / 1e9;
}

static void figure(const char *name, double value, const char *unit)
{
    printf("{\"name\": \"%s\", \"value\": %.4f, \"unit\": \"%s\"}\n", name,
           value, unit);
    fflush(stdout);
}

static struct scenario *read_example(const char *folder, const char *name,
                                     struct arena *arena)
{
    auto_strbuf path = {0}, text = {0};
    struct scenario *scenario = NULL;
    struct err err;

    strbuf_addf(&path, "%s/%s", folder, name);
    if (text_file_read(strbuf_text(&path), &text, &err) < 0 ||
        scenario_read(arena_str(arena, strbuf_str(&text)), name, arena,
                      &scenario, &err) < 0) {
        die(name, &err);
    }
    return scenario;
}

static void play_it(const struct scenario *scenario, struct played *played)
{
    struct play_options options = {0};
    struct err err;
    double began_s = now_s();

    *played = (struct played){.virtual_s = 0};
    if (play(scenario, &options, &played->tally, &played->world, &err) < 0) {
        die("play", &err);
    }
    played->real_s = now_s() - began_s;
    played->virtual_s = (double)played->world->now_ms / MS_PER_S;
    tally_finish(&played->tally, &played->result);
}

static void played_fini(struct played *played)
{
    tally_fini(&played->tally);
    world_destroy(played->world);
}

/* The part of the cores that was used at the least from `from_ms` on, as long
 * as work waited, and when that ended. */
static double least_use(const struct played *played, int64_t from_ms,
                        int64_t *ret_end_ms)
{
    const struct tally *tally = &played->tally;
    int cpu = resource_column(&played->world->policy.schema, STR("cpu"));
    double least = 1;

    *ret_end_ms = 0;
    for (size_t i = 0; i < tally->samples.count; i++) {
        const struct tally_sample *sample = &tally->samples.items[i];
        if (sample->time_ms >= from_ms && sample->queued_count > 0) {
            double use =
                (double)sample->used.v[cpu] / (double)sample->capacity.v[cpu];
            least = use < least ? use : least;
            *ret_end_ms = sample->time_ms;
        }
    }
    return least;
}

/* The fewest jobs a second that started in any window of a steady state that
 * ends at `end_ms`, windows beginning each minute. */
static double least_starts_per_s(const struct played *played, int64_t end_ms)
{
    int64_t least = INT64_MAX;

    for (int64_t from_ms = STEADY_MS; from_ms + WINDOW_MS <= end_ms;
         from_ms += WINDOW_MS / 10) {
        int64_t count = 0;
        for (size_t i = 0; i < played->world->jobs.count; i++) {
            int64_t at_ms = played->world->jobs.items[i].started_ms;
            count += at_ms >= from_ms && at_ms < from_ms + WINDOW_MS;
        }
        least = count < least ? count : least;
    }
    return least == INT64_MAX ? 0
                              : (double)least / ((double)WINDOW_MS / MS_PER_S);
}

static void bench_mx01(const char *folder, int64_t scale)
{
    auto_arena arena = {0};
    struct scenario *scenario = read_example(folder, "mx-01.yaml", &arena);
    struct played played;
    int64_t end_ms;

    scenario_scale(scenario, scale);
    play_it(scenario, &played);
    figure("sim.mx01_virtual_s_per_s", played.virtual_s / played.real_s, "s/s");
    figure("sim.mx01_jobs_per_s",
           (double)played.result.started_count / played.real_s, "jobs/s");
    figure("sim.mx01_least_use", least_use(&played, FULL_MS, &end_ms),
           "of the pool");
    figure("sim.mx01_least_starts_per_s",
           least_starts_per_s(&played, end_ms) * (double)scale, "jobs/s");
    played_fini(&played);
}

static void bench_mx02(const char *folder, int64_t scale)
{
    auto_arena arena = {0};
    struct scenario *scenario = read_example(folder, "mx-02.yaml", &arena);
    struct played played;

    scenario_scale(scenario, scale);
    play_it(scenario, &played);
    figure("sim.mx02_virtual_s_per_s", played.virtual_s / played.real_s, "s/s");
    figure("sim.mx02_wait_p99_s", played.result.wait_s.p99, "s");
    played_fini(&played);
}

static void bench_mx03(const char *folder)
{
    auto_arena arena = {0};
    struct scenario *scenario = read_example(folder, "mx-03.yaml", &arena);
    struct played played;
    double least = 1;

    play_it(scenario, &played);
    for (int r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        if (played.result.utilisation[r] > 0 &&
            played.result.utilisation[r] < least) {
            least = played.result.utilisation[r];
        }
    }
    figure("sim.utilisation", least, "of the pool");
    figure("sim.mx03_virtual_s_per_s", played.virtual_s / played.real_s, "s/s");
    played_fini(&played);
}

static void bench_sdsc(void)
{
    const char *folder = getenv("BERTH_TRACES");
    struct swf_options options = {.processors = SDSC_PROCESSORS,
                                  .policy = SWF_EASY};
    struct swf_log log = {0};
    auto_strbuf path = {0};
    struct err err;

    strbuf_addf(&path, "%s/sdsc-sp2-1998/SDSC-SP2-1998-4.2-cln.swf.gz",
                folder ? folder : ".");
    if (access(strbuf_text(&path), R_OK) < 0) {
        printf("{\"name\": \"sim.easy_sdsc_s\", "
               "\"left_out\": \"there is no log of the SDSC SP2\"}\n");
        return;
    }
    double began_s = now_s();
    if (swf_read(strbuf_text(&path), &options, &log, &err) < 0 ||
        swf_play(&log, &options, &err) < 0) {
        die("swf", &err);
    }
    figure("sim.easy_sdsc_s", now_s() - began_s, "s");
    swf_log_fini(&log);
}

int main(int argc, char **argv)
{
    int64_t scale = argc > 2 ? strtoll(argv[2], NULL, 10) : 1;

    if (argc < 2 || scale < 1) {
        fprintf(stderr, "usage: bench_sim EXAMPLES [SCALE]\n");
        return 2;
    }
    bench_sdsc();
    bench_mx03(argv[1]);
    bench_mx02(argv[1], scale);
    bench_mx01(argv[1], scale);
    return 0;
}
