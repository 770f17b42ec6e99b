/*
 * berthctl - the command line; all of it is in src/cli.
 */
#include <stdlib.h>
#include <unistd.h>

#include "cli/cli.h"
#include "main/machine.h"

int main(int argument_count, char **arguments)
{
    struct cli_ports ports = {
        .in = stdin,
        .out = stdout,
        .err = stderr,
        .clock = &machine_clock,
        .rng = &machine_rng,
        .home = getenv("HOME"),
        .is_terminal = isatty(STDOUT_FILENO),
    };

    return (int)cli_main(&ports, argument_count, arguments);
}
