#include "server.h"

#include <stdio.h>

#include "field.h"
#include "support.h"
#include "wire/message/message.h"

/* The clock is the first member. */
static int64_t now_of(const struct clock *clock)
{
    return ((const struct test_clock *)(const void *)clock)->now_ms;
}

static uint64_t mono_ns(const struct clock *clock)
{
    return (uint64_t)now_of(clock) * 1000000;
}

static int64_t wall_ms(const struct clock *clock)
{
    return now_of(clock) + 1700000000000;
}

void test_clock_init(struct test_clock *clock)
{
    *clock = (struct test_clock){{mono_ns, wall_ms}, 1000000};
}

static struct server *of(struct executor_transport *port)
{
    return container_of(port, struct server, port);
}

static void push(struct server *server, struct executor_arrival arrival,
                 const ProtobufCMessage *message)
{
    struct strbuf bytes = {0};

    if (message) {
        wire_encode(message, &bytes);
    }
    arrival.bytes = strbuf_str(&bytes);
    VEC_PUSH(&server->queue, (struct server_item){arrival, bytes.bytes});
}

static void push_message(struct server *server,
                         const Executorapi__LeaseStreamMessage *message)
{
    push(server, (struct executor_arrival){.kind = EXECUTOR_LEASE_MESSAGE},
         &message->base);
}

static void ask_for_cpu(struct job *job, const char *cpu)
{
    K8s__Io__Api__Core__V1__Container *container =
        job_container(job, false, (const char *const[]){"true", NULL});
    K8s__Io__Api__Core__V1__ResourceRequirements__RequestsEntry *entry =
        arena_alloc(&job->arena, sizeof(*entry));
    K8s__Io__Apimachinery__Pkg__Api__Resource__Quantity *value =
        arena_alloc(&job->arena, sizeof(*value));

    k8s__io__api__core__v1__resource_requirements__requests_entry__init(entry);
    k8s__io__apimachinery__pkg__api__resource__quantity__init(value);
    container->resources =
        arena_alloc(&job->arena, sizeof(*container->resources));
    k8s__io__api__core__v1__resource_requirements__init(container->resources);
    value->string = arena_strdup(&job->arena, str_of(cpu));
    entry->key = arena_strdup(&job->arena, STR("cpu"));
    entry->value = value;
    container->resources->n_requests = 1;
    container->resources->requests = arena_alloc(&job->arena, sizeof(entry));
    container->resources->requests[0] = entry;
}

static void push_lease(struct server *server, struct server_job *offered)
{
    char id[ID_TEXT_BYTES_MAX], run[ID_TEXT_BYTES_MAX];
    Executorapi__LeaseStreamMessage message =
        EXECUTORAPI__LEASE_STREAM_MESSAGE__INIT;
    Executorapi__JobRunLease lease = EXECUTORAPI__JOB_RUN_LEASE__INIT;
    struct job job;

    job_make(&job, 0, NULL);
    K8s__Io__Api__Core__V1__PodSpec__NodeSelectorEntry selector =
        K8S__IO__API__CORE__V1__POD_SPEC__NODE_SELECTOR_ENTRY__INIT;
    K8s__Io__Api__Core__V1__PodSpec__NodeSelectorEntry *selectors[] = {
        &selector};
    selector.key = field("kubernetes.io/hostname");
    selector.value = field("fake-node-0");
    job.pod->n_nodeselector = 1;
    job.pod->nodeselector = selectors;
    if (server->cpu) {
        ask_for_cpu(&job, server->cpu);
    }
    job.submit->job_id = job_id_format(offered->job, id);
    lease.queue = field("queue");
    lease.jobset = field("set");
    lease.job_run_id = run_id_format(offered->run, run);
    lease.job = job.submit;
    lease.was_reported = offered->was_reported;
    message.event_case = EXECUTORAPI__LEASE_STREAM_MESSAGE__EVENT_LEASE;
    message.lease = &lease;
    push_message(server, &message);
    job_free(&job);
}

