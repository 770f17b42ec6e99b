#include "executor/files/run_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "executor/files/file.h"
#include "executor/files/kv.h"

/* Our strings point into bytes that we own, so writing through is ours. */
static char *own(const char *value)
{
    return (char *)(uintptr_t)value;
}

/* "r" or "w", the target, a colon, the source: targets hold no colon. */
static int take_bind(struct run_container *container, const char *value)
{
    char *target = own(value) + 1;
    char *colon = strchr(target, ':');

    if ((value[0] != 'r' && value[0] != 'w') || !colon ||
        container->binds.count == RUN_BINDS_MAX) {
        return -ERR_CORRUPT;
    }
    *colon = '\0';
    VEC_PUSH(&container->binds,
             (struct run_bind){colon + 1, target, value[0] == 'r'});
    return 0;
}

static int take_list(struct run_container *container,
                     const struct kv_reader *reader)
{
    if (kv_is(reader, "arg") && container->args.count < RUN_ARGS_MAX) {
        VEC_PUSH(&container->args, own(reader->value));
        return 0;
    }
    if (kv_is(reader, "env") && container->envs.count < RUN_ARGS_MAX) {
        VEC_PUSH(&container->envs, own(reader->value));
        return 0;
    }
    return -ERR_CORRUPT;
}

static int take_container(struct run_container *container,
                          const struct kv_reader *reader)
{
    static const struct {
        const char *key;
        size_t offset;
    } numbers[] = {
        {"uid", offsetof(struct run_container, uid)},
        {"gid", offsetof(struct run_container, gid)},
        {"memory_bytes", offsetof(struct run_container, limits.memory_bytes)},
        {"cpu_milli", offsetof(struct run_container, limits.cpu_milli)},
        {"cpu_request_milli",
         offsetof(struct run_container, limits.cpu_request_milli)},
        {"pids_max", offsetof(struct run_container, limits.pids_max)},
        {"file_bytes", offsetof(struct run_container, limits.file_bytes)},
    };

    if (kv_is(reader, "arg") || kv_is(reader, "env")) {
        return take_list(container, reader);
    }
    if (kv_is(reader, "bind")) {
        return take_bind(container, reader->value);
    }
    if (kv_is(reader, "kind")) {
        container->kind = (enum run_container_kind)kv_int(reader);
    } else if (kv_is(reader, "work_dir")) {
        container->work_dir = reader->value;
    }
    for (size_t i = 0; i < ARRAY_COUNT(numbers); i++) {
        if (kv_is(reader, numbers[i].key)) {
            *(int64_t *)(void *)((char *)container + numbers[i].offset) =
                kv_int(reader);
        }
    }
    return 0;
}

static void take_cgroup(struct run_spec *spec, const struct kv_reader *reader)
{
    static const char *const keys[CGROUP_CONTROLLERS] = {
        "cgroup_memory", "cgroup_cpu", "cgroup_pids", "cgroup_freezer"};

    for (int c = 0; c < CGROUP_CONTROLLERS; c++) {
        if (kv_is(reader, keys[c])) {
            snprintf(spec->cgroups.parents[c], CGROUP_PATH_BYTES_MAX, "%s",
                     reader->value);
        }
    }
    if (kv_is(reader, "cgroup_kind")) {
        spec->cgroups.kind = (enum cgroup_kind)kv_int(reader);
    }
    if (kv_is(reader, "cgroup_missing")) {
        spec->cgroups.missing = kv_int(reader);
    }
}

static void take_head(struct run_spec *spec, const struct kv_reader *reader)
{
    const struct {
        const char *key;
        const char **into;
    } texts[] = {
        {"run_id", &spec->run_id},        {"job_id", &spec->job_id},
        {"queue", &spec->queue},          {"job_set", &spec->job_set},
        {"namespace", &spec->namespace_}, {"node", &spec->node},
        {"gang_dir", &spec->gang_dir},    {"gang_id", &spec->gang_id},
        {"space", &spec->space_dir},      {"notify", &spec->notify_path},
        {"hidden", &spec->hidden_dir},    {"devices", &spec->devices},
        {"pod", &spec->pod_name},         {"exec_token", &spec->exec_token},
    };
    const struct {
        const char *key;
        int64_t *into;
    } numbers[] = {
        {"deadline_ms", &spec->deadline_ms},
        {"grace_ms", &spec->grace_ms},
        {"layers", &spec->layers},
        {"shm_bytes", &spec->shm_bytes},
        {"log_byte_count_max", &spec->log_byte_count_max},
    };

    for (size_t i = 0; i < ARRAY_COUNT(texts); i++) {
        if (kv_is(reader, texts[i].key)) {
            *texts[i].into = reader->value;
            return;
        }
    }
    for (size_t i = 0; i < ARRAY_COUNT(numbers); i++) {
        if (kv_is(reader, numbers[i].key)) {
            *numbers[i].into = kv_int(reader);
            return;
        }
    }
    take_cgroup(spec, reader);
}

