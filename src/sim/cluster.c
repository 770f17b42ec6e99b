#include "sim/cluster.h"

#include <stdio.h>

#include "base/hash.h"

enum { FREE_SLOT = UINT32_MAX };

/* What goes out as one message, and which runs it tells of. */
struct cluster_report {
    struct cluster *cluster;
    struct log_batch batch;
    VEC(struct note {
        uint32_t run;
        struct run_id id;
        enum reconcile_phase phase;
    })
    notes;
};

static struct cluster_report *report_create(struct cluster *cluster)
{
    struct cluster_report *report = mem_alloc(sizeof(*report));

    report->cluster = cluster;
    return report;
}

static void report_destroy(struct cluster_report *report)
{
    log_batch_fini(&report->batch);
    VEC_FREE(&report->notes);
    mem_free(report);
}

static int64_t now_ms(const struct cluster *cluster)
{
    return cluster->world->now_ms;
}

/* Runs. */

static struct cluster_run *run_at(struct cluster *cluster, uint32_t run)
{
    return &cluster->runs.items[run];
}

static uint32_t run_add(struct cluster *cluster, struct run_id id)
{
    uint32_t run;

    if (cluster->free_runs.count) {
        run = cluster->free_runs.items[--cluster->free_runs.count];
    } else {
        run = (uint32_t)cluster->runs.count;
        VEC_PUSH(&cluster->runs, (struct cluster_run){0});
    }
    *run_at(cluster, run) = (struct cluster_run){
        .row = {.id = id, .want = RECONCILE_WANT_RUN},
        .due_ms = INT64_MAX,
    };
    map_put(&cluster->run_by_id, id.v, run);
    return run;
}

static void run_forget(struct cluster *cluster, uint32_t run)
{
    struct cluster_run *of = run_at(cluster, run);

    map_remove(&cluster->run_by_id, of->row.id.v);
    VEC_PUSH(&cluster->gone, of->row.id);
    of->job = FREE_SLOT;
    of->due_ms = INT64_MAX;
    VEC_PUSH(&cluster->free_runs, run);
}

static void set_due(struct cluster *cluster, uint32_t run, int64_t in_ms)
{
    struct cluster_run *of = run_at(cluster, run);

    of->due_ms = now_ms(cluster) + in_ms;
    agenda_add(&cluster->world->agenda, of->due_ms, WORLD_POD_DUE,
               world_pod_id(of->job, cluster->index, run));
}

static void tell_ended(struct cluster *cluster, const struct cluster_run *run)
{
    const struct world_watch *watch = &cluster->world->config.watch;
    bool has_run = run->row.phase != RECONCILE_NEVER && run->started_ms >= 0;
    int64_t ran_ms = has_run ? now_ms(cluster) - run->started_ms : 0;

    if (watch->ended) {
        watch->ended(watch->ctx, run->job, ran_ms, run->row.is_stopping,
                     has_run);
    }
}

/* The pod is over. */
static void pod_end(struct cluster *cluster, uint32_t run,
                    enum reconcile_phase phase)
{
    struct cluster_run *of = run_at(cluster, run);
    struct world_job *job = &cluster->world->jobs.items[of->job];

    of->row.phase = phase;
    of->ended_ms = now_ms(cluster);
    of->due_ms = INT64_MAX;
    if (job->outcome != WORLD_CANCELLED) {
        job->outcome = phase == RECONCILE_SUCCEEDED ? WORLD_SUCCEEDED
                       : !of->row.is_stopping       ? WORLD_FAILED
                       : world_comes_back(cluster->world, job->kind)
                           ? WORLD_RUNNING
                           : WORLD_PREEMPTED;
    }
    if (job->outcome != WORLD_RUNNING) {
        job->ended_ms = now_ms(cluster);
    }
    tell_ended(cluster, of);
}

static void pod_start(struct cluster *cluster, uint32_t run)
{
    struct cluster_run *of = run_at(cluster, run);
    struct world *world = cluster->world;
    struct world_job *job = &world->jobs.items[of->job];

    of->row.phase = RECONCILE_RUNNING;
    of->started_ms = now_ms(cluster);
    if (job->start_count < UINT16_MAX) {
        job->start_count++;
    }
    if (job->started_ms < 0) {
        job->started_ms = now_ms(cluster);
    }
    if (world->config.watch.started) {
        world->config.watch.started(world->config.watch.ctx, of->job);
    }
    set_due(cluster, run, job->run_ms);
}

