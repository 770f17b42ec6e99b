#include "sim/world/tally.h"

#include <stdlib.h>

#include "sim/world/cluster.h"

enum { SLOWDOWN_FLOOR_MS = 10000, MS_PER_S = 1000 };

#define PPM 1e6

/* Bring the integrals up to the present. */
static void integrate(struct tally *tally)
{
    int64_t now_ms = tally->world->now_ms;
    int64_t from_ms = tally->integrated_ms > tally->warmup_ms
                          ? tally->integrated_ms
                          : tally->warmup_ms;

    if (now_ms > from_ms) {
        double part_ms = (double)(now_ms - from_ms);
        for (uint32_t r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
            tally->used_ms[r] += part_ms * (double)tally->used.v[r];
            tally->capacity_ms[r] += part_ms * (double)tally->capacity.v[r];
        }
    }
    tally->integrated_ms = now_ms;
}

/* The queue of that name, made if it is new. */
static uint32_t queue_index(struct tally *tally, struct str name)
{
    uint32_t index = intern_add(&tally->queue_names, name);

    if (index == tally->queues.count) {
        struct tally_queue queue = {.name = arena_str(&tally->arena, name)};
        VEC_PUSH(&tally->queues, queue);
    }
    return index;
}

static struct tally_queue *queue_of(struct tally *tally, uint32_t job)
{
    uint32_t kind = tally->world->jobs.items[job].kind;

    while (tally->queue_of_kind.count <= kind) {
        uint32_t next = (uint32_t)tally->queue_of_kind.count;
        uint32_t index = queue_index(tally, world_queue(tally->world, next));
        VEC_PUSH(&tally->queue_of_kind, index);
    }
    return &tally->queues.items[tally->queue_of_kind.items[kind]];
}

static void on_started(void *ctx, uint32_t job)
{
    struct tally *tally = ctx;
    const struct world_job *of = &tally->world->jobs.items[job];

    integrate(tally);
    resource_add(&tally->used, world_request(tally->world, of->kind), 1);
    tally->start_count++;
    tally->running_count++;
    if (tally->running_count > tally->running_max) {
        tally->running_max = tally->running_count;
    }
}

static void on_ended(void *ctx, uint32_t job, int64_t ran_ms, bool is_stopped,
                     bool has_run)
{
    struct tally *tally = ctx;
    const struct world_job *of = &tally->world->jobs.items[job];
    const struct resource_vec *request = world_request(tally->world, of->kind);

    integrate(tally);
    if (has_run) {
        resource_add(&tally->used, request, -1);
        tally->running_count--;
    }
    tally->end_ms = tally->world->now_ms;
    if (of->outcome == WORLD_CANCELLED) {
        return; /* its group has no more use for it: nothing is lost */
    }
    if (is_stopped) {
        tally->stop_count++;
        queue_of(tally, job)->preempted_count++;
    } else {
        tally->success_count += of->outcome == WORLD_SUCCEEDED;
        tally->failure_count += of->outcome == WORLD_FAILED;
    }
    for (uint32_t r = 0;
         of->outcome != WORLD_SUCCEEDED && r < RESOURCE_COLUMNS_MAX; r++) {
        tally->lost_ms[r] += (double)ran_ms * (double)request->v[r];
    }
}

static void on_rejected(void *ctx, uint32_t job, struct str reason)
{
    struct tally *tally = ctx;
    auto_strbuf line = {0};
    char last = ' ';

    (void)job;
    if (tally->rejected_count++) {
        return;
    }
    while (reason.byte_count && reason.p[reason.byte_count - 1] == '\n') {
        reason.byte_count--;
    }
    for (size_t i = 0; i < reason.byte_count; i++) {
        char c = reason.p[i] == '\n' ? ' ' : reason.p[i];
        if (c != ' ' || last != ' ') {
            strbuf_add_char(&line, c);
        }
        last = c;
    }
    tally->rejection = arena_str(&tally->arena, strbuf_str(&line));
}

static void on_left_out(void *ctx, uint32_t job)
{
    struct tally *tally = ctx;

    (void)job;
    tally->failure_count++;
}

static void on_node(void *ctx, const struct node_record *record, bool is_down)
{
    struct tally *tally = ctx;
    struct resource_vec total =
        resource_capacity(&tally->world->policy.schema, &record->total);

    integrate(tally);
    resource_add(&tally->capacity, &total, is_down ? -1 : 1);
}

