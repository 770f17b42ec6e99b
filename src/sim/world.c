#include "sim/world.h"

#include <stdio.h>

#include "sim/cluster.h"

enum {
    SUBMIT_TAG_ID = 0x72,       /* armadaevents.SubmitJob: 14 job_id */
    SUBMIT_TAG_PRIORITY = 0x18, /* 3 priority */
    NS_PER_MS = 1000000,
    MONO_START_MS = 1000,
    REST_STEPS_MAX = 10000000, /* at one moment */
    READ_BYTES = 16 << 20,     /* of the log at a time */
};

/* A kind with what its jobs' events are made of. */
struct world_kind_entry {
    struct arena arena;
    struct str queue, job_set, class_key, gang_uniformity;
    struct str application, pool;
    uint32_t priority;
    struct resource_vec request;
    enum on_loss on_preemption, on_executor_lost;
    struct str digest; /* of a job that is in no gang */
};

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
                  .cancelled = on_cancelled},
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

static void kind_destroy(struct world_kind_entry *kind)
{
    arena_fini(&kind->arena);
    mem_free(kind);
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
        kind_destroy(world->kinds.items[i]);
    }
    VEC_FREE(&world->clusters);
    VEC_FREE(&world->kinds);
    VEC_FREE(&world->jobs);
    agenda_fini(&world->agenda);
    mem_free(world);
}

/* Commands. */

void world_refused(struct world *world, const struct command *command)
{
    if (!world->is_refused) {
        world->is_refused = true;
        err_set(&world->refusal, -ERR_INVALID, "%.*s",
                STR_ARG(command->result_text));
    }
}

static void on_done(struct command *command, void *ctx)
{
    struct world *world = ctx;

    if (command->result != COMMAND_OK) {
        world_refused(world, command);
    }
    command_destroy(command);
}

void world_post(struct world *world, struct command *command)
{
    if (!command->done) {
        command->done = on_done;
        command->ctx = world;
    }
    while (inbox_post(world->inbox, command) < 0) {
        struct err err;
        /* It is full: the leader takes what is there. */
        int rc = control_step(world->control, &err);
        ASSERT(rc >= 0);
    }
}

static void on_asked(struct command *command, void *ctx)
{
    (void)command;
    ((struct world *)ctx)->asked = NULL;
}

struct command *world_ask(struct world *world, struct command *command,
                          struct err *err)
{
    world->asked = command;
    command->done = on_asked;
    command->ctx = world;
    world_post(world, command);
    while (world->asked) {
        if (world_step(world, err) < 0) {
            return NULL;
        }
    }
    return command;
}

static void post_event(struct world *world, const struct event *event)
{
    struct command *command = command_create(COMMAND_EVENTS);
    struct log_batch batch = {0};
    struct event_scope scope = {.user = STR("operator")};

    log_batch_add(&batch, &scope, event);
    struct pack_reader reader = {
        .rest = arena_str(&command->arena, log_batch_finish(&batch))};
    log_batch_fini(&batch);
    unpack_u64(&reader); /* the tag of the one sequence */
    command->events.sequences =
        arena_alloc(&command->arena, sizeof(*command->events.sequences));
    command->events.sequences[0].bytes = unpack_str(&reader);
    command->events.sequence_count = 1;
    world_post(world, command);
}

void world_add_queue(struct world *world, struct str name,
                     double priority_factor, struct str ordering)
{
    auto_strbuf encoded = {0}, scheduling = {0};
    struct event event;

    /* api.Queue: 1 name, 2 priority_factor */
    strbuf_add_char(&encoded, 0x0a);
    pack_str(&encoded, name);
    strbuf_add_char(&encoded, 0x11);
    strbuf_add(&encoded, &priority_factor, sizeof(priority_factor));
    if (ordering.byte_count) {
        /* 1000 scheduling, with 1 ordering */
        strbuf_add_char(&scheduling, 0x0a);
        pack_str(&scheduling, ordering);
        pack_u64(&encoded, 1000 << 3 | 2);
        pack_str(&encoded, strbuf_str(&scheduling));
    }
    memset(&event, 0, sizeof(event));
    event.type = EVENT_QUEUE_SET;
    event.created_ms = world_wall_ms(world->now_ms);
    event.queue.record.name = name;
    event.queue.encoded = strbuf_str(&encoded);
    post_event(world, &event);
}

