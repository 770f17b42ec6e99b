#include "executor/fake/fake.h"

#include <stdlib.h>

#include "executor/fake/fake_private.h"

enum { MILLION = 1000000 };

static const char run_ms_annotation[] = "berth.dev/fakeRunMs";
static const char exit_code_annotation[] = "berth.dev/fakeExitCode";

static bool annotation(const struct runtime_run *run, const char *key,
                       int64_t *ret_value)
{
    const Armadaevents__ObjectMeta *meta =
        run->submit ? run->submit->objectmeta : NULL;

    for (size_t i = 0; meta && i < meta->n_annotations; i++) {
        if (strcmp(meta->annotations[i]->key, key) == 0) {
            *ret_value = strtoll(meta->annotations[i]->value, NULL, 10);
            return true;
        }
    }
    return false;
}

/* As the runtime process says it. */
static void tell_what_is_not_made(const struct fake_pod *pod,
                                  const struct runtime_run *run)
{
    if (run->submit && run->submit->n_objects > 0 &&
        pod->end->kind == RUNTIME_CREATED && !*pod->end->text) {
        fake_set_end(pod->end, pod->end->kind, pod->end->scope,
                     STR("services and ingresses are not created\n"));
    }
}

static void fake_create(struct runtime *runtime, const struct runtime_run *run)
{
    struct fake *fake = fake_of(runtime);
    int64_t exit_code;

    if (fake_find(fake, run->run)) {
        fake_push(fake, RUNTIME_KNOWN, run->run);
        return;
    }
    struct fake_pod *pod = fake_add(fake, run->run, run->node_name);
    fake_foresee_end(fake, pod, run->node_name);
    tell_what_is_not_made(pod, run);
    (void)annotation(run, run_ms_annotation, &pod->run_ms);
    pod->run_ms = pod->run_ms < 0 ? 0 : pod->run_ms;
    if (annotation(run, exit_code_annotation, &exit_code)) {
        pod->exit_code = (int32_t)(exit_code & 0xff);
    }
    pod->due_ms = fake_now_ms(fake) + fake->options.create_delay_ms;
    fake_heap_push(fake, pod->due_ms, pod->run);
}

static void fake_list(struct runtime *runtime,
                      void (*each)(void *, const struct runtime_pod *),
                      void *ctx)
{
    (void)runtime;
    (void)each;
    (void)ctx;
}

static bool is_lost(struct fake *fake)
{
    if (fake->lost_request_count == 0) {
        return false;
    }
    fake->lost_request_count--;
    return true;
}

static void fake_stop(struct runtime *runtime, struct run_id run,
                      int64_t grace_ms)
{
    struct fake *fake = fake_of(runtime);
    struct fake_pod *pod = fake_find(fake, run);

    (void)grace_ms;
    if (!is_lost(fake) && pod && pod->phase != RECONCILE_NEVER &&
        !reconcile_is_ended(pod->phase)) {
        fake_end_pod(fake, pod, RUNTIME_CAUSE_STOPPED);
    }
}

static void fake_ack(struct runtime *runtime, struct run_id run,
                     enum reconcile_phase phase)
{
    (void)runtime;
    (void)run;
    (void)phase;
}

static void fake_forget(struct runtime *runtime, struct run_id run)
{
    struct fake *fake = fake_of(runtime);
    struct fake_pod *pod = fake_find(fake, run);

    if (is_lost(fake)) {
        return;
    }
    if (pod) {
        fake_remove(fake, pod);
    }
    fake_push(fake, RUNTIME_FORGOTTEN, run);
}

static uint32_t fake_poll(struct runtime *runtime,
                          struct runtime_change *ret_changes,
                          uint32_t change_max)
{
    struct fake *fake = fake_of(runtime);

    fake_look(fake);
    return change_queue_take(&fake->changes, ret_changes, change_max);
}

static int64_t fake_next_wake_ms(struct runtime *runtime)
{
    const struct fake *fake = fake_of(runtime);
    int64_t at_ms = fake->is_listed ? INT64_MAX : fake->listed_at_ms;

    if (!change_queue_is_empty(&fake->changes)) {
        return INT64_MIN;
    }
    return fake->heap.count > 0 && fake->heap.items[0].at_ms < at_ms
               ? fake->heap.items[0].at_ms
               : at_ms;
}

static struct str message_of(const struct fake_pod *pod)
{
    return pod->text ? str_of(pod->text) : STR("made up");
}

static bool fake_status(struct runtime *runtime, struct run_id run,
                        struct arena *arena, struct runtime_status *ret_status)
{
    const struct fake_pod *pod = fake_find(fake_of(runtime), run);

    if (!pod) {
        return false;
    }
    *ret_status = (struct runtime_status){
        .cause = pod->cause,
        .message = str_of(pod->text),
        .created_ms = pod->created_ms,
        .started_ms = pod->started_ms,
        .ended_ms = pod->ended_ms,
        .addresses = &pod->address,
        .address_count = pod->address.address.byte_count > 0 ? 1 : 0,
        .used_max = pod->used,
        .used_sum = pod->used,
    };
    if (reconcile_is_ended(pod->phase) && pod->started_ms > 0) {
        ret_status->ended_count = 1;
        ret_status->ended = arena_alloc(arena, sizeof(*ret_status->ended));
        *ret_status->ended = (struct runtime_ended){
            .name = STR("fake"),
            .reason = pod->exit_code == 0 ? STR("Completed") : STR("Error"),
            .message = message_of(pod),
            .exit_code = pod->exit_code,
            .cause = ret_status->cause,
        };
    }
    return true;
}

