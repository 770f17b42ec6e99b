/* config and version: commands that need no server. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/commands/commands.h"
#include "wire/yaml/yaml.h"

static enum cli_exit read_contexts(struct cli *cli, json_t **ret_config,
                                   const json_t **ret_contexts)
{
    if (!cli->config_path) {
        return cli_fail(cli, CLI_NOT_FOUND,
                        "there are no contexts, because there is neither "
                        "~/.berthctl.yaml nor ~/.armadactl.yaml");
    }
    enum cli_exit rc = cli_read_document(cli, cli->config_path, ret_config);
    if (rc != CLI_OK) {
        return rc;
    }
    *ret_contexts = json_object_get(*ret_config, "contexts");
    if (!json_is_object(*ret_contexts)) {
        return cli_fail(cli, CLI_INVALID, "%s has no contexts",
                        cli->config_path);
    }
    return CLI_OK;
}

static enum cli_exit write_config(struct cli *cli, const json_t *config)
{
    auto_strbuf yaml = {0};
    const char *path = cli->config_path;
    /* The context of one directory: a rename replaces the whole file. */
    const char *fresh = cli_format(cli, "%s.new", path);
    struct stat about = {.st_mode = 0600};

    /* It holds passwords: who could not read it still cannot. */
    (void)stat(path, &about);
    (void)unlink(fresh);
    int fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                  about.st_mode & 0700);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");

    wire_yaml_write(config, &yaml);
    if (!file) {
        return cli_fail_errno(cli, CLI_FAILED, "cannot write %s", fresh);
    }
    bool is_written = fchmod(fd, about.st_mode & 0777) == 0 &&
                      fputs(strbuf_text(&yaml), file) >= 0;
    is_written = fclose(file) == 0 && is_written;
    if (!is_written || rename(fresh, path) != 0) {
        return cli_fail_errno(cli, CLI_FAILED, "cannot write %s", path);
    }
    return CLI_OK;
}

enum cli_exit cmd_config_use_context(struct cli *cli)
{
    const json_t *contexts = NULL;
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