static void pod_create(struct cluster *cluster, uint32_t run)
{
    struct cluster_run *of = run_at(cluster, run);

    of->created_ms = now_ms(cluster);
    of->started_ms = -1;
    of->row.phase = RECONCILE_PENDING;
    VEC_PUSH(&cluster->held, of->row.id);
    if (cluster->nodes.items[of->node].is_down) {
        pod_end(cluster, run, RECONCILE_LOST);
    } else if (cluster->options.start_ms > 0) {
        set_due(cluster, run, cluster->options.start_ms);
    } else {
        pod_start(cluster, run);
    }
}

/* Reports. */

static void flush_soon(struct cluster *cluster)
{
    if (!cluster->is_flushing) {
        cluster->is_flushing = true;
        agenda_add(&cluster->world->agenda,
                   now_ms(cluster) + cluster->options.report_ms, WORLD_REPORT,
                   cluster->index);
    }
}

static void set_error(struct event *event, const struct cluster_run *run)
{
    event->type = EVENT_RUN_ERRORS;
    event->error = (struct event_error){
        .kind = ERROR_POD,
        .cause = CAUSE_APP_ERROR,
        .is_terminal = true,
        .message = run->row.phase == RECONCILE_LOST ? STR("the pod is gone")
                                                    : STR("exit code 1"),
    };
}

/* Add what a run's coming to `phase` is told by. */
static void report_phase(struct cluster *cluster, uint32_t run,
                         enum reconcile_phase phase)
{
    const struct cluster_run *of = run_at(cluster, run);
    const struct world_job *job = &cluster->world->jobs.items[of->job];
    const struct cluster_node *node = &cluster->nodes.items[of->node];
    struct event_scope scope = world_scope(cluster->world, job->kind);
    struct event event;
    int64_t at_ms = of->ended_ms;

    memset(&event, 0, sizeof(event));
    event.run = of->row.id;
    event.job = world_job_id(cluster->world, of->job);
    if (phase >= RECONCILE_FAILED) {
        set_error(&event, of);
    } else {
        event.type = phase == RECONCILE_PENDING   ? EVENT_RUN_ASSIGNED
                     : phase == RECONCILE_RUNNING ? EVENT_RUN_RUNNING
                                                  : EVENT_RUN_SUCCEEDED;
        event.pod.executor_id = cluster->options.name;
        event.pod.node_name = node->record.name;
        event.pod.pool = cluster->options.pool;
        at_ms = phase == RECONCILE_PENDING   ? of->created_ms
                : phase == RECONCILE_RUNNING ? of->started_ms
                                             : of->ended_ms;
    }
    event.created_ms = world_wall_ms(at_ms);
    log_batch_add(&cluster->report->batch, &scope, &event);
}

/* A row is to be told: all that it has come through since the last time. */
static void run_report(struct cluster *cluster, uint32_t run)
{
    struct cluster_run *of = run_at(cluster, run);
    enum reconcile_phase phase = of->row.phase;

    if (!cluster->report) {
        cluster->report = report_create(cluster);
    }
    if (of->row.sent < RECONCILE_PENDING && phase >= RECONCILE_PENDING) {
        report_phase(cluster, run, RECONCILE_PENDING);
    }
    if (of->row.sent < RECONCILE_RUNNING && phase >= RECONCILE_RUNNING &&
        of->started_ms >= 0) {
        report_phase(cluster, run, RECONCILE_RUNNING);
    }
    if (reconcile_is_ended(phase)) {
        report_phase(cluster, run, phase);
    }
    of->row.sent = phase;
    VEC_PUSH(&cluster->report->notes,
             (struct note){run, of->row.id, of->row.phase});
    flush_soon(cluster);
}

/* Planning. */

/* Do what the planner says about a run, until it says nothing more. */
static void plan(struct cluster *cluster, uint32_t run)
{
    unsigned actions;

    while ((actions = reconcile_row_actions(&run_at(cluster, run)->row))) {
        struct cluster_run *of = run_at(cluster, run);
        if (actions & 1u << RECONCILE_STOP) {
            of->row.is_stopping = true;
            if (cluster->options.stop_ms > 0) {
                set_due(cluster, run, cluster->options.stop_ms);
            } else {
                pod_end(cluster, run, RECONCILE_FAILED);
            }
        }
        if (actions & 1u << RECONCILE_REPORT) {
            run_report(cluster, run);
        }
        if (actions & 1u << RECONCILE_CREATE) {
            pod_create(cluster, run);
        }
        if (actions & 1u << RECONCILE_FORGET) {
            if (of->row.phase == RECONCILE_NEVER) {
                of->row.is_stopping = true;
                tell_ended(cluster, of);
            }
            run_forget(cluster, run);
            return;
        }
    }
}

