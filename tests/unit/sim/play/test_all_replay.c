/*
 * UM-08 over every scenario that is shipped: a leader that folds the log has
 * the state of the one that wrote it, to the byte, and decides each batch of it
 * again.
 *
 * Scenarios are found by looking, so that a new one is held to it too; those
 * with millions of jobs are played in small.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "control/audit/audit.h"
#include "leader_stage.h"
#include "sim/play/play.h"
#include "unit.h"

enum {
    SCENARIOS_MAX = 256,
    BIG_SCALE = 2000, /* of mx-... */
};

struct scenarios {
    char *paths[SCENARIOS_MAX]; /* owned */
    size_t count;
};

/* Playing. */

static void add_folder(struct scenarios *scenarios, const char *folder)
{
    DIR *dir = opendir(folder);
    const struct dirent *entry;

    assert_non_null(dir);
    while ((entry = readdir(dir))) {
        const char *end = strrchr(entry->d_name, '.');
        if (end && strcmp(end, ".yaml") == 0) {
            auto_strbuf path = {0};
            strbuf_addf(&path, "%s/%s", folder, entry->d_name);
            assert_true(scenarios->count < SCENARIOS_MAX);
            scenarios->paths[scenarios->count++] = str_dup(strbuf_str(&path));
        }
    }
    (void)closedir(dir);
}

static void read_text(const char *path, struct strbuf *text)
{
    FILE *file = fopen(path, "r");
    char block[4096];
    size_t byte_count;

    assert_non_null(file);
    while ((byte_count = fread(block, 1, sizeof(block), file)) > 0) {
        strbuf_add(text, block, byte_count);
    }
    (void)fclose(file);
}

/* A scenario that was played, and the log that it left. */
struct kept {
    struct arena arena;
    struct elog_memory_storage *storage;
    struct policy policy; /* strings in the arena */
    struct world *world;
};

static void play_kept(const char *path, struct kept *kept)
{
    auto_strbuf text = {0};
    struct scenario *scenario = NULL;
    struct tally tally = {0};
    struct err err;

    memset(kept, 0, sizeof(*kept));
    kept->storage = elog_memory_storage_create();
    struct play_options options = {.log = elog_memory_open(kept->storage)};
    read_text(path, &text);
    if (scenario_read(strbuf_str(&text), path, &kept->arena, &scenario, &err) <
        0) {
        fail_msg("%s", err.text);
    }
    if (strstr(path, "/mx-")) {
        scenario_scale(scenario, BIG_SCALE);
    }
    if (play(scenario, &options, &tally, &kept->world, &err) < 0) {
        fail_msg("%s: %s", path, err.text);
    }
    tally_fini(&tally);
    kept->policy = kept->world->policy;
}

/* The identical state: fold the log anew, with a clock that stands still, so
 * that nothing is due. */
static void check_state(const char *path, struct kept *kept)
{
    auto_strbuf before = {0}, after = {0};
    struct stage stage;

    control_assert_valid(kept->world->control);
    control_encode_state(kept->world->control, &before);
    world_destroy(kept->world);
    stage_init(&stage);
    elog_memory_storage_destroy(stage.storage);
    stage.storage = kept->storage;
    stage.policy = kept->policy;
    stage.wall_ms = 0;
    stage_start(&stage);
    control_encode_state(stage.control, &after);
    control_assert_valid(stage.control);
    if (before.byte_count != after.byte_count ||
        memcmp(before.bytes, after.bytes, after.byte_count) != 0) {
        fail_msg("%s: a replay gives another state", path);
    }
    stage.storage = elog_memory_storage_create(); /* the log is needed yet */
    stage_fini(&stage);
}

/* The identical batches: each is decided again from the state before it. */
static void check_batches(const char *path, struct kept *kept)
{
    struct elog *log = elog_memory_open(kept->storage);
    struct elog_reader *reader = NULL;
    struct control_audit *audit = control_audit_create();
    struct control_difference difference = {0};
    struct err err;

    int rc = elog_reader_open(log, &reader, &err);
    assert_int_equal(rc, 0);
    rc = control_audit_begin(audit, reader, &err);
    assert_true(rc >= 0);
    while ((rc = control_audit_read(audit, reader, 100, &difference, &err)) >
           0) {
    }
    if (rc < 0) {
        fail_msg("%s: record %llu event %u: expected %s, got %s", path,
                 (unsigned long long)difference.seq, difference.index,
                 difference.expected, difference.got);
    }
    assert_true(control_audit_counts(audit).decision_count > 0);
    control_audit_destroy(audit);
    elog_reader_close(reader);
    elog_close(log);
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void um_08_replays_have_the_same_state_and_decide_the_same(void **state)
{
    struct scenarios scenarios = {.count = 0};

    (void)state;
    add_folder(&scenarios, EXAMPLES);
    add_folder(&scenarios, EXAMPLES "/seeds");
    assert_true(scenarios.count >= 10);
    qsort(scenarios.paths, scenarios.count, sizeof(*scenarios.paths),
          compare_paths);
    for (size_t i = 0; i < scenarios.count; i++) {
        struct kept kept;
        play_kept(scenarios.paths[i], &kept);
        check_state(scenarios.paths[i], &kept);
        check_batches(scenarios.paths[i], &kept);
        elog_memory_storage_destroy(kept.storage);
        arena_fini(&kept.arena);
        mem_free(scenarios.paths[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(um_08_replays_have_the_same_state_and_decide_the_same),
    };

    return RUN_TESTS(tests);
}