static const struct node_set *fake_nodes(struct runtime *runtime)
{
    return fake_of(runtime)->nodes;
}

static const struct resource_list *fake_pending(struct runtime *runtime)
{
    return &fake_of(runtime)->pending;
}

static const struct run_id *fake_protected_runs(struct runtime *runtime,
                                                uint32_t *ret_count)
{
    *ret_count = (uint32_t)fake_of(runtime)->protected_runs.count;
    return fake_of(runtime)->protected_runs.items;
}

static int fake_logs(struct runtime *runtime,
                     const struct runtime_log_query *query, struct strbuf *buf,
                     struct err *err)
{
    (void)runtime;
    (void)query;
    (void)buf;
    return err_set(err, -ERR_NOT_FOUND,
                   "pods of the runtime fake have no logs");
}

static int fake_files(struct runtime *runtime,
                      const struct runtime_files_query *query,
                      struct strbuf *buf, struct err *err)
{
    (void)runtime;
    (void)query;
    (void)buf;
    return err_set(err, -ERR_NOT_FOUND,
                   "pods of the runtime fake have no files");
}

static void fake_close(struct runtime *runtime)
{
    struct fake *fake = fake_of(runtime);

    for (size_t i = 0; i < fake->pods.count; i++) {
        fake_drop_end(&fake->pods.items[i]);
        mem_free(fake->pods.items[i].text);
    }
    mem_free(fake->answer.text);
    change_queue_fini(&fake->changes);
    node_set_destroy(fake->nodes);
    intern_destroy(fake->names);
    SLOTS_FREE(&fake->pods);
    VEC_FREE(&fake->heap);
    VEC_FREE(&fake->protected_runs);
    map_fini(&fake->by_id);
    arena_fini(&fake->arena);
    mem_free(fake);
}

static const struct runtime_ops fake_ops = {
    .name = "fake",
    .list = fake_list,
    .create = fake_create,
    .stop = fake_stop,
    .ack = fake_ack,
    .forget = fake_forget,
    .poll = fake_poll,
    .next_wake_ms = fake_next_wake_ms,
    .status = fake_status,
    .nodes = fake_nodes,
    .pending = fake_pending,
    .protected_runs = fake_protected_runs,
    .logs = fake_logs,
    .files = fake_files,
    .close = fake_close,
};

void fake_options_default(struct fake_options *ret_options)
{
    static struct resource_amount amounts[] = {
        {{"cpu", 3}, 8000},
        {{"ephemeral-storage", 17}, (256ll << 30) * 1000},
        {{"memory", 6}, (128ll << 30) * 1000},
    };
    static const struct fake_group group = {
        .name = {"node", 4},
        .count = 500,
        .node = {.total = {amounts, ARRAY_COUNT(amounts)}},
    };

    *ret_options = (struct fake_options){
        .executor_id = STR("fake"),
        .seed = 1,
        .groups = &group,
        .group_count = 1,
        .distribution = FAKE_FIXED,
        .run_a_ms = 1000,
    };
}

int fake_open(const struct fake_options *options, const struct clock *clock,
              struct runtime **ret_runtime, struct err *err)
{
    uint64_t node_count = 0;

    for (uint32_t g = 0; g < options->group_count; g++) {
        node_count += options->groups[g].count;
    }
    if (node_count > FAKE_NODES_MAX) {
        return err_set(err, -ERR_LIMIT, "more than %d nodes", FAKE_NODES_MAX);
    }
    if (options->run_a_ms < 0 || options->list_delay_ms < 0 ||
        options->create_delay_ms < 0 || options->start_delay_ms < 0 ||
        options->failure_ppm > MILLION ||
        (options->distribution == FAKE_UNIFORM &&
         options->run_b_ms < options->run_a_ms)) {
        return err_set(err, -ERR_INVALID,
                       "run times, delays or failure rate out of range");
    }
    struct fake *fake = mem_alloc(sizeof(*fake));
    fake->runtime = (struct runtime){&fake_ops, -1, 0};
    fake->clock = clock;
    fake->options = *options;
    fake->options.executor_id = arena_str(&fake->arena, options->executor_id);
    fake->answer.kind = RUNTIME_CREATED;
    fake->names = intern_create();
    fake->nodes = fake_nodes_make(&fake->options);
    fake->listed_at_ms = fake_now_ms(fake) + options->list_delay_ms;
    fake->options.pending = (struct resource_list){NULL, 0};
    for (uint32_t i = 0; i < options->pending.count; i++) {
        fake_want(&fake->runtime, options->pending.items[i].name,
                  options->pending.items[i].milli);
    }
    *ret_runtime = &fake->runtime;
    return 0;
}