void cluster_pod_due(struct cluster *cluster, uint32_t run)
{
    struct cluster_run *of = run_at(cluster, run);

    if (of->job == FREE_SLOT || of->due_ms != now_ms(cluster)) {
        return;
    }
    of->due_ms = INT64_MAX;
    if (of->row.is_stopping) {
        pod_end(cluster, run, RECONCILE_FAILED);
    } else if (of->row.phase == RECONCILE_PENDING) {
        pod_start(cluster, run);
    } else {
        bool is_failing = cluster->world->jobs.items[of->job].is_failing;
        pod_end(cluster, run,
                is_failing ? RECONCILE_FAILED : RECONCILE_SUCCEEDED);
    }
    plan(cluster, run);
}

void cluster_end_run(struct cluster *cluster, struct run_id id)
{
    uint32_t run = map_find(&cluster->run_by_id, id.v);

    ASSERT(run != MAP_NONE &&
           run_at(cluster, run)->row.phase == RECONCILE_RUNNING);
    pod_end(cluster, run, RECONCILE_SUCCEEDED);
    plan(cluster, run);
}

/* What the leader says. */

static void take_lease(struct cluster *cluster,
                       const struct exchange_lease *lease)
{
    uint32_t number = world_job_number(lease->job);
    uint64_t name = hash_bytes(lease->node_name.p, lease->node_name.byte_count,
                               cluster->index);
    uint32_t node = map_find(&cluster->node_by_name, key_of_u64(name));

    ASSERT(number < cluster->world->jobs.count && node != MAP_NONE);
    if (map_find(&cluster->run_by_id, lease->run.v) != MAP_NONE) {
        return; /* held already */
    }
    uint32_t run = run_add(cluster, lease->run);
    run_at(cluster, run)->job = number;
    run_at(cluster, run)->node = node;
    plan(cluster, run);
}

static void take_cancel(struct cluster *cluster, struct run_id id)
{
    uint32_t run = map_find(&cluster->run_by_id, id.v);

    if (run != MAP_NONE) {
        run_at(cluster, run)->row.want = RECONCILE_WANT_STOP;
        plan(cluster, run);
    }
}

static void take_response(struct cluster *cluster,
                          const struct exchange_response *response)
{
    for (uint32_t i = 0; i < response->cancel_count; i++) {
        take_cancel(cluster, response->cancels[i]);
    }
    for (uint32_t i = 0; i < response->lease_count; i++) {
        take_lease(cluster, &response->leases[i]);
    }
    cluster->credit -= response->lease_count < cluster->credit
                           ? response->lease_count
                           : cluster->credit;
    if (cluster->credit < CLUSTER_LEASES_MAX / 2) {
        flush_soon(cluster); /* with an exchange: see cluster_flush() */
    }
}

static void on_push(struct exchange_session *session,
                    const struct exchange_response *response)
{
    take_response(session->ctx, response);
}

static void on_released(struct exchange_session *session,
                        enum command_result result)
{
    (void)session;
    (void)result; /* the leader stops: the simulation is over */
}

/* What is said to the leader. */

static void on_reported(struct command *command, void *ctx)
{
    struct cluster_report *report = ctx;
    struct cluster *cluster = report->cluster;

    if (command->result != COMMAND_OK) {
        world_refused(cluster->world, command);
    }
    for (size_t i = 0; i < report->notes.count; i++) {
        const struct note *note = &report->notes.items[i];
        struct cluster_run *run = run_at(cluster, note->run);
        if (run->job != FREE_SLOT &&
            key128_compare(run->row.id.v, note->id.v) == 0) {
            run->row.acked = note->phase;
            plan(cluster, note->run);
        }
    }
    report_destroy(report);
    command_destroy(command);
}

