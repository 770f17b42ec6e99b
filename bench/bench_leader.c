/*
 * bench_leader - a leader with a million waiting jobs: how much memory each
 * takes, how fast they are accepted, and how soon a new leader leads after
 * the first was killed.
 *
 *     bench_leader DIR [JOBS]
 *
 * The jobs are of 100 queues, 1,000 job sets and 100 classes, with client ids
 * and half a kilobyte of pod spec each, and wait because all 50,000 nodes are
 * cordoned.  The log is the one in SQLite.
 */
#include <inttypes.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/vec.h"
#include "control/command/session.h"
#include "control/control.h"
#include "elog/elog_sqlite.h"
#include "main/common/machine.h"
#include "wire/log/log_codec.h"

enum {
    JOBS = 1000000,
    BATCH = 1000,
    CHECKPOINT_STEPS_MAX = 1000, /* until one is written, if one is due */
    QUEUES = 100,
    SETS_PER_QUEUE = 10,
    CLASSES = 100,
    POD_BYTES = 500,
    NODES = 50000,
    NODES_PER_EVENT = 1000,
    FLOW_NODES = 1000,
    FLOW_JOBS = 200000,
    NS_PER_S = 1000000000,
};

struct leader {
    uint64_t seq; /* of the last durable record */
    uint64_t checkpoint_seq;
    struct str checkpoint; /* to be written; owned */
    struct elog *log;
    struct inbox *inbox;
    struct queue_table *queues, *retry_policies;
    struct control *control;
    uint32_t answered;
};

static void die(const char *what, const struct err *err)
{
    fprintf(stderr, "bench_leader: %s: %s\n", what, err->text);
    exit(1);
}

static void on_done(struct command *command, void *ctx)
{
    struct leader *leader = ctx;

    if (command->result != COMMAND_OK) {
        fprintf(stderr, "bench_leader: %.*s\n", STR_ARG(command->result_text));
        exit(1);
    }
    leader->answered++;
    command_destroy(command);
}

static void step(struct leader *leader)
{
    struct err err;

    if (control_step(leader->control, &err) < 0) {
        die("step", &err);
    }
}

/* A query store that keeps up, and has nothing from before. */
static void on_durable(void *ctx, uint64_t seq)
{
    ((struct leader *)ctx)->seq = seq;
}

static uint64_t stored_seq(void *ctx)
{
    return ((struct leader *)ctx)->seq;
}

static int find_client_id(void *ctx, struct str queue, struct str client_id,
                          struct job_id *ret_job)
{
    (void)ctx;
    (void)queue;
    (void)client_id;
    (void)ret_job;
    return 0;
}

static void keep_checkpoint(void *ctx, uint64_t seq, char *bytes,
                            size_t byte_count)
{
    struct leader *leader = ctx;

    leader->checkpoint_seq = seq;
    leader->checkpoint = str_make(bytes, byte_count);
}

/* What berthd does in a thread of its own. */
static void write_checkpoint(struct leader *leader)
{
    struct err err;

    if (leader->checkpoint.p &&
        elog_checkpoint_put(leader->log, leader->checkpoint_seq,
                            CONTROL_CHECKPOINT_VERSION, leader->checkpoint,
                            &err) < 0) {
        die("checkpoint", &err);
    }
    mem_free((void *)(uintptr_t)leader->checkpoint.p);
    leader->checkpoint = (struct str){0};
}

static void start(struct leader *leader, const char *path)
{
    struct policy policy;
    struct err err;

    policy_defaults(&policy);
    if (elog_sqlite_open(path, NULL, &leader->log, &err) < 0) {
        die("open", &err);
    }
    leader->inbox = inbox_create(NULL, NULL);
    leader->queues = queue_table_create();
    leader->retry_policies = queue_table_create();
    struct control_config config = {
        .log = leader->log,
        .clock = &machine_clock,
        .rng = &machine_rng,
        .inbox = leader->inbox,
        .policy = &policy,
        .queues = leader->queues,
        .retry_policies = leader->retry_policies,
        .hooks = {.ctx = leader,
                  .durable = on_durable,
                  .stored_seq = stored_seq,
                  .find_client_id = find_client_id,
                  .checkpoint = keep_checkpoint},
    };
    leader->control = control_create(&config);
    while (control_state(leader->control) != CONTROL_LEADING) {
        step(leader);
    }
}

