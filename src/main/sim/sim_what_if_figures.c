/* A figure in all courses, with confidence intervals. */
#include <math.h>

#include "main/sim/sim_what_if.h"

/* Student's t for 95 %, two-sided, by degrees of freedom.  Where the table has
 * steps it is that of fewer degrees: an interval is never too narrow. */
static double student(uint32_t freedom)
{
    static const double table[] = {
        0,     12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365,
        2.306, 2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
        2.120, 2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069,
        2.064, 2.060,  2.056, 2.052, 2.048, 2.045, 2.042,
    };

    return freedom < ARRAY_COUNT(table) ? table[freedom]
           : freedom < 40               ? 2.042
           : freedom < 60               ? 2.021
                                        : 2.000;
}

static struct sim_what_if_estimate estimate(const double *values,
                                            uint32_t count)
{
    double sum = 0, squares = 0;

    for (uint32_t i = 0; i < count; i++) {
        sum += values[i];
    }
    double mean = sum / count;
    for (uint32_t i = 0; i < count; i++) {
        squares += (values[i] - mean) * (values[i] - mean);
    }
    return (struct sim_what_if_estimate){
        mean, count > 1
                  ? student(count - 1) * sqrt(squares / (count - 1) / count)
                  : 0};
}

struct sim_what_if_line
sim_what_if_line_of(const struct sim_what_if_results *results,
                    sim_what_if_figure_fn *figure, uint32_t index)
{
    double same[SIM_WHAT_IF_SEEDS_MAX], what_if[SIM_WHAT_IF_SEEDS_MAX],
        difference[SIM_WHAT_IF_SEEDS_MAX];

    for (uint32_t i = 0; i < results->seed_count; i++) {
        same[i] = figure(&results->same[i], index);
        what_if[i] = figure(&results->what_if[i], index);
        difference[i] = what_if[i] - same[i]; /* of one seed: paired */
    }
    return (struct sim_what_if_line){
        .was = figure(&results->was, index),
        .same = estimate(same, results->seed_count),
        .what_if = estimate(what_if, results->seed_count),
        .difference = estimate(difference, results->seed_count),
    };
}
