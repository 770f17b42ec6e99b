/*
 * berth-sim - the shipped leader on virtual time.
 */
#include <stdio.h>
#include <string.h>

#include "main/sim/sim_main.h"

static const struct {
    const struct sim_syntax *syntax;
    int (*run)(int argument_count, char **arguments);
} commands[] = {
    {&sim_run_syntax, sim_run_main},
    {&sim_swf_syntax, sim_swf_main},
    {&sim_fleet_syntax, sim_fleet_main},
    {&sim_replay_syntax, sim_replay_main},
    {&sim_what_if_syntax, sim_what_if_main},
};

static void print_help(void)
{
    printf("berth-sim - Berth's leader and scheduler on virtual time\n\n"
           "usage: berth-sim COMMAND [OPTIONS]\n\n");
    for (size_t i = 0; i < ARRAY_COUNT(commands); i++) {
        const struct usage *usage = &commands[i].syntax->usage;
        int length = (int)strcspn(usage->arguments, "[");
        auto_strbuf left = {0};
        strbuf_addf(&left, "%s %.*s", usage->command, length, usage->arguments);
        printf("  %-28s  %s\n", strbuf_text(&left), usage->about);
    }
    printf(
        "  %-28s  show this help or the version and exit\n\n"
        "berth-sim COMMAND --help describes a command.  Exit codes: 0 "
        "success,\n1 failure, 2 the command line or the scenario is wrong.\n",
        "--help, --version");
}

/* The tables of all commands. */
static void print_options(void)
{
    for (size_t i = 0; i < ARRAY_COUNT(commands); i++) {
        usage_print_table(&commands[i].syntax->usage, stdout);
    }
}

int main(int argument_count, char **arguments)
{
    const char *name = argument_count > 1 ? arguments[1] : "";
    char program[] = "berth-sim";

    for (size_t i = 0; i < ARRAY_COUNT(commands); i++) {
        if (strcmp(name, commands[i].syntax->usage.command) == 0) {
            arguments[1] = program; /* what getopt's complaints begin with */
            return commands[i].run(argument_count - 1, arguments + 1);
        }
    }
    if (strcmp(name, "--version") == 0) {
        printf("berth-sim %s\n", BERTH_VERSION);
        return 0;
    }
    if (strcmp(name, "--help") == 0) {
        print_help();
        return 0;
    }
    if (strcmp(name, "--print-options") == 0) {
        print_options();
        return 0;
    }
    if (argument_count > 1) {
        fprintf(stderr, "berth-sim: unknown command \"%s\"\n", name);
    } else {
        fputs("berth-sim: no command given\n", stderr);
    }
    fputs("try: berth-sim --help\n", stderr);
    return SIM_EXIT_USAGE;
}
