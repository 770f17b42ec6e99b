/*
 * bench_sim - the simulator at full size: how fast virtual time passes with a
 * million slots (MX-01), how long a real log takes under EASY, and how well a
 * day of gangs and small jobs uses its pools (MX-03).
 *
 *     bench_sim EXAMPLES [SCALE]
 *
 * EXAMPLES is examples/sim.  SCALE divides MX-01 (1: ten million jobs).  The
 * real log is looked for in $BERTH_TRACES and left out where that is not set.
 */
#include <stdio.h>
#include <stdlib.h>

#include "main/machine.h"
#include "sim/play.h"
#include "sim/swf.h"
#include "sim/text_file.h"

enum { SDSC_PROCESSORS = 128, MS_PER_S = 1000 };

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

/* Play a scenario: what came of it; virtual and real seconds. */
static struct tally_result play_it(const struct scenario *scenario,
                                   double *ret_virtual_s, double *ret_real_s)
{
    struct play_options options = {0};
    struct tally tally = {0};
    struct tally_result result;
    struct world *world = NULL;
    struct err err;
    double began_s = now_s();

    if (play(scenario, &options, &tally, &world, &err) < 0) {
        die("play", &err);
    }
    *ret_real_s = now_s() - began_s;
    *ret_virtual_s = (double)world->now_ms / MS_PER_S;
    tally_finish(&tally, &result);
    tally_fini(&tally);
    world_destroy(world);
    return result;
}

static void bench_mx01(const char *folder, int64_t scale)
{
    auto_arena arena = {0};
    struct scenario *scenario = read_example(folder, "mx-01.yaml", &arena);
    double virtual_s, real_s;

    scenario_scale(scenario, scale);
    struct tally_result result = play_it(scenario, &virtual_s, &real_s);
    figure("sim.mx01_virtual_s_per_s", virtual_s / real_s, "s/s");
    figure("sim.mx01_jobs_per_s", (double)result.started_count / real_s,
           "jobs/s");
}

static void bench_mx03(const char *folder)
{
    auto_arena arena = {0};
    struct scenario *scenario = read_example(folder, "mx-03.yaml", &arena);
    double virtual_s, real_s;
    double least = 1;

    struct tally_result result = play_it(scenario, &virtual_s, &real_s);
    for (int r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        if (result.utilisation[r] > 0 && result.utilisation[r] < least) {
            least = result.utilisation[r];
        }
    }
    figure("sim.utilisation", least, "of the pool");
    figure("sim.mx03_virtual_s_per_s", virtual_s / real_s, "s/s");
}

static void bench_sdsc(void)
{
    const char *folder = getenv("BERTH_TRACES");
    struct swf_options options = {.processors = SDSC_PROCESSORS,
                                  .policy = SWF_EASY};
    struct swf_log log = {0};
    auto_strbuf path = {0};
    struct err err;

    if (!folder) {
        fprintf(stderr, "bench_sim: no $BERTH_TRACES: no sim.easy_sdsc_s\n");
        return;
    }
    strbuf_addf(&path, "%s/sdsc-sp2-1998/SDSC-SP2-1998-4.2-cln.swf.gz", folder);
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
    bench_mx01(argv[1], scale);
    return 0;
}
