/*
 * run_file, kv and file: what is written is read again, and what does not
 * decode says so.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "executor/files/file.h"
#include "executor/files/kv.h"
#include "executor/files/run_file.h"
#include "executor/files/tree.h"
#include "support.h"
#include "unit.h"

static void records_are_read_as_written(void **state)
{
    (void)state;
    auto_strbuf buf = {0};
    struct kv_reader reader;

    kv_add_text(&buf, "a", "x=y");
    kv_add_int(&buf, "b", -7);
    kv_add(&buf, "c", str_make("nul\0in", 6));
    reader = (struct kv_reader){.rest = strbuf_str(&buf)};

    assert_int_equal(kv_next(&reader), 1);
    assert_true(kv_is(&reader, "a"));
    assert_string_equal(reader.value, "x=y");
    assert_int_equal(kv_next(&reader), 1);
    assert_int_equal(kv_int(&reader), -7);
    assert_int_equal(kv_next(&reader), 1);
    assert_string_equal(reader.value, "nul?in");
    assert_int_equal(kv_next(&reader), 0);
}

static void what_is_no_record_is_corrupt(void **state)
{
    (void)state;
    struct kv_reader torn = {.rest = STR("a=b")};
    struct kv_reader no_key = {.rest = str_make("ab", 3)};

    assert_int_equal(kv_next(&torn), -ERR_CORRUPT);
    assert_int_equal(kv_next(&no_key), -ERR_CORRUPT);
}

static void a_state_is_read_as_written(void **state)
{
    (void)state;
    char *dir = make_dir();
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct run_state before = {.phase = RUN_FAILED,
                               .cause = RUN_CAUSE_OOM,
                               .pid = 12,
                               .pid_start = 34,
                               .created_ms = 1,
                               .started_ms = 2,
                               .ended_ms = 3};
    struct run_state after;
    struct err err;
    VEC_PUSH(&before.ended, (struct run_ended){.name = "main",
                                               .exit_code = 137,
                                               .signal = 9,
                                               .is_oom = true,
                                               .reason = "OOMKilled",
                                               .message = "two\nlines"});

    assert_int_equal(run_state_write(fd, &before, &err), 0);
    assert_int_equal(run_state_read(fd, &after, &err), 0);

    assert_int_equal(after.phase, RUN_FAILED);
    assert_int_equal(after.cause, RUN_CAUSE_OOM);
    assert_int_equal(after.pid_start, 34);
    assert_int_equal(after.ended_ms, 3);
    assert_int_equal(after.ended.count, 1);
    assert_int_equal(after.ended.items[0].exit_code, 137);
    assert_true(after.ended.items[0].is_oom);
    assert_string_equal(after.ended.items[0].message, "two\nlines");
    run_state_fini(&after);
    VEC_FREE(&before.ended);
    close(fd);
    remove_dir(dir);
}

/* Each bit flipped, and each end cut off. */
static void check_damages(struct strbuf *bytes, bool (*is_believed)(struct str))
{
    for (size_t bit = 0; bit < 8 * bytes->byte_count; bit++) {
        bytes->bytes[bit / 8] ^= (char)(1 << bit % 8);
        if (is_believed(strbuf_str(bytes))) {
            fail_msg("bit %zu of byte %zu", bit % 8, bit / 8);
        }
        bytes->bytes[bit / 8] ^= (char)(1 << bit % 8);
    }
    for (size_t n = 0; n < bytes->byte_count; n++) {
        if (is_believed(str_make(bytes->bytes, n))) {
            fail_msg("cut to %zu bytes", n);
        }
    }
}

/* Whether it decodes, and so is believed. */
static bool is_state(struct str bytes)
{
    struct run_state state;
    bool is_good = run_state_decode(bytes, &state) == 0;

    if (is_good) {
        run_state_fini(&state);
    }
    return is_good;
}

static void no_damage_of_a_state_is_believed(void **state)
{
    (void)state;
    char *dir = make_dir();
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct run_state failed = {.phase = RUN_FAILED, .cause = RUN_CAUSE_ERROR};
    auto_strbuf bytes = strbuf_make(RUN_FILE_BYTES_MAX);
    struct err err;

    VEC_PUSH(&failed.ended, (struct run_ended){.name = "main",
                                               .exit_code = 1,
                                               .reason = "Error",
                                               .message = ""});
    assert_int_equal(run_state_write(fd, &failed, &err), 0);
    assert_int_equal(file_read(fd, RUN_STATE_NAME, &bytes, &err), 0);
    assert_true(is_state(strbuf_str(&bytes)));
    check_damages(&bytes, is_state);
    VEC_FREE(&failed.ended);
    close(fd);
    remove_dir(dir);
}

