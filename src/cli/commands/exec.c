/* exec: runs a program in a running job. */
#include "cli/commands/commands.h"
#include "cli/shared/array_selection.h"
#include "cli/shared/session.h"
#include "wire/settings/settings.h"

enum cli_exit cmd_exec(struct cli *cli)
{
    const char *time = cli_text(cli, "timeout", NULL);
    struct session_wish wish = {
        .container = cli_format(cli, "%s", cli_text(cli, "container", "")),
        .words = cli->arguments + 1,
        .word_count = (size_t)cli->argument_count - 1,
        .has_input = cli_has(cli, "stdin"),
        .has_tty = cli_has(cli, "tty"),
    };

    if (time && (setting_parse_duration(str_of(time), &wish.time_ms_max) < 0 ||
                 wish.time_ms_max <= 0)) {
        return cli_fail(cli, CLI_USAGE,
                        "--timeout takes a time such as 90s or 1h30m, not "
                        "\"%s\"",
                        time);
    }
    if (wish.has_tty && !cli->ports->is_input_terminal) {
        cli_remark(cli,
                   "standard input is no terminal: --tty gives the program "
                   "one of 80 columns and 24 rows");
    }
    enum cli_exit rc = cli_connect(cli);
    if (rc == CLI_OK) {
        rc = array_one(cli, cli_argument(cli, 0), &wish.job_id);
    }
    return rc == CLI_OK ? session_run(cli, &wish) : rc;
}
