#include "executor/fake/fake.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/heap.h"
#include "base/slots.h"
#include "executor/fake/fake_nodes.h"

enum { MILLION = 1000000, TAIL_FACTOR = 20 };

static const char run_ms_annotation[] = "berth.dev/fakeRunMs";
static const char exit_code_annotation[] = "berth.dev/fakeExitCode";

struct fake_pod {
    struct run_id run;
    enum reconcile_phase phase; /* NEVER: the slot is free */
    int32_t exit_code;
    bool is_stopped;
    int64_t run_ms;
    int64_t due_ms; /* when the phase changes next */
    int64_t created_ms, started_ms, ended_ms;
};

/* A pod's next change; entries of pods that changed meanwhile are stale. */
struct due {
    int64_t at_ms;
    uint64_t order;
    struct run_id run;
};

struct fake {
    struct runtime runtime;
    const struct clock *clock;
    struct fake_options options;
    struct arena arena; /* of the nodes */
    struct node_record *nodes;
    uint32_t node_count;
    SLOTS(struct fake_pod) pods;
    struct map by_id;
    VEC(struct due) heap; /* least (at_ms, order) first */
    uint64_t order;
    struct resource_list pending; /* of others; in the arena */
    VEC(struct run_id) protected_runs;
};

static int64_t mono_ms(const struct fake *fake)
{
    return (int64_t)(fake->clock->mono_ns(fake->clock) / MILLION);
}

static struct fake *of(struct runtime *runtime)
{
    return container_of(runtime, struct fake, runtime);
}

/* The heap. */

static bool is_before(const void *context, const struct due *a,
                      const struct due *b)
{
    (void)context;
    return a->at_ms != b->at_ms ? a->at_ms < b->at_ms : a->order < b->order;
}

DEFINE_HEAP(dues, struct due, 2, const void *, is_before, HEAP_PLAIN);

static void heap_push(struct fake *fake, int64_t at_ms, struct run_id run)
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

static struct fake_pod *find_pod(struct fake *fake, struct run_id run)
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

static int fake_create(struct runtime *runtime, const struct runtime_run *run,
                       struct strbuf *warnings, struct err *err)
{
    struct fake *fake = of(runtime);
    int64_t exit_code =
        draw(fake, run->run, 2) % MILLION < fake->options.failure_ppm ? 1 : 0;
    struct fake_pod pod = {
        .run = run->run,
        .phase = RECONCILE_PENDING,
        .run_ms = draw_run_ms(fake, run->run),
        .due_ms = mono_ms(fake) + fake->options.start_delay_ms,
        .created_ms = fake->clock->wall_ms(fake->clock),
    };

    (void)warnings;
    if (find_pod(fake, run->run)) {
        return err_set(err, -ERR_CONFLICT, "the run exists already");
    }
    if (fake->by_id.count >= FAKE_PODS_MAX) {
        return err_set(err, -ERR_LIMIT, "no node has room for the pod");
    }
    (void)annotation(run, run_ms_annotation, &pod.run_ms);
    (void)annotation(run, exit_code_annotation, &exit_code);
    pod.run_ms = pod.run_ms < 0 ? 0 : pod.run_ms;
    pod.exit_code = (int32_t)(exit_code & 0xff);
    uint32_t index = SLOTS_TAKE(&fake->pods);
    fake->pods.items[index] = pod;
    (void)map_put(&fake->by_id, run->run.v, index);
    heap_push(fake, pod.due_ms, pod.run);
    return 0;
}

static void fake_list(struct runtime *runtime,
                      void (*each)(void *, const struct runtime_pod *),
                      void *ctx)
{
    (void)runtime;
    (void)each;
    (void)ctx;
}

static void fake_stop(struct runtime *runtime, struct run_id run,
                      int64_t grace_ms)
{
    struct fake *fake = of(runtime);
    struct fake_pod *pod = find_pod(fake, run);

    (void)grace_ms;
    if (!pod || reconcile_is_ended(pod->phase)) {
        return;
    }
    pod->is_stopped = true;
    pod->due_ms = mono_ms(fake);
    heap_push(fake, pod->due_ms, run);
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
    struct fake *fake = of(runtime);
    uint32_t index = map_remove(&fake->by_id, run.v);

    if (index != MAP_NONE) {
        fake->pods.items[index].phase = RECONCILE_NEVER;
        SLOTS_GIVE(&fake->pods, index);
    }
}

/* Move a pod whose time has come. */
static void advance(struct fake *fake, struct fake_pod *pod)
{
    int64_t wall_ms = fake->clock->wall_ms(fake->clock);

    if (pod->is_stopped) {
        pod->phase = RECONCILE_FAILED;
        pod->exit_code = 143;
        pod->ended_ms = wall_ms;
    } else if (pod->phase == RECONCILE_PENDING) {
        pod->phase = RECONCILE_RUNNING;
        pod->started_ms = wall_ms;
        pod->due_ms += pod->run_ms;
        heap_push(fake, pod->due_ms, pod->run);
    } else {
        pod->phase =
            pod->exit_code == 0 ? RECONCILE_SUCCEEDED : RECONCILE_FAILED;
        pod->ended_ms = wall_ms;
    }
}