struct world_watch tally_watch(struct tally *tally)
{
    return (struct world_watch){
        .ctx = tally,
        .started = on_started,
        .ended = on_ended,
        .rejected = on_rejected,
        .left_out = on_left_out,
        .node = on_node,
    };
}

void tally_begin(struct tally *tally, struct world *world, int64_t warmup_ms)
{
    tally->world = world;
    tally->warmup_ms = warmup_ms;
    for (size_t i = 0; i < world->clusters.count; i++) {
        const struct cluster *cluster = world->clusters.items[i];
        for (size_t k = 0; k < cluster->nodes.count; k++) {
            on_node(tally, &cluster->nodes.items[k].record, false);
        }
    }
}

void tally_fini(struct tally *tally)
{
    arena_fini(&tally->arena);
    VEC_FREE(&tally->samples);
    VEC_FREE(&tally->queues);
    VEC_FREE(&tally->queue_of_kind);
    intern_fini(&tally->queue_names);
    intern_fini(&tally->pool_names);
    VEC_FREE(&tally->rows);
    VEC_FREE(&tally->shares);
    map_fini(&tally->row_by_indexes);
}

/* Samples. */

static uint32_t row_index(struct tally *tally, uint32_t queue, struct str pool)
{
    struct key128 key = {queue, intern_add(&tally->pool_names, pool)};
    uint32_t row = map_find(&tally->row_by_indexes, key);

    if (row == MAP_NONE) {
        row = (uint32_t)tally->rows.count;
        VEC_PUSH(&tally->rows,
                 (struct tally_row){queue, arena_str(&tally->arena, pool)});
        map_put(&tally->row_by_indexes, key, row);
    }
    return row;
}

/* Keep the shares of a sample, which is the last; their number. */
static uint32_t keep_shares(struct tally *tally, const struct command *command)
{
    size_t first = tally->shares.count;

    for (uint32_t i = 0; i < command->queues.share_count; i++) {
        const struct queue_share *share = &command->queues.shares[i];
        if (share->adjusted_share_ppm == 0 && share->actual_share_ppm == 0) {
            continue;
        }
        uint32_t queue = queue_index(tally, share->queue);
        VEC_PUSH(&tally->shares,
                 (struct tally_share){
                     .row = row_index(tally, queue, share->pool),
                     .due = (float)((double)share->adjusted_share_ppm / PPM),
                     .obtained = (float)((double)share->actual_share_ppm / PPM),
                 });
    }
    return (uint32_t)(tally->shares.count - first);
}

/* Add them to the means. */
static void sum_shares(struct tally *tally, const struct command *command)
{
    double sum = 0, square_sum = 0;
    uint32_t count = 0;

    for (uint32_t i = 0; i < command->queues.share_count; i++) {
        const struct queue_share *share = &command->queues.shares[i];
        uint32_t index = queue_index(tally, share->queue);
        struct tally_queue *queue = &tally->queues.items[index];
        if (share->adjusted_share_ppm == 0) {
            continue;
        }
        double due = (double)share->adjusted_share_ppm / PPM;
        double obtained = (double)share->actual_share_ppm / PPM;
        queue->due_sum += due;
        queue->obtained_sum += obtained;
        queue->active_count++;
        sum += obtained / due;
        square_sum += obtained / due * (obtained / due);
        count++;
    }
    if (count > 1 && square_sum > 0) {
        tally->jain_sum += sum * sum / (count * square_sum);
        tally->jain_count++;
    }
}

int tally_sample(struct tally *tally, struct err *err)
{
    struct control_metrics metrics;
    struct command *command =
        world_ask(tally->world, command_create(COMMAND_QUERY_QUEUES), err);

    if (!command) {
        return -ERR_UNAVAILABLE;
    }
    if (tally->world->now_ms >= tally->warmup_ms) {
        sum_shares(tally, command);
    }
    uint32_t share_first = (uint32_t)tally->shares.count;
    uint32_t share_count = keep_shares(tally, command);
    command_destroy(command);
    control_metrics(tally->world->control, &metrics);
    VEC_PUSH(&tally->samples, (struct tally_sample){
                                  .time_ms = tally->world->now_ms,
                                  .used = tally->used,
                                  .capacity = tally->capacity,
                                  .running_count = tally->running_count,
                                  .queued_count = metrics.queued_count,
                                  .share_first = share_first,
                                  .share_count = share_count,
                              });
    return 0;
}