static void post(struct leader *leader, struct command *command)
{
    uint32_t before = leader->answered;

    command->done = on_done;
    command->ctx = leader;
    if (inbox_post(leader->inbox, command) < 0) {
        abort();
    }
    while (leader->answered == before) {
        step(leader);
        write_checkpoint(leader);
    }
}

/* A command that appends the sequences of a payload. */
static struct command *sequences_command(struct str payload)
{
    struct command *command = command_create(COMMAND_EVENTS);
    struct pack_reader reader = {.rest = payload};
    VEC(struct event_sequence) sequences = {0};

    while (reader.rest.byte_count > 0) {
        unpack_u64(&reader); /* the tag */
        struct event_sequence sequence = {
            arena_str(&command->arena, unpack_str(&reader))};
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
    return command;
}

static void post_event(struct leader *leader, const struct event *event)
{
    struct event_scope scope = {0};
    struct log_batch batch = {0};

    log_batch_add(&batch, &scope, event);
    struct command *command = sequences_command(log_batch_finish(&batch));
    log_batch_fini(&batch);
    post(leader, command);
}

static void make_queue(struct leader *leader, uint32_t n)
{
    auto_strbuf encoded = {0};
    struct event event;
    char name[16];

    int length = snprintf(name, sizeof(name), "queue-%u", n);
    memset(&event, 0, sizeof(event));
    event.type = EVENT_QUEUE_SET;
    /* api.Queue: 1 name, 2 priority_factor 1.0 */
    strbuf_add_char(&encoded, 0x0a);
    strbuf_add_char(&encoded, (char)length);
    strbuf_add_text(&encoded, name);
    strbuf_add(&encoded, "\x11\0\0\0\0\0\0\xf0\x3f", 9);
    event.queue.record.name = str_of(name);
    event.queue.encoded = strbuf_str(&encoded);
    post_event(leader, &event);
}

/* Nodes of one executor, cordoned: big enough, so that no job is refused. */
static void make_nodes(struct leader *leader)
{
    /* Room for any job: what no node could hold, open or not, is refused. */
    struct resource_amount total[] = {
        {STR("cpu"), 64000},
        {STR("ephemeral-storage"), (int64_t)8 << 50},
        {STR("memory"), (int64_t)4 << 50},
    };
    auto_arena arena = {0};
    struct node_record *nodes =
        arena_alloc_array(&arena, NODES_PER_EVENT, sizeof(*nodes));
    struct event event;

    for (uint32_t first = 0; first < NODES; first += NODES_PER_EVENT) {
        for (uint32_t i = 0; i < NODES_PER_EVENT; i++) {
            auto_strbuf name = {0};
            strbuf_addf(&name, "node-%u", first + i);
            nodes[i] = (struct node_record){
                .name = arena_str(&arena, strbuf_str(&name)),
                .pool = STR("default"),
                .total = {total, 3},
                .is_unschedulable = true,
            };
        }
        memset(&event, 0, sizeof(event));
        event.type = EVENT_EXECUTOR_NODES;
        event.nodes.executor_id = STR("e");
        event.nodes.pool = STR("default");
        event.nodes.set = nodes;
        event.nodes.set_count = NODES_PER_EVENT;
        post_event(leader, &event);
    }
}

static void pack_class(struct strbuf *key, uint32_t n)
{
    struct resource_amount requests[] = {
        {STR("cpu"), 1000 + (int64_t)(n % CLASSES) * 100},
        {STR("ephemeral-storage"), (int64_t)8 << 40},
        {STR("memory"), (int64_t)4 << 40},
    };
    struct toleration tolerations[] = {
        {STR("armadaproject.io/armada"), STR("true"), TAINT_NO_SCHEDULE, false},
        {STR("armadaproject.io/pc-armada-preemptible"), STR("true"),
         TAINT_NO_SCHEDULE, false},
    };
    struct requirement requirement = {
        .lifetime_ms = LIFETIME_BY_CLASS,
        .priority_class = STR("armada-preemptible"),
        .requests = {requests, 3},
        .tolerations = tolerations,
        .toleration_count = 2,
    };

    requirement_pack(key, &requirement);
}

static void fill_item(struct command *command, uint32_t n,
                      struct submit_item *item)
{
    auto_strbuf key = {0}, digest = {0}, submit_job = {0}, event = {0};
    static const char pod[POD_BYTES];
    uint8_t random[10] = {0};
    char id[ID_TEXT_BYTES_MAX], client_id[32];
    int64_t now_ms = machine_clock.wall_ms(&machine_clock);

