#include "sim/play.h"

#include <stdlib.h>

#include "sim/cluster.h"

enum {
    MS_PER_S = 1000,
    MILLI = 1000,
};

static const int64_t million = 1000000;

/* As long as anything: such pods are ended by others. */
#define AUXILIARY_RUN_MS_ INT64_C(315360000000)

/* A stream while it is played. */
struct stream {
    const struct scenario_stream *of;
    struct draw draw;
    uint32_t kind;          /* but for deadlines of their own */
    struct map kind_by_run; /* deadlines of their own: by the step */
    uint32_t sub_kinds[SUB_GROUPS_MAX]; /* of a pod group */
    struct str gang_terms;              /* packed; "": none */
    uint64_t arrived_count;             /* jobs, or gangs */
    uint64_t request_count;
    int64_t poisson_us; /* from the first arrival to the next */
};

struct playing {
    const struct scenario *scenario;
    const struct play_options *options;
    struct tally *tally;
    struct world *world;
    struct policy *policy;
    struct stream *streams;
    uint32_t open_count;  /* streams that still bring jobs */
    struct arena lasting; /* what streams have */
    VEC(struct world_submission) batch;
    struct arena arena;  /* of the batch */
    int64_t progress_ms; /* when something happened last */
    uint64_t progress_starts;
};

/* Setting up. */

static int compare_labels(const void *a, const void *b)
{
    return str_compare(((const struct label *)a)->key,
                       ((const struct label *)b)->key);
}

static struct label *labels_of(const struct setting_texts *texts,
                               struct arena *arena)
{
    struct label *labels =
        arena_alloc_array(arena, texts->count, sizeof(*labels));

    for (uint32_t i = 0; i < texts->count; i++) {
        bool is_pair =
            scenario_pair(texts->items[i], &labels[i].key, &labels[i].value);
        ASSERT(is_pair); /* scenario_read() has looked */
    }
    qsort(labels, texts->count, sizeof(*labels), compare_labels);
    return labels;
}

static void add_nodes(struct cluster *cluster,
                      const struct scenario_cluster *of,
                      const struct scenario_nodes *nodes)
{
    auto_arena arena = {0};
    struct node_record record = {
        .pool = of->pool,
        .total = nodes->resources,
        .labels = labels_of(&nodes->labels, &arena),
        .label_count = nodes->labels.count,
    };

    for (int64_t i = 0; i < nodes->count; i++) {
        auto_strbuf name = {0};
        strbuf_addf(&name, "%.*s-%.*s-%05d", STR_ARG(of->name),
                    STR_ARG(nodes->name), (int)i);
        record.name = strbuf_str(&name);
        cluster_add_node(cluster, &record);
    }
}

static void add_clusters(struct playing *p)
{
    for (uint32_t i = 0; i < p->scenario->cluster_count; i++) {
        const struct scenario_cluster *of = &p->scenario->clusters[i];
        struct cluster_options options = {
            of->name,
            of->pool,
            of->start_ms,
            of->stop_ms,
            of->report_ms,
            of->failures.mean_between_ms,
            of->failures.repair_ms,
        };
        struct cluster *cluster = cluster_create(p->world, &options);
        for (uint32_t k = 0; k < of->nodes_count; k++) {
            add_nodes(cluster, of, &of->nodes[k]);
        }
        cluster_open(cluster);
    }
}

static void add_pools(struct playing *p)
{
    for (uint32_t i = 0; i < p->scenario->pool_count; i++) {
        const struct scenario_pool *of = &p->scenario->pools[i];
        auto_arena arena = {0};
        struct pool_record record = {
            .name = of->name,
            .has_selector = true,
            .labels = labels_of(&of->node_selector, &arena),
            .label_count = of->node_selector.count,
            .is_preemption_off = of->is_preemption_off,
            .is_borrowing_off = of->is_borrowing_off,
            .is_sharing_off = of->is_sharing_off,
            .lenders = of->lenders.items,
            .lender_count = of->lenders.count,
            .preemption_order =
                str_equal(of->preemption_order, STR("borrow-first"))
                    ? BORROW_FIRST
                    : PREEMPT_FIRST,
        };
        world_add_pool(p->world, &record);
    }
}

