/* backup: writes the copies of the server's files to a new directory. */
#include <sys/stat.h>

#include "base/plural.h"
#include "berth/api.pb-c.h"
#include "cli/commands/commands.h"

/* The copy as far as it has come. */
struct backup {
    const char *directory;
    const char *name; /* of the open file */
    FILE *file;       /* NULL: none yet */
    uint32_t file_count;
    uint64_t byte_count;
};

static const struct wire_limits chunk_limits = {
    .byte_count_max = 64 << 20,
    .field_count_max = 16,
    .memory_bytes_max = 128 << 20,
    .depth_max = 1,
};

/* A name that stays inside the directory. */
static bool is_plain_name(const char *name)
{
    return *name && *name != '.' && !strchr(name, '/');
}

static enum cli_exit close_file(struct cli *cli, struct backup *backup)
{
    FILE *file = backup->file;

    backup->file = NULL;
    if (file && fclose(file) != 0) {
        return cli_fail_errno(cli, CLI_FAILED, "%s/%s", backup->directory,
                              backup->name);
    }
    return CLI_OK;
}

static enum cli_exit open_file(struct cli *cli, struct backup *backup,
                               const char *name)
{
    if (!is_plain_name(name)) {
        return cli_fail(
            cli, CLI_FAILED,
            "the server sent the file name %s, which is not allowed", name);
    }
    enum cli_exit rc = close_file(cli, backup);
    if (rc != CLI_OK) {
        return rc;
    }
    const char *path = cli_format(cli, "%s/%s", backup->directory, name);
    backup->name = arena_strdup(&cli->arena, str_of(name));
    backup->file = fopen(path, "wxe");
    backup->file_count++;
    return backup->file
               ? CLI_OK
               : cli_fail_errno(cli, CLI_FAILED, "cannot make %s", path);
}

static enum cli_exit take_chunk(struct cli *cli, struct backup *backup,
                                struct str bytes)
{
    auto_arena arena = {0};
    ProtobufCMessage *message;
    enum cli_exit rc = CLI_OK;
    struct err err;

    if (wire_decode(&berth__api__backup_chunk__descriptor, bytes, &chunk_limits,
                    &arena, &message, &err) < 0) {
        return cli_fail(cli, CLI_FAILED, "%s", err.text);
    }
    const Berth__Api__BackupChunk *chunk = (void *)message;
    if (!backup->file || strcmp(backup->name, chunk->file) != 0) {
        rc = open_file(cli, backup, chunk->file);
    }
    if (rc == CLI_OK && chunk->content.len > 0 &&
        fwrite(chunk->content.data, 1, chunk->content.len, backup->file) !=
            chunk->content.len) {
        rc = cli_fail_errno(cli, CLI_FAILED, "%s/%s", backup->directory,
                            backup->name);
    }
    backup->byte_count += chunk->content.len;
    return rc;
}

static enum cli_exit receive(struct cli *cli, struct backup *backup,
                             struct rpc_stream *stream)
{
    auto_strbuf bytes = {0};
    enum cli_exit rc = CLI_OK;

    while (rc == CLI_OK &&
           rpc_stream_next(stream, -1, &bytes) == RPC_WAIT_READY) {
        rc = take_chunk(cli, backup, strbuf_str(&bytes));
    }
    enum cli_exit closed = close_file(cli, backup);
    if (rc != CLI_OK || closed != CLI_OK) {
        return rc != CLI_OK ? rc : closed;
    }
    const struct rpc_status *status = rpc_stream_status(stream);
    if (status->code != RPC_OK) {
        return cli_fail(cli, cli_exit_of(status->code), "%s: %s",
                        rpc_code_name(status->code), status->message);
    }
    return CLI_OK;
}

enum cli_exit cmd_backup(struct cli *cli)
{
    Berth__Api__BackupRequest request = BERTH__API__BACKUP_REQUEST__INIT;
    struct backup backup = {.directory = cli_argument(cli, 0)};
    auto_strbuf bytes = {0};

    enum cli_exit rc = cli_connect(cli);
    if (rc != CLI_OK) {
        return rc;
    }
    /* A new one, so that no older copy is half overwritten. */
    if (mkdir(backup.directory, 0700) != 0) {
        return cli_fail_errno(cli, CLI_FAILED, "cannot make %s",
                              backup.directory);
    }
    struct rpc_call_options options = cli_call_options(cli);
    auto_ptr(rpc_stream) stream =
        rpc_stream_open(cli->channel, "/berth.api.Berth/Backup", &options);
    wire_encode(&request.base, &bytes);
    (void)rpc_stream_send(stream, strbuf_str(&bytes), -1);
    rpc_stream_close_send(stream);
    rc = receive(cli, &backup, stream);
    if (rc == CLI_OK) {
        cli_note(cli, "Copied %u file%s, %llu bytes, to %s", backup.file_count,
                 plural_s(backup.file_count),
                 (unsigned long long)backup.byte_count, backup.directory);
    }
    return rc;
}