static void push_cancel(struct server *server, const struct server_job *job)
{
    char run[ID_TEXT_BYTES_MAX];
    char *ids[] = {run};
    Executorapi__LeaseStreamMessage message =
        EXECUTORAPI__LEASE_STREAM_MESSAGE__INIT;
    Executorapi__CancelRuns cancel = EXECUTORAPI__CANCEL_RUNS__INIT;

    run_id_format(job->run, run);
    cancel.n_job_run_ids_to_cancel = 1;
    cancel.job_run_ids_to_cancel = ids;
    message.event_case = EXECUTORAPI__LEASE_STREAM_MESSAGE__EVENT_CANCEL_RUNS;
    message.cancel_runs = &cancel;
    push_message(server, &message);
}

static void push_simple(struct server *server, bool is_heartbeat)
{
    Executorapi__LeaseStreamMessage message =
        EXECUTORAPI__LEASE_STREAM_MESSAGE__INIT;
    Executorapi__EndMarker end = EXECUTORAPI__END_MARKER__INIT;
    Executorapi__Heartbeat heartbeat = EXECUTORAPI__HEARTBEAT__INIT;

    if (is_heartbeat) {
        message.event_case = EXECUTORAPI__LEASE_STREAM_MESSAGE__EVENT_HEARTBEAT;
        message.heartbeat = &heartbeat;
    } else {
        message.event_case = EXECUTORAPI__LEASE_STREAM_MESSAGE__EVENT_END;
        message.end = &end;
    }
    push_message(server, &message);
}

static void push_end(struct server *server, bool is_ok)
{
    push(server,
         (struct executor_arrival){.kind = EXECUTOR_LEASE_ENDED,
                                   .is_ok = is_ok,
                                   .text = is_ok ? STR("") : STR("away")},
         NULL);
}

static struct server_job *find(struct server *server, const char *run_text)
{
    struct run_id run;
    int rc = run_id_parse(str_of(run_text), &run);

    ASSERT(rc == 0);
    uint32_t index = map_find(&server->by_run, run.v);
    return index == MAP_NONE ? NULL : &server->jobs.items[index];
}

void server_push(struct server *server)
{
    for (size_t i = 0; i < server->jobs.count; i++) {
        struct server_job *job = &server->jobs.items[i];
        if ((job->is_cancelled || job->is_ended) && job->is_held) {
            push_cancel(server, job);
        } else if (!job->is_cancelled && !job->is_ended && !job->is_sent &&
                   !job->is_held && server->credit > 0) {
            server->credit--;
            job->is_sent = true;
            push_lease(server, job);
        }
    }
}

static void take_protected(struct server *server,
                           const Executorapi__LeaseRequest *request)
{
    if (request->says_protected) {
        server->protected_count = (uint32_t)request->n_protected_run_ids;
    }
}

static void take_held(struct server *server,
                      const Executorapi__LeaseRequest *request)
{
    server->held_run_count = (uint32_t)request->n_unassigned_job_run_ids;
    for (size_t i = 0; i < server->jobs.count; i++) {
        server->jobs.items[i].is_sent = server->jobs.items[i].is_held = false;
    }
    for (size_t i = 0; i < request->n_unassigned_job_run_ids; i++) {
        struct server_job *job =
            find(server, request->unassigned_job_run_ids[i]);
        if (job) {
            job->is_held = true;
        }
    }
    for (size_t n = 0; n < request->n_nodes; n++) {
        const Executorapi__NodeInfo *node = request->nodes[n];
        server->held_run_count += (uint32_t)node->n_run_ids_by_state;
        for (size_t i = 0; i < node->n_run_ids_by_state; i++) {
            struct server_job *job =
                find(server, node->run_ids_by_state[i]->key);
            if (job) {
                job->is_held = true;
            }
        }
    }
    server->node_count = (uint32_t)request->n_nodes;
    if (request->n_nodes > 0) {
        snprintf(server->last_node, sizeof(server->last_node), "%s",
                 request->nodes[0]->name);
    }
}

static void take_delta(struct server *server,
                       const Executorapi__LeaseRequest *request)
{
    server->changed_node_count += (uint32_t)request->n_nodes;
    server->removed_node_count += (uint32_t)request->n_node_names_removed;
    if (request->n_node_names_removed > 0) {
        snprintf(server->last_removed, sizeof(server->last_removed), "%s",
                 request->node_names_removed[0]);
    }
    for (size_t i = 0; i < request->n_run_ids_added; i++) {
        struct server_job *job = find(server, request->run_ids_added[i]);
        if (job) {
            job->is_held = true;
        }
    }
    for (size_t i = 0; i < request->n_run_ids_removed; i++) {
        struct server_job *job = find(server, request->run_ids_removed[i]);
        if (job) {
            job->is_held = false;
        }
    }
}

