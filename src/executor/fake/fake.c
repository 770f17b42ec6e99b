#include "executor/fake/fake.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/heap.h"
#include "base/time_add.h"
#include "executor/fake/fake_private.h"

enum { MILLION = 1000000, TAIL_FACTOR = 20, EXIT_CODE_KILLED = 143 };

static const char run_ms_annotation[] = "berth.dev/fakeRunMs";
static const char exit_code_annotation[] = "berth.dev/fakeExitCode";

/* The heap. */

static bool is_before(const void *context, const struct due *a,
                      const struct due *b)
{
    (void)context;
    return a->at_ms != b->at_ms ? a->at_ms < b->at_ms : a->order < b->order;
}

DEFINE_HEAP(dues, struct due, 2, const void *, is_before, HEAP_PLAIN);

void fake_heap_push(struct fake *fake, int64_t at_ms, struct run_id run)
{
    struct due due = {at_ms, fake->order++, run};

    VEC_RESERVE(&fake->heap, 1);
    dues_rise(NULL, fake->heap.items, fake->heap.count++, due);
}

static void heap_pop(struct fake *fake)
{
    dues_remove(NULL, fake->heap.items, --fake->heap.count, 0);
}

/* Pods. */

struct fake_pod *fake_find(struct fake *fake, struct run_id run)
{
    uint32_t index = map_find(&fake->by_id, run.v);

    return index == MAP_NONE ? NULL : &fake->pods.items[index];
}

/* Number `which` of the numbers that belong to a run. */
static uint64_t draw(const struct fake *fake, struct run_id run, uint64_t which)
{
    return hash_mix(hash_mix(run.v.hi ^ fake->options.seed) ^ run.v.lo ^
                    (which * 0x9e3779b97f4a7c15u));
}

/* -ln(u) of a u that is spread evenly over (0, 1], in millionths; by halves,
 * so that it is the same on every machine. */
static int64_t exponential_micro(uint64_t random)
{
    static const int64_t ln2_micro = 693147;
    int64_t whole = 0;

    while (whole < 40 && (random & 1)) {
        whole++;
        random >>= 1;
    }
    random >>= 1;
    /* Within one half the density falls by two; a straight line will do. */
    int64_t part = (int64_t)(random % MILLION);
    return whole * ln2_micro + ln2_micro * part / MILLION;
}

static int64_t draw_run_ms(const struct fake *fake, struct run_id run)
{
    const struct fake_options *options = &fake->options;
    int64_t a = options->run_a_ms;
    uint64_t random = draw(fake, run, 1);

    switch (options->distribution) {
    case FAKE_FIXED:
        return a;
    case FAKE_UNIFORM:
        return a + (int64_t)(random % (uint64_t)(options->run_b_ms - a + 1));
    case FAKE_EXPONENTIAL:
        a = a * exponential_micro(random) / MILLION;
        return a > options->run_a_ms * TAIL_FACTOR
                   ? options->run_a_ms * TAIL_FACTOR
                   : a;
    }
    return a;
}

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

/* Changes and requests. */

static void push(struct fake *fake, enum runtime_change_kind kind,
                 struct run_id run)
{
    change_queue_push(&fake->changes,
                      &(struct runtime_change){.kind = kind, .run = run});
}

static void push_phase(struct fake *fake, const struct fake_pod *pod)
{
    change_queue_push(&fake->changes,
                      &(struct runtime_change){.kind = RUNTIME_PHASE,
                                               .run = pod->run,
                                               .phase = pod->phase});
}

struct fake_pod *fake_add(struct fake *fake, struct run_id run,
                          struct str node_name)
{
    uint32_t index = SLOTS_TAKE(&fake->pods);
    struct fake_pod *pod = &fake->pods.items[index];
    int64_t exit_code =
        draw(fake, run, 2) % MILLION < fake->options.failure_ppm ? 1 : 0;

    *pod = (struct fake_pod){
        .run = run,
        .exit_code = (int32_t)exit_code,
        .node = node_name.byte_count > 0 ? intern_add(fake->names, node_name)
                                         : INTERN_NONE,
        .is_used = true,
        .run_ms = draw_run_ms(fake, run),
        .created_ms = fake->clock->wall_ms(fake->clock),
    };
    (void)map_put(&fake->by_id, run.v, index);
    return pod;
}

void fake_set_end(struct fake_end_of_creation *end,
                  enum runtime_change_kind kind, enum runtime_scope scope,
                  struct str text)
{
    mem_free(end->text);
    *end = (struct fake_end_of_creation){kind, scope, str_dup(text)};
}

static void drop_end(struct fake_pod *pod)
{
    if (pod->end) {
        mem_free(pod->end->text);
        mem_free(pod->end);
        pod->end = NULL;
    }
}

static void remove_pod(struct fake *fake, struct fake_pod *pod)
{
    uint32_t index = map_remove(&fake->by_id, pod->run.v);

    intern_unref(fake->names, pod->node);
    drop_end(pod);
    mem_free(pod->text);
    *pod = (struct fake_pod){0};
    SLOTS_GIVE(&fake->pods, index);
}

