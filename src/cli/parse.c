#include "cli/parse.h"

#include <getopt.h>

#include "cli/command_table.h"
#include "cli/shared/columns.h"
#include "cli/shared/nearest.h"

/* getopt's codes of long options begin above every letter. */
enum { CODE_LONG = 256 };

static const char program[] = "berthctl";

/* A usage error, with where to read more. */
static enum cli_exit usage(const struct cli *cli, const char *format, ...)
    printf_like(2, 3);

static enum cli_exit usage(const struct cli *cli, const char *format, ...)
{
    va_list arguments;

    fprintf(cli->ports->err, "%s: ", program);
    va_start(arguments, format);
    vfprintf(cli->ports->err, format, arguments);
    va_end(arguments);
    fprintf(cli->ports->err, "\ntry: %s %s%s--help\n", program,
            cli->command ? cli->command->path : "", cli->command ? " " : "");
    return CLI_USAGE;
}

static void add_options(struct cli *cli, const struct option_spec *options,
                        uint32_t count)
{
    ASSERT(cli->option_count + count <= CLI_OPTIONS_MAX);
    for (uint32_t i = 0; i < count; i++) {
        cli->options[cli->option_count++] = options[i];
    }
}

/* The number of words of `path` if the arguments begin with it, else 0. */
static int match(const char *path, int argument_count, char **arguments)
{
    int words = 0;

    while (*path) {
        size_t length = strcspn(path, " ");
        if (words == argument_count || strlen(arguments[words]) != length ||
            memcmp(arguments[words], path, length) != 0) {
            return 0;
        }
        words++;
        path += length + (path[length] == ' ');
    }
    return words;
}

/* The command that the arguments begin with; the longest name wins. */
static const struct command_spec *find_command(int argument_count,
                                               char **arguments, int *ret_words)
{
    const struct command_spec *best = NULL;

    *ret_words = 0;
    for (uint32_t i = 0; i < command_count; i++) {
        int words = match(command_table[i].path, argument_count, arguments);
        if (words == 0 && command_table[i].alias) {
            words = match(command_table[i].alias, argument_count, arguments);
        }
        if (words > *ret_words) {
            best = &command_table[i];
            *ret_words = words;
        }
    }
    return best;
}

static void take_items(struct cli *cli, struct option_value *value,
                       const char *text)
{
    if (!value->items) {
        value->items =
            arena_alloc_array(&cli->arena, CLI_LIST_MAX, sizeof(char *));
    }
    while (*text && value->count < CLI_LIST_MAX) {
        size_t length = strcspn(text, ",");
        if (length > 0) {
            value->items[value->count++] =
                arena_strdup(&cli->arena, str_make(text, length));
        }
        text += length + (text[length] == ',');
    }
}

static void take(struct cli *cli, uint32_t index, const char *text)
{
    struct option_value *value = &cli->values[index];

    value->is_given = true;
    if (cli->options[index].kind == OPTION_LIST) {
        take_items(cli, value, text);
        return;
    }
    value->count++;
    value->text = text;
}

/* The options as getopt wants them. */
struct getopt_tables {
    struct option longs[CLI_OPTIONS_MAX + 1];
    char letters[2 * CLI_OPTIONS_MAX + 3];
};

/* Whether getopt is to expect a value. */
static int argument_of(enum option_kind kind)
{
    if (kind == OPTION_SWITCH) {
        return optional_argument;
    }
    return kind == OPTION_TEXT || kind == OPTION_LIST ? required_argument
                                                      : no_argument;
}

static void make_tables(const struct cli *cli, const char *mode,
                        struct getopt_tables *ret)
{
    size_t at = 0;

    memset(ret, 0, sizeof(*ret));
    for (; *mode; mode++) {
        ret->letters[at++] = *mode;
    }
    for (uint32_t i = 0; i < cli->option_count; i++) {
        const struct option_spec *option = &cli->options[i];
        bool has_value = argument_of(option->kind) == required_argument;
        ret->longs[i] = (struct option){option->name, argument_of(option->kind),
                                        NULL, CODE_LONG + (int)i};
        if (option->letter) {
            ret->letters[at++] = option->letter;
            if (has_value) {
                ret->letters[at++] = ':';
            }
        }
    }
}

static uint32_t index_of(const struct cli *cli, int code)
{
    if (code >= CODE_LONG) {
        return (uint32_t)(code - CODE_LONG);
    }
    for (uint32_t i = 0; i < cli->option_count; i++) {
        if (cli->options[i].letter == code) {
            return i;
        }
    }
    ASSERT(!"getopt returned a letter that is not in the table");
    return 0;
}

