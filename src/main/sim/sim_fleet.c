#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "main/sim/sim_main.h"
#include "sim/fleet/fleet.h"
#include "wire/settings/settings.h"

enum { GPUS = 448, SAMPLE_MS = 600000 };

enum {
    OPTION_TRACE = 1,
    OPTION_GPUS,
    OPTION_PROFILE,
    OPTION_MACHINES,
    OPTION_PART,
    OPTION_FROM,
    OPTION_FOR,
    OPTION_LIMIT,
    OPTION_JSON,
    OPTION_CSV,
    OPTION_SVG,
    OPTION_QUIET,
};

static const struct usage_option usage_options[] = {
    [OPTION_TRACE - 1] = {"trace", "philly",
                          "FILE is the reduced Philly trace (CSV, plain or "
                          "gzipped); its virtual clusters are the queues"},
    [OPTION_GPUS - 1] = {"gpus", "N", "GPUs of the pool, in nodes of 8 (448)"},
    [OPTION_PROFILE -
        1] = {"profile", "P",
              "profile of the pool: berth (the default), armada or flow"},
    [OPTION_MACHINES -
        1] = {"machines", "F",
              "use the machines of an inventory instead (CSV: name, type, "
              "cores, GB, GPUs), with a pool for each type that has GPUs; the "
              "pools lend to one another"},
    [OPTION_PART - 1] = {"part", "1:N", "use every Nth machine of each type"},
    [OPTION_FROM - 1] = {"from", "T",
                         "simulate only jobs that arrive at least T after the "
                         "first one (30d, 12h)"},
    [OPTION_FOR - 1] = {"for", "T",
                        "simulate only jobs that arrive within T after --from"},
    [OPTION_LIMIT - 1] = {"limit", "N", "simulate only the first N jobs"},
    [OPTION_JSON - 1] = {"json", NULL, "write the summary as JSON"},
    [OPTION_CSV - 1] = {"csv", "FILE",
                        "write a CSV of use over time, one line per sample"},
    [OPTION_SVG - 1] = {"svg", "FILE", "draw a chart of use over time"},
    [OPTION_QUIET - 1] = {"quiet", NULL, "show no progress"},
};

struct options {
    struct fleet_options fleet;
    struct sim_output output;
    const char *path;
    bool has_trace;
    const char *machines_path; /* or NULL */
    int64_t part;              /* 1: all machines */
    int64_t for_ms;            /* 0: to the end */
};

static bool take_profile(const char *text, struct fleet_options *options)
{
    static const struct {
        const char *name;
        enum pool_profile profile;
    } profiles[] = {
        {"berth", PROFILE_BERTH},
        {"armada", PROFILE_ARMADA},
        {"flow", PROFILE_FLOW},
    };

    for (size_t i = 0; i < ARRAY_COUNT(profiles); i++) {
        if (strcmp(text, profiles[i].name) == 0) {
            options->profile = profiles[i].profile;
            return true;
        }
    }
    return false;
}

/* Say what is allowed; always false. */
static bool refuse_gpus(const char *text)
{
    auto_strbuf must = {0};

    strbuf_addf(&must, "a whole number from 1 to %d", (int)FLEET_GPUS_MAX);
    return sim_bad_value("gpus", text, strbuf_text(&must));
}

/* Which machines and jobs: false if it is wrong. */
static bool take_part(int code, struct options *options)
{
    int64_t time_ms = 0;

    if (code == OPTION_PART) {
        bool is_ratio = optarg[0] == '1' && optarg[1] == ':';
        return (is_ratio && sim_read_number(optarg + 2, 1, FLEET_MACHINES_MAX,
                                            &options->part)) ||
               sim_bad_value("part", optarg, "1:N, N a whole number from 1");
    }
    if (setting_parse_duration(str_of(optarg), &time_ms) < 0 || time_ms < 0) {
        return sim_bad_value(code == OPTION_FROM ? "from" : "for", optarg,
                             "a time, such as 36h or 30d");
    }
    if (code == OPTION_FROM) {
        options->fleet.from_s = time_ms / 1000;
    } else {
        options->for_ms = time_ms;
    }
    return true;
}