static uint32_t fake_poll(struct runtime *runtime,
                          struct runtime_change *ret_changes,
                          uint32_t change_max)
{
    struct fake *fake = of(runtime);
    int64_t now = mono_ms(fake);
    uint32_t count = 0;

    while (count < change_max && fake->heap.count > 0 &&
           fake->heap.items[0].at_ms <= now) {
        struct due due = fake->heap.items[0];
        struct fake_pod *pod = find_pod(fake, due.run);
        heap_pop(fake);
        if (!pod || pod->due_ms != due.at_ms ||
            reconcile_is_ended(pod->phase)) {
            continue;
        }
        advance(fake, pod);
        ret_changes[count++] = (struct runtime_change){pod->run, pod->phase};
    }
    return count;
}

static int64_t fake_next_wake_ms(struct runtime *runtime)
{
    struct fake *fake = of(runtime);

    return fake->heap.count > 0 ? fake->heap.items[0].at_ms : INT64_MAX;
}

static bool fake_status(struct runtime *runtime, struct run_id run,
                        struct arena *arena, struct runtime_status *ret_status)
{
    const struct fake_pod *pod = find_pod(of(runtime), run);

    if (!pod) {
        return false;
    }
    *ret_status = (struct runtime_status){
        .cause = pod->is_stopped       ? RUNTIME_CAUSE_STOPPED
                 : pod->exit_code != 0 ? RUNTIME_CAUSE_ERROR
                                       : RUNTIME_CAUSE_NONE,
        .created_ms = pod->created_ms,
        .started_ms = pod->started_ms,
        .ended_ms = pod->ended_ms,
    };
    if (reconcile_is_ended(pod->phase)) {
        ret_status->ended_count = 1;
        ret_status->ended = arena_alloc(arena, sizeof(*ret_status->ended));
        *ret_status->ended = (struct runtime_ended){
            .name = STR("fake"),
            .reason = pod->exit_code == 0 ? STR("Completed") : STR("Error"),
            .message = STR("made up"),
            .exit_code = pod->exit_code,
            .cause = ret_status->cause,
        };
    }
    return true;
}

static const struct node_record *fake_nodes(struct runtime *runtime,
                                            uint32_t *ret_count)
{
    *ret_count = of(runtime)->node_count;
    return of(runtime)->nodes;
}

static const struct resource_list *fake_pending(struct runtime *runtime)
{
    return &of(runtime)->pending;
}

void fake_want(struct runtime *runtime, struct str resource, int64_t milli)
{
    struct fake *fake = of(runtime);
    struct resource_list was = fake->pending;

    fake->pending = (struct resource_list){
        arena_alloc_array(&fake->arena, RESOURCE_LIST_MAX, sizeof(*was.items)),
        0};
    for (uint32_t i = 0; i < was.count; i++) {
        if (!str_equal(was.items[i].name, resource)) {
            fake->pending.items[fake->pending.count++] = was.items[i];
        }
    }
    /* A resource beyond the list's bound is not asked for. */
    (void)!resource_list_add(&fake->pending, arena_str(&fake->arena, resource),
                             milli);
}

static const struct run_id *fake_protected_runs(struct runtime *runtime,
                                                uint32_t *ret_count)
{
    *ret_count = (uint32_t)of(runtime)->protected_runs.count;
    return of(runtime)->protected_runs.items;
}

void fake_protect(struct runtime *runtime, const struct run_id *runs,
                  uint32_t run_count)
{
    struct fake *fake = of(runtime);

    fake->protected_runs.count = 0;
    for (uint32_t i = 0; i < run_count; i++) {
        VEC_PUSH(&fake->protected_runs, runs[i]);
    }
}

bool fake_take(struct runtime *runtime, struct str node, struct str resource,
               int64_t milli)
{
    struct fake *fake = of(runtime);
    struct node_record *record = NULL;

    for (uint32_t i = 0; i < fake->node_count && !record; i++) {
        record = str_equal(fake->nodes[i].name, node) ? &fake->nodes[i] : NULL;
    }
    if (!record) {
        return false;
    }
    struct resource_list *was = &record->foreign;
    struct resource_list now = {.items = arena_alloc_array(&fake->arena,
                                                           RESOURCE_LIST_MAX,
                                                           sizeof(*now.items))};
    for (uint32_t i = 0; i < was->count; i++) {
        if (!str_equal(was->items[i].name, resource)) {
            now.items[now.count++] = was->items[i];
        }
    }
    record->foreign = now;
    return resource_list_add(&record->foreign,
                             arena_str(&fake->arena, resource), milli) == 0;
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
    struct fake *fake = of(runtime);

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
    if (options->run_a_ms < 0 || options->start_delay_ms < 0 ||
        options->failure_ppm > MILLION ||
        (options->distribution == FAKE_UNIFORM &&
         options->run_b_ms < options->run_a_ms)) {
        return err_set(err, -ERR_INVALID,
                       "run times, delay or failure rate out of range");
    }
    struct fake *fake = mem_alloc(sizeof(*fake));
    fake->runtime = (struct runtime){&fake_ops, -1, 0};
    fake->clock = clock;
    fake->options = *options;
    fake->options.executor_id = arena_str(&fake->arena, options->executor_id);
    fake->node_count = (uint32_t)node_count;
    fake->nodes = fake_nodes_make(&fake->options, &fake->arena);
    fake->options.pending = (struct resource_list){NULL, 0};
    for (uint32_t i = 0; i < options->pending.count; i++) {
        fake_want(&fake->runtime, options->pending.items[i].name,
                  options->pending.items[i].milli);
    }
    *ret_runtime = &fake->runtime;
    return 0;
}
