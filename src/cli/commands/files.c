/* get files, cp: what a job left in its folder, or is writing there. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "berth/api.pb-c.h"
#include "cli/commands/commands.h"
#include "cli/shared/check.h"
#include "cli/shared/local_tree.h"
#include "cli/shared/newest.h"
#include "wire/text/inner_path.h"

enum { PART_BYTES_MAX = 1 << 20 };

typedef Berth__Api__JobFile file_t;
typedef Berth__Api__ListJobFilesResponse list_t;
typedef Berth__Api__ReadJobFileResponse part_t;

/* The path below the job's folder that people mean: "", ".", "./a/". */
static char *plain_path(struct cli *cli, const char *text)
{
    while (strncmp(text, "./", 2) == 0) {
        text += 2 + strspn(text + 2, "/");
    }
    char *path = cli_format(cli, "%s", strcmp(text, ".") == 0 ? "" : text);
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/') {
        path[--n] = '\0';
    }
    return path;
}

/* Why there are none: that there is no such job, or what the server says. */
static enum cli_exit fail_call(struct cli *cli, char *job_id,
                               const struct rpc_status *status)
{
    enum cli_exit rc =
        status->code == RPC_NOT_FOUND ? check_one_job(cli, job_id) : CLI_OK;

    return rc == CLI_OK ? cli_fail_call(cli, status) : rc;
}

static enum cli_exit fetch_list(struct cli *cli, char *job_id, char *path,
                                const list_t **ret_list)
{
    Berth__Api__ListJobFilesRequest request =
        BERTH__API__LIST_JOB_FILES_REQUEST__INIT;
    auto_mem struct rpc_status *status = mem_alloc(sizeof(*status));
    ProtobufCMessage *reply;

    request.job_id = job_id;
    request.path = path;
    if (cli_try(cli, "/berth.api.Berth/ListJobFiles", &request.base,
                &berth__api__list_job_files_response__descriptor, &reply,
                status) != RPC_OK) {
        return fail_call(cli, job_id, status);
    }
    *ret_list = (const void *)reply;
    return CLI_OK;
}

/* What is there and not in the list. */
static void remark_rest(struct cli *cli, const list_t *list)
{
    if (list->cut) {
        cli_remark(cli, "there are more files; name a folder of the job to see "
                        "those in it");
    }
    if (list->passed_over > 0) {
        cli_remark(cli,
                   "%" PRId64 " passed over: links, special files, folders "
                   "that the job's user may not read, names that are no UTF-8",
                   list->passed_over);
    }
}

static void print_list(struct cli *cli, const list_t *list)
{
    static const char *const headings[] = {"SIZE", "MODIFIED", "PATH"};
    struct table table = {
        &cli->arena, headings, ARRAY_COUNT(headings), {0}, NULL, NULL, false};

    for (size_t i = 0; i < list->n_files; i++) {
        const file_t *file = list->files[i];
        if (file->folder) {
            table_add(&table, "-");
        } else {
            table_addf(&table, "%" PRId64, file->byte_count);
        }
        table_add(&table, cli_when(cli, file->modified));
        /* Whole: it is what cp takes. */
        table_add(&table,
                  cli_format(cli, "%s%s", file->path, file->folder ? "/" : ""));
    }
    cli_print_table(cli, &table);
    VEC_FREE(&table.cells);
}

/* How many of the arguments say which job: where options do, the first is the
 * path already, unless it can only be an id. */
static int id_count(struct cli *cli)
{
    bool has_id =
        cli->argument_count > 1 ||
        (cli->argument_count == 1 &&
         (!selection_is_given(cli) || selection_is_id(cli_argument(cli, 0))));

    return has_id ? 1 : 0;
}

enum cli_exit cmd_get_files(struct cli *cli)
{
    const list_t *list;
    char *job_id = NULL;
    int path_at = id_count(cli);

    enum cli_exit rc = cli_connect(cli);
    if (rc == CLI_OK) {
        rc = newest_of(cli, path_at > 0 ? cli_argument(cli, 0) : NULL, &job_id);
    }
    if (rc == CLI_OK) {
        rc = fetch_list(cli, job_id,
                        plain_path(cli, cli->argument_count > path_at
                                            ? cli_argument(cli, path_at)
                                            : ""),
                        &list);
    }
    if (rc == CLI_OK && !cli_print_message(cli, &list->base)) {
        print_list(cli, list);
        remark_rest(cli, list);
    }
    return rc;
}