/* The kind of a stream's jobs that ask for this and state `deadline_ms`. */
static uint32_t add_kind(struct playing *p, const struct scenario_stream *of,
                         const struct resource_list *requests,
                         int64_t deadline_ms)
{
    auto_arena arena = {0};
    struct world_kind kind = {
        .queue = of->queue,
        .job_set = of->name,
        .priority = (uint32_t)of->priority,
        .gang_uniformity = of->gang.uniformity,
        .application = of->application,
        .pool = of->pool,
        .on_preemption = of->is_requeued ? ON_LOSS_REQUEUE : ON_LOSS_FAIL,
        .on_executor_lost = of->is_requeued ? ON_LOSS_REQUEUE : ON_LOSS_FAIL,
        .requirement =
            {
                .priority_class = of->priority_class,
                .requests = *requests,
                .selector = labels_of(&of->node_selector, &arena),
                .selector_count = of->node_selector.count,
                .deadline_ms = deadline_ms,
            },
    };

    bool is_lifetime =
        scenario_lifetime(of->lifetime, &kind.requirement.lifetime_ms);
    ASSERT(is_lifetime); /* scenario_read() has looked */
    return world_add_kind(p->world, &kind);
}

static bool is_group(const struct scenario_stream *of)
{
    return of->pod_group.sub_group_count > 0;
}

static uint32_t pods_of(const struct scenario_sub_group *of)
{
    return (uint32_t)(of->max > 0 ? of->max : of->min);
}

/* A kind for each sub-group, and the terms that all pods share. */
static void add_group(struct playing *p, struct stream *stream)
{
    const struct scenario_pod_group *of = &stream->of->pod_group;
    auto_strbuf packed = {0};
    struct gang_terms terms = {
        .kind = str_equal(of->kind, STR("podGroup"))   ? GANG_POD_GROUP
                : str_equal(of->kind, STR("training")) ? GANG_TRAINING
                                                       : GANG_TRAINING_TOLERANT,
        .is_whole_node = str_equal(of->node_reservation, STR("Whole")),
        .freezing_window_ms = of->freezing_window_ms,
        .replace_timeout_ms = of->replace_timeout_ms,
        .sub_group_count = of->sub_group_count,
    };

    for (uint32_t i = 0; i < of->sub_group_count; i++) {
        const struct scenario_sub_group *group = &of->sub_groups[i];
        terms.sub_groups[i] = (struct sub_group){
            .name = group->name,
            .min_count = (uint32_t)group->min,
            .max_count = pods_of(group),
            .hops_max =
                group->hops_max < 0 ? HOPS_ANY : (uint32_t)group->hops_max,
            .hops_wait_ms = group->hops_wait_ms,
            .is_auxiliary = group->is_auxiliary,
        };
        stream->sub_kinds[i] =
            add_kind(p, stream->of, &group->resources, stream->of->deadline_ms);
    }
    gang_terms_pack(&packed, &terms);
    stream->gang_terms = arena_str(&p->lasting, strbuf_str(&packed));
}

static void add_streams(struct playing *p)
{
    p->streams =
        mem_alloc_array(p->scenario->stream_count + 1, sizeof(*p->streams));
    for (uint32_t i = 0; i < p->scenario->stream_count; i++) {
        const struct scenario_stream *of = &p->scenario->streams[i];
        p->streams[i] = (struct stream){
            .of = of,
            .draw = draw_make((uint64_t)p->scenario->seed, i),
        };
        if (is_group(of)) {
            add_group(p, &p->streams[i]);
        } else {
            p->streams[i].kind =
                add_kind(p, of, &of->resources, of->deadline_ms);
        }
        agenda_add(&p->world->agenda, of->first_ms, WORLD_ARRIVAL, i);
        p->open_count++;
    }
}