static bool is_spec(struct str bytes)
{
    struct run_spec spec;
    bool is_good = run_spec_decode(bytes, &spec) == 0;

    if (is_good) {
        run_spec_fini(&spec);
    }
    return is_good;
}

/* With a bit of `uid` flipped, a container would have no user: it would be
 * root. */
static void no_damage_of_a_spec_is_believed(void **state)
{
    (void)state;
    auto_strbuf bytes = {0};

    kv_add_int(&bytes, "berth_spec", RUN_FILE_VERSION);
    kv_promise_seal(&bytes);
    kv_add_text(&bytes, "run_id", "r");
    kv_add_text(&bytes, "container", "main");
    kv_add_text(&bytes, "arg", "true");
    kv_add_int(&bytes, "uid", 65534);
    kv_seal(&bytes);
    assert_true(is_spec(strbuf_str(&bytes)));
    check_damages(&bytes, is_spec);
}

static void what_older_releases_wrote_is_read_without_a_checksum(void **state)
{
    (void)state;
    static const char spec[] = "berth_spec=1\0run_id=r\0container=main\0arg=x";
    static const char old[] = "berth_state=1\0phase=4";

    assert_true(is_spec(str_make(spec, sizeof(spec))));
    assert_true(is_state(str_make(old, sizeof(old))));
}

static void a_newer_version_is_said_to_be_newer(void **state)
{
    (void)state;
    static const char newer[] = "berth_spec=2";
    struct run_spec spec;

    assert_int_equal(run_spec_decode(str_make(newer, sizeof(newer)), &spec),
                     -ERR_VERSION);
    assert_int_equal(run_spec_decode(STR(""), &spec), -ERR_CORRUPT);
}

static void a_process_is_told_from_another_of_its_number(void **state)
{
    (void)state;
    assert_true(run_pid_start(getpid()) > 0);
    assert_int_equal(run_pid_start(getpid()), run_pid_start(getpid()));
    assert_int_equal(run_pid_start(1 << 30), 0);
}

static void a_tree_is_removed_without_following_links(void **state)
{
    (void)state;
    char *dir = make_dir();
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct err err;
    assert_int_equal(mkdirat(fd, "kept", 0755), 0);
    assert_int_equal(mkdirat(fd, "tree", 0755), 0);
    assert_int_equal(mkdirat(fd, "tree/sub", 0755), 0);
    assert_int_equal(symlinkat("../../kept", fd, "tree/sub/link"), 0);
    assert_int_equal(file_replace(fd, "file", STR("x"), 0600, &err), 0);
    assert_int_equal(renameat(fd, "file", fd, "tree/sub/file"), 0);
    assert_int_equal(file_replace(fd, "file", STR("x"), 0600, &err), 0);
    assert_int_equal(renameat(fd, "file", fd, "kept/file"), 0);

    tree_remove(fd, "tree");

    assert_int_equal(faccessat(fd, "tree", F_OK, 0), -1);
    assert_int_equal(faccessat(fd, "kept/file", F_OK, 0), 0);
    close(fd);
    remove_dir(dir);
}

static void a_tree_of_any_depth_is_removed(void **state)
{
    enum { DEPTH = 300 };
    (void)state;
    char *dir = make_dir();
    int top = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int fd = top;

    for (int i = 0; i < DEPTH; i++) {
        assert_int_equal(mkdirat(fd, "d", 0700), 0);
        int next = openat(fd, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        assert_true(next >= 0);
        assert_int_equal(mkdirat(next, ".deep.0", 0700), 0);
        assert_int_equal(fchmodat(next, ".deep.0", 0, 0), 0);
        if (fd != top) {
            close(fd);
        }
        fd = next;
    }
    close(fd);
    int steps = 1;
    struct tree_step step = {.budget = 100};
    while (!tree_remove_some(top, "d", &step)) {
        assert_true(steps++ < 100);
        step.budget = 100;
    }

    assert_true(steps > 1);
    assert_int_equal(faccessat(top, "d", F_OK, 0), -1);
    close(top);
    remove_dir(dir);
}

/* A clock on which each look takes a nanosecond. */
struct looked_clock {
    struct clock clock;
    uint64_t look_count;
};

static uint64_t count_look(const struct clock *clock)
{
    struct looked_clock *looked = container_of((struct clock *)(uintptr_t)clock,
                                               struct looked_clock, clock);

    return ++looked->look_count;
}

/* However slow the disk is: a step ends in time, and removes something. */
static void a_step_of_a_removal_ends_in_time(void **state)
{
    enum { FOLDERS = 30, LOOKS = 4 };
    struct looked_clock looked = {.clock = {.mono_ns = count_look}};
    int steps = 0;
    bool is_done = false;

    (void)state;
    char *dir = make_dir();
    int top = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(mkdirat(top, "d", 0700), 0);
    for (int i = 0; i < FOLDERS; i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "d/%d", i);
        assert_int_equal(mkdirat(top, name, 0700), 0);
    }
    for (; !is_done; steps++) {
        uint64_t before = looked.look_count;
        struct tree_step step = {
            .budget = 1000, .clock = &looked.clock, .until_ns = before + LOOKS};
        assert_true(steps <= FOLDERS);
        is_done = tree_remove_some(top, "d", &step);
        assert_true(looked.look_count <= before + LOOKS);
        assert_true(is_done || step.budget == 0);
    }
    assert_in_range(steps, FOLDERS / LOOKS, FOLDERS / LOOKS + 2);
    assert_int_equal(faccessat(top, "d", F_OK, 0), -1);
    close(top);
    remove_dir(dir);
}

