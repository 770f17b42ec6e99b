/* Writes --help and the like from the table of commands. */
#include "cli/command_table.h"
#include "cli/parse.h"

static const char program[] = "berthctl";

/* Of the longest command, for a column of all. */
static int path_width(void)
{
    size_t width = 0;

    for (uint32_t i = 0; i < command_count; i++) {
        size_t length = strlen(command_table[i].path);
        width = length > width ? length : width;
    }
    return (int)width;
}

uint32_t options_print_commands_of(FILE *out, const char *word)
{
    size_t length = strlen(word);
    uint32_t count = 0;

    for (uint32_t i = 0; i < command_count; i++) {
        const struct command_spec *command = &command_table[i];
        if (length > 0 && (strncmp(command->path, word, length) != 0 ||
                           command->path[length] != ' ')) {
            continue;
        }
        count++;
        if (out) {
            fprintf(out, "  %-*s %s\n", path_width(), command->path,
                    command->about);
        }
    }
    return count;
}

void options_print_commands(FILE *out)
{
    fprintf(out,
            "berthctl - work with a Berth (or Armada) server\n\n"
            "usage: %s COMMAND [ARGUMENTS] [OPTIONS]\n\ncommands:\n",
            program);
    (void)options_print_commands_of(out, "");
    fprintf(out,
            "\n%s COMMAND --help describes one command.\n%s --version shows "
            "the version.\n",
            program, program);
}

static void print_option_rows(const struct option_spec *options, uint32_t count,
                              FILE *out)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct option_spec *option = &options[i];
        const char *value = option->kind == OPTION_SWITCH ? "[=false]"
                            : option->value               ? option->value
                                                          : "";
        fprintf(out, "option\t%s\t%.1s\t%s\t%s\n", option->name,
                &option->letter, value, option->about);
    }
}

void options_print_table(FILE *out)
{
    for (uint32_t i = 0; i < command_count; i++) {
        const struct command_spec *command = &command_table[i];
        fprintf(out, "command\t%s\t%s\t%s\t%s\n", command->path,
                command->alias ? command->alias : "", command->arguments,
                command->about);
        print_option_rows(command->options, command->option_count, out);
    }
    fputs("command\t\t\t\tof every command\n", out);
    print_option_rows(command_common_options, command_common_option_count, out);
}

void options_print_help(const struct cli *cli, FILE *out)
{
    const struct command_spec *command = cli->command;

    if (command->takes_command_line) { /* what follows `--` is not parsed */
        fprintf(out,
                "usage: %s %s -q QUEUE [OPTIONS] [-- COMMAND...]\n\n%s\n\n",
                program, command->path, command->about);
    } else {
        fprintf(out, "usage: %s %s%s%s [OPTIONS]\n\n%s\n\n", program,
                command->path, *command->arguments ? " " : "",
                command->arguments, command->about);
    }
    fputs("options:\n", out);
    for (uint32_t i = 0; i < cli->option_count; i++) {
        const struct option_spec *option = &cli->options[i];
        auto_strbuf left = {0};
        if (option->letter) {
            strbuf_addf(&left, "-%c, ", option->letter);
        }
        strbuf_addf(&left, "--%s", option->name);
        if (option->kind == OPTION_SWITCH) {
            strbuf_add_text(&left, "[=false]");
        } else if (option->value) {
            strbuf_addf(&left, " %s", option->value);
        }
        fprintf(out, "  %-30s %s\n", strbuf_text(&left), option->about);
    }
}
