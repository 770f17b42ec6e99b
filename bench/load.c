#include "load.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "armada/event.pb-c.h"
#include "armada/services.pb-c.h"
#include "armada/submit.pb-c.h"

enum { CALL_TIMEOUT_MS = 60000, STREAM_WAIT_MS = 200 };

double load_now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

_Noreturn static void give_up(const char *what, const struct rpc_status *status)
{
    fprintf(stderr, "%s: %s: %s\n", what, rpc_code_name(status->code),
            status->message);
    exit(1);
}

static void pack(const ProtobufCMessage *message, struct strbuf *ret_bytes)
{
    size_t byte_count = protobuf_c_message_get_packed_size(message);

    protobuf_c_message_pack(message, strbuf_reserve(ret_bytes, byte_count));
}

void load_create_queue(struct rpc_channel *channel, const char *queue)
{
    Api__Queue message = API__QUEUE__INIT;
    auto_strbuf request = {0};
    auto_strbuf reply = {0};
    struct rpc_status status;

    message.name = mem_strdup(queue);
    message.priority_factor = 1;
    pack(&message.base, &request);
    mem_free(message.name);
    struct rpc_call_options options = {.timeout_ms = CALL_TIMEOUT_MS,
                                       .is_wait_for_ready = true};
    if (rpc_channel_call(channel, "/api.QueueService/CreateQueue",
                         strbuf_str(&request), &options, &reply,
                         &status) != RPC_OK) {
        give_up("create queue", &status);
    }
}

/* One entry of a resource map. */
struct amount {
    K8s__Io__Apimachinery__Pkg__Api__Resource__Quantity quantity;
    K8s__Io__Api__Core__V1__ResourceRequirements__RequestsEntry request;
    K8s__Io__Api__Core__V1__ResourceRequirements__LimitsEntry limit;
};

static void set_amount(struct amount *amount, char *name, char *text)
{
    k8s__io__apimachinery__pkg__api__resource__quantity__init(
        &amount->quantity);
    k8s__io__api__core__v1__resource_requirements__requests_entry__init(
        &amount->request);
    k8s__io__api__core__v1__resource_requirements__limits_entry__init(
        &amount->limit);
    amount->quantity.string = text;
    amount->request.key = name;
    amount->request.value = &amount->quantity;
    amount->limit.key = name;
    amount->limit.value = &amount->quantity;
}

void load_encode_request(const char *queue, const char *job_set,
                         uint32_t job_count, struct strbuf *ret_request)
{
    static char cpu[] = "cpu", memory[] = "memory",
                disk[] = "ephemeral-storage";
    static char cpu_text[] = "100m", memory_text[] = "64Mi",
                disk_text[] = "1Mi";
    static char name[] = "main", image[] = "busybox", true_text[] = "true",
                default_text[] = "default";
    char *args[] = {true_text};
    struct amount amounts[3];
    set_amount(&amounts[0], cpu, cpu_text);
    set_amount(&amounts[1], memory, memory_text);
    set_amount(&amounts[2], disk, disk_text);
    K8s__Io__Api__Core__V1__ResourceRequirements__RequestsEntry *requests[] = {
        &amounts[0].request, &amounts[1].request, &amounts[2].request};
    K8s__Io__Api__Core__V1__ResourceRequirements__LimitsEntry *limits[] = {
        &amounts[0].limit, &amounts[1].limit, &amounts[2].limit};
    K8s__Io__Api__Core__V1__ResourceRequirements resources =
        K8S__IO__API__CORE__V1__RESOURCE_REQUIREMENTS__INIT;
    resources.requests = requests;
    resources.n_requests = ARRAY_COUNT(requests);
    resources.limits = limits;
    resources.n_limits = ARRAY_COUNT(limits);
    K8s__Io__Api__Core__V1__Container container =
        K8S__IO__API__CORE__V1__CONTAINER__INIT;
    container.name = name;
    container.image = image;
    container.args = args;
    container.n_args = 1;
    container.resources = &resources;
    K8s__Io__Api__Core__V1__Container *containers[] = {&container};
    K8s__Io__Api__Core__V1__PodSpec pod =
        K8S__IO__API__CORE__V1__POD_SPEC__INIT;
    pod.containers = containers;
    pod.n_containers = 1;
    Api__JobSubmitRequestItem item = API__JOB_SUBMIT_REQUEST_ITEM__INIT;
    item.namespace_ = default_text;
    K8s__Io__Api__Core__V1__PodSpec *pods[] = {&pod};
    item.pod_specs = pods;
    item.n_pod_specs = 1;
    Api__JobSubmitRequestItem **items =
        mem_alloc_array(job_count, sizeof(*items));
    for (uint32_t i = 0; i < job_count; i++) {
        items[i] = &item;
    }
    Api__JobSubmitRequest request = API__JOB_SUBMIT_REQUEST__INIT;
    request.queue = mem_strdup(queue);
    request.job_set_id = mem_strdup(job_set);
    request.job_request_items = items;
    request.n_job_request_items = job_count;
    pack(&request.base, ret_request);
    mem_free(request.queue);
    mem_free(request.job_set_id);
    mem_free(items);
}

/* What load_submit() shares with the channel's thread. */
struct submission {
    const struct load_plan *plan;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    uint32_t in_flight_count, done_count;
    struct load_time *sent; /* or NULL */
};

struct one_request {
    struct submission *submission;
    uint32_t index;
    double sent_ms;
};

