/*
 * cp: what a hostile answer cannot do to the machine of who copies.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "berth/api.pb-c.h"
#include "cli/shared/local_tree.h"
#include "field.h"
#include "rpc/rpc_server.h"
#include "run.h"
#include "tmpdir.h"
#include "unit.h"
#include "wire/message/message.h"

enum { FILES_MAX = 4 };

#define JOB_ID "01h00000000000000000000000"

/* A server that gives one list, and the same part of any file. */
struct player {
    struct rpc_server *server;
    char address[32];
    const char *paths[FILES_MAX]; /* one that ends in a slash is a folder */
    uint32_t path_count;
    struct str part;
    int64_t byte_count; /* as it says */
    uint32_t read_count;
};

static void on_list(void *ctx, struct rpc_call *call, struct str request)
{
    const struct player *player = ctx;
    Berth__Api__ListJobFilesResponse response =
        BERTH__API__LIST_JOB_FILES_RESPONSE__INIT;
    Berth__Api__JobFile files[FILES_MAX], *pointers[FILES_MAX];
    char paths[FILES_MAX][64];
    auto_strbuf reply = {0};

    (void)request;
    for (uint32_t i = 0; i < player->path_count; i++) {
        (void)snprintf(paths[i], sizeof(paths[i]), "%s", player->paths[i]);
        size_t n = strlen(paths[i]);
        berth__api__job_file__init(&files[i]);
        files[i].folder = n > 1 && paths[i][n - 1] == '/';
        paths[i][n - files[i].folder] = '\0';
        files[i].path = paths[i];
        pointers[i] = &files[i];
    }
    response.files = pointers;
    response.n_files = player->path_count;
    wire_encode(&response.base, &reply);
    rpc_call_finish(call, RPC_OK, "", strbuf_str(&reply));
}

static void on_read(void *ctx, struct rpc_call *call, struct str request)
{
    struct player *player = ctx;
    Berth__Api__ReadJobFileResponse response =
        BERTH__API__READ_JOB_FILE_RESPONSE__INIT;
    auto_strbuf reply = {0};

    (void)request;
    player->read_count++;
    response.bytes.data = (uint8_t *)(uintptr_t)player->part.p;
    response.bytes.len = player->part.byte_count;
    response.byte_count = player->byte_count;
    wire_encode(&response.base, &reply);
    rpc_call_finish(call, RPC_OK, "", strbuf_str(&reply));
}

static int start(void **state)
{
    struct player *player = mem_alloc(sizeof(*player));
    const char *address = "127.0.0.1:0";
    struct rpc_method methods[] = {
        {.path = "/berth.api.Berth/ListJobFiles",
         .kind = RPC_UNARY,
         .handle = on_list,
         .ctx = player},
        {.path = "/berth.api.Berth/ReadJobFile",
         .kind = RPC_UNARY,
         .handle = on_read,
         .ctx = player},
    };
    struct rpc_server_options options = {
        .methods = methods,
        .method_count = ARRAY_COUNT(methods),
        .addresses = &address,
        .address_count = 1,
    };
    struct err err;

    player->server = rpc_server_create(&options, &err);
    assert_non_null(player->server);
    (void)snprintf(player->address, sizeof(player->address), "127.0.0.1:%u",
                   rpc_server_port(player->server, 0));
    player->part = STR("abc");
    player->byte_count = 3;
    *state = player;
    return 0;
}

static int stop(void **state)
{
    struct player *player = *state;

    rpc_server_destroy(player->server);
    mem_free(player);
    return 0;
}

/* Copy what is said to be in the folder `d` to "<dir>/in"; the exit code. */
static enum cli_exit copy(struct player *player, const struct tmpdir *dir,
                          const char *path)
{
    char target[TMPDIR_PATH_BYTES_MAX];
    struct run_result result =
        RUN("", "--berthUrl", player->address, "cp", "-o", "name", path,
            tmpdir_path(dir, "in", target));

    enum cli_exit code = result.code;
    free(result.out);
    free(result.err);
    return code;
}

