/*
 * berthctl - the command line; all of it is in src/cli.
 */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli_main.h"
#include "main/common/machine.h"

static void pause_ms(int64_t ms)
{
    struct timespec span = {ms / 1000, ms % 1000 * 1000000};

    (void)nanosleep(&span, NULL);
}

int main(int argument_count, char **arguments)
{
    struct cli_ports ports = {
        .in = stdin,
        .out = stdout,
        .err = stderr,
        .clock = &machine_clock,
        .rng = &machine_rng,
        .home = getenv("HOME"),
        .server = getenv("BERTH_SERVER"),
        .is_terminal = isatty(STDOUT_FILENO),
        .is_input_terminal = isatty(STDIN_FILENO),
        .pause_ms = pause_ms,
    };

    return (int)cli_main(&ports, argument_count, arguments);
}