static void keep_times(const struct one_request *one, struct str reply)
{
    uint32_t job_count = one->submission->plan->jobs_per_request;
    Api__JobSubmitResponse *response = api__job_submit_response__unpack(
        NULL, reply.byte_count, (const uint8_t *)reply.p);

    ASSERT(response && response->n_job_response_items == job_count);
    for (uint32_t i = 0; i < job_count; i++) {
        struct load_time *sent =
            &one->submission->sent[one->index * job_count + i];
        sent->at_ms = one->sent_ms;
        int rc = job_id_parse(str_of(response->job_response_items[i]->job_id),
                              &sent->job);
        ASSERT(rc == 0);
    }
    api__job_submit_response__free_unpacked(response, NULL);
}

static void on_reply(void *ctx, const struct rpc_status *status,
                     struct str reply)
{
    struct one_request *one = ctx;
    struct submission *submission = one->submission;

    if (status->code != RPC_OK) {
        give_up("submit", status);
    }
    if (submission->sent) {
        keep_times(one, reply);
    }
    mem_free(one);
    pthread_mutex_lock(&submission->mutex);
    submission->in_flight_count--;
    submission->done_count++;
    pthread_cond_signal(&submission->changed);
    pthread_mutex_unlock(&submission->mutex);
}

static void wait_until(double at_ms)
{
    double left_ms = at_ms - load_now_ms();

    if (left_ms > 0) {
        struct timespec t = {
            (time_t)(left_ms / 1e3),
            (long)((left_ms - 1e3 * (double)(time_t)(left_ms / 1e3)) * 1e6)};
        nanosleep(&t, NULL);
    }
}

double load_submit(const struct load_plan *plan, struct load_time *ret_sent)
{
    struct submission submission = {.plan = plan, .sent = ret_sent};
    struct rpc_call_options options = {.timeout_ms = CALL_TIMEOUT_MS};
    double begun_ms = load_now_ms();

    pthread_mutex_init(&submission.mutex, NULL);
    pthread_cond_init(&submission.changed, NULL);
    for (uint32_t i = 0; i < plan->request_count; i++) {
        struct one_request *one = mem_alloc(sizeof(*one));
        wait_until(begun_ms + plan->pace_ms * i);
        pthread_mutex_lock(&submission.mutex);
        while (submission.in_flight_count == plan->in_flight_max) {
            pthread_cond_wait(&submission.changed, &submission.mutex);
        }
        submission.in_flight_count++;
        pthread_mutex_unlock(&submission.mutex);
        *one = (struct one_request){&submission, i, load_now_ms()};
        rpc_channel_call_async(
            plan->channel, "/api.Submit/SubmitJobs",
            strbuf_str(&plan->requests[i % plan->request_kind_count]), &options,
            on_reply, one);
    }
    pthread_mutex_lock(&submission.mutex);
    while (submission.done_count < plan->request_count) {
        pthread_cond_wait(&submission.changed, &submission.mutex);
    }
    pthread_mutex_unlock(&submission.mutex);
    pthread_mutex_destroy(&submission.mutex);
    pthread_cond_destroy(&submission.changed);
    return load_now_ms() - begun_ms;
}

static void note_event(struct load_watch *watch, const Api__EventMessage *event)
{
    if (event->events_case == API__EVENT_MESSAGE__EVENTS_LEASED) {
        uint32_t at = watch->leased_count;
        if (at < watch->leased_capacity) {
            watch->leased[at].at_ms = load_now_ms();
            int rc = job_id_parse(str_of(event->leased->job_id),
                                  &watch->leased[at].job);
            ASSERT(rc == 0);
        }
        watch->leased_count++;
    } else if (event->events_case == API__EVENT_MESSAGE__EVENTS_SUCCEEDED) {
        watch->succeeded_count++;
    } else if (event->events_case == API__EVENT_MESSAGE__EVENTS_FAILED) {
        watch->failed_count++;
    }
}

static void *watch_main(void *ctx)
{
    struct load_watch *watch = ctx;
    struct rpc_call_options options = {0};
    auto_ptr(rpc_stream) stream =
        rpc_stream_open(watch->channel, "/api.Event/GetJobSetEvents", &options);
    auto_strbuf message = {0};
    Api__JobSetRequest request = API__JOB_SET_REQUEST__INIT;

    request.queue = mem_strdup(watch->queue);
    request.id = mem_strdup(watch->job_set);
    request.watch = true;
    pack(&request.base, &message);
    mem_free(request.queue);
    mem_free(request.id);
    (void)rpc_stream_send(stream, strbuf_str(&message), CALL_TIMEOUT_MS);
    rpc_stream_close_send(stream);
    while (!watch->is_stopped) {
        enum rpc_wait wait = rpc_stream_next(stream, STREAM_WAIT_MS, &message);
        if (wait == RPC_WAIT_ENDED) {
            give_up("watch", rpc_stream_status(stream));
        }
        if (wait == RPC_WAIT_READY) {
            Api__EventStreamMessage *one = api__event_stream_message__unpack(
                NULL, message.byte_count, (const uint8_t *)message.bytes);
            ASSERT(one && one->message);
            note_event(watch, one->message);
            api__event_stream_message__free_unpacked(one, NULL);
        }
    }
    return NULL;
}

void load_watch_start(struct load_watch *watch, struct rpc_channel *channel,
                      const char *queue, const char *job_set,
                      uint32_t leased_capacity)
{
    *watch = (struct load_watch){
        .channel = channel,
        .queue = queue,
        .job_set = job_set,
        .leased = mem_alloc_array(leased_capacity, sizeof(struct load_time)),
        .leased_capacity = leased_capacity,
    };
    int rc = pthread_create(&watch->thread, NULL, watch_main, watch);
    ASSERT(rc == 0);
}

void load_watch_stop(struct load_watch *watch)
{
    watch->is_stopped = true;
    pthread_join(watch->thread, NULL);
    mem_free(watch->leased);
}
