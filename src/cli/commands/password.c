/* hash-password: the hash of a password, for the server's configuration. */
#include "wire/text/password.h"

#include <termios.h>
#include <unistd.h>

#include "cli/commands/commands.h"

/* Read a line, without showing it where a person types it. */
static char *read_line(struct cli *cli, char *line, int byte_count)
{
    const struct cli_ports *ports = cli->ports;
    int fd = fileno(ports->in);
    struct termios before;
    bool is_hidden = ports->is_input_terminal && tcgetattr(fd, &before) == 0;

    if (is_hidden) {
        struct termios hidden = before;
        hidden.c_lflag &= ~(tcflag_t)ECHO;
        (void)tcsetattr(fd, TCSAFLUSH, &hidden);
        fprintf(ports->err, "Password: ");
        (void)fflush(ports->err);
    }
    char *read = fgets(line, byte_count, ports->in);
    if (is_hidden) {
        (void)tcsetattr(fd, TCSAFLUSH, &before);
        fprintf(ports->err, "\n");
    }
    return read;
}

enum cli_exit cmd_hash_password(struct cli *cli)
{
    char line[PASSWORD_BYTES_MAX + 2], hash[PASSWORD_HASH_BYTES_MAX];
    struct err err;

    if (!read_line(cli, line, sizeof(line))) {
        return cli_fail(cli, CLI_INVALID,
                        "standard input has no line with a password");
    }
    line[strcspn(line, "\n")] = '\0';
    int rc = password_hash(str_of(line), hash, &err);
    explicit_bzero(line, sizeof(line));
    if (rc < 0) {
        return cli_fail(cli, CLI_INVALID, "%s", err.text);
    }
    fprintf(cli->ports->out, "%s\n", hash);
    return CLI_OK;
}
