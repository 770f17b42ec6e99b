/*
 * measure - what a benchmark reads off its process, and how it says a figure.
 *
 * Times are of the processor, not of the clock on the wall: other work on the
 * machine hardly counts.  A figure is one line of JSON on standard output,
 * which tools/bench reads.
 *
 * Threads: none of its own.
 */
#pragma once

#include <stdint.h>

/* A figure to be measured. */
struct figure {
    const char *name, *unit;
    double peer; /* Armada's, for the same work here; 0: none */
};

/* Seconds of processor time that this process has used. */
double measure_now_s(void);
/* Resident bytes of this process. */
double measure_resident_bytes(void);
/* Say a figure. */
void measure_print(const struct figure *figure, double value);
/* Say a figure that is a text. */
void measure_print_text(const char *name, const char *text);