static enum cli_exit refuse_option(const struct cli *cli, const char *text)
{
    struct nearest nearest = nearest_to(text);

    for (uint32_t i = 0; i < cli->option_count && text[0] && text[1] == '-';
         i++) {
        nearest.wanted = str_make(text + 2, strcspn(text + 2, "="));
        nearest_try(&nearest, str_of(cli->options[i].name));
    }
    return usage(cli, "no such option: %s%s%.*s%s", text,
                 nearest.name.byte_count ? "; did you mean --" : "",
                 STR_ARG(nearest.name), nearest.name.byte_count ? "?" : "");
}

/* Take the options in front of (`mode` "+:") or among (":") the arguments. */
static enum cli_exit parse(struct cli *cli, const char *mode,
                           int argument_count, char **arguments)
{
    struct getopt_tables tables;
    int code;

    make_tables(cli, mode, &tables);
    optind = 0;
    opterr = 0;
    while ((code = getopt_long(argument_count, arguments, tables.letters,
                               tables.longs, NULL)) != -1) {
        if (code == '?') {
            return refuse_option(cli, arguments[optind - 1]);
        }
        if (code == ':') {
            return usage(cli, "%s needs a value", arguments[optind - 1]);
        }
        take(cli, index_of(cli, code), optarg);
    }
    return CLI_OK;
}

static enum cli_exit check_count(const struct cli *cli)
{
    const struct command_spec *command = cli->command;

    if (cli->argument_count < command->argument_count_min ||
        (command->argument_count_max >= 0 &&
         cli->argument_count > command->argument_count_max)) {
        return usage(cli, "%s takes: %s", command->path,
                     *command->arguments ? command->arguments : "no arguments");
    }
    return CLI_OK;
}

/* What -o takes; a pattern follows those that end in an equals sign. */
static const struct {
    const char *word;
    enum cli_output output;
} outputs[] = {
    {"text", CLI_OUTPUT_TEXT},
    {"wide", CLI_OUTPUT_TEXT},
    {"csv", CLI_OUTPUT_TEXT},
    {"json", CLI_OUTPUT_JSON},
    {"yaml", CLI_OUTPUT_YAML},
    {"name", CLI_OUTPUT_NAME},
    {"custom-columns=", CLI_OUTPUT_COLUMNS},
    {"jsonpath=", CLI_OUTPUT_TEMPLATE},
};

static enum cli_exit take_output(struct cli *cli)
{
    const char *output = cli_text(cli, "output", "text");

    for (size_t i = 0; i < ARRAY_COUNT(outputs); i++) {
        size_t length = strlen(outputs[i].word);
        bool has_pattern = outputs[i].word[length - 1] == '=';
        if (has_pattern ? strncmp(output, outputs[i].word, length) == 0
                        : strcmp(output, outputs[i].word) == 0) {
            cli->output = outputs[i].output;
            cli->pattern = output + length;
            cli->is_csv = strcmp(output, "csv") == 0;
            cli->is_wide = cli->is_csv || strcmp(output, "wide") == 0;
            return columns_check(cli);
        }
    }
    return usage(
        cli,
        "-o takes text, wide, csv, json, yaml, name, custom-columns=... or "
        "jsonpath=..., not %s",
        output);
}

/* The command of that first word whose rest is most like the second; "" if none
 * is. */
static struct str nearest_second(const char *first, const char *second)
{
    struct nearest nearest = nearest_to(second);
    size_t length = strlen(first);
    struct str path = {0};

    for (uint32_t i = 0; i < command_count; i++) {
        const char *words = command_table[i].path;
        if (strncmp(words, first, length) != 0 || words[length] != ' ') {
            continue;
        }
        uint32_t before = nearest.distance;
        nearest_try(&nearest, str_of(words + length + 1));
        path = nearest.distance < before ? str_of(words) : path;
    }
    return path;
}

/* Answer words that name no command.  Where the first of them begins the
 * names of commands ("get"), those are what the user looks for. */