/* Split a payload into its sequences. */
static void set_sequences(struct command *command, struct str payload)
{
    struct pack_reader reader = {.rest = arena_str(&command->arena, payload)};
    VEC(struct event_sequence) sequences = {0};

    while (reader.rest.byte_count > 0) {
        unpack_u64(&reader); /* the tag */
        struct event_sequence sequence = {unpack_str(&reader)};
        VEC_PUSH(&sequences, sequence);
    }
    command->events.sequence_count = (uint32_t)sequences.count;
    command->events.sequences = arena_alloc_array(
        &command->arena, sequences.count, sizeof(*command->events.sequences));
    if (sequences.count) {
        memcpy(command->events.sequences, sequences.items,
               sequences.count * sizeof(*sequences.items));
    }
    VEC_FREE(&sequences);
}

void cluster_flush(struct cluster *cluster)
{
    struct cluster_report *report = cluster->report;

    cluster->is_flushing = false;
    cluster->report = NULL;
    if (report) {
        struct command *command = command_create(COMMAND_EVENTS);
        set_sequences(command, log_batch_finish(&report->batch));
        command->done = on_reported;
        command->ctx = report;
        world_post(cluster->world, command);
    }
    if (cluster->credit < CLUSTER_LEASES_MAX / 2) {
        cluster_hello(cluster);
    }
}

static void on_exchanged(struct command *command, void *ctx)
{
    struct cluster *cluster = ctx;

    if (command->result == COMMAND_OK) {
        take_response(cluster, &command->exchange.response);
    } else {
        world_refused(cluster->world, command);
    }
    command_destroy(command);
}

static void add_runs(struct cluster *cluster, struct command *command)
{
    struct exchange_request *request = &command->exchange.request;
    struct run_id *held =
        arena_alloc_array(&command->arena, cluster->held.count, sizeof(*held));
    struct run_id *gone =
        arena_alloc_array(&command->arena, cluster->gone.count, sizeof(*gone));

    for (size_t i = 0; i < cluster->held.count; i++) {
        if (map_find(&cluster->run_by_id, cluster->held.items[i].v) !=
            MAP_NONE) {
            held[request->run_count++] = cluster->held.items[i];
        }
    }
    for (size_t i = 0; i < cluster->gone.count; i++) {
        gone[request->runs_gone_count++] = cluster->gone.items[i];
    }
    request->runs = held;
    request->runs_gone = gone;
    cluster->held.count = cluster->gone.count = 0;
}

static void add_nodes(struct cluster *cluster, struct command *command,
                      bool is_first)
{
    struct exchange_request *request = &command->exchange.request;
    size_t count =
        is_first ? cluster->nodes.count : cluster->changed_nodes.count;
    struct node_record *nodes =
        arena_alloc_array(&command->arena, count, sizeof(*nodes));
    struct str *gone = arena_alloc_array(&command->arena, count, sizeof(*gone));

    for (size_t i = 0; i < count; i++) {
        const struct cluster_node *node =
            &cluster->nodes
                 .items[is_first ? i : cluster->changed_nodes.items[i]];
        if (node->is_down) {
            gone[request->nodes_gone_count++] = node->record.name;
        } else {
            nodes[request->node_count++] = node->record;
        }
    }
    request->nodes = nodes;
    request->nodes_gone = gone;
    request->has_nodes = count > 0;
    cluster->changed_nodes.count = 0;
}

static void exchange(struct cluster *cluster, bool is_first)
{
    struct command *command = command_create(COMMAND_EXCHANGE);
    struct exchange_request *request = &command->exchange.request;

    request->session = &cluster->session;
    request->executor_id = cluster->options.name;
    request->pool = cluster->options.pool;
    request->is_full = is_first;
    request->lease_max = CLUSTER_LEASES_MAX;
    add_nodes(cluster, command, is_first);
    add_runs(cluster, command);
    cluster->credit = CLUSTER_LEASES_MAX;
    command->done = on_exchanged;
    command->ctx = cluster;
    world_post(cluster->world, command);
}

void cluster_hello(struct cluster *cluster)
{
    exchange(cluster, false);
}

/* Nodes. */

struct cluster *cluster_create(struct world *world,
                               const struct cluster_options *options)
{
    struct cluster *cluster = mem_alloc(sizeof(*cluster));

    ASSERT(world->clusters.count < WORLD_CLUSTERS_MAX);
    cluster->world = world;
    cluster->index = (uint32_t)world->clusters.count;
    cluster->options = *options;
    cluster->options.name = arena_str(&cluster->arena, options->name);
    cluster->options.pool = arena_str(&cluster->arena, options->pool);
    cluster->session = (struct exchange_session){
        .push = on_push, .released = on_released, .ctx = cluster};
    VEC_PUSH(&world->clusters, cluster);
    return cluster;
}

