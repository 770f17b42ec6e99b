#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "main/sim_main.h"
#include "sim/fleet.h"
#include "wire/settings.h"

enum { GPUS = 448, SAMPLE_MS = 600000 };

static const char usage_text[] =
    "usage: berth-sim fleet --trace philly FILE [OPTIONS]\n"
    "\n"
    "  --trace philly  what FILE is: the reduced Philly trace (CSV, plain or\n"
    "                  gzipped); its virtual clusters are queues\n"
    "  --gpus N        of the pool, in nodes of 8 (448)\n"
    "  --profile P     of the pool: berth (the default), armada or flow\n"
    "  --machines F    instead: the machines of an inventory (CSV: name, "
    "type,\n"
    "                  cores, GB, GPUs), a pool for each type with GPUs; the\n"
    "                  pools lend to one another\n"
    "  --part 1:N      of each type every Nth machine\n"
    "  --from T        only jobs from T after the first one (30d, 12h)\n"
    "  --for T         and only those of so long\n"
    "  --limit N       only the first N jobs\n"
    "  --json          the summary as JSON\n"
    "  --csv FILE      use over time, a line for each sample\n"
    "  --svg FILE      the same as a picture\n"
    "  --quiet         no progress\n"
    "  --help          say so; end\n";

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

static const struct option long_options[] = {
    {"trace", required_argument, NULL, OPTION_TRACE},
    {"gpus", required_argument, NULL, OPTION_GPUS},
    {"profile", required_argument, NULL, OPTION_PROFILE},
    {"machines", required_argument, NULL, OPTION_MACHINES},
    {"part", required_argument, NULL, OPTION_PART},
    {"from", required_argument, NULL, OPTION_FROM},
    {"for", required_argument, NULL, OPTION_FOR},
    {"limit", required_argument, NULL, OPTION_LIMIT},
    {"json", no_argument, NULL, OPTION_JSON},
    {"csv", required_argument, NULL, OPTION_CSV},
    {"svg", required_argument, NULL, OPTION_SVG},
    {"quiet", no_argument, NULL, OPTION_QUIET},
    {"help", no_argument, NULL, SIM_OPTION_HELP},
    {NULL, 0, NULL, 0},
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

static const struct sim_syntax syntax = {
    .name = "fleet",
    .usage = usage_text,
    .wants = "--trace philly and a file",
    .long_options = long_options,
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
    int rc = fleet_play(trace, &options->fleet, &tally, &world, &err);
    if (is_watched) {
        sim_show_progress("");
    }
    if (rc < 0) {
        fprintf(stderr, "berth-sim: %s\n", err.text);
        return SIM_EXIT_FAILURE;
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

    int rc =
        sim_parse(&syntax, argument_count, arguments, &options, &options.path);
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