    memcpy(random, &(uint32_t){__builtin_bswap32(n)}, 4);
    item->job = job_id_make(now_ms, random);
    snprintf(client_id, sizeof(client_id), "client-id-of-job-%u", n);
    pack_class(&key, n);
    struct job_digest of = {.class_key = strbuf_str(&key),
                            .client_id = str_of(client_id),
                            .gang_cardinality = 1,
                            .gang_minimum = 1};
    digest_pack(&digest, &of);
    /* armadaevents.SubmitJob: 14 job_id, 3 priority, 5 mainObject */
    strbuf_add(&submit_job, "\x72\x1a", 2);
    strbuf_add_text(&submit_job, job_id_format(item->job, id));
    strbuf_add(&submit_job, "\x18\x05\x2a", 3);
    pack_u64(&submit_job, POD_BYTES);
    strbuf_add(&submit_job, pod, POD_BYTES);
    log_put_submit(&event, now_ms, strbuf_str(&submit_job),
                   strbuf_str(&digest));
    item->event = arena_str(&command->arena, strbuf_str(&event));
    item->client_id = arena_str(&command->arena, str_of(client_id));
}

static struct command *make_submission(uint32_t first, uint32_t count)
{
    struct command *command = command_create(COMMAND_SUBMIT);
    auto_strbuf queue = {0}, job_set = {0};
    uint32_t n = first / BATCH;