void cluster_destroy(struct cluster *cluster)
{
    if (cluster->report) {
        report_destroy(cluster->report);
    }
    arena_fini(&cluster->arena);
    VEC_FREE(&cluster->nodes);
    map_fini(&cluster->node_by_name);
    VEC_FREE(&cluster->runs);
    VEC_FREE(&cluster->free_runs);
    map_fini(&cluster->run_by_id);
    VEC_FREE(&cluster->held);
    VEC_FREE(&cluster->gone);
    VEC_FREE(&cluster->changed_nodes);
    mem_free(cluster);
}

static struct resource_list copy_amounts(struct arena *arena,
                                         const struct resource_list *list)
{
    struct resource_list copy = {
        arena_alloc_array(arena, list->count, sizeof(*copy.items)),
        list->count};

    for (uint32_t i = 0; i < list->count; i++) {
        copy.items[i] = (struct resource_amount){
            arena_str(arena, list->items[i].name), list->items[i].milli};
    }
    return copy;
}

static const struct label *
copy_labels(struct arena *arena, const struct label *labels, uint32_t count)
{
    struct label *copy = arena_alloc_array(arena, count, sizeof(*copy));

    for (uint32_t i = 0; i < count; i++) {
        copy[i].key = arena_str(arena, labels[i].key);
        copy[i].value = arena_str(arena, labels[i].value);
    }
    return copy;
}

void cluster_add_node(struct cluster *cluster, const struct node_record *record)
{
    struct arena *arena = &cluster->arena;
    struct cluster_node node = {.record = *record};
    uint32_t index = (uint32_t)cluster->nodes.count;

    ASSERT(index < CLUSTER_NODES_MAX && record->taint_count == 0);
    node.record.name = arena_str(arena, record->name);
    node.record.pool = arena_str(arena, record->pool);
    node.record.node_type = arena_str(arena, record->node_type);
    node.record.labels =
        copy_labels(arena, record->labels, record->label_count);
    node.record.total = copy_amounts(arena, &record->total);
    VEC_PUSH(&cluster->nodes, node);
    uint64_t name =
        hash_bytes(record->name.p, record->name.byte_count, cluster->index);
    uint32_t before = map_put(&cluster->node_by_name, key_of_u64(name), index);
    ASSERT(before == MAP_NONE);
}

/* Put the node's next failure, or the end of the present one, on the
 * agenda. */
static void plan_failure(struct cluster *cluster, uint32_t node)
{
    const struct cluster_options *options = &cluster->options;
    bool is_down = cluster->nodes.items[node].is_down;

    if (options->failure_ms > 0) {
        int64_t in_ms =
            is_down ? options->repair_ms
                    : draw_exponential(&cluster->failures, options->failure_ms);
        agenda_add(&cluster->world->agenda, now_ms(cluster) + in_ms,
                   is_down ? WORLD_NODE_UP : WORLD_NODE_DOWN,
                   (uint64_t)cluster->index << 32 | node);
    }
}

void cluster_open(struct cluster *cluster)
{
    exchange(cluster, true);
    cluster->failures = draw_make(cluster->world->config.seed,
                                  CLUSTER_FAILURES_STREAM + cluster->index);
    for (uint32_t i = 0; i < cluster->nodes.count; i++) {
        plan_failure(cluster, i);
    }
    if (!cluster->world->config.is_wall_stepped) {
        agenda_add(&cluster->world->agenda, now_ms(cluster) + CLUSTER_HELLO_MS,
                   WORLD_HELLO, cluster->index);
    }
}

void cluster_set_node(struct cluster *cluster, uint32_t index, bool is_down)
{
    struct cluster_node *node = &cluster->nodes.items[index];

    if (node->is_down == is_down) {
        return;
    }
    node->is_down = is_down;
    if (cluster->world->config.watch.node) {
        cluster->world->config.watch.node(cluster->world->config.watch.ctx,
                                          &node->record, is_down);
    }
    VEC_PUSH(&cluster->changed_nodes, index);
    for (uint32_t i = 0; is_down && i < cluster->runs.count; i++) {
        struct cluster_run *run = run_at(cluster, i);
        if (run->job != FREE_SLOT && run->node == index &&
            run->row.phase != RECONCILE_NEVER &&
            !reconcile_is_ended(run->row.phase)) {
            pod_end(cluster, i, RECONCILE_LOST);
            plan(cluster, i);
        }
    }
    exchange(cluster, false);
    plan_failure(cluster, index);
}
