/*
 * completion: scripts for shells, which ask berthctl for the words that may
 * follow.
 */
#include "cli/command_table.h"
#include "cli/commands/commands.h"

static const char bash_script[] =
    "_berthctl() {\n"
    "    local IFS=$'\\n'\n"
    "    COMPREPLY=($(compgen -W \"$(berthctl completion words \\\n"
    "        \"${COMP_WORDS[@]:1:COMP_CWORD-1}\" 2>/dev/null)\" \\\n"
    "        -- \"${COMP_WORDS[COMP_CWORD]}\"))\n"
    "}\n"
    "complete -o default -F _berthctl berthctl\n";

static const char zsh_script[] =
    "#compdef berthctl\n"
    "_berthctl() {\n"
    "    local -a follow\n"
    "    follow=(${(f)\"$(berthctl completion words \\\n"
    "        ${words[2,CURRENT-1]} 2>/dev/null)\"})\n"
    "    compadd -- $follow || _files\n"
    "}\n"
    "compdef _berthctl berthctl\n";

static const char fish_script[] =
    "complete -c berthctl -a '(berthctl completion words "
    "(commandline -opc)[2..-1] 2>/dev/null)'\n";

static const struct {
    const char *name, *script;
} shells[] = {
    {"bash", bash_script}, {"zsh", zsh_script}, {"fish", fish_script}};

/* The word of a path behind as many of its words as were typed; "": it is over,
 * or begins otherwise. */
static struct str next_word(const char *path, char *const *typed, int count)
{
    for (int i = 0; i < count; i++) {
        size_t length = strcspn(path, " ");
        if (length != strlen(typed[i]) || memcmp(path, typed[i], length) != 0) {
            return STR("");
        }
        path += length + (path[length] == ' ');
    }
    return str_make(path, strcspn(path, " "));
}

/* Whether the typed words begin with a path. */
static bool begins_with(const char *path, char *const *typed, int count)
{
    int at = 0;

    for (; *path && at < count; at++) {
        size_t length = strcspn(path, " ");
        if (length != strlen(typed[at]) ||
            memcmp(path, typed[at], length) != 0) {
            return false;
        }
        path += length + (path[length] == ' ');
    }
    return *path == '\0';
}

static void say_options(const struct cli *cli,
                        const struct option_spec *options, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        cli_say(cli, "--%s", options[i].name);
    }
}

/* What may follow the words that were typed. */
static enum cli_exit say_words(struct cli *cli, char *const *typed, int count)
{
    const struct command_spec *command = NULL;
    struct str last = STR("");

    for (uint32_t i = 0; i < command_count; i++) {
        const char *path = command_table[i].path;
        struct str next = next_word(path, typed, count);
        if (next.byte_count > 0 && !str_equal(next, last)) {
            cli_say(cli, "%.*s", STR_ARG(next));
            last = next;
        }
        if (begins_with(path, typed, count) &&
            (!command || strlen(path) > strlen(command->path))) {
            command = &command_table[i];
        }
    }
    if (command) {
        say_options(cli, command->options, command->option_count);
        say_options(cli, command_common_options, command_common_option_count);
    }
    return CLI_OK;
}

enum cli_exit cmd_completion(struct cli *cli)
{
    const char *what = cli_argument(cli, 0);

    if (strcmp(what, "words") == 0) {
        return say_words(cli, cli->arguments + 1, cli->argument_count - 1);
    }
    for (size_t i = 0; i < ARRAY_COUNT(shells); i++) {
        if (strcmp(shells[i].name, what) == 0 && cli->argument_count == 1) {
            fputs(shells[i].script, cli->ports->out);
            return CLI_OK;
        }
    }
    return cli_fail(cli, CLI_USAGE, "completion takes bash, zsh or fish");
}