static enum cli_exit answer_no_command(struct cli *cli, int count, char **words,
                                       bool *ret_is_done)
{
    bool has_second = count > 1 && *words[1] != '-';
    bool is_help_asked = count == 2 && (strcmp(words[1], "--help") == 0 ||
                                        strcmp(words[1], "-h") == 0);

    if (options_print_commands_of(NULL, words[0]) == 0) {
        struct nearest nearest = nearest_to(words[0]);
        for (uint32_t i = 0; i < command_count; i++) {
            const char *path = command_table[i].path;
            nearest_try(&nearest, str_make(path, strcspn(path, " ")));
        }
        return usage(cli, "no such command: %s%s%.*s%s", words[0],
                     nearest.name.byte_count ? "; did you mean " : "",
                     STR_ARG(nearest.name), nearest.name.byte_count ? "?" : "");
    }
    if (is_help_asked) {
        (void)options_print_commands_of(cli->ports->out, words[0]);
        *ret_is_done = true;
        return CLI_OK;
    }
    if (has_second) {
        struct str nearest = nearest_second(words[0], words[1]);
        fprintf(cli->ports->err,
                "%s: no such command: %s %s; %s%.*s%sthere are:\n", program,
                words[0], words[1], nearest.byte_count ? "did you mean " : "",
                STR_ARG(nearest), nearest.byte_count ? "? " : "");
    } else {
        fprintf(cli->ports->err, "%s: %s needs another word:\n", program,
                words[0]);
    }
    (void)options_print_commands_of(cli->ports->err, words[0]);
    return CLI_USAGE;
}

/* Answer `help COMMAND`. */
static enum cli_exit help_about(struct cli *cli, int count, char **words,
                                bool *ret_is_done)
{
    int used;

    cli->command = find_command(count, words, &used);
    if (!cli->command && count == 1 &&
        options_print_commands_of(NULL, words[0]) > 0) {
        (void)options_print_commands_of(cli->ports->out, words[0]);
        *ret_is_done = true;
        return CLI_OK;
    }
    if (!cli->command) {
        return answer_no_command(cli, count, words, ret_is_done);
    }
    add_options(cli, cli->command->options, cli->command->option_count);
    options_print_help(cli, cli->ports->out);
    *ret_is_done = true;
    return CLI_OK;
}

/* Parse what stands in front of the command and find it. */
static enum cli_exit parse_command(struct cli *cli, int argument_count,
                                   char **arguments, int *ret_used,
                                   bool *ret_is_done)
{
    enum cli_exit rc = parse(cli, "+:", argument_count, arguments);
    int words = 0;
    int left = argument_count - optind;

    if (rc != CLI_OK) {
        return rc;
    }
    if (left > 1 && strcmp(arguments[optind], "help") == 0) {
        return help_about(cli, left - 1, arguments + optind + 1, ret_is_done);
    }
    if (left == 0 || strcmp(arguments[optind], "help") == 0) {
        bool is_asked = left > 0 || cli_has(cli, "help");
        options_print_commands(is_asked ? cli->ports->out : cli->ports->err);
        *ret_is_done = true;
        return is_asked ? CLI_OK : CLI_USAGE;
    }
    cli->command = find_command(left, arguments + optind, &words);
    if (!cli->command) {
        return answer_no_command(cli, left, arguments + optind, ret_is_done);
    }
    /* getopt begins after the first item: leave the last word before it. */
    *ret_used = optind + words - 1;
    return CLI_OK;
}

/* Answer an option that stands for a whole command line; false: it is none. */
static bool answer_alone(const char *option, FILE *out)
{
    if (strcmp(option, "--print-options") == 0) {
        options_print_table(out);
    } else if (strcmp(option, "--version") == 0) {
        fprintf(out, "%s %s\n", program, BERTH_VERSION);
    } else {
        return false;
    }
    return true;
}

enum cli_exit options_parse(struct cli *cli, int argument_count,
                            char **arguments, bool *ret_is_done)
{
    int used = 0;

    *ret_is_done =
        argument_count == 2 && answer_alone(arguments[1], cli->ports->out);
    if (*ret_is_done) {
        return CLI_OK;
    }
    add_options(cli, command_common_options, command_common_option_count);
    enum cli_exit rc =
        parse_command(cli, argument_count, arguments, &used, ret_is_done);
    if (rc != CLI_OK || *ret_is_done) {
        return rc;
    }
    add_options(cli, cli->command->options, cli->command->option_count);
    rc = parse(cli, cli->command->takes_command_line ? "+:" : ":",
               argument_count - used, arguments + used);
    if (rc != CLI_OK) {
        return rc;
    }
    cli->arguments = arguments + used + optind;
    cli->argument_count = argument_count - used - optind;
    if (cli_has(cli, "help")) {
        options_print_help(cli, cli->ports->out);
        *ret_is_done = true;
        return CLI_OK;
    }
    rc = check_count(cli);
    return rc == CLI_OK ? take_output(cli) : rc;
}
