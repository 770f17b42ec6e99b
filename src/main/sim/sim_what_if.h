/*
 * sim_what_if - the parts of the command `what-if`: its options, the changes
 * that they ask for, the courses that are played, and what is said of them.
 *
 * Private to the files sim_what_if*.c.
 */
#pragma once

#include "base/arena.h"
#include "base/vec.h"
#include "main/sim/sim_main.h"
#include "sim/history/history.h"

enum { SIM_WHAT_IF_SEEDS = 5, SIM_WHAT_IF_SEEDS_MAX = 100 };

/* What the command line says; texts are NULL where it does not. */
struct sim_what_if_options {
    const char *from, *scheduling_path, *svg_path;
    VEC(const char *) sets;
    VEC(const char *) nodes;
    int64_t seed_count;
    bool is_json, is_quiet;
};

/* What is changed. */
struct sim_what_if_plan {
    struct history_changes changes;
    struct policy policy;
    struct arena arena;
    struct strbuf text;
};

/* Read the changes that options ask for, of a history.  -ERR_INVALID,
 * -ERR_NOT_FOUND and -ERR_IO with a text; fini in any case. */
int sim_what_if_plan_make(const struct sim_what_if_options *options,
                          const struct history *history,
                          struct sim_what_if_plan *plan,
                          struct err *err) must_check;
/* Free what it holds. */
void sim_what_if_plan_fini(struct sim_what_if_plan *plan);

/* What came of all courses. */
struct sim_what_if_results {
    struct history_result was;
    struct history_result *same, *what_if; /* [seed_count] */
    uint32_t seed_count;
};

/* A mean, and half the width of its 95 % confidence interval. */
struct sim_what_if_estimate {
    double mean, half;
};

/* One line of the result: a figure of all courses. */
struct sim_what_if_line {
    double was;
    struct sim_what_if_estimate same, what_if, difference;
};

/* A figure of one course; `index` is which, or of which queue. */
typedef double sim_what_if_figure_fn(const struct history_result *result,
                                     uint32_t index);

/* A figure in all courses. */
struct sim_what_if_line
sim_what_if_line_of(const struct sim_what_if_results *results,
                    sim_what_if_figure_fn *figure, uint32_t index);

/* Say on standard output what came of it, for people. */
void sim_what_if_print_text(const struct history *history,
                            const struct sim_what_if_results *results);
/* The same, for programs. */
void sim_what_if_print_json(const struct history *history,
                            const struct sim_what_if_results *results);