/* Copying. */

struct copy {
    char *job_id, *path; /* what is copied */
    int folder_fd;       /* where to */
    uint32_t file_count;
    int64_t byte_count;
    enum cli_exit worst; /* of files that failed, while others go on */
};

static bool write_all(int fd, const uint8_t *bytes, size_t byte_count)
{
    while (byte_count > 0) {
        ssize_t written = write(fd, bytes, byte_count);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return false;
        }
        bytes += written;
        byte_count -= (size_t)written;
    }
    return true;
}

/* The next part of a file, or what failed. */
static enum rpc_code read_part(struct cli *cli,
                               const Berth__Api__ReadJobFileRequest *request,
                               const part_t **ret_part,
                               struct rpc_status *status)
{
    ProtobufCMessage *reply = NULL;
    enum rpc_code code = cli_try(
        cli, "/berth.api.Berth/ReadJobFile", &request->base,
        &berth__api__read_job_file_response__descriptor, &reply, status);

    *ret_part = (const void *)reply;
    return code;
}

/* Part after part to where it was long at first: it may be growing.  Each part
 * is let go. */
static enum cli_exit fill(struct cli *cli, struct copy *copy,
                          Berth__Api__ReadJobFileRequest *request, int fd)
{
    auto_mem struct rpc_status *status = mem_alloc(sizeof(*status));
    struct arena kept = cli->arena;
    enum cli_exit rc = CLI_OK;
    int64_t total = -1;

    while (rc == CLI_OK && request->offset != total) {
        const part_t *part;
        cli->arena = (struct arena){0};
        if (read_part(cli, request, &part, status) != RPC_OK) {
            rc = fail_call(cli, copy->job_id, status);
        } else if (part->bytes.len > PART_BYTES_MAX || part->byte_count < 0) {
            rc = cli_fail(cli, CLI_FAILED, "%s: the answer is out of bounds",
                          request->path);
        } else {
            total = total < 0 ? part->byte_count : total;
            int64_t rest = total - request->offset;
            int64_t count = (int64_t)part->bytes.len < rest
                                ? (int64_t)part->bytes.len
                                : rest;
            if (!write_all(fd, part->bytes.data, (size_t)count)) {
                rc = cli_fail_errno(cli, CLI_FAILED, "%s", request->path);
            }
            request->offset += count;
            request->file_id = part->file_id;
            copy->byte_count += count;
            total = count > 0 ? total : request->offset; /* it was cut */
        }
        arena_fini(&cli->arena);
    }
    cli->arena = kept;
    return rc;
}

/* Copy one file to `path` below the target. */
static enum cli_exit copy_file(struct cli *cli, struct copy *copy,
                               const file_t *file, const char *path)
{
    Berth__Api__ReadJobFileRequest request =
        BERTH__API__READ_JOB_FILE_REQUEST__INIT;
    struct local_file local;
    struct err err;

    request.job_id = copy->job_id;
    request.path = file->path;
    request.byte_count_max = PART_BYTES_MAX;
    if (local_tree_begin(copy->folder_fd, path, file->executable, &local,
                         &err) < 0) {
        return cli_fail(cli, CLI_FAILED, "%s", err.text);
    }
    enum cli_exit rc = fill(cli, copy, &request, local.fd);
    if (local_tree_end(&local, rc == CLI_OK, &err) < 0) {
        return cli_fail(cli, CLI_FAILED, "%s", err.text);
    }
    copy->file_count += rc == CLI_OK;
    return rc;
}

/* What a list must be, whoever made it: below what was asked for. */
static const char *path_below(const struct copy *copy, const file_t *file)
{
    size_t n = strlen(copy->path);

    if (!inner_path_is_good(str_of(file->path)) ||
        strncmp(file->path, copy->path, n) != 0 ||
        (n > 0 && file->path[n] != '/')) {
        return NULL;
    }
    return file->path + n + (n > 0);
}