static int set_up(struct playing *p, struct err *err)
{
    const struct scenario *scenario = p->scenario;
    struct world_config config = {
        .policy = p->policy,
        .seed = (uint64_t)scenario->seed,
        .log = p->options->log,
        .watch = tally_watch(p->tally),
    };

    int rc = policy_from_form(&scenario->scheduling, p->policy, err);
    if (rc < 0) {
        return rc;
    }
    p->world = world_create(&config, err);
    if (!p->world) {
        return -ERR_UNAVAILABLE;
    }
    for (uint32_t i = 0; i < scenario->queue_count; i++) {
        world_add_queue(p->world, scenario->queues[i].name,
                        (double)MILLI /
                            (double)scenario->queues[i].weight_milli,
                        scenario->queues[i].ordering);
    }
    add_pools(p);
    add_clusters(p);
    tally_begin(p->tally, p->world, scenario->warmup_ms);
    rc = world_step(p->world, err);
    if (rc < 0) {
        return rc;
    }
    add_streams(p);
    agenda_add(&p->world->agenda, scenario->sample_ms, WORLD_SAMPLE, 0);
    return 0;
}

/* Arrivals. */

static void draw_run(struct playing *p, struct stream *stream,
                     struct world_submission *submission)
{
    const struct scenario_stream *of = stream->of;

    submission->kind = stream->kind;
    submission->run_ms =
        draw_spread(&stream->draw, scenario_spread_of(of->run.spread),
                    of->run.a_ms, of->run.b_ms);
    submission->is_failing =
        of->failure_ppm > 0 &&
        draw_below(&stream->draw, 1000000) < (uint64_t)of->failure_ppm;
    if (of->deadline_step_ms > 0 && !is_group(of)) {
        uint64_t step_ms = (uint64_t)of->deadline_step_ms;
        uint64_t steps = ((uint64_t)submission->run_ms + step_ms - 1) / step_ms;
        steps = steps ? steps : 1;
        submission->kind = map_find(&stream->kind_by_run, key_of_u64(steps));
        if (submission->kind == MAP_NONE) {
            submission->kind =
                add_kind(p, of, &of->resources, (int64_t)(steps * step_ms));
            map_put(&stream->kind_by_run, key_of_u64(steps), submission->kind);
        }
    } else if (of->deadline_ms > 0 && submission->run_ms > of->deadline_ms) {
        submission->run_ms = of->deadline_ms;
        submission->is_failing = true;
    }
}

static struct str gang_id_of(struct playing *p, const struct stream *stream)
{
    auto_strbuf id = {0};

    strbuf_addf(&id, "%.*s-%llu", STR_ARG(stream->of->name),
                (unsigned long long)stream->arrived_count);
    return arena_str(&p->arena, strbuf_str(&id));
}

/* The pods of a group, those above the minimum too. */
static void add_pods(struct playing *p, struct stream *stream,
                     struct world_submission submission)
{
    const struct scenario_pod_group *of = &stream->of->pod_group;
    int64_t run_ms = submission.run_ms;

    submission.gang_id = gang_id_of(p, stream);
    submission.gang_terms = stream->gang_terms;
    for (uint32_t i = 0; i < of->sub_group_count; i++) {
        submission.gang_cardinality += pods_of(&of->sub_groups[i]);
        submission.gang_minimum += (uint32_t)of->sub_groups[i].min;
    }
    for (uint32_t i = 0; i < of->sub_group_count; i++) {
        submission.kind = stream->sub_kinds[i];
        submission.sub_group = i;
        submission.run_ms =
            of->sub_groups[i].is_auxiliary ? AUXILIARY_RUN_MS_ : run_ms;
        for (uint32_t k = 0; k < pods_of(&of->sub_groups[i]); k++) {
            VEC_PUSH(&p->batch, submission);
        }
    }
}

/* A job of the stream, or the members of a gang. */
static void add_work(struct playing *p, struct stream *stream)
{
    const struct scenario_gang *gang = &stream->of->gang;
    struct world_submission submission = {0};
    int64_t count = gang->size > 0 ? gang->size : 1;

    draw_run(p, stream, &submission);
    if (is_group(stream->of)) {
        add_pods(p, stream, submission);
        stream->arrived_count++;
        return;
    }
    if (gang->size > 0) {
        submission.gang_id = gang_id_of(p, stream);
        submission.gang_cardinality = (uint32_t)gang->size;
        submission.gang_minimum =
            (uint32_t)(gang->minimum > 0 ? gang->minimum : gang->size);
    }
    for (int64_t i = 0; i < count; i++) {
        VEC_PUSH(&p->batch, submission);
    }
    stream->arrived_count++;
}

