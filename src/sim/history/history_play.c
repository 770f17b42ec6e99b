/* Plays a history once. */
#include "armada/queue.pb-c.h"
#include "model/weights.h"
#include "sim/history/history_private.h"
#include "sim/world/cluster.h"
#include "sim/world/tally.h"
#include "wire/message/message.h"

enum { RUNS_STREAM = 1 }; /* of draws */

struct playing {
    const struct history *history;
    const struct history_changes *changes; /* or NULL */
    struct tally tally;
    struct world *world;
    struct draw draw;
    VEC(uint32_t) kinds; /* of the world, by the history's */
    VEC(uint32_t) nodes; /* of its cluster, by the history's */
    VEC(uint32_t) jobs;  /* of the history, by the world's */
    size_t next;         /* job */
    uint32_t sample;
    struct history_result *result;
};

/* Setting up. */

static double weight_of(const struct playing *p, uint32_t queue)
{
    double weight = 1 / p->history->queues.items[queue].factor;

    for (size_t i = 0; p->changes && i < p->changes->weights.count; i++) {
        if (p->changes->weights.items[i].queue == queue) {
            weight = p->changes->weights.items[i].weight;
        }
    }
    return weight;
}

/* As the queue was, but of another factor, and open. */
static int add_queue(struct playing *p, const struct history_queue *of,
                     double factor, struct err *err)
{
    auto_arena arena = {0};
    ProtobufCMessage *message;

    int rc = wire_decode(&api__queue__descriptor, of->encoded,
                         &wire_request_limits, &arena, &message, err);
    if (rc < 0) {
        return rc;
    }
    Api__Queue *queue = (Api__Queue *)(void *)message;
    queue->name = arena_strdup(&arena, of->name);
    queue->priority_factor = factor;
    queue->cordoned = false;
    world_set_queue(p->world, of->name,
                    wire_encode_arena(&queue->base, &arena));
    return 0;
}

static int add_queues(struct playing *p, struct err *err)
{
    uint32_t count = (uint32_t)p->history->queues.count;
    auto_mem double *weights = mem_alloc_array(count, sizeof(*weights));
    int rc = 0;

    for (uint32_t i = 0; i < count; i++) {
        weights[i] = weight_of(p, i);
    }
    double scale = weights_scale(weights, count);
    for (uint32_t i = 0; i < count && rc == 0; i++) {
        rc =
            add_queue(p, &p->history->queues.items[i], scale / weights[i], err);
    }
    return rc;
}

/* The node that more of are wanted of; NULL: there is none. */
static const struct history_node *find_like(const struct history *history,
                                            struct str like)
{
    for (size_t i = 0; i < history->nodes.count; i++) {
        if (like.byte_count == 0 ||
            str_equal(history->nodes.items[i].record.name, like)) {
            return &history->nodes.items[i];
        }
    }
    return NULL;
}

/* The name of the `number`th of them, which no node of the cluster has. */
static void new_name(const struct cluster *cluster, uint32_t *number,
                     struct strbuf *name)
{
    do {
        strbuf_clear(name);
        strbuf_addf(name, "what-if-%u", ++*number);
    } while (intern_find(&cluster->node_names, strbuf_str(name)) !=
             INTERN_NONE);
}

static int add_more(struct playing *p, struct cluster *cluster,
                    uint32_t executor, uint32_t *number, struct err *err)
{
    for (size_t i = 0; p->changes && i < p->changes->nodes.count; i++) {
        const struct history_more *more = &p->changes->nodes.items[i];
        const struct history_node *like = find_like(p->history, more->like);
        if (!like) {
            return err_set(err, -ERR_NOT_FOUND, "there was no node \"%.*s\"",
                           STR_ARG(more->like));
        }
        for (uint32_t k = 0; like->executor == executor && k < more->count;
             k++) {
            struct node_record record = like->record;
            auto_strbuf name = {0};
            new_name(cluster, number, &name);
            record.name = strbuf_str(&name);
            record.is_unschedulable = false;
            cluster_add_node(cluster, &record);
        }
    }
    return 0;
}

/* What a leader can have at once bounds what it is given. */
static int check_sizes(const struct history *history,
                       const struct history_changes *changes, struct err *err)
{
    uint64_t node_count = history->nodes.count;

    for (size_t i = 0; changes && i < changes->nodes.count; i++) {
        node_count += changes->nodes.items[i].count;
    }
    if (node_count > NODES_MAX) {
        return err_set(err, -ERR_LIMIT,
                       "there are %llu nodes, with those that are added; at "
                       "most %d can be played",
                       (unsigned long long)node_count, NODES_MAX);
    }
    if (history->executors.count > EXECUTORS_MAX) {
        return err_set(err, -ERR_LIMIT,
                       "there were %zu executors; at most %d can be played",
                       history->executors.count, EXECUTORS_MAX);
    }
    return 0;
}