static enum cli_exit copy_all(struct cli *cli, struct copy *copy,
                              const list_t *list)
{
    enum cli_exit rc = CLI_OK;
    struct err err;

    for (size_t i = 0; i < list->n_files && rc != CLI_UNAVAILABLE; i++) {
        const file_t *file = list->files[i];
        const char *path = path_below(copy, file);
        if (!path) {
            return cli_fail(cli, CLI_FAILED,
                            "the server names \"%s\", which is not in \"%s\"; "
                            "nothing more is copied",
                            file->path, copy->path);
        }
        rc = !file->folder ? copy_file(cli, copy, file, path)
             : local_tree_make(copy->folder_fd, path, &err) < 0
                 ? cli_fail(cli, CLI_FAILED, "%s", err.text)
                 : CLI_OK;
        copy->worst = rc == CLI_OK ? copy->worst : rc;
    }
    return copy->worst;
}

/* The name that a copy has in a folder. */
static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static bool is_folder(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Open the folder that is written into; `makes`: it may not be there yet. */
static enum cli_exit open_target(const struct cli *cli, const char *path,
                                 bool makes, int *ret_fd)
{
    if (makes && mkdir(path, 0777) < 0 && errno != EEXIST) {
        return cli_fail_errno(cli, CLI_FAILED, "%s", path);
    }
    *ret_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return *ret_fd < 0 ? cli_fail_errno(cli, CLI_FAILED, "%s", path) : CLI_OK;
}

/* A file, to a folder or a name. */
static enum cli_exit copy_one(struct cli *cli, struct copy *copy,
                              const file_t *file, const char *local)
{
    const char *slash = strrchr(local, '/');
    const char *folder =
        is_folder(local) ? local
        : !slash         ? "."
        : slash == local ? "/"
                         : cli_format(cli, "%.*s", (int)(slash - local), local);
    const char *name = folder == local ? base_name(file->path)
                       : slash         ? slash + 1
                                       : local;

    enum cli_exit rc = open_target(cli, folder, false, &copy->folder_fd);
    return rc == CLI_OK ? copy_file(cli, copy, file, name) : rc;
}

/* A folder: to a new one of that name, or into one that is there. */
static enum cli_exit copy_folder(struct cli *cli, struct copy *copy,
                                 const list_t *list, const char *local)
{
    const char *target =
        *copy->path && is_folder(local)
            ? cli_format(cli, "%s/%s", local, base_name(copy->path))
            : local;

    if (list->cut) {
        return cli_fail(cli, CLI_FAILED,
                        "\"%s\" has more files than can be listed at once; "
                        "copy the folders in it one after the other",
                        copy->path);
    }
    enum cli_exit rc = open_target(cli, target, true, &copy->folder_fd);
    return rc == CLI_OK ? copy_all(cli, copy, list) : rc;
}

static enum cli_exit copy_to(struct cli *cli, struct copy *copy,
                             const char *local)
{
    const list_t *list;

    enum cli_exit rc = fetch_list(cli, copy->job_id, copy->path, &list);
    if (rc != CLI_OK) {
        return rc;
    }
    bool is_file = list->n_files == 1 && !list->files[0]->folder &&
                   strcmp(list->files[0]->path, copy->path) == 0;
    rc = is_file ? copy_one(cli, copy, list->files[0], local)
                 : copy_folder(cli, copy, list, local);
    if (copy->folder_fd >= 0) {
        close(copy->folder_fd);
        cli_note(cli, "Copied %" PRIu32 " files, %" PRId64 " bytes",
                 copy->file_count, copy->byte_count);
        remark_rest(cli, list);
    }
    return rc;
}

enum cli_exit cmd_cp(struct cli *cli)
{
    char *from = cli_argument(cli, 0);
    char *colon = strchr(from, ':');
    struct copy copy = {.folder_fd = -1, .worst = CLI_OK};

    if (!colon || (colon == from && !selection_is_given(cli))) {
        return cli_fail(cli, CLI_USAGE,
                        "cp takes JOB:PATH and a local path, not \"%s\"; JOB: "
                        "alone is all of the job's folder, and where options "
                        "say which job it is :PATH",
                        from);
    }
    *colon = '\0';
    copy.path = plain_path(cli, colon + 1);
    enum cli_exit rc = cli_connect(cli);
    if (rc == CLI_OK) {
        rc = newest_of(cli, colon > from ? from : NULL, &copy.job_id);
    }
    return rc == CLI_OK ? copy_to(cli, &copy, cli_argument(cli, 1)) : rc;
}
