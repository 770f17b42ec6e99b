/*
 * damage_tally - what became of each damage, counted.
 */
#pragma once

#include <stdio.h>

#include "damage_kinds.h"

enum outcome {
    HARMLESS, /* all is as it was, or comes again by itself */
    TOLD,     /* it goes on, and says what is missing */
    REFUSED,  /* at the start, or when all is taken up */
    FOUND,    /* it goes on; what reads it fails, or the scrub finds it */
    SILENT,
    OUTCOME_COUNT,
};

enum { TALLY_ROWS_MAX = 400 };

/* A row of the table. */
struct tally_row {
    const char *world, *kind, *file;
    uint32_t counts[OUTCOME_COUNT];
};

/* Zeroed memory is an empty one. */
struct tally {
    struct tally_row rows[TALLY_ROWS_MAX];
    uint32_t row_count;
    uint32_t counts[OUTCOME_COUNT];
    uint32_t lost_count; /* damages that lost jobs which had another copy */
};

/* One damage. */
struct tally_one {
    const char *world;
    const struct damage *damage;
    uint64_t seed;
    enum outcome outcome;
    uint32_t lost; /* jobs that had another copy */
    const char *text;
};

/* Count it, and print it if it may not be (or all, with DAMAGE_VERBOSE). */
void tally_note(struct tally *tally, const struct tally_one *one);
/* The table, separated by tabs. */
void tally_print(FILE *file, const struct tally *tally);
/* Print the sums; whether nothing was silent or lost. */
bool tally_report(const struct tally *tally);