static const Executorapi__LeaseRequest *decode(struct str bytes,
                                               struct arena *arena)
{
    ProtobufCMessage *base = NULL;
    struct err err;
    int rc = wire_decode(&executorapi__lease_request__descriptor, bytes,
                         &wire_request_limits, arena, &base, &err);

    ASSERT(rc == 0);
    return (const Executorapi__LeaseRequest *)base;
}

static void lease_open(struct executor_transport *port, struct str bytes)
{
    struct server *server = of(port);
    auto_arena arena = {0};

    server->open_count++;
    if (server->is_away) {
        push_end(server, false);
        return;
    }
    const Executorapi__LeaseRequest *request = decode(bytes, &arena);
    take_held(server, request);
    server->credit = server->last_lease_max = request->max_jobs_to_lease;
    take_protected(server, request);
    if (server->agrees_to_hold && request->held_stream) {
        push_simple(server, true);
        server->is_open = true;
        server_push(server);
        return;
    }
    server_push(server);
    push_simple(server, false);
    push_end(server, true);
}

static bool lease_has_room(struct executor_transport *port)
{
    return !of(port)->is_full;
}

static bool lease_send(struct executor_transport *port, struct str bytes)
{
    struct server *server = of(port);
    auto_arena arena = {0};

    ASSERT(server->is_open);
    ASSERT(!server->is_full);
    const Executorapi__LeaseRequest *request = decode(bytes, &arena);
    ASSERT(request->is_delta);
    server->delta_count++;
    server->credit = server->last_lease_max = request->max_jobs_to_lease;
    take_protected(server, request);
    take_delta(server, request);
    server_push(server);
    return true;
}

void server_hang_up(struct server *server)
{
    server->is_open = false;
    push_end(server, false);
}

static void lease_cancel(struct executor_transport *port)
{
    of(port)->cancel_count++;
    server_hang_up(of(port));
}

/* a: assigned, r: running, s: succeeded, f: failed, b: lease given back,
 * p: preempted, i: addresses, u: usage, w: warnings. */
static char letter_of(const Armadaevents__EventSequence__Event *event)
{
    switch ((int)event->event_case) {
    case ARMADAEVENTS__EVENT_SEQUENCE__EVENT__EVENT_JOB_RUN_ASSIGNED:
        return 'a';
    case ARMADAEVENTS__EVENT_SEQUENCE__EVENT__EVENT_JOB_RUN_RUNNING:
        return 'r';
    case ARMADAEVENTS__EVENT_SEQUENCE__EVENT__EVENT_JOB_RUN_SUCCEEDED:
        return 's';
    case ARMADAEVENTS__EVENT_SEQUENCE__EVENT__EVENT_JOB_RUN_PREEMPTED:
        return 'p';
    case ARMADAEVENTS__EVENT_SEQUENCE__EVENT__EVENT_STANDALONE_INGRESS_INFO:
        return 'i';
    case ARMADAEVENTS__EVENT_SEQUENCE__EVENT__EVENT_RESOURCE_UTILISATION:
        return 'u';
    case ARMADAEVENTS__EVENT_SEQUENCE__EVENT__EVENT_JOB_RUN_ERRORS:
        return event->jobrunerrors->errors[0]->reason_case ==
                       ARMADAEVENTS__ERROR__REASON_POD_LEASE_RETURNED
                   ? 'b'
                   : 'f';
    default:
        return 'w';
    }
}

static const char *run_of(const Armadaevents__EventSequence__Event *event)
{
    switch (letter_of(event)) {
    case 'a':
        return event->jobrunassigned->run_id;
    case 'r':
        return event->jobrunrunning->run_id;
    case 's':
        return event->jobrunsucceeded->run_id;
    case 'p':
        return event->jobrunpreempted->preempted_run_id;
    case 'i':
        return event->standaloneingressinfo->run_id;
    case 'u':
        return event->resourceutilisation->run_id;
    case 'w':
        return event->jobrunterminateddebuginfo->run_id;
    default:
        return event->jobrunerrors->run_id;
    }
}