static void a_fifo_or_a_link_in_place_of_a_file_is_refused(void **state)
{
    (void)state;
    char *dir = make_dir();
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    auto_strbuf bytes = {0};
    struct err err;

    assert_int_equal(mkfifoat(fd, "fifo", 0600), 0);
    assert_int_equal(symlinkat("/etc/passwd", fd, "link"), 0);
    assert_int_equal(file_read(fd, "fifo", &bytes, &err), -ERR_IO);
    assert_int_equal(file_read(fd, "link", &bytes, &err), -ERR_IO);
    close(fd);
    remove_dir(dir);
}

static void a_path_below_stays_below(void **state)
{
    (void)state;
    char *dir = make_dir();
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    assert_int_equal(mkdirat(fd, "in", 0700), 0);
    assert_int_equal(symlinkat("/etc", fd, "in/out"), 0);
    assert_int_equal(file_open_below(fd, "in/out/passwd", O_RDONLY), -1);
    assert_int_equal(file_open_below(fd, "../etc", O_RDONLY), -1);
    assert_int_equal(file_open_below(fd, "in/out", O_RDONLY), -1);
    int found = file_open_below(fd, "in", O_RDONLY | O_DIRECTORY);
    assert_true(found >= 0);
    close(found);
    close(fd);
    remove_dir(dir);
}

static void a_file_beyond_the_bound_is_too_big(void **state)
{
    (void)state;
    char *dir = make_dir();
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    auto_strbuf small = strbuf_make(3);
    struct err err;

    assert_int_equal(file_replace(fd, "file", STR("four"), 0600, &err), 0);
    assert_int_equal(file_read(fd, "file", &small, &err), -ERR_LIMIT);
    assert_int_equal(file_read(fd, "none", &small, &err), -ERR_NOT_FOUND);
    close(fd);
    remove_dir(dir);
}

static void
a_directory_is_listed_from_its_beginning_and_not_inherited(void **state)
{
    (void)state;
    char *dir = make_dir();
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct err err;

    assert_int_equal(file_replace(fd, "file", STR(""), 0600, &err), 0);
    for (int i = 0; i < 2; i++) {
        int count = 0;
        DIR *listing = file_list(fd);
        assert_non_null(listing);
        assert_true(fcntl(dirfd(listing), F_GETFD) & FD_CLOEXEC);
        while (readdir(listing)) {
            count++;
        }
        assert_int_equal(count, 3); /* with "." and ".." */
        closedir(listing);
    }
    assert_null(file_list(-1));
    close(fd);
    remove_dir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(records_are_read_as_written),
        TEST(what_is_no_record_is_corrupt),
        TEST(a_state_is_read_as_written),
        TEST(no_damage_of_a_state_is_believed),
        TEST(no_damage_of_a_spec_is_believed),
        TEST(what_older_releases_wrote_is_read_without_a_checksum),
        TEST(a_newer_version_is_said_to_be_newer),
        TEST(a_process_is_told_from_another_of_its_number),
        TEST(a_tree_is_removed_without_following_links),
        TEST(a_tree_of_any_depth_is_removed),
        TEST(a_step_of_a_removal_ends_in_time),
        TEST(a_fifo_or_a_link_in_place_of_a_file_is_refused),
        TEST(a_path_below_stays_below),
        TEST(a_file_beyond_the_bound_is_too_big),
        TEST(a_directory_is_listed_from_its_beginning_and_not_inherited),
    };
    return RUN_TESTS(tests);
}