/* A cluster for each executor, with all nodes that it ever had; those that come
 * later are down until then. */
static int add_clusters(struct playing *p, struct err *err)
{
    const struct history *history = p->history;
    uint32_t number = 0;

    for (size_t i = 0; i < history->nodes.count; i++) {
        VEC_PUSH(&p->nodes, 0);
    }
    for (uint32_t e = 0; e < history->executors.count; e++) {
        struct cluster_options options = {
            .name = history->executors.items[e],
            .pool = STR("default"),
            .start_ms = history->start_ms,
            .report_ms = 5,
        };
        struct cluster *cluster = cluster_create(p->world, &options);
        for (size_t i = 0; i < history->nodes.count; i++) {
            struct node_record record = history->nodes.items[i].record;
            if (history->nodes.items[i].executor == e) {
                record.is_unschedulable = false;
                p->nodes.items[i] = (uint32_t)cluster->nodes.count;
                cluster_add_node(cluster, &record);
            }
        }
        int rc = add_more(p, cluster, e, &number, err);
        if (rc < 0) {
            return rc;
        }
        cluster_open(cluster);
    }
    return 0;
}

static void add_shifts(struct playing *p)
{
    const struct history *history = p->history;
    auto_mem bool *is_first =
        mem_alloc_array(history->nodes.count + 1, sizeof(*is_first));

    for (size_t i = 0; i < history->shifts.count; i++) {
        const struct history_shift *shift = &history->shifts.items[i];
        const struct history_node *node = &history->nodes.items[shift->node];
        uint64_t id =
            (uint64_t)node->executor << 32 | p->nodes.items[shift->node];
        if (!is_first[shift->node] && shift->at_ms > 0) {
            agenda_add(&p->world->agenda, 0, WORLD_NODE_DOWN, id);
        }
        is_first[shift->node] = true;
        agenda_add(&p->world->agenda, shift->at_ms,
                   shift->is_down ? WORLD_NODE_DOWN : WORLD_NODE_UP, id);
    }
}

static int set_up(struct playing *p, uint64_t seed, struct err *err)
{
    const struct history *history = p->history;
    struct world_config config = {
        .policy = p->changes && p->changes->policy ? p->changes->policy
                                                   : &history->policy,
        .seed = seed,
        .watch = tally_watch(&p->tally),
    };

    int rc = check_sizes(history, p->changes, err);
    if (rc < 0) {
        return rc;
    }
    p->world = world_create(&config, err);
    if (!p->world) {
        return -ERR_UNAVAILABLE;
    }
    rc = add_queues(p, err);
    if (rc < 0) {
        return rc;
    }
    for (size_t i = 0; i < history->pools.count; i++) {
        world_add_pool(p->world, &history->pools.items[i]);
    }
    for (size_t i = 0; i < history->kinds.count; i++) {
        VEC_PUSH(&p->kinds, world_add_kind(p->world, &history->kinds.items[i]));
    }
    rc = add_clusters(p, err);
    if (rc < 0) {
        return rc;
    }
    tally_begin(&p->tally, p->world, 0);
    add_shifts(p);
    rc = world_step(p->world, err);
    return rc < 0 ? rc : 0;
}

/* Jobs. */

/* How long a job runs that is not known to: as another of its queue did, else
 * as any, but no less than it ran for. */
static int64_t draw_run_ms(struct playing *p, const struct history_job *job)
{
    const struct history *history = p->history;
    uint64_t count = history->whole.count, tries = count ? 64 : 0;
    int64_t run_ms = history->span_ms; /* nobody knows: to the end */

    for (uint64_t i = 0; i < tries; i++) {
        const struct history_job *other =
            &history->jobs
                 .items[history->whole.items[draw_below(&p->draw, count)]];
        run_ms = other->run_ms;
        if (other->queue == job->queue || i == tries - 1) {
            break;
        }
    }
    return run_ms > job->ran_ms ? run_ms : job->ran_ms;
}

static struct world_submission submission_of(struct playing *p,
                                             const struct history_job *job)
{
    return (struct world_submission){
        .kind = p->kinds.items[job->kind],
        .run_ms = job->run_ms >= 0 ? job->run_ms : draw_run_ms(p, job),
        .is_failing = job->is_failing,
        .gang_id = job->gang_id,
        .gang_cardinality = job->gang_cardinality,
        .gang_minimum = job->gang_minimum,
        .gang_terms = job->gang_terms,
        .sub_group = job->sub_group,
    };
}

