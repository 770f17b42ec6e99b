/* The values of a command's options. */
#include "cli/shared/command.h"

const struct option_value *cli_option(const struct cli *cli, const char *name)
{
    for (uint32_t i = 0; i < cli->option_count; i++) {
        if (strcmp(cli->options[i].name, name) == 0) {
            return &cli->values[i];
        }
    }
    ASSERT(!"a command asked for an option that it does not have");
    return NULL;
}

bool cli_has(const struct cli *cli, const char *name)
{
    return cli_option(cli, name)->count > 0;
}

bool cli_is_given(const struct cli *cli, const char *name)
{
    return cli_option(cli, name)->is_given;
}

const char *cli_text(const struct cli *cli, const char *name,
                     const char *otherwise)
{
    const struct option_value *value = cli_option(cli, name);

    return value->count > 0 ? value->text : otherwise;
}

enum cli_exit cli_switch(const struct cli *cli, const char *option,
                         protobuf_c_boolean *ret_is_on)
{
    const char *text = cli_text(cli, option, NULL);

    if (text && strcmp(text, "true") != 0 && strcmp(text, "false") != 0) {
        return cli_fail(cli, CLI_USAGE, "--%s is true or false, not \"%s\"",
                        option, text);
    }
    if (cli_has(cli, option)) {
        *ret_is_on = !text || strcmp(text, "true") == 0;
    }
    return CLI_OK;
}

char *cli_argument(const struct cli *cli, int index)
{
    ASSERT(index >= 0 && index < cli->argument_count);
    return cli->arguments[index];
}

struct cli_names cli_list(struct cli *cli, const char *name)
{
    const struct option_value *value = cli_option(cli, name);
    char **items = arena_alloc_array(&cli->arena, value->count, sizeof(*items));

    for (uint32_t i = 0; i < value->count; i++) {
        items[i] = arena_strdup(&cli->arena, str_of(value->items[i]));
    }
    return (struct cli_names){items, value->count};
}