bool tally_is_over(struct tally *tally, bool has_more)
{
    struct control_metrics metrics;
    int64_t now_ms = tally->world->now_ms;

    if (has_more || tally->running_count > 0 ||
        tally->start_count != tally->progress_starts) {
        tally->progress_starts = tally->start_count;
        tally->progress_ms = now_ms;
        return false;
    }
    control_metrics(tally->world->control, &metrics);
    return metrics.job_count == 0 ||
           now_ms - tally->progress_ms >= TALLY_STALL_MS;
}

/* The end. */

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

/* Sort a list and read off its percentiles: the least value that so much of
 * the list does not pass. */
static struct tally_spread spread_of(double *values, uint64_t count)
{
    struct tally_spread spread = {.count = count};

    if (count == 0) {
        return spread;
    }
    qsort(values, count, sizeof(*values), compare_doubles);
    for (uint64_t i = 0; i < count; i++) {
        spread.mean += values[i];
    }
    spread.mean /= (double)count;
    spread.p50 = values[(count - 1) / 2];
    spread.p90 = values[(count * 90 + 99) / 100 - 1];
    spread.p99 = values[(count * 99 + 99) / 100 - 1];
    spread.max = values[count - 1];
    return spread;
}

static void finish_jobs(struct tally *tally, struct tally_result *result)
{
    const struct world *world = tally->world;
    size_t count = world->jobs.count;
    auto_mem double *waits = mem_alloc_array(count + 1, sizeof(*waits));
    auto_mem double *slowdowns = mem_alloc_array(count + 1, sizeof(*slowdowns));
    uint64_t wait_count = 0, slowdown_count = 0;

    for (size_t i = 0; i < count; i++) {
        const struct world_job *job = &world->jobs.items[i];
        struct tally_queue *queue = queue_of(tally, (uint32_t)i);
        queue->submitted_count++;
        result->cancelled_count += job->outcome == WORLD_CANCELLED;
        result->lost_count += job->outcome == WORLD_PREEMPTED;
        if (job->started_ms < 0) {
            result->unstarted_count += job->outcome == WORLD_RUNNING;
            continue;
        }
        result->unended_count += job->outcome == WORLD_RUNNING;
        double wait_s =
            (double)(job->started_ms - job->submitted_ms) / MS_PER_S;
        waits[wait_count++] = wait_s;
        queue->started_count++;
        queue->wait_sum_s += wait_s;
        if (job->outcome != WORLD_SUCCEEDED) {
            continue;
        }
        queue->ended_count++;
        int64_t floor_ms =
            job->run_ms > SLOWDOWN_FLOOR_MS ? job->run_ms : SLOWDOWN_FLOOR_MS;
        double slowdown =
            (double)(job->ended_ms - job->submitted_ms) / (double)floor_ms;
        slowdowns[slowdown_count++] = slowdown > 1 ? slowdown : 1;
    }
    result->submitted_count = count;
    result->started_count = wait_count;
    result->wait_s = spread_of(waits, wait_count);
    result->slowdown = spread_of(slowdowns, slowdown_count);
}

void tally_finish(struct tally *tally, struct tally_result *ret_result)
{
    struct tally_result result = {
        .end_ms = tally->end_ms,
        .succeeded_count = tally->success_count,
        .failed_count = tally->failure_count,
        .rejected_count = tally->rejected_count,
        .preemption_count = tally->stop_count,
        .has_jain = tally->jain_count > 0,
        .jain = tally->jain_count ? tally->jain_sum / tally->jain_count : 0,
    };

    integrate(tally);
    finish_jobs(tally, &result);
    for (uint32_t r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        result.utilisation[r] = tally->capacity_ms[r] > 0
                                    ? tally->used_ms[r] / tally->capacity_ms[r]
                                    : 0;
        result.lost_h[r] =
            tally->lost_ms[r] *
            (double)tally->world->policy.schema.columns[r].unit_milli / 3.6e9;
    }
    *ret_result = result;
}