static bool exists(const struct tmpdir *dir, const char *name)
{
    char path[TMPDIR_PATH_BYTES_MAX];
    struct stat st;

    return lstat(tmpdir_path(dir, name, path), &st) == 0;
}

static void names_that_lead_out_end_the_copy(void **state)
{
    static const char *const bad[] = {"../x",    "d/../../x", "/tmp/x", "d//x",
                                      "other/x", "d/./x",     "dx",     "d/.."};
    struct player *player = *state;

    for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
        auto_tmpdir dir;
        tmpdir_init(&dir);
        player->paths[0] = bad[i];
        player->path_count = 1;
        player->read_count = 0;
        assert_int_equal(copy(player, &dir, JOB_ID ":d"), CLI_FAILED);
        assert_int_equal(player->read_count, 0);
        assert_false(exists(&dir, "x"));
        assert_false(exists(&dir, "in/x"));
    }
}

static void a_file_in_a_file_is_refused(void **state)
{
    struct player *player = *state;
    auto_tmpdir dir;

    tmpdir_init(&dir);
    player->paths[0] = "d/a";
    player->paths[1] = "d/a/b";
    player->paths[2] = "d/c";
    player->path_count = 3;
    assert_int_equal(copy(player, &dir, JOB_ID ":d"), CLI_FAILED);
    assert_true(exists(&dir, "in/a"));
    assert_true(exists(&dir, "in/c")); /* others go on */
}

/* It was said to be longer, or is longer, than what comes. */
static void a_file_ends_where_its_parts_end(void **state)
{
    struct player *player = *state;
    char path[TMPDIR_PATH_BYTES_MAX];
    struct stat st;
    auto_tmpdir dir;

    tmpdir_init(&dir);
    player->paths[0] = "d/a";
    player->path_count = 1;
    player->byte_count = 2;
    player->read_count = 0;
    assert_int_equal(copy(player, &dir, JOB_ID ":d"), CLI_OK);
    assert_int_equal(stat(tmpdir_path(&dir, "in/a", path), &st), 0);
    assert_int_equal(st.st_size, 2);
    player->part = STR("");
    player->byte_count = INT64_MAX;
    player->read_count = 0;
    assert_int_equal(copy(player, &dir, JOB_ID ":d"), CLI_OK);
    assert_int_equal(player->read_count, 1);
    player->byte_count = -1;
    assert_int_equal(copy(player, &dir, JOB_ID ":d"), CLI_FAILED);
}

static void what_fails_leaves_nothing(void **state)
{
    struct local_file file;
    struct err err;
    auto_tmpdir dir;

    (void)state;
    tmpdir_init(&dir);
    int fd = open(dir.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(local_tree_begin(fd, "a/b", false, &file, &err), 0);
    assert_int_equal(write(file.fd, "x", 1), 1);
    assert_int_equal(local_tree_end(&file, false, &err), 0);
    assert_false(exists(&dir, "a/b"));
    assert_int_equal(local_tree_begin(fd, "../b", false, &file, &err),
                     -ERR_INVALID);
    assert_int_equal(local_tree_make(fd, "/b", &err), -ERR_INVALID);
    /* A folder stands where a file is to be. */
    assert_int_equal(local_tree_make(fd, "a/c", &err), 0);
    assert_int_equal(local_tree_begin(fd, "a/c", false, &file, &err), 0);
    assert_int_equal(local_tree_end(&file, true, &err), -ERR_IO);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_that_lead_out_end_the_copy),
        cmocka_unit_test(a_file_in_a_file_is_refused),
        cmocka_unit_test(a_file_ends_where_its_parts_end),
        cmocka_unit_test(what_fails_leaves_nothing),
    };

    return cmocka_run_group_tests(tests, start, stop);
}