/* Kinds and jobs. */

/* A field of a message: its number and, to follow, its bytes. */
static void put_bytes(struct strbuf *buf, uint32_t number, struct str bytes)
{
    pack_u64(buf, number << 3 | 2);
    pack_str(buf, bytes);
}

static void put_flag(struct strbuf *buf, uint32_t number, bool is_set)
{
    if (is_set) {
        pack_u64(buf, number << 3);
        pack_u64(buf, 1);
    }
}

/* berth.api.LabelSelector: 1 match_labels, a map. */
static void put_selector(struct strbuf *buf, const struct pool_record *record)
{
    auto_strbuf selector = {0};

    ASSERT(record->expression_count == 0); /* nobody asks for them yet */
    for (uint32_t i = 0; i < record->label_count; i++) {
        auto_strbuf entry = {0};
        put_bytes(&entry, 1, record->labels[i].key);
        put_bytes(&entry, 2, record->labels[i].value);
        put_bytes(&selector, 1, strbuf_str(&entry));
    }
    put_bytes(buf, 2, strbuf_str(&selector));
}

void world_add_pool(struct world *world, const struct pool_record *record)
{
    auto_strbuf encoded = {0};
    struct event event;

    /* berth.api.Pool */
    put_bytes(&encoded, 1, record->name);
    if (record->has_selector) {
        put_selector(&encoded, record);
    }
    put_flag(&encoded, 3, record->is_preemption_off);
    put_flag(&encoded, 4, record->is_borrowing_off);
    put_flag(&encoded, 5, record->is_sharing_off);
    for (uint32_t i = 0; i < record->lender_count; i++) {
        put_bytes(&encoded, 6, record->lenders[i]);
    }
    if (record->preemption_order == BORROW_FIRST) {
        put_bytes(&encoded, 7, STR("borrow-first"));
    }
    memset(&event, 0, sizeof(event));
    event.type = EVENT_POOL_SET;
    event.created_ms = world_wall_ms(world->now_ms);
    event.pool.record = *record;
    event.pool.encoded = strbuf_str(&encoded);
    post_event(world, &event);
}

/* What the digests of a kind's jobs have in common. */
static struct job_digest digest_of(const struct world_kind_entry *kind)
{
    return (struct job_digest){
        .class_key = kind->class_key,
        .gang_cardinality = 1,
        .gang_minimum = 1,
        .application_id = kind->application,
        .pool = kind->pool,
        .on_preemption = kind->on_preemption,
        .on_executor_lost = kind->on_executor_lost,
    };
}

uint32_t world_add_kind(struct world *world, const struct world_kind *kind)
{
    struct world_kind_entry *entry = mem_alloc(sizeof(*entry));
    auto_strbuf key = {0}, digest = {0};

    ASSERT(world->kinds.count < WORLD_KINDS_MAX);
    requirement_pack(&key, &kind->requirement);
    *entry = (struct world_kind_entry){
        .priority = kind->priority,
        .on_preemption = kind->on_preemption,
        .on_executor_lost = kind->on_executor_lost,
    };
    entry->queue = arena_str(&entry->arena, kind->queue);
    entry->job_set = arena_str(&entry->arena, kind->job_set);
    entry->class_key = arena_str(&entry->arena, strbuf_str(&key));
    entry->gang_uniformity = arena_str(&entry->arena, kind->gang_uniformity);
    entry->application = arena_str(&entry->arena, kind->application);
    entry->pool = arena_str(&entry->arena, kind->pool);
    (void)!resource_request(&world->policy.schema, &kind->requirement.requests,
                            &entry->request);
    struct job_digest of = digest_of(entry);
    digest_pack(&digest, &of);
    entry->digest = arena_str(&entry->arena, strbuf_str(&digest));
    VEC_PUSH(&world->kinds, entry);
    return (uint32_t)world->kinds.count - 1;
}