static bool is_due(const struct playing *p, size_t index)
{
    return index < p->history->jobs.count &&
           p->history->jobs.items[index].submitted_ms <= p->world->now_ms;
}

/* Submit what came with one request. */
static void submit_some(struct playing *p)
{
    const struct history_job *jobs = p->history->jobs.items;
    VEC(struct world_submission) some = {0};
    uint32_t request = jobs[p->next].request;

    while (is_due(p, p->next) && jobs[p->next].request == request &&
           some.count < WORLD_SUBMIT_MAX) {
        const struct history_job *job = &jobs[p->next];
        if (!job->is_left_out) {
            VEC_PUSH(&some, submission_of(p, job));
            VEC_PUSH(&p->jobs, (uint32_t)p->next);
        }
        p->next++;
    }
    if (some.count) {
        (void)world_submit(p->world, some.items, (uint32_t)some.count);
    }
    VEC_FREE(&some);
}

static void plan_arrival(struct playing *p)
{
    if (p->next < p->history->jobs.count) {
        agenda_add(&p->world->agenda,
                   p->history->jobs.items[p->next].submitted_ms, WORLD_ARRIVAL,
                   0);
    }
}

static void sample(struct playing *p)
{
    struct control_metrics metrics;

    control_metrics(p->world->control, &metrics);
    if (p->sample < HISTORY_SAMPLES) {
        p->result->samples[p->sample++] = (struct history_sample){
            p->tally.running_count, metrics.queued_count};
    }
    agenda_add(&p->world->agenda,
               p->history->span_ms * (p->sample + 1) / HISTORY_SAMPLES,
               WORLD_SAMPLE, 0);
}

static int go_on(struct playing *p, struct err *err)
{
    struct agenda_entry entry;
    int rc;

    plan_arrival(p);
    agenda_add(&p->world->agenda, p->history->span_ms / HISTORY_SAMPLES,
               WORLD_SAMPLE, 0);
    while ((rc = world_run(p->world, p->history->span_ms, &entry, err)) == 1) {
        if (entry.kind == WORLD_SAMPLE) {
            sample(p);
            continue;
        }
        while (is_due(p, p->next)) {
            submit_some(p);
        }
        plan_arrival(p);
    }
    return rc;
}

/* What came of it. */
static void sum_up(struct playing *p)
{
    const struct resource_schema *schema = &p->world->policy.schema;
    auto_mem struct history_course *courses =
        mem_alloc_array(p->jobs.count + 1, sizeof(*courses));
    struct history_result *result = p->result;
    struct tally_result tallied;

    for (size_t i = 0; i < p->jobs.count; i++) {
        const struct world_job *job = &p->world->jobs.items[i];
        const struct history_job *of =
            &p->history->jobs.items[p->jobs.items[i]];
        courses[i] = (struct history_course){of->submitted_ms, job->started_ms,
                                             job->ended_ms, of->queue};
    }
    history_sum_waits(p->history, courses, p->jobs.count, result);
    tally_finish(&p->tally, &tallied);
    result->succeeded_count = (double)tallied.succeeded_count;
    result->preemption_count = (double)tallied.preemption_count;
    result->use = result->gpu_use = -1;
    for (uint32_t i = 0; i < schema->column_count; i++) {
        double *use =
            str_equal(schema->columns[i].name, STR("cpu")) ? &result->use
            : str_equal(schema->columns[i].name, STR("nvidia.com/gpu"))
                ? &result->gpu_use
                : NULL;
        if (use && p->tally.capacity.v[i] > 0) {
            *use = tallied.utilisation[i];
        }
    }
}

int history_play(const struct history *history,
                 const struct history_changes *changes, uint64_t seed,
                 struct history_result *ret_result, struct err *err)
{
    struct playing p = {
        .history = history,
        .changes = changes,
        .draw = draw_make(seed, RUNS_STREAM),
        .result = ret_result,
    };

    *ret_result = (struct history_result){.use = -1};
    int rc = set_up(&p, seed, err);
    if (rc == 0) {
        rc = go_on(&p, err);
    }
    if (rc == 0) {
        sum_up(&p);
    }
    VEC_FREE(&p.kinds);
    VEC_FREE(&p.nodes);
    VEC_FREE(&p.jobs);
    tally_fini(&p.tally);
    world_destroy(p.world);
    return rc;
}
