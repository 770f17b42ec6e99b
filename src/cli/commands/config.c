/* config and version: commands that need no server. */
#include <unistd.h>

#include "cli/commands/commands.h"
#include "wire/yaml/yaml.h"

static const char *config_path(struct cli *cli)
{
    const char *home = cli->ports->home ? cli->ports->home : ".";
    const char *mine = cli_format(cli, "%s/.berthctl.yaml", home);

    if (access(mine, F_OK) != 0) {
        mine = cli_format(cli, "%s/.armadactl.yaml", home);
    }
    return cli_text(cli, "config", mine);
}

static enum cli_exit read_contexts(struct cli *cli, json_t **ret_config,
                                   const json_t **ret_contexts)
{
    if (access(config_path(cli), F_OK) != 0) {
        return cli_has(cli, "config")
                   ? cli_fail(cli, CLI_NOT_FOUND,
                              "there are no contexts, because there is no "
                              "configuration file %s",
                              config_path(cli))
                   : cli_fail(cli, CLI_NOT_FOUND,
                              "there are no contexts, because there is neither "
                              "~/.berthctl.yaml nor ~/.armadactl.yaml");
    }
    enum cli_exit rc = cli_read_document(cli, config_path(cli), ret_config);
    if (rc != CLI_OK) {
        return rc;
    }
    *ret_contexts = json_object_get(*ret_config, "contexts");
    if (!json_is_object(*ret_contexts)) {
        return cli_fail(cli, CLI_INVALID, "%s has no contexts",
                        config_path(cli));
    }
    return CLI_OK;
}

static enum cli_exit write_config(struct cli *cli, const json_t *config)
{
    auto_strbuf yaml = {0};
    const char *path = config_path(cli);
    /* The context of one directory: a rename replaces the whole file. */
    const char *fresh = cli_format(cli, "%s.new", path);
    FILE *file = fopen(fresh, "we");

    wire_yaml_write(config, &yaml);
    if (!file) {
        return cli_fail_errno(cli, CLI_FAILED, "cannot write %s", fresh);
    }
    bool is_written = fputs(strbuf_text(&yaml), file) >= 0;
    is_written = fclose(file) == 0 && is_written;
    if (!is_written || rename(fresh, path) != 0) {
        return cli_fail_errno(cli, CLI_FAILED, "cannot write %s", path);
    }
    return CLI_OK;
}

enum cli_exit cmd_config_use_context(struct cli *cli)
{
    const json_t *contexts;
    auto_json_t *config = NULL;
    const char *name = cli_argument(cli, 0);

    enum cli_exit rc = read_contexts(cli, &config, &contexts);
    if (rc != CLI_OK) {
        return rc;
    }
    if (!json_object_get(contexts, name)) {
        return cli_fail(cli, CLI_NOT_FOUND, "there is no context %s", name);
    }
    (void)json_object_set_new(config, "currentContext", json_string(name));
    rc = write_config(cli, config);
    if (rc == CLI_OK) {
        cli_note(cli, "Current context set to %s", name);
    }
    return rc;
}

enum cli_exit cmd_config_get_contexts(struct cli *cli)
{
    const json_t *contexts;
    auto_json_t *config = NULL;
    const char *name;
    json_t *context;

    enum cli_exit rc = read_contexts(cli, &config, &contexts);
    if (rc != CLI_OK) {
        return rc;
    }
    const char *current =
        json_string_value(json_object_get(config, "currentContext"));
    /* The macro wants a pointer that it does not use to write. */
    json_t *walked = json_object_get(config, "contexts");
    json_object_foreach(walked, name, context)
    {
        bool is_current = current && strcmp(current, name) == 0;
        cli_note(cli, "%s%s", name, is_current ? " (current)" : "");
    }
    return CLI_OK;
}

enum cli_exit cmd_config_current_context(struct cli *cli)
{
    if (!*cli->context.name) {
        return cli_fail(
            cli, CLI_NOT_FOUND,
            "no context is selected; config use-context NAME selects one");
    }
    cli_note(cli, "%s", cli->context.name);
    return CLI_OK;
}

enum cli_exit cmd_version(struct cli *cli)
{
    if (cli->output == CLI_OUTPUT_TEXT) {
        cli_say(cli, "berthctl %s", BERTH_VERSION);
    } else {
        cli_print_json(cli, json_pack("{s:s}", "version", BERTH_VERSION));
    }
    return CLI_OK;
}
