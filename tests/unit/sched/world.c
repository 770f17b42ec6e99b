#include "world.h"

enum { MILLI = 1000 };
static const int64_t GB_MILLI = (int64_t)1000000000 * MILLI;

static void add_class(struct world *world, const char *name, int32_t priority,
                      bool is_preemptible)
{
    world->policy.classes[world->policy.class_count++] =
        (struct priority_class){
            .name = str_of(name),
            .priority = priority,
            .is_preemptible = is_preemptible,
            .default_lifetime_ms = is_preemptible ? 0 : LIFETIME_INFINITE,
        };
}

void world_init(struct world *world)
{
    *world = (struct world){0};
    policy_defaults(&world->policy);
    pool_policy_apply(&world->policy.pools[0], PROFILE_ARMADA);
    world->policy.class_count = 0;
    add_class(world, "mid", 1000, true);
    add_class(world, "low", 500, true);
    add_class(world, "high", 10000, true);
    add_class(world, "fixed", 1000, false);
    world->sched = sched_create(&world->policy);
}

void world_keep_fixed(struct world *world)
{
    for (uint32_t c = 0; c < world->policy.class_count; c++) {
        world->policy.classes[c].is_kept_from_urgency |=
            !world->policy.classes[c].is_preemptible;
    }
    world_restart(world);
}

void world_forget_classes(struct world *world)
{
    for (uint32_t i = 0; i < world->class_count; i++) {
        mem_free(world->class_keys[i]);
    }
    world->class_count = 0;
}

void world_restart(struct world *world)
{
    sched_destroy(world->sched);
    world_forget_classes(world);
    world->queue_count = world->job_count = 0;
    world->sched = sched_create(&world->policy);
}

void world_fini(struct world *world)
{
    sched_destroy(world->sched);
    world_forget_classes(world);
    strbuf_fini(&world->terms);
}

static uint32_t queue_place(struct world *world, const char *name)
{
    uint32_t queue = 0;

    while (queue < world->queue_count &&
           strcmp(world->queue_names[queue], name) != 0) {
        queue++;
    }
    ASSERT(queue < WORLD_QUEUES_MAX);
    world->queue_names[queue] = name;
    world->queue_count += queue == world->queue_count;
    return queue;
}

uint32_t world_queue_by(struct world *world, const char *name,
                        const struct queue_record *by)
{
    uint32_t queue = queue_place(world, name);
    struct queue_record record = *by;

    record.name = str_of(name);
    record.priority_factor_micro = PRIORITY_FACTOR_ONE_MICRO;
    record.over_share_ppm = QUEUE_LIMIT_BY_POOL;
    record.excess_budget_milli = QUEUE_LIMIT_BY_POOL;
    sched_queue_set(world->sched, queue, &record);
    return queue;
}

uint32_t world_queue(struct world *world, const char *name, double factor)
{
    uint32_t queue = queue_place(world, name);
    struct queue_record record = queue_record_plain(str_of(name));
    record.priority_factor_micro =
        (int64_t)(factor * PRIORITY_FACTOR_ONE_MICRO + 0.5);
    sched_queue_set(world->sched, queue, &record);
    return queue;
}

/* The handle of a queue, made with factor 1 when new. */
static uint32_t queue_of(struct world *world, const char *name)
{
    for (uint32_t i = 0; i < world->queue_count; i++) {
        if (strcmp(world->queue_names[i], name) == 0) {
            return i;
        }
    }
    return world_queue(world, name, 1);
}

uint32_t world_node(struct world *world, const struct world_node *node)
{
    struct resource_amount amounts[] = {
        {STR("cpu"), node->cores * MILLI},
        {STR("memory"),
         (node->memory_gb ? node->memory_gb : node->cores * 4) * GB_MILLI},
        {STR("nvidia.com/gpu"), node->gpus * MILLI},
    };
    struct resource_amount foreign = {STR("cpu"), node->foreign_cores * MILLI};
    struct label label = {str_of(node->label_key), str_of(node->label_value)};
    struct taint taint = {str_of(node->taint), str_of("yes"),
                          TAINT_NO_SCHEDULE};
    struct node_record record = {
        .name = str_of(node->name),
        .pool = str_of(node->pool ? node->pool : "default"),
        .labels = node->labels ? node->labels : &label,
        .label_count =
            node->labels ? node->label_count : node->label_key != NULL,
        .taints = &taint,
        .taint_count = node->taint != NULL,
        .total = {amounts, node->gpus ? 3 : 2},
        .foreign = {&foreign, node->foreign_cores > 0},
        .is_unschedulable = node->is_unschedulable,
    };

    return sched_node_set(world->sched,
                          str_of(node->executor ? node->executor : "e"),
                          &record, STR(""));
}

