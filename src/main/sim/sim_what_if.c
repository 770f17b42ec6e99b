/* The command `what-if`: a server's own history under other rules. */
#include "main/sim/sim_what_if.h"

#include <getopt.h>
#include <stdio.h>

#include "elog/elog_sqlite.h"

enum {
    OPTION_FROM = 1,
    OPTION_SET,
    OPTION_ADD_NODES,
    OPTION_SCHEDULING,
    OPTION_SEEDS,
    OPTION_JSON,
    OPTION_SVG,
    OPTION_QUIET,
};

static const struct usage_option usage_options[] = {
    [OPTION_FROM - 1] = {"from", "DIR",
                         "the data directory of a berthd, which may be "
                         "running, a backup, or a log file (required)"},
    [OPTION_SET - 1] = {"set", "PATH=VALUE",
                        "queue.NAME.weight=2, class.NAME.priority=500 or "
                        "class.NAME.limit.RESOURCE=0.5; may be repeated"},
    [OPTION_ADD_NODES - 1] = {"add-nodes", "N[=NODE]",
                              "N more nodes like NODE, but empty, from the "
                              "beginning on; without NODE like the first node; "
                              "may be repeated"},
    [OPTION_SCHEDULING - 1] = {"scheduling", "FILE",
                               "another section `scheduling`, as YAML"},
    [OPTION_SEEDS - 1] = {"seeds", "N", "play each course so many times (5)"},
    [OPTION_JSON - 1] = {"json", NULL, "write the result as JSON"},
    [OPTION_SVG - 1] = {"svg", "FILE", "draw the courses of the first seed"},
    [OPTION_QUIET - 1] = {"quiet", NULL, "show no progress"},
};

static int take(int code, void *of)
{
    struct sim_what_if_options *options = of;

    switch (code) {
    case OPTION_FROM:
        options->from = optarg;
        return 0;
    case OPTION_SET:
        VEC_PUSH(&options->sets, optarg);
        return 0;
    case OPTION_ADD_NODES:
        VEC_PUSH(&options->nodes, optarg);
        return 0;
    case OPTION_SCHEDULING:
        options->scheduling_path = optarg;
        return 0;
    case OPTION_SEEDS:
        return sim_read_number(optarg, 1, SIM_WHAT_IF_SEEDS_MAX,
                               &options->seed_count) ||
                       sim_bad_value("seeds", optarg,
                                     "a whole number from 1 to 100")
                   ? 0
                   : -1;
    case OPTION_JSON:
        options->is_json = true;
        return 0;
    case OPTION_SVG:
        options->svg_path = optarg;
        return 0;
    case OPTION_QUIET:
        options->is_quiet = true;
        return 0;
    default:
        return -1;
    }
}

static bool is_complete(const void *of)
{
    return ((const struct sim_what_if_options *)of)->from != NULL;
}

const struct sim_syntax sim_what_if_syntax = {
    .usage =
        {
            .program = "berth-sim",
            .command = "what-if",
            .arguments = "--from DIR [OPTIONS]",
            .about = "play a server's own history again under other rules",
            .options = usage_options,
            .option_count = ARRAY_COUNT(usage_options),
            .notes = "Exit codes: 0 success, 1 the history cannot be played, "
                     "2 the command line\nis wrong.\n",
        },
    .wants = "--from",
    .take = take,
    .is_complete = is_complete,
    .takes_no_argument = true,
};

/* Courses. */

enum { COURSES = 3 }; /* as it was, same rules, what if */

static int play_all(const struct sim_what_if_options *options,
                    const struct history *history,
                    const struct sim_what_if_plan *plan,
                    struct sim_what_if_results *results, struct err *err)
{
    bool is_watched = !options->is_quiet && sim_has_watcher();
    int rc = 0;

    history_as_it_was(history, &results->was);
    for (uint32_t i = 0; i < results->seed_count && rc == 0; i++) {
        auto_strbuf text = {0};
        strbuf_addf(&text, "seed %u of %u", i + 1, results->seed_count);
        if (is_watched) {
            sim_show_progress(strbuf_text(&text));
        }
        rc = history_play(history, NULL, i + 1, &results->same[i], err);
        if (rc == 0) {
            rc = history_play(history, &plan->changes, i + 1,
                              &results->what_if[i], err);
        }
    }
    if (is_watched) {
        sim_show_progress("");
    }
    return rc;
}

static int draw_all(const struct sim_what_if_options *options,
                    const struct history *history,
                    const struct sim_what_if_results *results, struct err *err)
{
    const struct history_result *const courses[COURSES] = {
        &results->was, &results->same[0], &results->what_if[0]};
    auto_strbuf out = {0};

    if (!options->svg_path) {
        return 0;
    }
    history_svg(history, courses, &out);
    return sim_write_file(options->svg_path, strbuf_str(&out), err);
}

static int play_history(const struct sim_what_if_options *options,
                        const struct history *history, struct err *err)
{
    auto_mem struct sim_what_if_plan *plan = mem_alloc(sizeof(*plan));
    struct sim_what_if_results results = {
        .seed_count = options->seed_count ? (uint32_t)options->seed_count
                                          : SIM_WHAT_IF_SEEDS,
    };

    results.same = mem_alloc_array(results.seed_count, sizeof(*results.same));
    results.what_if =
        mem_alloc_array(results.seed_count, sizeof(*results.what_if));
    int rc = sim_what_if_plan_make(options, history, plan, err);
    if (rc == 0) {
        rc = play_all(options, history, plan, &results, err);
    }
    if (rc == 0) {
        (options->is_json ? sim_what_if_print_json
                          : sim_what_if_print_text)(history, &results);
        rc = draw_all(options, history, &results, err);
    }
    for (uint32_t i = 0; i < results.seed_count; i++) {
        history_result_fini(&results.same[i]);
        history_result_fini(&results.what_if[i]);
    }
    history_result_fini(&results.was);
    mem_free(results.same);
    mem_free(results.what_if);
    sim_what_if_plan_fini(plan);
    return rc;
}

static int what_if(const struct sim_what_if_options *options, struct err *err)
{
    auto_mem struct history *history = mem_alloc(sizeof(*history));
    auto_ptr(elog_reader) reader = NULL;
    auto_strbuf path = {0};

    sim_log_path(options->from, &path);
    int rc = elog_sqlite_reader_open(strbuf_text(&path), &reader, err);
    if (rc == 0) {
        rc = history_read(reader, history, err);
    }
    if (rc == 0) {
        rc = play_history(options, history, err);
        history_fini(history);
    }
    return rc;
}

int sim_what_if_main(int argument_count, char **arguments)
{
    struct sim_what_if_options options = {.from = NULL};
    const char *none;
    struct err err;

    int rc = sim_parse(&sim_what_if_syntax, argument_count, arguments, &options,
                       &none);
    if (rc == 0 && what_if(&options, &err) < 0) {
        fprintf(stderr, "berth-sim: %s\n", err.text);
        rc = SIM_EXIT_FAILURE + 1;
    }
    VEC_FREE(&options.sets);
    VEC_FREE(&options.nodes);
    return rc > 0 ? rc - 1 : 0;
}
