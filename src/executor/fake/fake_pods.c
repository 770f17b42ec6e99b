/* The simulated pods: they are added, run for a time that is drawn, and end. */
#include "base/hash.h"
#include "base/heap.h"
#include "base/time_add.h"
#include "executor/fake/fake.h"
#include "executor/fake/fake_private.h"

enum { MILLION = 1000000, TAIL_FACTOR = 20, EXIT_CODE_KILLED = 143 };

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

/* Changes. */

void fake_push(struct fake *fake, enum runtime_change_kind kind,
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

void fake_drop_end(struct fake_pod *pod)
{
    if (pod->end) {
        mem_free(pod->end->text);
        mem_free(pod->end);
        pod->end = NULL;
    }
}

void fake_remove(struct fake *fake, struct fake_pod *pod)
{
    uint32_t index = map_remove(&fake->by_id, pod->run.v);

    intern_unref(fake->names, pod->node);
    fake_drop_end(pod);
    mem_free(pod->text);
    *pod = (struct fake_pod){0};
    SLOTS_GIVE(&fake->pods, index);
}

void fake_foresee_end(struct fake *fake, struct fake_pod *pod,
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

void fake_end_pod(struct fake *fake, struct fake_pod *pod,
                  enum runtime_cause cause)
{
    pod->cause = cause;
    pod->due_ms = fake_now_ms(fake);
    fake_heap_push(fake, pod->due_ms, pod->run);
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
        fake_remove(fake, pod);
        return;
    }
    fake_drop_end(pod);
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

void fake_look(struct fake *fake)
{
    int64_t now = fake_now_ms(fake);

    if (!fake->is_listed && now >= fake->listed_at_ms) {
        fake->is_listed = true;
        fake_push(fake, RUNTIME_LISTED, (struct run_id){{0, 0}});
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