static int64_t lifetime_ms(int64_t lifetime_s)
{
    if (lifetime_s == 0) {
        return LIFETIME_BY_CLASS;
    }
    if (lifetime_s == INT64_MAX) {
        return LIFETIME_INFINITE;
    }
    return lifetime_s < 0 ? 0 : lifetime_s * MILLI;
}

uint32_t world_class(struct world *world, const struct world_job *job)
{
    struct resource_amount amounts[] = {
        {STR("cpu"), (job->cores ? job->cores : 1) * MILLI},
        {STR("memory"), job->memory_gb * GB_MILLI},
        {STR("nvidia.com/gpu"), job->gpus * MILLI},
        {STR("licence"), job->licences * MILLI},
    };
    struct label selector = {str_of(job->selector_key),
                             str_of(job->selector_value)};
    struct toleration toleration = {.key = str_of(job->tolerated),
                                    .is_exists = true};
    struct requirement requirement = {
        .lifetime_ms = lifetime_ms(job->lifetime_s),
        .deadline_ms = job->deadline_s * MILLI,
        .priority_class =
            str_of(job->priority_class ? job->priority_class : "mid"),
        .requests = {amounts, job->licences    ? 4
                              : job->gpus      ? 3
                              : job->memory_gb ? 2
                                               : 1},
        .selector = &selector,
        .selector_count = job->selector_key != NULL,
        .tolerations = &toleration,
        .toleration_count = job->tolerated != NULL,
    };
    auto_strbuf buf = {0};

    requirement_canonicalise(&requirement);
    requirement_pack(&buf, &requirement);
    for (uint32_t i = 0; i < world->class_count; i++) {
        if (buf.byte_count == world->class_key_bytes[i] &&
            memcmp(buf.bytes, world->class_keys[i], buf.byte_count) == 0) {
            return world->class_handles[i];
        }
    }
    ASSERT(world->class_count < WORLD_CLASSES_MAX);
    uint32_t at = world->class_count++;
    world->class_key_bytes[at] = buf.byte_count;
    world->class_keys[at] = strbuf_steal(&buf);
    return world->class_handles[at] =
               sched_class_add(world->sched, &requirement);
}

static struct str pack_terms(struct world *world,
                             const struct gang_terms *terms)
{
    strbuf_clear(&world->terms);
    if (terms) {
        gang_terms_pack(&world->terms, terms);
    }
    return strbuf_str(&world->terms);
}

struct sched_job world_record(struct world *world, uint32_t index)
{
    const struct world_job *job = &world->records[index];

    return (struct sched_job){
        .queue = queue_of(world, job->queue),
        .class_index = world_class(world, job),
        .priority = job->priority,
        .submitted_ms = job->submitted_ms,
        .id = {{1, index}},
        .pool = str_of(job->pool),
        .gang_id = str_of(job->gang),
        .gang_cardinality = job->cardinality ? job->cardinality : 1,
        .gang_minimum = job->minimum ? job->minimum : job->cardinality,
        .gang_uniformity = str_of(job->uniformity),
        .application = str_of(job->application),
        .has_stateaware_off = job->has_stateaware_off,
        .gang_terms = pack_terms(world, job->terms),
        .sub_group = job->sub_group,
        .is_foreign = job->is_foreign,
    };
}

uint32_t world_submit(struct world *world, const struct world_job *job)
{
    uint32_t index = world->job_count++;

    ASSERT(index < WORLD_JOBS_MAX);
    world->records[index] = *job;
    world->node_of[index] = SCHED_NONE;
    world->is_gone[index] = false;
    struct sched_job record = world_record(world, index);
    sched_job_add(world->sched, index, &record);
    return index;
}

uint32_t world_submit_many(struct world *world, const struct world_job *job,
                           uint32_t count)
{
    uint32_t first = world->job_count;

    for (uint32_t i = 0; i < count; i++) {
        world_submit(world, job);
    }
    return first;
}

