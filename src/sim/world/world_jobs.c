/* Kinds of jobs, and their submission. */
#include "sim/world/world_private.h"
#include "wire/log/log_codec.h"

enum {
    SUBMIT_TAG_ID = 0x72,       /* armadaevents.SubmitJob: 14 job_id */
    SUBMIT_TAG_PRIORITY = 0x18, /* 3 priority */
};

/* A kind with what its jobs' events are made of. */
struct world_kind_entry {
    struct arena arena;
    struct str queue, job_set, user, class_key, gang_uniformity;
    struct str application, pool;
    uint32_t priority;
    struct resource_vec request;
    enum on_loss on_preemption, on_executor_lost;
    struct str digest; /* of a job that is in no gang */
};

void world_kind_destroy(struct world_kind_entry *kind)
{
    arena_fini(&kind->arena);
    mem_free(kind);
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
    entry->user = arena_str(&entry->arena,
                            kind->user.byte_count ? kind->user : STR("sim"));
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

    return (struct event_scope){entry->queue, entry->job_set, entry->user};
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
