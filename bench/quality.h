/*
 * quality - how well running work is placed, beside how fast.
 *
 * Of a cluster that holds the mixed workload.
 */
#pragma once

#include "mixed.h"

struct quality {
    uint32_t nodes_used; /* with anything on them */
    /* Fractions of the whole that run. */
    double cpu, memory, gpu;
    /* Of the pieces of 16 cores and 64 GiB that would fit if what is free lay
     * together, those that do not fit where it lies; without GPU nodes. */
    double fragmentation;
    /* What queues lack of their adjusted shares, summed, as a fraction. */
    double share_lacking;
};

/* Measure what runs in a cluster. */
void quality_measure(const struct mixed *mixed, struct cluster *cluster,
                     struct quality *ret_quality);
/* Say it as figures whose names begin with `prefix`. */
void quality_print(const struct quality *quality, const char *prefix);
