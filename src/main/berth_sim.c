/*
 * berth-sim - the shipped leader on virtual time.
 */
#include <stdio.h>
#include <string.h>

#include "main/sim_main.h"

static const char usage_text[] =
    "berth-sim - Berth's control loop and scheduler on virtual time\n"
    "\n"
    "usage: berth-sim COMMAND [OPTIONS]\n"
    "\n"
    "  run SCENARIO.yaml   play a scenario: clusters, queues, streams of jobs\n"
    "  swf FILE            play a log in the Standard Workload Format\n"
    "  fleet FILE          play a trace of GPU jobs\n"
    "  replay DATA_DIR     make the decisions of a berthd's log again\n"
    "  --help, --version   say so; end\n"
    "\n"
    "berth-sim COMMAND --help tells more.  Exit codes: 0 well, 1 it went\n"
    "wrong, 2 the command line or the scenario is wrong.\n";

static const struct {
    const char *name;
    int (*run)(int argument_count, char **arguments);
} commands[] = {
    {"run", sim_run_main},
    {"swf", sim_swf_main},
    {"fleet", sim_fleet_main},
    {"replay", sim_replay_main},
};

int main(int argument_count, char **arguments)
{
    const char *name = argument_count > 1 ? arguments[1] : "";
    char program[] = "berth-sim";

    for (size_t i = 0; i < ARRAY_COUNT(commands); i++) {
        if (strcmp(name, commands[i].name) == 0) {
            arguments[1] = program; /* what getopt's complaints begin with */
            return commands[i].run(argument_count - 1, arguments + 1);
        }
    }
    if (strcmp(name, "--version") == 0) {
        printf("berth-sim %s\n", BERTH_VERSION);
        return 0;
    }
    if (strcmp(name, "--help") == 0) {
        fputs(usage_text, stdout);
        return 0;
    }
    if (argument_count > 1) {
        fprintf(stderr, "berth-sim: unknown command \"%s\"\n", name);
    } else {
        fputs("berth-sim: a command must be given\n", stderr);
    }
    fputs("try: berth-sim --help\n", stderr);
    return SIM_EXIT_USAGE;
}