    strbuf_addf(&queue, "queue-%u", n % QUEUES);
    strbuf_addf(&job_set, "job-set-%u", n / QUEUES % SETS_PER_QUEUE);
    command->scope.queue = arena_str(&command->arena, strbuf_str(&queue));
    command->scope.job_set = arena_str(&command->arena, strbuf_str(&job_set));
    command->scope.user = STR("anna");
    command->submit.items =
        arena_alloc_array(&command->arena, count, sizeof(struct submit_item));
    command->submit.item_count = count;
    for (uint32_t i = 0; i < count; i++) {
        fill_item(command, first + i, &command->submit.items[i]);
    }
    return command;
}

static double seconds_since(uint64_t began_ns)
{
    return (double)(machine_clock.mono_ns(&machine_clock) - began_ns) /
           NS_PER_S;
}

static void figure(const char *name, double value, const char *unit)
{
    printf("{\"name\": \"%s\", \"value\": %.3f, \"unit\": \"%s\"}\n", name,
           value, unit);
    fflush(stdout);
}

/* An executor of FLOW_NODES nodes that runs whatever it is leased. */
struct flow {
    struct exchange_session session;
    struct leader *leader;
    struct log_batch reports; /* of what was leased since the last step */
    struct {
        struct exchange_lease *items;
        size_t count, capacity;
    } fresh;
    struct arena arena;
    uint32_t ended_count;
};

static void on_push(struct exchange_session *session,
                    const struct exchange_response *response)
{
    struct flow *flow = session->ctx;

    for (uint32_t i = 0; i < response->lease_count; i++) {
        VEC_PUSH(&flow->fresh, response->leases[i]);
        struct exchange_lease *lease =
            &flow->fresh.items[flow->fresh.count - 1];
        lease->queue = arena_str(&flow->arena, lease->queue);
        lease->job_set = arena_str(&flow->arena, lease->job_set);
    }
}

static void on_released(struct exchange_session *session,
                        enum command_result result)
{
    (void)session;
    (void)result;
}

static void flow_exchange(struct flow *flow, bool is_first)
{
    struct command *command = command_create(COMMAND_EXCHANGE);
    struct exchange_request *request = &command->exchange.request;
    struct resource_amount *total =
        arena_alloc_array(&command->arena, 3, sizeof(*total));
    struct node_record *nodes =
        arena_alloc_array(&command->arena, FLOW_NODES, sizeof(*nodes));

    total[0] = (struct resource_amount){STR("cpu"), 64000};
    total[1] =
        (struct resource_amount){STR("ephemeral-storage"), (int64_t)8 << 50};
    total[2] = (struct resource_amount){STR("memory"), (int64_t)4 << 50};
    for (uint32_t i = 0; i < FLOW_NODES; i++) {
        auto_strbuf name = {0};
        strbuf_addf(&name, "node-%u", i);
        nodes[i] = (struct node_record){
            .name = arena_str(&command->arena, strbuf_str(&name)),
            .pool = STR("default"),
            .total = {total, 3}};
    }
    request->session = &flow->session;
    request->executor_id = STR("flow");
    request->pool = STR("default");
    request->is_full = request->has_nodes = is_first;
    request->nodes = nodes;
    request->node_count = is_first ? FLOW_NODES : 0;
    request->lease_max = 1000000;
    post(flow->leader, command);
}

static void flow_report(struct flow *flow, const struct exchange_lease *lease,
                        enum event_type type)
{
    struct event_scope scope = {lease->queue, lease->job_set, {0}};
    struct event event;

