#include "sim/scenario/arrivals.h"

enum {
    MS_PER_S = 1000,
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

struct arrivals {
    const struct scenario *scenario;
    struct world *world;
    struct stream *streams;
    uint32_t open_count;  /* streams that still bring jobs */
    struct arena lasting; /* what streams have */
    VEC(struct world_submission) batch;
    struct arena arena; /* of the batch */
};

/* The kind of a stream's jobs that ask for this and state `deadline_ms`. */
static uint32_t add_kind(struct arrivals *a, const struct scenario_stream *of,
                         const struct resource_list *requests,
                         int64_t deadline_ms)
{
    auto_arena arena = {0};
    struct world_kind kind = {
        .queue = of->queue,
        .job_set = of->name,
        .user = of->user,
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
                .selector = scenario_labels(&of->node_selector, &arena),
                .selector_count = of->node_selector.count,
                .deadline_ms = deadline_ms,
            },
    };

    bool is_lifetime =
        scenario_lifetime(of->lifetime, &kind.requirement.lifetime_ms);
    ASSERT(is_lifetime); /* scenario_read() has looked */
    return world_add_kind(a->world, &kind);
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
static void add_group(struct arrivals *a, struct stream *stream)
{
    const struct scenario_pod_group *of = &stream->of->pod_group;
    auto_strbuf packed = {0};
    struct gang_terms terms = {
        .kind = str_equal(of->kind, STR("podGroup"))   ? GANG_POD_GROUP
                : str_equal(of->kind, STR("training")) ? GANG_TRAINING
                                                       : GANG_TRAINING_TOLERANT,
        .has_exclusive_nodes = str_equal(of->node_reservation, STR("Whole")),
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
            add_kind(a, stream->of, &group->resources, stream->of->deadline_ms);
    }
    gang_terms_pack(&packed, &terms);
    stream->gang_terms = arena_str(&a->lasting, strbuf_str(&packed));
}

struct arrivals *arrivals_create(const struct scenario *scenario,
                                 struct world *world)
{
    struct arrivals *a = mem_alloc(sizeof(*a));

    a->scenario = scenario;
    a->world = world;
    a->streams =
        mem_alloc_array(a->scenario->stream_count + 1, sizeof(*a->streams));
    for (uint32_t i = 0; i < a->scenario->stream_count; i++) {
        const struct scenario_stream *of = &a->scenario->streams[i];
        a->streams[i] = (struct stream){
            .of = of,
            .draw = draw_make((uint64_t)a->scenario->seed, i),
        };
        if (is_group(of)) {
            add_group(a, &a->streams[i]);
        } else {
            a->streams[i].kind =
                add_kind(a, of, &of->resources, of->deadline_ms);
        }
        agenda_add(&a->world->agenda, of->first_ms, WORLD_ARRIVAL, i);
        a->open_count++;
    }
    return a;
}

static void draw_run(struct arrivals *a, struct stream *stream,
                     struct world_submission *submission)
{
    const struct scenario_stream *of = stream->of;

    submission->kind = stream->kind;
    submission->run_ms =
        draw_from(&stream->draw, scenario_distribution_of(of->run.distribution),
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
                add_kind(a, of, &of->resources, (int64_t)(steps * step_ms));
            map_put(&stream->kind_by_run, key_of_u64(steps), submission->kind);
        }
    } else if (of->deadline_ms > 0 && submission->run_ms > of->deadline_ms) {
        submission->run_ms = of->deadline_ms;
        submission->is_failing = true;
    }
}

static struct str gang_id_of(struct arrivals *a, const struct stream *stream)
{
    auto_strbuf id = {0};

    strbuf_addf(&id, "%.*s-%llu", STR_ARG(stream->of->name),
                (unsigned long long)stream->arrived_count);
    return arena_str(&a->arena, strbuf_str(&id));
}

/* The pods of a group, those above the minimum too. */
static void add_pods(struct arrivals *a, struct stream *stream,
                     struct world_submission submission)
{
    const struct scenario_pod_group *of = &stream->of->pod_group;
    int64_t run_ms = submission.run_ms;

    submission.gang_id = gang_id_of(a, stream);
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
            VEC_PUSH(&a->batch, submission);
        }
    }
}

/* A job of the stream, or the members of a gang. */
static void add_work(struct arrivals *a, struct stream *stream)
{
    const struct scenario_gang *gang = &stream->of->gang;
    struct world_submission submission = {0};
    int64_t count = gang->size > 0 ? gang->size : 1;

    draw_run(a, stream, &submission);
    if (is_group(stream->of)) {
        add_pods(a, stream, submission);
        stream->arrived_count++;
        return;
    }
    if (gang->size > 0) {
        submission.gang_id = gang_id_of(a, stream);
        submission.gang_cardinality = (uint32_t)gang->size;
        submission.gang_minimum =
            (uint32_t)(gang->minimum > 0 ? gang->minimum : gang->size);
    }
    for (int64_t i = 0; i < count; i++) {
        VEC_PUSH(&a->batch, submission);
    }
    stream->arrived_count++;
}

static void submit_batch(struct arrivals *a)
{
    for (size_t i = 0; i < a->batch.count; i += WORLD_SUBMIT_MAX) {
        size_t rest = a->batch.count - i;
        world_submit(a->world, &a->batch.items[i],
                     rest < WORLD_SUBMIT_MAX ? (uint32_t)rest
                                             : WORLD_SUBMIT_MAX);
    }
    a->batch.count = 0;
    arena_reset(&a->arena);
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

void arrivals_bring(struct arrivals *a, uint32_t index)
{
    struct stream *stream = &a->streams[index];
    const struct scenario_stream *of = stream->of;
    bool is_at_once = str_equal(of->arrivals, STR("atOnce"));
    int64_t next_ms = a->world->now_ms;

    while (has_more(stream) && next_ms <= a->world->now_ms) {
        for (int64_t i = 0; i < of->batch && has_more(stream); i++) {
            add_work(a, stream);
        }
        stream->request_count++;
        if (a->batch.count >= WORLD_SUBMIT_MAX) {
            submit_batch(a);
        }
        next_ms = is_at_once ? next_ms : next_request_ms(stream);
    }
    submit_batch(a);
    if (has_more(stream) && (of->last_ms == 0 || next_ms <= of->last_ms)) {
        agenda_add(&a->world->agenda, next_ms, WORLD_ARRIVAL, index);
    } else {
        a->open_count--;
    }
}

uint32_t arrivals_open_count(const struct arrivals *a)
{
    return a->open_count;
}

void arrivals_destroy(struct arrivals *a)
{
    if (!a) {
        return;
    }
    for (uint32_t i = 0; i < a->scenario->stream_count; i++) {
        map_fini(&a->streams[i].kind_by_run);
    }
    mem_free(a->streams);
    VEC_FREE(&a->batch);
    arena_fini(&a->arena);
    arena_fini(&a->lasting);
    mem_free(a);
}
