/* Collects reports of runs into one message. */
#include "sim/world/cluster_private.h"

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

void cluster_report_destroy(struct cluster_report *report)
{
    if (report) {
        log_batch_fini(&report->batch);
        VEC_FREE(&report->notes);
        mem_free(report);
    }
}

void cluster_flush_soon(struct cluster *cluster)
{
    if (!cluster->is_flushing) {
        cluster->is_flushing = true;
        agenda_add(&cluster->world->agenda,
                   cluster_now_ms(cluster) + cluster->options.report_ms,
                   WORLD_REPORT, cluster->index);
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
    const struct cluster_run *of = cluster_run_at(cluster, run);
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
void cluster_report_run(struct cluster *cluster, uint32_t run)
{
    struct cluster_run *of = cluster_run_at(cluster, run);
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
    cluster_flush_soon(cluster);
}

static void on_reported(struct command *command, void *ctx)
{
    struct cluster_report *report = ctx;
    struct cluster *cluster = report->cluster;

    if (command->result != COMMAND_OK) {
        world_refused(cluster->world, command);
    }
    for (size_t i = 0; i < report->notes.count; i++) {
        const struct note *note = &report->notes.items[i];
        struct cluster_run *run = cluster_run_at(cluster, note->run);
        if (run->job != CLUSTER_FREE_RUN &&
            key128_compare(run->row.id.v, note->id.v) == 0) {
            run->row.acked = note->phase;
            cluster_plan_run(cluster, note->run);
        }
    }
    cluster_report_destroy(report);
    command_destroy(command);
}

void cluster_flush(struct cluster *cluster)
{
    struct cluster_report *report = cluster->report;

    cluster->is_flushing = false;
    cluster->report = NULL;
    if (report) {
        struct command *command = command_create(COMMAND_EVENTS);
        command_set_sequences(command, log_batch_finish(&report->batch));
        command->done = on_reported;
        command->ctx = report;
        world_post(cluster->world, command);
    }
    if (cluster->credit < CLUSTER_LEASES_MAX / 2) {
        cluster_hello(cluster);
    }
}