const struct resource_vec *world_request(const struct world *world,
                                         uint32_t kind)
{
    return &world->kinds.items[kind]->request;
}

struct str world_queue(const struct world *world, uint32_t kind)
{
    return world->kinds.items[kind]->queue;
}

bool world_comes_back(const struct world *world, uint32_t kind)
{
    return world->kinds.items[kind]->on_preemption == ON_LOSS_REQUEUE;
}

struct event_scope world_scope(const struct world *world, uint32_t kind)
{
    const struct world_kind_entry *entry = world->kinds.items[kind];

    return (struct event_scope){entry->queue, entry->job_set, STR("sim")};
}

uint32_t world_job_number(struct job_id id)
{
    return (uint32_t)id.v.lo;
}

struct job_id world_job_id(const struct world *world, uint32_t job)
{
    uint8_t random[10] = {0};

    memcpy(random + 6, &(uint32_t){__builtin_bswap32(job)}, 4);
    return job_id_make(world_wall_ms(world->jobs.items[job].submitted_ms),
                       random);
}

/* The event of a job's submission. */
static void put_submission(const struct world *world, uint32_t job,
                           const struct world_submission *submission,
                           struct strbuf *submit_job, struct strbuf *digest,
                           struct strbuf *event)
{
    const struct world_kind_entry *kind = world->kinds.items[submission->kind];
    struct str packed = kind->digest;
    char id[ID_TEXT_BYTES_MAX];

    strbuf_clear(submit_job);
    strbuf_clear(digest);
    strbuf_clear(event);
    strbuf_add_char(submit_job, SUBMIT_TAG_ID);
    strbuf_add_char(submit_job, JOB_ID_TEXT_BYTES);
    strbuf_add_text(submit_job, job_id_format(world_job_id(world, job), id));
    if (kind->priority) {
        strbuf_add_char(submit_job, SUBMIT_TAG_PRIORITY);
        pack_u64(submit_job, kind->priority);
    }
    if (submission->gang_id.byte_count) {
        struct job_digest of = digest_of(kind);
        of.gang_id = submission->gang_id;
        of.gang_cardinality = submission->gang_cardinality;
        of.gang_minimum = submission->gang_minimum;
        of.gang_uniformity = kind->gang_uniformity;
        of.gang_terms = submission->gang_terms;
        of.sub_group = submission->sub_group;
        digest_pack(digest, &of);
        packed = strbuf_str(digest);
    }
    log_put_submit(event, world_wall_ms(world->now_ms), strbuf_str(submit_job),
                   packed);
}

uint32_t world_submit(struct world *world,
                      const struct world_submission *submissions,
                      uint32_t count)
{
    struct command *command = command_create(COMMAND_SUBMIT);
    auto_strbuf submit_job = {0}, digest = {0}, event = {0};
    uint32_t first = (uint32_t)world->jobs.count;

    ASSERT(count > 0 && count <= WORLD_SUBMIT_MAX &&
           first + count <= WORLD_JOBS_MAX);
    command->scope = world_scope(world, submissions[0].kind);
    command->submit.items =
        arena_alloc_array(&command->arena, count, sizeof(struct submit_item));
    command->submit.item_count = count;
    for (uint32_t i = 0; i < count; i++) {
        struct submit_item *item = &command->submit.items[i];
        VEC_PUSH(&world->jobs, (struct world_job){
                                   .submitted_ms = world->now_ms,
                                   .started_ms = -1,
                                   .ended_ms = -1,
                                   .run_ms = submissions[i].run_ms,
                                   .kind = submissions[i].kind,
                                   .is_failing = submissions[i].is_failing,
                               });
        put_submission(world, first + i, &submissions[i], &submit_job, &digest,
                       &event);
        item->job = world_job_id(world, first + i);
        item->event = arena_str(&command->arena, strbuf_str(&event));
    }
    world_post(world, command);
    return first;
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
                           "the leader finds no rest at %lld ms",
                           (long long)world->now_ms);
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
        cluster_pod_due(
            world->clusters.items[entry->id >> 27 & (WORLD_CLUSTERS_MAX - 1)],
            low & ((1u << 27) - 1));
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