static int take_record(struct run_spec *spec, const struct kv_reader *reader)
{
    if (kv_is(reader, "container")) {
        if (spec->containers.count == RUN_CONTAINERS_MAX) {
            return -ERR_CORRUPT;
        }
        VEC_PUSH(
            &spec->containers,
            (struct run_container){
                .name = reader->value, .work_dir = "", .uid = -1, .gid = -1});
        return 0;
    }
    if (spec->containers.count == 0) {
        take_head(spec, reader);
        return 0;
    }
    return take_container(&spec->containers.items[spec->containers.count - 1],
                          reader);
}

/* Whether these bytes are a file of ours, and as they were written. */
static int begin(struct kv_reader *reader, const char *key)
{
    struct str bytes = reader->rest;

    if (kv_next(reader) != 1 || !kv_is(reader, key)) {
        return -ERR_CORRUPT;
    }
    return kv_int(reader) > RUN_FILE_VERSION ? -ERR_VERSION : kv_check(bytes);
}

static int decode_spec(struct run_spec *spec)
{
    struct kv_reader reader = {.rest = strbuf_str(&spec->bytes)};
    int rc = begin(&reader, "berth_spec");

    while (rc >= 0 && (rc = kv_next(&reader)) == 1) {
        rc = take_record(spec, &reader);
    }
    if (rc < 0) {
        return rc;
    }
    for (size_t i = 0; i < spec->containers.count; i++) {
        struct run_container *container = &spec->containers.items[i];
        if (container->args.count == 0) {
            return -ERR_CORRUPT;
        }
        VEC_PUSH(&container->args, NULL);
        VEC_PUSH(&container->envs, NULL);
    }
    return *spec->run_id && spec->containers.count > 0 ? 0 : -ERR_CORRUPT;
}

int run_spec_decode(struct str bytes, struct run_spec *ret_spec)
{
    struct run_spec spec = {
        .bytes = strbuf_make(RUN_FILE_BYTES_MAX),
        .run_id = "",
        .job_id = "",
        .queue = "",
        .job_set = "",
        .namespace_ = "",
        .node = "",
        .gang_dir = "",
        .gang_id = "",
        .space_dir = "",
        .hidden_dir = "",
        .notify_path = "",
        .exec_token = "",
        .devices = "",
        .pod_name = "",
    };

    strbuf_add_str(&spec.bytes, bytes);
    int rc = spec.bytes.is_over ? -ERR_CORRUPT : decode_spec(&spec);
    if (rc < 0) {
        run_spec_fini(&spec);
        return rc;
    }
    *ret_spec = spec;
    return 0;
}

int run_spec_read(int dir_fd, struct run_spec *ret_spec, struct err *err)
{
    auto_strbuf bytes = strbuf_make(RUN_FILE_BYTES_MAX);

    int rc = file_read(dir_fd, RUN_SPEC_NAME, &bytes, err);
    if (rc < 0) {
        return rc;
    }
    rc = run_spec_decode(strbuf_str(&bytes), ret_spec);
    return rc < 0 ? err_set(err, rc, "the spec of a run does not decode") : 0;
}

void run_spec_fini(struct run_spec *spec)
{
    for (size_t i = 0; i < spec->containers.count; i++) {
        VEC_FREE(&spec->containers.items[i].args);
        VEC_FREE(&spec->containers.items[i].envs);
        VEC_FREE(&spec->containers.items[i].binds);
    }
    VEC_FREE(&spec->containers);
    strbuf_fini(&spec->bytes);
}

int run_state_write(int dir_fd, const struct run_state *state, struct err *err)
{
    auto_strbuf out = strbuf_make(RUN_FILE_BYTES_MAX);

    kv_add_int(&out, "berth_state", RUN_FILE_VERSION);
    kv_promise_seal(&out);
    kv_add_int(&out, "phase", state->phase);
    kv_add_int(&out, "cause", state->cause);
    kv_add_int(&out, "pid", state->pid);
    kv_add_int(&out, "pid_start", state->pid_start);
    kv_add_int(&out, "created_ms", state->created_ms);
    kv_add_int(&out, "started_ms", state->started_ms);
    kv_add_int(&out, "ended_ms", state->ended_ms);
    for (size_t i = 0; i < state->ended.count; i++) {
        const struct run_ended *ended = &state->ended.items[i];
        kv_add_text(&out, "container", ended->name);
        kv_add_int(&out, "exit_code", ended->exit_code);
        kv_add_int(&out, "signal", ended->signal);
        kv_add_int(&out, "is_oom", ended->is_oom);
        kv_add_text(&out, "reason", ended->reason);
        kv_add_text(&out, "message", ended->message);
    }
    kv_seal(&out);
    if (out.is_over) {
        return err_set(err, -ERR_LIMIT, "the state of a run is too big");
    }
    return file_replace(dir_fd, RUN_STATE_NAME, strbuf_str(&out), 0600, err);
}

