/*
 * bench_sched - the planner, on one core.
 *
 *     bench_sched [-s TENTHS] [NAME...]     all cases, or those named
 *
 * Duels are the cases of design.md 9, beside what Armada took for the same
 * work (`peer`); the others are of the mixed workload (mixed.h).  Times are
 * of the processor.  TENTHS is the size in tenths of the one that budgets are
 * for.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "sched_cases.h"

static const struct {
    const char *name;
    void (*run)(uint32_t tenths);
} CASES[] = {
    {"memory", case_memory},
    {"first", case_first},
    {"unchanged", case_unchanged},
    {"preempt", case_preempt},
    {"gang32k", case_gang32k},
    {"nodes", case_nodes},
    {"unique_classes", case_unique_classes},
    {"gang10k", case_gang10k},
    {"explain", case_explain},
    {"head", case_head},
    {"topology", case_topology},
    {"whole_nodes", case_whole_nodes},
    {"elastic", case_elastic},
    {"surplus", case_surplus},
    {"mixed_empty", case_mixed_empty},
    {"mixed_full", case_mixed_full},
};

static bool is_wanted(const char *name, int argc, char **argv, int first)
{
    for (int a = first; a < argc; a++) {
        if (strcmp(argv[a], name) == 0) {
            return true;
        }
    }
    return first >= argc;
}

int main(int argc, char **argv)
{
    bool has_size = argc > 2 && strcmp(argv[1], "-s") == 0;
    uint32_t tenths =
        has_size ? (uint32_t)strtoul(argv[2], NULL, 10) : TENTHS_ONE;

    if (tenths == 0) {
        fprintf(stderr, "usage: bench_sched [-s TENTHS] [NAME...]\n");
        return 2;
    }
    for (size_t i = 0; i < ARRAY_COUNT(CASES); i++) {
        if (is_wanted(CASES[i].name, argc, argv, has_size ? 3 : 1)) {
            CASES[i].run(tenths);
        }
    }
    return 0;
}