/* Take one option; false if it is wrong. */
static bool take(int code, struct options *options)
{
    int64_t number;

    switch (code) {
    case OPTION_TRACE:
        options->has_trace = strcmp(optarg, "philly") == 0;
        return options->has_trace || sim_bad_value("trace", optarg, "philly");
    case OPTION_GPUS:
        if (!sim_read_number(optarg, 1, FLEET_GPUS_MAX, &number)) {
            return refuse_gpus(optarg);
        }
        options->fleet.gpu_count = (uint32_t)number;
        return true;
    case OPTION_PROFILE:
        return take_profile(optarg, &options->fleet) ||
               sim_bad_value("profile", optarg, "berth, armada or flow");
    case OPTION_MACHINES:
        options->machines_path = optarg;
        return true;
    case OPTION_PART:
    case OPTION_FROM:
    case OPTION_FOR:
        return take_part(code, options);
    case OPTION_LIMIT:
        if (!sim_read_number(optarg, 1, INT64_MAX, &number)) {
            return sim_bad_value("limit", optarg, "a whole number from 1");
        }
        options->fleet.job_limit = (uint64_t)number;
        return true;
    case OPTION_JSON:
        options->output.is_json = true;
        return true;
    case OPTION_CSV:
        options->output.csv_path = optarg;
        return true;
    case OPTION_SVG:
        options->output.svg_path = optarg;
        return true;
    case OPTION_QUIET:
        options->output.is_quiet = true;
        return true;
    default:
        return false;
    }
}

static int take_option(int code, void *options)
{
    return take(code, options) ? 0 : -1;
}

static bool is_complete(const void *of)
{
    const struct options *options = of;

    return options->has_trace;
}

const struct sim_syntax sim_fleet_syntax = {
    .usage =
        {
            .program = "berth-sim",
            .command = "fleet",
            .arguments = "--trace philly FILE [OPTIONS]",
            .about = "simulate a trace of GPU jobs",
            .options = usage_options,
            .option_count = ARRAY_COUNT(usage_options),
        },
    .wants = "--trace philly and a file",
    .take = take_option,
    .is_complete = is_complete,
};

static int play_and_report(const struct fleet_trace *trace,
                           struct options *options)
{
    struct tally tally = {0};
    struct sim_progress progress = {0};
    struct world *world = NULL;
    bool is_watched = !options->output.is_quiet && sim_has_watcher();
    struct err err;
    double began_s = sim_real_s();

    options->fleet.progress = is_watched ? sim_on_progress : NULL;
    options->fleet.ctx = &progress;
    int rc = sim_try_outputs(&options->output, &err);
    if (rc == 0) {
        rc = fleet_play(trace, &options->fleet, &tally, &world, &err);
    }
    if (is_watched) {
        sim_show_progress("");
    }
    if (rc < 0) {
        fprintf(stderr, "berth-sim: %s\n", err.text);
        return rc == -ERR_INVALID ? SIM_EXIT_USAGE : SIM_EXIT_FAILURE;
    }
    return sim_finish(STR("Philly, virtual clusters as queues"), &tally, world,
                      began_s, &options->output);
}

int sim_fleet_main(int argument_count, char **arguments)
{
    struct options options = {.fleet = {.gpu_count = GPUS,
                                        .profile = PROFILE_BERTH,
                                        .sample_ms = SAMPLE_MS},
                              .part = 1};
    struct fleet_trace trace;
    struct err err;

    int rc = sim_parse(&sim_fleet_syntax, argument_count, arguments, &options,
                       &options.path);
    if (rc != 0) {
        return rc - 1;
    }
    if (options.for_ms > 0) {
        options.fleet.until_s = options.fleet.from_s + options.for_ms / 1000;
    }
    if (fleet_read(options.path, &trace, &err) < 0) {
        fprintf(stderr, "berth-sim: %s\n", err.text);
        return SIM_EXIT_USAGE;
    }
    struct fleet_machines machines = {0};
    if (options.machines_path &&
        fleet_machines_read(options.machines_path, (uint32_t)options.part,
                            &machines, &err) < 0) {
        fprintf(stderr, "berth-sim: %s\n", err.text);
        fleet_trace_fini(&trace);
        return SIM_EXIT_USAGE;
    }
    options.fleet.machines = options.machines_path ? &machines : NULL;
    rc = play_and_report(&trace, &options);
    fleet_machines_fini(&machines);
    fleet_trace_fini(&trace);
    return rc;
}
