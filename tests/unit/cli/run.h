/*
 * run - run one command line of berthctl inside a test.
 */
#pragma once

#include "cli/cli_main.h"

enum { RUN_ARGUMENTS_MAX = 16 };

/* What a command wrote; free both with free(). */
struct run_result {
    enum cli_exit code;
    char *out, *err;
};

/* The clock of test runs: always the same. */
static int64_t run_wall_ms(const struct clock *clock)
{
    (void)clock;
    return 1700000000000;
}

/* Randomness of test runs: all ones. */
static void run_fill(const struct rng *rng, void *bytes, size_t byte_count)
{
    (void)rng;
    memset(bytes, 1, byte_count);
}

/* Run the words of `line`, which ends in NULL, with `input` as its input. */
static struct run_result run_words(const char *const *words, const char *input)
{
    static const struct clock clock = {NULL, run_wall_ms};
    static const struct rng rng = {run_fill};
    char *arguments[RUN_ARGUMENTS_MAX + 1] = {NULL};
    struct run_result result = {0};
    size_t out_bytes, err_bytes;
    int count = 0;
    struct cli_ports ports = {
        .in = fmemopen(NULL, strlen(input) + 1, "w+"),
        .out = open_memstream(&result.out, &out_bytes),
        .err = open_memstream(&result.err, &err_bytes),
        .clock = &clock,
        .rng = &rng,
    };

    fputs(input, ports.in);
    rewind(ports.in);
    for (; words[count]; count++) {
        arguments[count] = strdup(words[count]);
    }
    result.code = cli_main(&ports, count, arguments);
    fclose(ports.in);
    fclose(ports.out);
    fclose(ports.err);
    for (int i = 0; i < count; i++) {
        /* getopt may have put them in another order, but all are there. */
        free(arguments[i]);
    }
    return result;
}

#define RUN(input, ...) \
    run_words((const char *const[]){"berthctl", __VA_ARGS__, NULL}, input)