    memset(&event, 0, sizeof(event));
    event.type = type;
    event.created_ms = machine_clock.wall_ms(&machine_clock);
    event.job = lease->job;
    event.run = lease->run;
    event.pod.executor_id = STR("flow");
    log_batch_add(&flow->reports, &scope, &event);
}

/* Everything that was leased runs and succeeds at once. */
static void flow_run(struct flow *flow)
{
    struct command *command;

    for (size_t i = 0; i < flow->fresh.count; i++) {
        flow_report(flow, &flow->fresh.items[i], EVENT_RUN_ASSIGNED);
        flow_report(flow, &flow->fresh.items[i], EVENT_RUN_RUNNING);
        flow_report(flow, &flow->fresh.items[i], EVENT_RUN_SUCCEEDED);
    }
    flow->ended_count += (uint32_t)flow->fresh.count;
    flow->fresh.count = 0;
    command = sequences_command(log_batch_finish(&flow->reports));
    log_batch_clear(&flow->reports);
    arena_reset(&flow->arena);
    if (command->events.sequence_count) {
        post(flow->leader, command);
    } else {
        command_destroy(command);
        step(flow->leader);
    }
}

/* Submit `job_count` jobs, a request at a time, and run them. */
static void flow(const char *path, uint32_t job_count)
{
    struct leader leader = {0};
    struct flow flow = {.session = {.push = on_push, .released = on_released},
                        .leader = &leader};
    uint32_t submitted = 0;

    start(&leader, path);
    flow.session.ctx = &flow;
    for (uint32_t i = 0; i < QUEUES; i++) {
        make_queue(&leader, i);
    }
    flow_exchange(&flow, true);
    uint64_t began_ns = machine_clock.mono_ns(&machine_clock);
    while (flow.ended_count < job_count) {
        if (submitted < job_count) {
            post(&leader, make_submission(submitted, BATCH));
            submitted += BATCH;
        }
        flow_run(&flow);
    }
    figure("leader.flow_jobs_per_s", job_count / seconds_since(began_ns),
           "jobs/s");
    struct control_metrics metrics;
    control_metrics(leader.control, &metrics);
    fprintf(stderr,
            "batches %" PRIu64 " rounds %" PRIu64 "+%" PRIu64
            " round ms %.1f max %.1f late %" PRIu64 "\n",
            metrics.batch_count, metrics.fast_round_count,
            metrics.balance_round_count, (double)metrics.round_us_sum / 1000.0,
            (double)metrics.round_us_max / 1000.0, metrics.late_count);
    control_destroy(leader.control);
    elog_close(leader.log);
    inbox_destroy(leader.inbox);
    queue_table_destroy(leader.queues);
    queue_table_destroy(leader.retry_policies);
    log_batch_fini(&flow.reports);
    VEC_FREE(&flow.fresh);
    arena_fini(&flow.arena);
}

static uint64_t resident_bytes(void)
{
    unsigned long long size, resident;
    FILE *file = fopen("/proc/self/statm", "r");

    if (!file || fscanf(file, "%llu %llu", &size, &resident) != 2) {
        abort();
    }
    fclose(file);
    return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* What the first leader lives through, up to the moment it is killed. */
static void live(const char *path, uint32_t job_count)
{
    struct leader leader = {0};
    struct control_metrics metrics;

    start(&leader, path);
    for (uint32_t i = 0; i < QUEUES; i++) {
        make_queue(&leader, i);
    }
    make_nodes(&leader);
    post(&leader, make_submission(0, BATCH));
    uint64_t before = resident_bytes();
    uint64_t began_ns = machine_clock.mono_ns(&machine_clock);
    for (uint32_t n = BATCH; n < job_count; n += BATCH) {
        post(&leader, make_submission(n, BATCH));
    }
    double took_s = seconds_since(began_ns);
    uint64_t after = resident_bytes();
    figure("leader.bytes_per_queued_job",
           (double)(after - before) / (double)(job_count - BATCH), "bytes");
    figure("leader.submit_jobs_per_s", (double)(job_count - BATCH) / took_s,
           "jobs/s");
    for (int i = 0; i < CHECKPOINT_STEPS_MAX; i++) {
        step(&leader);
        write_checkpoint(&leader);
    }
    control_metrics(leader.control, &metrics);
    figure("leader.checkpoints", (double)metrics.checkpoint_count, "");
    figure("sched.snapshot_ms", metrics.checkpoint_pause_us_last / 1000.0,
           "ms");
    figure("leader.round_max_ms", (double)metrics.round_us_max / 1000.0, "ms");
    kill(getpid(), SIGKILL);
}

int main(int argc, char **argv)
{
    uint32_t job_count = argc > 2 ? (uint32_t)atoi(argv[2]) : JOBS;
    struct leader leader = {0};
    struct control_metrics metrics;
    auto_strbuf path = {0};
    int status;

    if (argc < 2) {
        fprintf(stderr, "usage: bench_leader DIR [JOBS]\n");
        return 2;
    }
    mkdir(argv[1], 0700);
    strbuf_addf(&path, "%s/log", argv[1]);
    pid_t child = fork();
    if (child == 0) {
        live(strbuf_text(&path), job_count);
    }
    if (waitpid(child, &status, 0) < 0 || !WIFSIGNALED(status)) {
        return 1;
    }
    uint64_t began_ns = machine_clock.mono_ns(&machine_clock);
    start(&leader, strbuf_text(&path));
    figure("leader.restart_s", seconds_since(began_ns), "s");
    control_metrics(leader.control, &metrics);
    if (metrics.job_count != job_count) {
        fprintf(stderr, "bench_leader: %u jobs came back\n", metrics.job_count);
        return 1;
    }
    figure("leader.bytes_resident_after_restart",
           (double)resident_bytes() / (double)job_count, "bytes");
    control_destroy(leader.control);
    elog_close(leader.log);
    inbox_destroy(leader.inbox);
    queue_table_destroy(leader.queues);
    queue_table_destroy(leader.retry_policies);
    strbuf_add_text(&path, "-flow");
    flow(strbuf_text(&path), FLOW_JOBS);
    return 0;
}