static void submit_batch(struct playing *p)
{
    for (size_t i = 0; i < p->batch.count; i += WORLD_SUBMIT_MAX) {
        size_t rest = p->batch.count - i;
        world_submit(p->world, &p->batch.items[i],
                     rest < WORLD_SUBMIT_MAX ? (uint32_t)rest
                                             : WORLD_SUBMIT_MAX);
    }
    p->batch.count = 0;
    arena_reset(&p->arena);
}

static bool has_more(const struct stream *stream)
{
    return stream->of->count == 0 ||
           stream->arrived_count < (uint64_t)stream->of->count;
}

/* When the next request comes. */
static int64_t next_request_ms(struct stream *stream)
{
    const struct scenario_stream *of = stream->of;

    if (str_equal(of->arrivals, STR("poisson"))) {
        stream->poisson_us +=
            draw_exponential(&stream->draw, million * million / of->rate_micro);
        return of->first_ms + stream->poisson_us / MS_PER_S;
    }
    i128 at = (i128)stream->request_count * MS_PER_S * million / of->rate_micro;
    return of->first_ms + (int64_t)at;
}

/* All requests of a stream that come at this moment. */
static void arrive(struct playing *p, uint32_t index)
{
    struct stream *stream = &p->streams[index];
    const struct scenario_stream *of = stream->of;
    bool is_at_once = str_equal(of->arrivals, STR("atOnce"));
    int64_t next_ms = p->world->now_ms;

    while (has_more(stream) && next_ms <= p->world->now_ms) {
        for (int64_t i = 0; i < of->batch && has_more(stream); i++) {
            add_work(p, stream);
        }
        stream->request_count++;
        if (p->batch.count >= WORLD_SUBMIT_MAX) {
            submit_batch(p);
        }
        next_ms = is_at_once ? next_ms : next_request_ms(stream);
    }
    submit_batch(p);
    if (has_more(stream) && (of->last_ms == 0 || next_ms <= of->last_ms)) {
        agenda_add(&p->world->agenda, next_ms, WORLD_ARRIVAL, index);
    } else {
        p->open_count--;
    }
}

/* The course of things. */

/* Whether all is over that a scenario without a duration waits for. */
static bool is_over(struct playing *p)
{
    struct control_metrics metrics;

    control_metrics(p->world->control, &metrics);
    if (p->tally->running_count > 0 || p->open_count > 0 ||
        p->tally->start_count != p->progress_starts) {
        p->progress_starts = p->tally->start_count;
        p->progress_ms = p->world->now_ms;
        return false;
    }
    return metrics.job_count == 0 ||
           p->world->now_ms - p->progress_ms >= PLAY_STALL_MS;
}

static int go_on(struct playing *p, struct err *err)
{
    int64_t until_ms =
        p->scenario->duration_ms ? p->scenario->duration_ms : INT64_MAX;
    struct agenda_entry entry;
    int rc;

    while ((rc = world_run(p->world, until_ms, &entry, err)) == 1) {
        if (entry.kind == WORLD_ARRIVAL) {
            arrive(p, (uint32_t)entry.id);
            continue;
        }
        rc = tally_sample(p->tally, err);
        if (rc < 0) {
            return rc;
        }
        if (p->options->progress) {
            p->options->progress(p->options->ctx, p->world, p->tally);
        }
        if (!p->scenario->duration_ms && is_over(p)) {
            return 0;
        }
        agenda_add(&p->world->agenda, p->world->now_ms + p->scenario->sample_ms,
                   WORLD_SAMPLE, 0);
    }
    return rc;
}

int play(const struct scenario *scenario, const struct play_options *options,
         struct tally *tally, struct world **ret_world, struct err *err)
{
    struct playing p = {
        .scenario = scenario,
        .options = options,
        .tally = tally,
        .policy = mem_alloc(sizeof(struct policy)),
    };

    int rc = set_up(&p, err);
    if (rc == 0) {
        rc = go_on(&p, err);
    }
    for (uint32_t i = 0; p.streams && i < scenario->stream_count; i++) {
        map_fini(&p.streams[i].kind_by_run);
    }
    mem_free(p.streams);
    mem_free(p.policy);
    VEC_FREE(&p.batch);
    arena_fini(&p.arena);
    arena_fini(&p.lasting);
    if (rc < 0) {
        world_destroy(p.world);
        tally_fini(tally);
        return rc;
    }
    *ret_world = p.world;
    return 0;
}
