/* The command `what-if`: a server's own history under other rules. */
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elog/elog_sqlite.h"
#include "main/sim/sim_main.h"
#include "model/class_change.h"
#include "sim/history/history.h"
#include "wire/change/change_text.h"
#include "wire/policy/policy_codec.h"
#include "wire/text/printable.h"
#include "wire/text/rfc3339.h"

enum { SEEDS = 5, SEEDS_MAX = 100 };

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
                              "so many more nodes like this one (the first); "
                              "may be repeated"},
    [OPTION_SCHEDULING - 1] = {"scheduling", "FILE",
                               "another section `scheduling`, as YAML"},
    [OPTION_SEEDS - 1] = {"seeds", "N", "play each course so many times (5)"},
    [OPTION_JSON - 1] = {"json", NULL, "write the result as JSON"},
    [OPTION_SVG - 1] = {"svg", "FILE", "draw the courses of the first seed"},
    [OPTION_QUIET - 1] = {"quiet", NULL, "show no progress"},
};

struct options {
    const char *from, *scheduling_path, *svg_path;
    VEC(const char *) sets;
    VEC(const char *) nodes;
    int64_t seed_count;
    bool is_json, is_quiet;
};

static int take(int code, void *of)
{
    struct options *options = of;

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
        return sim_read_number(optarg, 1, SEEDS_MAX, &options->seed_count) ||
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
    return ((const struct options *)of)->from != NULL;
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

/* Changes. */

struct plan {
    struct history_changes changes;
    struct policy policy;
    struct arena arena;
    struct strbuf text;
};

static int set_weight(const struct history *history, struct plan *plan,
                      struct str name, double weight, struct err *err)
{
    for (uint32_t i = 0; i < history->queues.count; i++) {
        if (str_equal(history->queues.items[i].name, name)) {
            struct history_weight of = {i, weight};
            VEC_PUSH(&plan->changes.weights, of);
            return 0;
        }
    }
    return err_set(err, -ERR_NOT_FOUND, "there was no queue \"%.*s\"",
                   STR_ARG(name));
}

static int set_class(struct plan *plan, const struct change_set *set,
                     struct err *err)
{
    bool is_priority = set->kind == CHANGE_PRIORITY;
    struct class_change change = {
        .name = set->name,
        .has_priority = is_priority,
        .priority = is_priority ? (int32_t)set->value : 0,
        .resource = set->resource,
        .fraction_ppm =
            is_priority ? 0 : (int64_t)round(set->value * FRACTION_ONE_PPM),
    };

    plan->changes.policy = &plan->policy;
    return policy_change_class(&plan->policy, &change, err);
}

static int set_one(const struct history *history, struct plan *plan,
                   const char *item, struct err *err)
{
    struct change_set set;

    int rc = change_read_set(item, &set, err);
    if (rc < 0) {
        return rc;
    }
    if ((set.kind == CHANGE_WEIGHT && set.value <= 0) ||
        (set.kind == CHANGE_LIMIT && (set.value < 0 || set.value > 1))) {
        return change_refuse_set(item, err);
    }
    return set.kind == CHANGE_WEIGHT
               ? set_weight(history, plan, set.name, set.value, err)
               : set_class(plan, &set, err);
}

static int add_nodes(struct plan *plan, const char *item, struct err *err)
{
    struct change_nodes asked;

    int rc = change_read_nodes(item, &asked, err);
    if (rc == 0) {
        struct history_more more = {str_of(asked.like), asked.count};
        VEC_PUSH(&plan->changes.nodes, more);
    }
    return rc;
}

static int make_plan(const struct options *options,
                     const struct history *history, struct plan *plan,
                     struct err *err)
{
    int rc = 0;

    plan->policy = history->policy;
    if (options->scheduling_path) {
        rc = sim_read_file(options->scheduling_path, &plan->text, err);
        if (rc == 0) {
            rc = policy_read(strbuf_str(&plan->text), options->scheduling_path,
                             &plan->arena, &plan->policy, err);
        }
        plan->changes.policy = &plan->policy;
    }
    for (size_t i = 0; i < options->sets.count && rc == 0; i++) {
        rc = set_one(history, plan, options->sets.items[i], err);
    }
    for (size_t i = 0; i < options->nodes.count && rc == 0; i++) {
        rc = add_nodes(plan, options->nodes.items[i], err);
    }
    return rc;
}

static void plan_fini(struct plan *plan)
{
    VEC_FREE(&plan->changes.weights);
    VEC_FREE(&plan->changes.nodes);
    arena_fini(&plan->arena);
    strbuf_fini(&plan->text);
}

/* Courses. */

enum { COURSES = 3 }; /* as it was, same rules, what if */

struct results {
    struct history_result was;
    struct history_result *same, *what_if; /* [seed_count] */
    uint32_t seed_count;
};

static int play_all(const struct options *options,
                    const struct history *history, const struct plan *plan,
                    struct results *results, struct err *err)
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

/* A mean, and half the width of its 95 % confidence interval. */
struct estimate {
    double mean, half;
};

/* Student's t for 95 %, two-sided, by degrees of freedom. */
static double student(uint32_t freedom)
{
    static const double table[] = {0,     12.706, 4.303, 3.182, 2.776, 2.571,
                                   2.447, 2.365,  2.306, 2.262, 2.228};

    return freedom < ARRAY_COUNT(table) ? table[freedom]
           : freedom < 30               ? 2.131
                                        : 2.0;
}

static struct estimate estimate(const double *values, uint32_t count)
{
    double sum = 0, squares = 0;

    for (uint32_t i = 0; i < count; i++) {
        sum += values[i];
    }
    double mean = sum / count;
    for (uint32_t i = 0; i < count; i++) {
        squares += (values[i] - mean) * (values[i] - mean);
    }
    return (struct estimate){mean, count > 1
                                       ? student(count - 1) *
                                             sqrt(squares / (count - 1) / count)
                                       : 0};
}

/* One line of the result: a figure of all courses. */
struct line {
    double was;
    struct estimate same, what_if, difference;
};

typedef double figure_fn(const struct history_result *result, uint32_t index);

static struct line line_of(const struct results *results, figure_fn *figure,
                           uint32_t index)
{
    double same[SEEDS_MAX], what_if[SEEDS_MAX], difference[SEEDS_MAX];

    for (uint32_t i = 0; i < results->seed_count; i++) {
        same[i] = figure(&results->same[i], index);
        what_if[i] = figure(&results->what_if[i], index);
        difference[i] = what_if[i] - same[i]; /* of one seed: paired */
    }
    return (struct line){
        .was = figure(&results->was, index),
        .same = estimate(same, results->seed_count),
        .what_if = estimate(what_if, results->seed_count),
        .difference = estimate(difference, results->seed_count),
    };
}

static double queue_wait(const struct history_result *result, uint32_t queue)
{
    return result->queues[queue].mean_wait_s;
}

/* What to say. */

static void add_estimate(struct strbuf *out, const struct estimate *estimate)
{
    auto_strbuf text = {0};

    strbuf_addf(&text, "%.1f ± %.1f", estimate->mean, estimate->half);
    /* Two bytes of one column. */
    strbuf_addf(out, "  %21s", strbuf_text(&text));
}

static void add_line(struct strbuf *out, struct str name,
                     const struct line *line)
{
    strbuf_addf(out, "%-24.*s%12.1f", STR_ARG(name), line->was);
    add_estimate(out, &line->same);
    add_estimate(out, &line->what_if);
    add_estimate(out, &line->difference);
    strbuf_add_char(out, '\n');
}

/* Whether there is something to use that a figure is about. */
static bool is_there(const struct results *results, uint32_t figure)
{
    return history_figure(&results->was, figure) >= 0 ||
           history_figure(&results->same[0], figure) >= 0;
}

static void print_text(const struct history *history,
                       const struct results *results)
{
    char began[WIRE_RFC3339_TEXT_BYTES_MAX];
    auto_strbuf out = {0}, shown = {0};
    bool is_long = history->span_ms >= 3600000;

    wire_rfc3339_format(history->began_ms / 1000, 0, 0, began);
    strbuf_addf(&out,
                "history  from %s on, %.1f %s: %zu jobs of %zu queues, %zu "
                "nodes\n",
                began, (double)history->span_ms / (is_long ? 3.6e6 : 1e3),
                is_long ? "h" : "s",
                history->jobs.count - history->left_out_count,
                history->queues.count, history->nodes.count);
    if (history->left_out_count) {
        strbuf_addf(&out, "left out %u jobs, cancelled before they ran\n",
                    history->left_out_count);
    }
    strbuf_addf(&out, "\n%-24s%12s  %20s  %20s  %20s\n", "", "as it was",
                "same rules", "what if", "difference");
    for (uint32_t i = 0; i < HISTORY_FIGURES; i++) {
        struct line line = line_of(results, history_figure, i);
        if (is_there(results, i)) {
            add_line(&out, str_of(history_figure_names[i]), &line);
        }
    }
    strbuf_add_text(&out, "\nmean wait (s) by queue\n");
    for (uint32_t i = 0; i < history->queues.count; i++) {
        struct line line = line_of(results, queue_wait, i);
        add_line(&out, history->queues.items[i].name, &line);
    }
    strbuf_addf(&out,
                "\n± is half of the 95 %% confidence interval of the mean of "
                "%u seeds.\n",
                results->seed_count);
    wire_printable(strbuf_str(&out), PRINTABLE_TEXT, &shown);
    fputs(strbuf_text(&shown), stdout);
}

static void put_estimate(struct strbuf *out, const char *name,
                         const struct estimate *estimate)
{
    strbuf_addf(out, ", \"%s\": {\"mean\": %.6g, \"half_width_95\": %.6g}",
                name, estimate->mean, estimate->half);
}

static void put_line(struct strbuf *out, struct str name,
                     const struct line *line)
{
    strbuf_add_text(out, "{\"name\": ");
    report_json_text(out, name);
    strbuf_addf(out, ", \"as_it_was\": %.6g", line->was);
    put_estimate(out, "same_rules", &line->same);
    put_estimate(out, "what_if", &line->what_if);
    put_estimate(out, "difference", &line->difference);
    strbuf_add_char(out, '}');
}

static void print_json(const struct history *history,
                       const struct results *results)
{
    auto_strbuf out = {0};

    strbuf_addf(&out,
                "{\"began_ms\": %" PRId64 ", \"span_s\": %.3f, \"jobs\": %zu, "
                "\"left_out\": %u, \"nodes\": %zu, \"seeds\": %u, "
                "\"figures\": [",
                history->began_ms, (double)history->span_ms / 1000,
                history->jobs.count - history->left_out_count,
                history->left_out_count, history->nodes.count,
                results->seed_count);
    for (uint32_t i = 0, count = 0; i < HISTORY_FIGURES; i++) {
        struct line line = line_of(results, history_figure, i);
        if (is_there(results, i)) {
            strbuf_add_text(&out, count++ ? ", " : "");
            put_line(&out, str_of(history_figure_names[i]), &line);
        }
    }
    strbuf_add_text(&out, "], \"queue_mean_wait_s\": [");
    for (uint32_t i = 0; i < history->queues.count; i++) {
        struct line line = line_of(results, queue_wait, i);
        strbuf_add_text(&out, i ? ", " : "");
        put_line(&out, history->queues.items[i].name, &line);
    }
    strbuf_add_text(&out, "]}\n");
    auto_strbuf shown = {0};
    wire_printable(strbuf_str(&out), PRINTABLE_JSON, &shown);
    fputs(strbuf_text(&shown), stdout);
}

static int draw_all(const struct options *options,
                    const struct history *history,
                    const struct results *results, struct err *err)
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

static int play_history(const struct options *options,
                        const struct history *history, struct err *err)
{
    auto_mem struct plan *plan = mem_alloc(sizeof(*plan));
    struct results results = {
        .seed_count =
            options->seed_count ? (uint32_t)options->seed_count : SEEDS,
    };

    results.same = mem_alloc_array(results.seed_count, sizeof(*results.same));
    results.what_if =
        mem_alloc_array(results.seed_count, sizeof(*results.what_if));
    int rc = make_plan(options, history, plan, err);
    if (rc == 0) {
        rc = play_all(options, history, plan, &results, err);
    }
    if (rc == 0) {
        (options->is_json ? print_json : print_text)(history, &results);
        rc = draw_all(options, history, &results, err);
    }
    for (uint32_t i = 0; i < results.seed_count; i++) {
        history_result_fini(&results.same[i]);
        history_result_fini(&results.what_if[i]);
    }
    history_result_fini(&results.was);
    mem_free(results.same);
    mem_free(results.what_if);
    plan_fini(plan);
    return rc;
}

static int what_if(const struct options *options, struct err *err)
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
    struct options options = {.from = NULL};
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
