#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "elog/elog_sqlite.h"
#include "elog/sq.h"
#include "main/sim/sim_main.h"
#include "sim/play/play.h"

enum {
    OPTION_SEED = 1,
    OPTION_SCALE,
    OPTION_JSON,
    OPTION_CSV,
    OPTION_SVG,
    OPTION_JOBS,
    OPTION_LOG,
    OPTION_QUIET,
    OPTION_FORECASTS,
    OPTION_MANUAL,
};

static const struct usage_option usage_options[] = {
    [OPTION_SEED - 1] = {"seed", "N", "random seed, instead of the scenario's"},
    [OPTION_SCALE - 1] = {"scale", "1:N",
                          "divide nodes, counts and rates by N"},
    [OPTION_JSON - 1] = {"json", NULL, "write the summary as JSON"},
    [OPTION_CSV - 1] = {"csv", "FILE",
                        "write a CSV of use over time, one line per sample"},
    [OPTION_SVG - 1] = {"svg", "FILE", "draw a chart of use over time"},
    [OPTION_JOBS - 1] =
        {"jobs", "FILE",
         "write a line for each job: when it was submitted, started and ended"},
    [OPTION_LOG - 1] = {"log", "FILE",
                        "write the log to a new file, for berth-sim replay"},
    [OPTION_QUIET - 1] = {"quiet", NULL, "show no progress"},
    [OPTION_FORECASTS - 1] = {"forecasts", NULL,
                              "forecast starts at each sample, and judge them"},
    [OPTION_MANUAL -
        1] = {"print-manual", NULL,
              "print the keys of scenarios as a Markdown table and exit"},
};

struct run_options {
    struct sim_output output;
    bool has_forecasts;
    const char *path, *log_path;
    int64_t seed;  /* -1: the scenario's */
    int64_t scale; /* 1: whole */
};

/* The keys, but for those of the scheduling policy: config.md has them. */
static void print_manual(void)
{
    auto_strbuf text = {0};

    settings_print_manual(&scenario_settings, &text);
    for (const char *line = strbuf_text(&text); *line;) {
        size_t byte_count = strcspn(line, "\n") + 1;
        if (strncmp(line, "| `scheduling.", 14) != 0) {
            printf("%.*s", (int)byte_count, line);
        }
        line += byte_count;
    }
}

/* Whether the option is right; says so if not. */
static bool take_number(int code, struct run_options *options)
{
    const char *rest = optarg[0] == '1' && optarg[1] == ':' ? optarg + 2 : "";

    if (code == OPTION_SEED) {
        return sim_read_number(optarg, 0, INT64_MAX, &options->seed) ||
               sim_bad_value("seed", optarg, "a whole number from 0");
    }
    return sim_read_number(rest, 1, INT64_MAX, &options->scale) ||
           sim_bad_value("scale", optarg, "1:N, N a whole number from 1");
}

static int take(int code, void *of)
{
    struct run_options *options = of;

    switch (code) {
    case OPTION_SEED:
    case OPTION_SCALE:
        return take_number(code, options) ? 0 : -1;
    case OPTION_JSON:
        options->output.is_json = true;
        return 0;
    case OPTION_CSV:
        options->output.csv_path = optarg;
        return 0;
    case OPTION_SVG:
        options->output.svg_path = optarg;
        return 0;
    case OPTION_JOBS:
        options->output.jobs_path = optarg;
        return 0;
    case OPTION_LOG:
        options->log_path = optarg;
        return 0;
    case OPTION_QUIET:
        options->output.is_quiet = true;
        return 0;
    case OPTION_FORECASTS:
        options->has_forecasts = true;
        return 0;
    case OPTION_MANUAL:
        print_manual();
        return 1;
    default:
        return -1;
    }
}

const struct sim_syntax sim_run_syntax = {
    .usage =
        {
            .program = "berth-sim",
            .command = "run",
            .arguments = "SCENARIO.yaml [OPTIONS]",
            .about =
                "simulate a scenario of clusters, queues and streams of jobs",
            .options = usage_options,
            .option_count = ARRAY_COUNT(usage_options),
        },
    .wants = "one scenario, a file,",
    .take = take,
};

static int play_and_report(const struct scenario *scenario, struct elog *log,
                           const struct run_options *asked)
{
    const struct sim_output *output = &asked->output;
    struct tally tally = {0};
    struct sim_progress progress = {.duration_ms = scenario->duration_ms};
    bool is_watched = !output->is_quiet && sim_has_watcher();
    struct play_options options = {
        .log = log,
        .has_forecasts = asked->has_forecasts,
        .progress = is_watched ? sim_on_progress : NULL,
        .ctx = &progress,
    };
    struct world *world = NULL;
    struct err err;
    double began_s = sim_real_s();

    int rc = sim_try_outputs(output, &err);
    if (rc == 0) {
        rc = play(scenario, &options, &tally, &world, &err);
    }
    if (is_watched) {
        sim_show_progress("");
    }
    if (rc < 0) {
        fprintf(stderr, "berth-sim: %s\n", err.text);
        return rc == -ERR_INVALID ? SIM_EXIT_USAGE : SIM_EXIT_FAILURE;
    }
    return sim_finish(scenario->name, &tally, world, began_s, output);
}

int sim_run_main(int argument_count, char **arguments)
{
    struct run_options options = {.seed = -1, .scale = 1};
    auto_arena arena = {0};
    auto_strbuf text = {0};
    struct scenario *scenario = NULL;
    struct elog *log = NULL;
    struct err err;

    int rc = sim_parse(&sim_run_syntax, argument_count, arguments, &options,
                       &options.path);
    if (rc != 0) {
        return rc - 1;
    }
    if (sim_read_file(options.path, &text, &err) < 0 ||
        scenario_read(strbuf_str(&text), options.path, &arena, &scenario,
                      &err) < 0) {
        fprintf(stderr, "berth-sim: %s\n", err.text);
        return SIM_EXIT_USAGE;
    }
    for (uint32_t i = 0; i < scenario->warnings.count; i++) {
        fprintf(stderr, "berth-sim: warning: %.*s\n",
                STR_ARG(scenario->warnings.items[i]));
    }
    if (options.seed >= 0) {
        scenario->seed = options.seed;
    }
    scenario_scale(scenario, options.scale);
    if (options.log_path) {
        /* If this breaks off, the log is worth nothing. */
        struct elog_sqlite_options bulk = {.is_bulk = true};
        sq_start();
        if (elog_sqlite_open(options.log_path, &bulk, &log, &err) < 0) {
            fprintf(stderr, "berth-sim: %s\n", err.text);
            return SIM_EXIT_FAILURE;
        }
    }
    return play_and_report(scenario, log, &options);
}