uint32_t world_submit_group(struct world *world, const struct world_job *job,
                            const struct gang_terms *terms)
{
    struct world_job member = *job;
    uint32_t first = world->job_count;

    member.terms = terms;
    for (uint32_t i = 0; i < terms->sub_group_count; i++) {
        member.cardinality += terms->sub_groups[i].max_count;
        member.minimum += terms->sub_groups[i].min_count;
    }
    for (uint32_t i = 0; i < terms->sub_group_count; i++) {
        member.sub_group = i;
        world_submit_many(world, &member, terms->sub_groups[i].max_count);
    }
    return first;
}

void world_end(struct world *world, uint32_t job)
{
    sched_job_remove(world->sched, job);
    world->is_gone[job] = true;
    world->node_of[job] = SCHED_NONE;
}

static int32_t priority_of(const struct world *world, uint32_t job)
{
    const char *name = world->records[job].priority_class;
    uint32_t c =
        policy_class_index(&world->policy, str_of(name ? name : "mid"));

    return world->policy.classes[c].priority;
}

void world_lease(struct world *world, uint32_t job, uint32_t node,
                 int64_t now_ms)
{
    sched_set_time(world->sched, now_ms);
    sched_job_lease(world->sched, job, node, priority_of(world, job), now_ms,
                    false);
    world->node_of[job] = node;
}

/* Its containers run at once. */
static void start_lease(struct world *world,
                        const struct sched_decision *decision, int64_t now_ms)
{
    world->node_of[decision->job] = decision->node;
    if (decision->is_backfilled) {
        sched_job_age_from(world->sched, decision->job, now_ms);
    }
    if (decision->is_by_share) {
        sched_job_truce(world->sched, decision->job);
    }
    if (decision->yields_to != SCHED_NONE) {
        sched_job_yield(world->sched, decision->job, decision->yields_to,
                        decision->yields_at_once, decision->yields_from_ms);
    }
    if (decision->charge) {
        sched_job_charge(world->sched, decision->job,
                         sched_node_pool(world->sched, decision->node),
                         decision->charge);
    }
    (void)sched_job_started(world->sched, decision->job);
}

static void lose(struct world *world, uint32_t job)
{
    if (world->requeues || world->records[job].terms) {
        sched_job_requeue(world->sched, job, SCHED_NONE);
        world->node_of[job] = SCHED_NONE;
    } else {
        world_end(world, job);
    }
}

void world_round(struct world *world, enum round_kind kind, int64_t now_ms)
{
    world->leased_count = world->preempted_count = world->failed_count = 0;
    sched_set_time(world->sched, now_ms);
    sched_plan(world->sched, now_ms, kind, SCHED_DECISIONS_MAX, &world->plan);
    for (uint32_t i = 0; i < world->plan.decision_count; i++) {
        const struct sched_decision *decision = &world->plan.decisions[i];
        if (decision->is_scaling) {
            sched_gang_scaled(world->sched, decision->job, now_ms);
        }
        switch (decision->action) {
        case SCHED_LEASE:
            sched_job_lease(world->sched, decision->job, decision->node,
                            decision->priority, now_ms, true);
            start_lease(world, decision, now_ms);
            world->leased_count++;
            break;
        case SCHED_PREEMPT:
            if (decision->preemption == SCHED_PREEMPT_YIELD) {
                sched_job_truce(world->sched, decision->job);
            }
            lose(world, decision->job);
            world->preempted_count++;
            break;
        case SCHED_FAIL:
            world_end(world, decision->job);
            world->failed_count++;
            break;
        case SCHED_ADMIT:
            sched_job_admit(world->sched, decision->job,
                            world->policy.pools[decision->pool_index].name,
                            decision->start_ms, decision->charge);
            break;
        case SCHED_DISMISS:
            sched_job_dismiss(world->sched, decision->job);
            break;
        }
    }
}

const char *world_node_of(const struct world *world, uint32_t job)
{
    uint32_t node = world->node_of[job];

    return node == SCHED_NONE ? "" : sched_node_name(world->sched, node).p;
}

uint32_t world_running_of(const struct world *world, uint32_t first,
                          uint32_t count)
{
    uint32_t running = 0;

    for (uint32_t i = first; i < first + count; i++) {
        running += !world->is_gone[i] && world->node_of[i] != SCHED_NONE;
    }
    return running;
}

uint32_t world_running(const struct world *world, const char *queue)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < world->job_count; i++) {
        count += !world->is_gone[i] && world->node_of[i] != SCHED_NONE &&
                 strcmp(world->records[i].queue, queue) == 0;
    }
    return count;
}
