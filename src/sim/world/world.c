#include "sim/world/world.h"

#include "sim/world/cluster.h"
#include "sim/world/world_private.h"

enum {
    NS_PER_MS = 1000000,
    MONO_START_MS = 1000,
    REST_STEPS_MAX = 10000000, /* at one moment */
    READ_BYTES = 16 << 20,     /* of the log at a time */
};

/* What the leader calls. */

static uint64_t clock_mono_ns(const struct clock *clock)
{
    return ((const struct world *)(const void *)clock)->mono_ns;
}

static int64_t clock_wall_ms(const struct clock *clock)
{
    const struct world *world = (const struct world *)(const void *)clock;

    return world_wall_ms(world->now_ms);
}

static void rng_fill(const struct rng *rng, void *bytes, size_t byte_count)
{
    struct world *world = (struct world *)(uintptr_t)container_of(
        (struct rng *)(uintptr_t)rng, struct world, rng);
    unsigned char *p = bytes;

    for (size_t i = 0; i < byte_count; i++) {
        p[i] = (unsigned char)draw_u64(&world->draw);
    }
}

static void on_rejected(void *ctx, struct job_id id, struct str reason)
{
    struct world *world = ctx;
    uint32_t number = world_job_number(id);
    struct world_job *job = &world->jobs.items[number];

    job->outcome = WORLD_REJECTED;
    job->ended_ms = world->now_ms;
    if (world->config.watch.rejected) {
        world->config.watch.rejected(world->config.watch.ctx, number, reason);
    }
}

static void on_left_out(void *ctx, struct job_id id)
{
    struct world *world = ctx;
    uint32_t number = world_job_number(id);
    struct world_job *job = &world->jobs.items[number];

    job->outcome = WORLD_FAILED;
    job->ended_ms = world->now_ms;
    if (world->config.watch.left_out) {
        world->config.watch.left_out(world->config.watch.ctx, number);
    }
}

static void on_cancelled(void *ctx, struct job_id id)
{
    struct world *world = ctx;
    struct world_job *job = &world->jobs.items[world_job_number(id)];

    job->outcome = WORLD_CANCELLED;
    job->ended_ms = world->now_ms;
}

/* The log. */

static int add_to_digest(void *ctx, const struct elog_record *record)
{
    uint64_t *digest = ctx;

    *digest = elog_memory_digest_add(*digest, record);
    return 0;
}

static int digest_kept(struct elog_reader *reader, uint64_t *ret_digest,
                       struct err *err)
{
    struct elog_range range = {.from_seq = 1, .byte_count_max = READ_BYTES};
    int count;

    *ret_digest = 0;
    while ((count = elog_read(reader, &range, add_to_digest, ret_digest, err)) >
           0) {
        range.from_seq += (uint64_t)count;
    }
    return count;
}

int world_digest(const struct world *world, uint64_t *ret_digest,
                 struct err *err)
{
    auto_ptr(elog_reader) reader = NULL;

    if (world->storage) {
        *ret_digest = elog_memory_digest(world->storage);
        return 0;
    }
    int rc = elog_reader_open(world->log, &reader, err);
    return rc < 0 ? rc : digest_kept(reader, ret_digest, err);
}

static int check_empty(struct elog *log, struct err *err)
{
    auto_ptr(elog_reader) reader = NULL;
    struct elog_bounds bounds = {0};

    int rc = elog_reader_open(log, &reader, err);
    if (rc == 0) {
        rc = elog_bounds(reader, &bounds, err);
    }
    if (rc >= 0 && bounds.head_seq > 0) {
        rc = err_set(err, -ERR_CONFLICT,
                     "the log has records already: give a new file");
    }
    return rc;
}

/* Create and destroy. */

static void on_what_if(void *ctx, struct command *command, char *bytes,
                       size_t byte_count, int64_t now_ms)
{
    const struct world *world = ctx;

    world->config.what_if(world->config.what_if_ctx, command, bytes, byte_count,
                          now_ms);
}

static void open_leader(struct world *world)
{
    struct control_config config = {
        .log = world->log,
        .clock = &world->clock,
        .rng = &world->rng,
        .inbox = world->inbox,
        .policy = &world->policy,
        .queues = world->queues,
        .retry_policies = world->retry_policies,
        .checkpoint_events = UINT64_MAX,
        .hooks = {.ctx = world,
                  .rejected = on_rejected,
                  .left_out = on_left_out,
                  .cancelled = on_cancelled,
                  .what_if = world->config.what_if ? on_what_if : NULL},
        .plans_alone = world->config.is_wall_stepped,
    };

    world->control = control_create(&config);
}

static int start_leader(struct world *world, struct err *err)
{
    while (control_state(world->control) != CONTROL_LEADING) {
        int rc = control_step(world->control, err);
        if (rc < 0) {
            return rc;
        }
        world->mono_ns += (uint64_t)rc * NS_PER_MS;
    }
    return 0;
}

struct world *world_create(const struct world_config *config, struct err *err)
{
    struct world *world = mem_alloc(sizeof(*world));

