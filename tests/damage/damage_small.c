#include "damage_small.h"

#include <fcntl.h>
#include <unistd.h>

#include "executor/files/file.h"
#include "executor/files/kv.h"
#include "executor/files/run_file.h"
#include "executor/files/run_mark.h"
#include "main/berthd/token_file.h"
#include "notify/positions.h"
#include "tmpdir.h"

enum { GRACE_MS = 5000, OWN_MS = 30000, ACKED_PHASE = 2 };

/* A file being tried. */
struct small {
    struct tmpdir dir;
    int fd; /* of the folder */
    char path[TMPDIR_PATH_BYTES_MAX];
    struct strbuf whole, found; /* before and after; found is empty if gone */
    bool is_there;              /* afterwards */
};

static bool is_same(const struct small *small)
{
    return small->is_there &&
           str_equal(strbuf_str(&small->whole), strbuf_str(&small->found));
}

/* berthd writes it anew at each start, so nothing of it is believed. */
static void make_token(struct small *small)
{
    int rc = token_file_write(small->path, "127.0.0.1:50051", "secret", NULL);

    ASSERT(rc == 0);
}

static enum outcome read_token(struct small *small)
{
    auto_strbuf again = strbuf_make(RUN_FILE_BYTES_MAX);

    make_token(small);
    int rc = file_read(small->fd, "token", &again, NULL);
    return rc == 0 && str_equal(strbuf_str(&again), strbuf_str(&small->whole))
               ? HARMLESS
               : SILENT;
}

static void put(struct small *small, const char *name, struct str bytes)
{
    int rc = file_replace(small->fd, name, bytes, 0600, NULL);

    ASSERT(rc == 0);
}

static void make_notified(struct small *small)
{
    auto_strbuf lines = {0}, text = {0};

    positions_put(STR("chat"), 4711, &lines);
    positions_put(STR("pager"), 12, &lines);
    positions_seal(strbuf_str(&lines), &text);
    put(small, "notified", strbuf_str(&text));
}

static enum outcome read_notified(struct small *small)
{
    if (!small->is_there) {
        return TOLD;
    }
    return !positions_is_whole(strbuf_str(&small->found)) ? REFUSED
           : is_same(small)                               ? HARMLESS
                                                          : SILENT;
}

static void make_spec(struct small *small)
{
    auto_strbuf bytes = {0};

    kv_add_int(&bytes, "berth_spec", RUN_FILE_VERSION);
    kv_promise_seal(&bytes);
    kv_add_text(&bytes, "run_id", "r");
    for (int i = 0; i < 3; i++) {
        kv_add_text(&bytes, "container", "main");
        kv_add_text(&bytes, "arg", "true");
        kv_add_int(&bytes, "uid", 65534);
    }
    kv_seal(&bytes);
    put(small, RUN_SPEC_NAME, strbuf_str(&bytes));
}

/* What is not believed has its run ended, and reported as lost. */
static enum outcome judge_run_file(const struct small *small, int rc)
{
    return rc < 0 ? FOUND : is_same(small) ? HARMLESS : SILENT;
}

static enum outcome read_spec(struct small *small)
{
    struct run_spec spec;

    int rc = run_spec_read(small->fd, &spec, NULL);
    if (rc == 0) {
        run_spec_fini(&spec);
    }
    return judge_run_file(small, rc);
}

static void make_state(struct small *small)
{
    struct run_state state = {.phase = RUN_FAILED,
                              .cause = RUN_CAUSE_ERROR,
                              .pid = 12,
                              .pid_start = 34,
                              .ended_ms = 3};

    VEC_PUSH(&state.ended, (struct run_ended){.name = "main",
                                              .exit_code = 7,
                                              .reason = "Error",
                                              .message = "it broke"});
    int rc = run_state_write(small->fd, &state, NULL);
    ASSERT(rc == 0);
    VEC_FREE(&state.ended);
}

static enum outcome read_state(struct small *small)
{
    struct run_state state;

    int rc = run_state_read(small->fd, &state, NULL);
    if (rc == 0) {
        run_state_fini(&state);
    }
    return judge_run_file(small, rc);
}

static void make_stop(struct small *small)
{
    run_stop_write(small->fd, GRACE_MS);
}

/* It ends all the same, at worst within the grace that it asked for itself. */
static enum outcome read_stop(struct small *small)
{
    int64_t grace_ms = run_stop_read(small->fd, OWN_MS);

    return grace_ms == GRACE_MS || grace_ms == OWN_MS ? HARMLESS : SILENT;
}

static void make_acked(struct small *small)
{
    run_acked_write(small->fd, ACKED_PHASE);
}

/* At worst its report is repeated. */
static enum outcome read_acked(struct small *small)
{
    int phase = run_acked_read(small->fd);

    return phase == ACKED_PHASE || phase == 0 ? HARMLESS : SILENT;
}

static const struct {
    const char *name;
    void (*make)(struct small *small);
    enum outcome (*read)(struct small *small);
} files[] = {
    {"token", make_token, read_token},
    {"notified", make_notified, read_notified},
    {RUN_SPEC_NAME, make_spec, read_spec},
    {RUN_STATE_NAME, make_state, read_state},
    {RUN_STOP_NAME, make_stop, read_stop},
    {RUN_ACKED_NAME, make_acked, read_acked},
};

uint32_t damage_small_count(void)
{
    return ARRAY_COUNT(files);
}

static void begin(struct small *small, const char *name)
{
    *small = (struct small){.whole = strbuf_make(RUN_FILE_BYTES_MAX),
                            .found = strbuf_make(RUN_FILE_BYTES_MAX)};
    tmpdir_init(&small->dir);
    tmpdir_path(&small->dir, name, small->path);
    small->fd = open(small->dir.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ASSERT(small->fd >= 0);
}

static void end(struct small *small)
{
    close(small->fd);
    strbuf_fini(&small->whole);
    strbuf_fini(&small->found);
    tmpdir_fini(&small->dir);
}

enum outcome damage_small_try(uint32_t file, uint64_t seed,
                              struct damage *ret_damage)
{
    struct small small;
    enum outcome outcome = HARMLESS;

    begin(&small, files[file].name);
    files[file].make(&small);
    int rc = file_read(small.fd, files[file].name, &small.whole, NULL);
    ASSERT(rc == 0);
    *ret_damage = damage_do(
        &(struct damage_target){small.dir.path, files[file].name, NULL, NULL},
        seed);
    if (ret_damage->changed_it) {
        small.is_there =
            file_read(small.fd, files[file].name, &small.found, NULL) == 0;
        outcome = files[file].read(&small);
    }
    end(&small);
    return outcome;
}
