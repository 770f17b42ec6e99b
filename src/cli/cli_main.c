/* Runs one command line, from its first word to its exit code. */
#include "cli/cli_main.h"

#include <string.h>

#include "base/secret.h"
#include "cli/parse.h"
#include "cli/shared/command.h"

/* The configuration file: the one named, else the first of these in the home
 * directory that can be read; NULL: there is none. */
static const char *find_config(struct cli *cli)
{
    static const char *const names[] = {".berthctl.yaml", ".armadactl.yaml"};

    for (size_t i = 0; cli->ports->home && i < ARRAY_COUNT(names); i++) {
        const char *path = cli_format(cli, "%s/%s", cli->ports->home, names[i]);
        FILE *file = fopen(path, "re");
        if (file) {
            (void)fclose(file);
            return path;
        }
    }
    return NULL;
}

static enum cli_exit read_config(struct cli *cli, json_t **ret_config)
{
    const char *named = cli_text(cli, "config", NULL);

    *ret_config = NULL;
    cli->config_path = named ? named : find_config(cli);
    return cli->config_path
               ? cli_read_document(cli, cli->config_path, ret_config)
               : CLI_OK;
}

static enum cli_exit choose_context(struct cli *cli)
{
    auto_json_t *config = NULL;
    struct err err;

    enum cli_exit rc = read_config(cli, &config);
    if (rc != CLI_OK) {
        return rc;
    }
    int chosen = context_choose(config, cli_text(cli, "context", NULL),
                                &cli->arena, &cli->context, &err);
    if (chosen < 0) {
        return cli_fail(cli,
                        chosen == -ERR_NOT_FOUND ? CLI_NOT_FOUND : CLI_INVALID,
                        "configuration: %s", err.text);
    }
    if (cli->config_path && cli->context.password &&
        secret_check(cli->config_path, &err) < 0) {
        cli_remark(cli, "%s", err.text);
    }
    const char *url =
        cli_text(cli, "berthUrl", cli_text(cli, "armadaUrl", NULL));
    if (!url && !cli_has(cli, "context") && cli->ports->server &&
        *cli->ports->server) {
        url = cli->ports->server;
    }
    if (url) {
        context_set_url(&cli->context, url);
    }
    if (strstr(cli->context.url, "://")) {
        return cli_fail(cli, CLI_USAGE,
                        "%s: a server address is HOST:PORT, without a scheme "
                        "such as http://",
                        cli->context.url);
    }
    return CLI_OK;
}

enum cli_exit cli_main(const struct cli_ports *ports, int argument_count,
                       char **arguments)
{
    auto_mem struct cli *cli = mem_alloc(sizeof(*cli));
    bool is_done = false;

    cli->ports = ports;
    enum cli_exit rc = options_parse(cli, argument_count, arguments, &is_done);
    if (rc == CLI_OK && !is_done) {
        rc = choose_context(cli);
    }
    if (rc == CLI_OK && !is_done) {
        rc = cli->command->run(cli);
    }
    if (cli->notes) {
        cli_print_json(cli, json_pack("{s:o}", "messages", cli->notes));
    }
    if (fflush(ports->out) != 0 && rc == CLI_OK) {
        rc = cli_fail_errno(cli, CLI_FAILED, "cannot write");
    }
    rpc_channel_close(cli->channel);
    arena_fini(&cli->arena);
    return rc;
}