/* How the creation of a pod that has just been added will end. */
static void foresee_end(struct fake *fake, struct fake_pod *pod,
                        struct str node_name)
{
    pod->end = mem_alloc(sizeof(*pod->end));
    fake_set_end(pod->end, fake->answer.kind, fake->answer.scope,
                 str_of(fake->answer.text));
    if (fake->by_id.count > FAKE_PODS_MAX) {
        fake_set_end(pod->end, RUNTIME_RETURNED, RUNTIME_SCOPE_CLUSTER,
                     STR("no node has room for the pod"));
    } else if (node_name.byte_count > 0 &&
               !node_set_find(fake->nodes, node_name)) {
        fake_set_end(pod->end, RUNTIME_RETURNED, RUNTIME_SCOPE_NODE,
                     STR("the node is not there"));
    }
}

static void fake_create(struct runtime *runtime, const struct runtime_run *run)
{
    struct fake *fake = fake_of(runtime);
    int64_t exit_code;

    if (fake_find(fake, run->run)) {
        push(fake, RUNTIME_KNOWN, run->run);
        return;
    }
    struct fake_pod *pod = fake_add(fake, run->run, run->node_name);
    foresee_end(fake, pod, run->node_name);
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

/* Let a pod end at once. */
void fake_end_pod(struct fake *fake, struct fake_pod *pod,
                  enum runtime_cause cause)
{
    pod->cause = cause;
    pod->due_ms = fake_now_ms(fake);
    fake_heap_push(fake, pod->due_ms, pod->run);
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
        remove_pod(fake, pod);
    }
    push(fake, RUNTIME_FORGOTTEN, run);
}

/* Its creation is over. */
static void end_creation(struct fake *fake, struct fake_pod *pod)
{
    change_queue_push(&fake->changes, &(struct runtime_change){
                                          .kind = pod->end->kind,
                                          .run = pod->run,
                                          .scope = pod->end->scope,
                                          .text = str_of(pod->end->text),
                                      });
    if (pod->end->kind != RUNTIME_CREATED) {
        remove_pod(fake, pod);
        return;
    }
    drop_end(pod);
    pod->phase = RECONCILE_PENDING;
    pod->due_ms += fake->options.start_delay_ms;
    fake_heap_push(fake, pod->due_ms, pod->run);
}

/* Move a pod whose time has come. */
static void advance(struct fake *fake, struct fake_pod *pod)
{
    int64_t wall_ms = fake->clock->wall_ms(fake->clock);

    if (pod->phase == RECONCILE_NEVER) {
        end_creation(fake, pod);
        return;
    }
    if (pod->cause != RUNTIME_CAUSE_NONE) {
        pod->phase = pod->cause == RUNTIME_CAUSE_LOST ||
                             pod->cause == RUNTIME_CAUSE_NODE_LOST
                         ? RECONCILE_LOST
                         : RECONCILE_FAILED;
        pod->exit_code = EXIT_CODE_KILLED;
        pod->ended_ms = wall_ms;
    } else if (pod->phase == RECONCILE_PENDING) {
        pod->phase = RECONCILE_RUNNING;
        pod->started_ms = wall_ms;
        pod->due_ms = time_add_saturating(pod->due_ms, pod->run_ms);
        fake_heap_push(fake, pod->due_ms, pod->run);
        if (fake->options.is_start_missed) {
            return;
        }
    } else {
        pod->phase =
            pod->exit_code == 0 ? RECONCILE_SUCCEEDED : RECONCILE_FAILED;
        pod->cause =
            pod->exit_code == 0 ? RUNTIME_CAUSE_NONE : RUNTIME_CAUSE_ERROR;
        pod->ended_ms = wall_ms;
    }
    push_phase(fake, pod);
}

/* Push what has happened until now. */
static void look(struct fake *fake)
{
    int64_t now = fake_now_ms(fake);

    if (!fake->is_listed && now >= fake->listed_at_ms) {
        fake->is_listed = true;
        push(fake, RUNTIME_LISTED, (struct run_id){{0, 0}});
    }
    while (fake->heap.count > 0 && fake->heap.items[0].at_ms <= now) {
        struct due due = fake->heap.items[0];
        struct fake_pod *pod = fake_find(fake, due.run);
        heap_pop(fake);
        if (pod && pod->due_ms == due.at_ms &&
            !reconcile_is_ended(pod->phase)) {
            advance(fake, pod);
        }
    }
}

static uint32_t fake_poll(struct runtime *runtime,
                          struct runtime_change *ret_changes,
                          uint32_t change_max)
{
    struct fake *fake = fake_of(runtime);

    look(fake);
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

static void fake_close(struct runtime *runtime)
{
    struct fake *fake = fake_of(runtime);

    for (size_t i = 0; i < fake->pods.count; i++) {
        drop_end(&fake->pods.items[i]);
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
