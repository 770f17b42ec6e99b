/*
 * berthctl - the command line; all of it is in src/cli.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli_main.h"
#include "main/common/machine.h"

static void pause_ms(int64_t ms)
{
    struct timespec span = {ms / 1000, ms % 1000 * 1000000};

    (void)nanosleep(&span, NULL);
}

/* The columns and lines of the terminal that a stream is; 0: it is none. */
static struct winsize size_of(int file)
{
    struct winsize size;

    return ioctl(file, TIOCGWINSZ, &size) == 0 ? size : (struct winsize){0};
}

/* Whether it knows more than letters. */
static bool is_clever(void)
{
    const char *terminal = getenv("TERM");

    return isatty(STDOUT_FILENO) &&
           !(terminal && strcmp(terminal, "dumb") == 0);
}

/* NO_COLOR, if it says anything, forbids colours (no-color.org). */
static bool may_colour(void)
{
    const char *no = getenv("NO_COLOR");

    return is_clever() && !(no && *no);
}

/* gRPC's threads are many and shallow: at 8 MiB each they would not fit into
 * the memory of a small job. */
static void keep_stacks_small(void)
{
    enum { STACK_BYTES = 512 << 10 };
    pthread_attr_t attributes;

    (void)pthread_attr_init(&attributes);
    (void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
    (void)pthread_setattr_default_np(&attributes);
    (void)pthread_attr_destroy(&attributes);
}

int main(int argument_count, char **arguments)
{
    struct winsize size = size_of(STDOUT_FILENO);
    struct cli_ports ports = {
        .in = stdin,
        .out = stdout,
        .err = stderr,
        .clock = &machine_clock,
        .rng = &machine_rng,
        .home = getenv("HOME"),
        .server = getenv("BERTH_SERVER"),
        .term = getenv("TERM"),
        .is_terminal = isatty(STDOUT_FILENO),
        .is_input_terminal = isatty(STDIN_FILENO),
        .has_colours = may_colour(),
        .width = size.ws_col,
        .height = is_clever() ? size.ws_row : 0,
        .pause_ms = pause_ms,
    };

    keep_stacks_small();
    return (int)cli_main(&ports, argument_count, arguments);
}