static void take_ended(struct run_ended *ended, const struct kv_reader *reader)
{
    if (kv_is(reader, "exit_code")) {
        ended->exit_code = kv_int(reader);
    } else if (kv_is(reader, "signal")) {
        ended->signal = kv_int(reader);
    } else if (kv_is(reader, "is_oom")) {
        ended->is_oom = kv_int(reader) != 0;
    } else if (kv_is(reader, "reason")) {
        ended->reason = reader->value;
    } else if (kv_is(reader, "message")) {
        ended->message = reader->value;
    }
}

static void take_progress(struct run_state *state,
                          const struct kv_reader *reader)
{
    if (kv_is(reader, "phase")) {
        state->phase = (enum run_phase)kv_int(reader);
    } else if (kv_is(reader, "cause")) {
        state->cause = (enum run_cause)kv_int(reader);
    } else if (kv_is(reader, "pid")) {
        state->pid = kv_int(reader);
    } else if (kv_is(reader, "pid_start")) {
        state->pid_start = kv_int(reader);
    } else if (kv_is(reader, "created_ms")) {
        state->created_ms = kv_int(reader);
    } else if (kv_is(reader, "started_ms")) {
        state->started_ms = kv_int(reader);
    } else if (kv_is(reader, "ended_ms")) {
        state->ended_ms = kv_int(reader);
    }
}

static int decode_state(struct run_state *state)
{
    struct kv_reader reader = {.rest = strbuf_str(&state->bytes)};
    int rc = begin(&reader, "berth_state");

    while (rc >= 0 && (rc = kv_next(&reader)) == 1) {
        if (kv_is(&reader, "container")) {
            if (state->ended.count == RUN_CONTAINERS_MAX) {
                return -ERR_CORRUPT;
            }
            VEC_PUSH(&state->ended, (struct run_ended){.name = reader.value,
                                                       .reason = "",
                                                       .message = ""});
        } else if (state->ended.count > 0) {
            take_ended(&state->ended.items[state->ended.count - 1], &reader);
        } else {
            take_progress(state, &reader);
        }
    }
    if (rc < 0) {
        return rc;
    }
    return state->phase >= RUN_PENDING && state->phase <= RUN_FAILED
               ? 0
               : -ERR_CORRUPT;
}

int run_state_decode(struct str bytes, struct run_state *ret_state)
{
    struct run_state state = {.bytes = strbuf_make(RUN_FILE_BYTES_MAX)};

    strbuf_add_str(&state.bytes, bytes);
    int rc = state.bytes.is_over ? -ERR_CORRUPT : decode_state(&state);
    if (rc < 0) {
        run_state_fini(&state);
        return rc;
    }
    *ret_state = state;
    return 0;
}

int run_state_read(int dir_fd, struct run_state *ret_state, struct err *err)
{
    auto_strbuf bytes = strbuf_make(RUN_FILE_BYTES_MAX);

    int rc = file_read(dir_fd, RUN_STATE_NAME, &bytes, err);
    if (rc < 0) {
        return rc;
    }
    rc = run_state_decode(strbuf_str(&bytes), ret_state);
    return rc < 0 ? err_set(err, rc, "the state of a run does not decode") : 0;
}

void run_state_fini(struct run_state *state)
{
    VEC_FREE(&state->ended);
    strbuf_fini(&state->bytes);
}

int64_t run_pid_start(int64_t pid)
{
    char path[64];
    char text[1024];

    snprintf(path, sizeof(path), "/proc/%lld/stat", (long long)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return 0;
    }
    ssize_t got = read(fd, text, sizeof(text) - 1);
    close(fd);
    if (got <= 0) {
        return 0;
    }
    text[got] = '\0';
    /* The name may hold anything; what follows its last ')' is field 3. */
    const char *p = strrchr(text, ')');
    for (int field = 2; p && field < 22; field++) {
        p = strchr(p + 1, ' ');
    }
    return p ? strtoll(p + 1, NULL, 10) : 0;
}