    *world = (struct world){
        .clock = {clock_mono_ns, clock_wall_ms},
        .rng = {rng_fill},
        .mono_ns = MONO_START_MS * (uint64_t)NS_PER_MS,
        .config = *config,
        .draw = draw_make(config->seed, UINT64_MAX),
        .policy = *config->policy,
        .log = config->log,
        .queues = queue_table_create(),
        .retry_policies = queue_table_create(),
        .inbox = inbox_create(NULL, NULL),
    };
    world->config.policy = NULL;
    if (!world->log) {
        world->storage = elog_memory_storage_create();
        elog_memory_forget(world->storage);
        world->log = elog_memory_open(world->storage);
    }
    open_leader(world);
    if ((config->log && check_empty(world->log, err) < 0) ||
        start_leader(world, err) < 0) {
        world_destroy(world);
        return NULL;
    }
    return world;
}

void world_destroy(struct world *world)
{
    if (!world) {
        return;
    }
    control_destroy(world->control);
    elog_close(world->log);
    inbox_destroy(world->inbox);
    elog_memory_storage_destroy(world->storage);
    queue_table_destroy(world->queues);
    queue_table_destroy(world->retry_policies);
    for (size_t i = 0; i < world->clusters.count; i++) {
        cluster_destroy(world->clusters.items[i]);
    }
    for (size_t i = 0; i < world->kinds.count; i++) {
        world_kind_destroy(world->kinds.items[i]);
    }
    VEC_FREE(&world->clusters);
    VEC_FREE(&world->kinds);
    VEC_FREE(&world->jobs);
    agenda_fini(&world->agenda);
    mem_free(world);
}

/* Time. */

void world_move(struct world *world, int64_t now_ms)
{
    ASSERT(now_ms >= world->now_ms);
    if (!world->config.is_wall_stepped) {
        world->mono_ns += (uint64_t)(now_ms - world->now_ms) * NS_PER_MS;
    }
    world->now_ms = now_ms;
}

int world_step(struct world *world, struct err *err)
{
    for (uint32_t i = 0;; i++) {
        int wait_ms = control_step(world->control, err);
        world->step_count++;
        if (wait_ms < 0) {
            return wait_ms;
        }
        if (world->is_refused) {
            return err_set(err, -ERR_INVALID, "the leader refused: %s",
                           world->refusal.text);
        }
        if (wait_ms > 0) {
            return wait_ms;
        }
        if (i == REST_STEPS_MAX) {
            return err_set(err, -ERR_UNAVAILABLE,
                           "the leader still had work after %d steps at %lld "
                           "ms",
                           REST_STEPS_MAX, (long long)world->now_ms);
        }
    }
}

static void handle(struct world *world, const struct agenda_entry *entry)
{
    uint32_t high = (uint32_t)(entry->id >> 32), low = (uint32_t)entry->id;

    switch ((enum world_event)entry->kind) {
    case WORLD_NODE_DOWN:
    case WORLD_NODE_UP:
        cluster_set_node(world->clusters.items[high], low,
                         entry->kind == WORLD_NODE_DOWN);
        break;
    case WORLD_POD_DUE:
        cluster_pod_due(world->clusters.items[(entry->id >> WORLD_RUN_BITS) %
                                              WORLD_CLUSTERS_MAX],
                        low & ((1u << WORLD_RUN_BITS) - 1));
        break;
    case WORLD_REPORT:
        cluster_flush(world->clusters.items[low]);
        break;
    case WORLD_HELLO:
        cluster_hello(world->clusters.items[low]);
        agenda_add(&world->agenda, world->now_ms + CLUSTER_HELLO_MS,
                   WORLD_HELLO, low);
        break;
    case WORLD_ARRIVAL:
    case WORLD_SAMPLE:
        break;
    }
}

int world_handle(struct world *world, struct agenda_entry *ret_entry)
{
    while (agenda_time_ms(&world->agenda) <= world->now_ms) {
        struct agenda_entry entry = agenda_take(&world->agenda);
        if (entry.kind == WORLD_ARRIVAL || entry.kind == WORLD_SAMPLE) {
            *ret_entry = entry;
            return 1;
        }
        handle(world, &entry);
    }
    return 0;
}

int world_run(struct world *world, int64_t until_ms,
              struct agenda_entry *ret_entry, struct err *err)
{
    for (;;) {
        if (world_handle(world, ret_entry)) {
            return 1;
        }
        int wait_ms = world_step(world, err);
        if (wait_ms < 0) {
            return wait_ms;
        }
        int64_t next_ms = agenda_time_ms(&world->agenda);
        if (next_ms <= world->now_ms) {
            continue;
        }
        if (world->config.is_wall_stepped) {
            if (wait_ms < CONTROL_WAKE_MS_MAX) {
                world->mono_ns += (uint64_t)wait_ms * NS_PER_MS;
                continue;
            }
            if (next_ms == INT64_MAX) {
                return 0;
            }
        } else if (next_ms > world->now_ms + wait_ms) {
            next_ms = world->now_ms + wait_ms;
        }
        if (next_ms > until_ms) {
            if (world->now_ms >= until_ms) {
                return 0;
            }
            next_ms = until_ms;
        }
        world_move(world, next_ms);
    }
}