/* Where an event says that a run is. */
static const char *node_of(const Armadaevents__EventSequence__Event *event)
{
    switch (letter_of(event)) {
    case 'a':
        return event->jobrunassigned->resourceinfos[0]->podinfo->node_name;
    case 'r':
        return event->jobrunrunning->resourceinfos[0]->podinfo->node_name;
    default:
        return "";
    }
}

static void hear(struct server *server,
                 const Armadaevents__EventSequence__Event *event)
{
    struct server_job *job = find(server, run_of(event));
    char letter = letter_of(event);
    size_t count;

    ASSERT(job);
    count = strlen(job->events);
    ASSERT(event->created && event->created->seconds > 1600000000);
    if (count + 1 < sizeof(job->events)) {
        job->events[count] = letter;
    }
    if (letter == 's' || letter == 'f' || letter == 'b') {
        job->is_ended = true;
    }
    if (*node_of(event)) {
        snprintf(job->node, sizeof(job->node), "%s", node_of(event));
    }
    if (letter == 'i') {
        const Armadaevents__StandaloneIngressInfo *info =
            event->standaloneingressinfo;
        ASSERT(info->n_ingress_addresses == 1);
        snprintf(job->address, sizeof(job->address), "%d=%s",
                 info->ingress_addresses[0]->key,
                 info->ingress_addresses[0]->value);
    }
    if (letter == 'u') {
        const Armadaevents__ResourceUtilisation *usage =
            event->resourceutilisation;
        ASSERT(usage->n_max_resources_for_period == 1);
        snprintf(job->used, sizeof(job->used), "%s=%s",
                 usage->max_resources_for_period[0]->key,
                 usage->max_resources_for_period[0]->value->string);
    }
    if (letter == 'f') {
        snprintf(job->subcategory, sizeof(job->subcategory), "%s",
                 event->jobrunerrors->errors[0]->failure_subcategory);
    }
}

static void report(struct executor_transport *port, uint64_t ticket,
                   struct str bytes)
{
    struct server *server = of(port);
    auto_arena arena = {0};
    ProtobufCMessage *base = NULL;
    struct err err;
    size_t event_count = 0;

    server->report_count++;
    if (server->is_deaf) {
        return;
    }
    push(server,
         (struct executor_arrival){.kind = EXECUTOR_REPORT_DONE,
                                   .ticket = ticket,
                                   .is_ok = !server->is_away,
                                   .text = STR("away")},
         NULL);
    if (server->is_away) {
        return;
    }
    int rc = wire_decode(&executorapi__event_list__descriptor, bytes,
                         &wire_request_limits, &arena, &base, &err);
    ASSERT(rc == 0);
    const Executorapi__EventList *list = (const Executorapi__EventList *)base;
    for (size_t s = 0; s < list->n_events; s++) {
        for (size_t e = 0; e < list->events[s]->n_events; e++) {
            hear(server, list->events[s]->events[e]);
            event_count++;
        }
    }
    if (event_count > server->report_event_count_max) {
        server->report_event_count_max = event_count;
    }
}

static bool next(struct executor_transport *port, struct executor_arrival *ret)
{
    struct server *server = of(port);

    mem_free(server->handed);
    server->handed = NULL;
    if (server->queue_first == server->queue.count) {
        server->queue.count = server->queue_first = 0;
        return false;
    }
    struct server_item *item = &server->queue.items[server->queue_first++];
    server->handed = item->bytes;
    *ret = item->arrival;
    return true;
}

void server_init(struct server *server, struct test_clock *clock)
{
    *server = (struct server){
        .port = {lease_open, lease_has_room, lease_send, lease_cancel, report,
                 next},
        .clock = clock,
    };
}

void server_fini(struct server *server)
{
    for (; server->queue_first < server->queue.count; server->queue_first++) {
        mem_free(server->queue.items[server->queue_first].bytes);
    }
    mem_free(server->handed);
    VEC_FREE(&server->queue);
    VEC_FREE(&server->jobs);
    map_fini(&server->by_run);
}

uint32_t server_offer(struct server *server, int number)
{
    uint8_t random[10] = {(uint8_t)(number >> 16), (uint8_t)(number >> 8),
                          (uint8_t)number};
    struct server_job job = {.job = job_id_make(1700000000000, random)};
    uint32_t index = (uint32_t)server->jobs.count;

    job.run = run_id_make(job.job, 0);
    (void)map_put(&server->by_run, job.run.v, index);
    VEC_PUSH(&server->jobs, job);
    return index;
}
