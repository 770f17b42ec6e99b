#include "executor/loop/transport.h"

#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/vec.h"

static const char lease_path[] = "/executorapi.ExecutorApi/LeaseJobRuns";
static const char report_path[] = "/executorapi.ExecutorApi/ReportEvents";

/* One on its way and one that waits: the next is a delta that grows. */
enum { WAIT_MS = 1000, SEND_AGAIN_MS = 5, REQUESTS_MAX = 2 };

/* Messages that are handed over together: the executor is woken once for what
 * has come. */
enum { TOGETHER_MAX = 64, TOGETHER_BYTES_MAX = 1 << 20 };

/* Something that arrived, in the queue. */
struct item {
    struct item *next;
    struct executor_arrival arrival;
    char *bytes; /* owned: what the arrival's bytes or text point at */
};

struct pending {
    char *bytes; /* owned */
    size_t byte_count;
};

struct transport {
    struct executor_transport port;
    struct rpc_channel *channel;
    struct rpc_header *headers; /* owned, with the texts */
    uint32_t header_count;
    bool is_gzip;
    int wake_fd; /* owned eventfd */
    pthread_t thread;

    pthread_mutex_t lock; /* of all below */
    pthread_cond_t changed;
    struct item *first, *last;
    size_t queued_byte_count;
    VEC(struct pending) requests; /* to be sent on the exchange */
    bool is_wanted;               /* an exchange is to be opened */
    bool is_cancelled;            /* and is to end */
    bool is_stopping;
    struct rpc_stream *stream; /* of the exchange under way */

    struct item *handed; /* the last that next() gave out */
};

/* A report under way. */
struct call {
    struct transport *transport;
    uint64_t ticket;
};

static struct transport *of(struct executor_transport *port)
{
    return container_of(port, struct transport, port);
}

static void item_free(struct item *item)
{
    if (item) {
        mem_free(item->bytes);
        mem_free(item);
    }
}

/* With the lock held. */
static void push(struct transport *transport, struct item *item)
{
    uint64_t one = 1;

    item->next = NULL;
    if (transport->last) {
        transport->last->next = item;
    } else {
        /* Who takes them goes on until there are none. */
        transport->first = item;
        (void)!write(transport->wake_fd, &one, sizeof(one));
    }
    transport->last = item;
    transport->queued_byte_count +=
        item->arrival.bytes.byte_count + sizeof(*item);
}

static struct item *make_item(enum executor_arrival_kind kind, struct str bytes)
{
    struct item *item = mem_alloc(sizeof(*item));

    item->bytes = str_dup(bytes);
    item->arrival.kind = kind;
    item->arrival.bytes = str_make(item->bytes, bytes.byte_count);
    return item;
}

static struct item *make_end(enum executor_arrival_kind kind,
                             const struct rpc_status *status)
{
    struct item *item = make_item(kind, str_of(status->message));

    item->arrival.text = item->arrival.bytes;
    item->arrival.bytes = STR("");
    item->arrival.is_ok = status->code == RPC_OK;
    return item;
}

/* The exchange's thread. */

/* With the lock held: the first request is on its way. */
static void drop_request(struct transport *transport)
{
    mem_free(transport->requests.items[0].bytes);
    transport->requests.count--;
    memmove(transport->requests.items, transport->requests.items + 1,
            transport->requests.count * sizeof(*transport->requests.items));
}

/* Send what waits, as far as the transport takes it: waiting here, without
 * reading, could be for a server that waits for us to read.  WAIT_TIMEOUT:
 * something is left. */
static enum rpc_wait send_requests(struct transport *transport,
                                   struct rpc_stream *stream)
{
    enum rpc_wait wait = RPC_WAIT_READY;

    while (wait == RPC_WAIT_READY) {
        pthread_mutex_lock(&transport->lock);
        bool has_one = transport->requests.count > 0;
        struct pending first =
            has_one ? transport->requests.items[0] : (struct pending){NULL, 0};
        pthread_mutex_unlock(&transport->lock);
        if (!has_one) {
            return RPC_WAIT_READY;
        }
        /* Only this thread takes requests out, so the bytes stay. */
        wait =
            rpc_stream_send(stream, str_make(first.bytes, first.byte_count), 0);
        if (wait == RPC_WAIT_READY) {
            pthread_mutex_lock(&transport->lock);
            drop_request(transport);
            pthread_mutex_unlock(&transport->lock);
        }
    }
    return wait;
}

/* Wait while the executor has more to take than it should. */
static void wait_for_room(struct transport *transport)
{
    pthread_mutex_lock(&transport->lock);
    while (transport->queued_byte_count > TRANSPORT_ARRIVALS_BYTES_MAX &&
           !transport->is_stopping && !transport->is_cancelled) {
        pthread_cond_wait(&transport->changed, &transport->lock);
    }
    pthread_mutex_unlock(&transport->lock);
}

/* Hand over a message, and those that are there behind it; what came of
 * looking for one more. */
static enum rpc_wait take_messages(struct transport *transport,
                                   struct rpc_stream *stream,
                                   struct strbuf *message)
{
    struct item *items[TOGETHER_MAX];
    uint32_t count = 0;
    size_t byte_count = 0;
    enum rpc_wait wait;

    do {
        items[count++] = make_item(EXECUTOR_LEASE_MESSAGE, strbuf_str(message));
        byte_count += message->byte_count;
        if (count == TOGETHER_MAX || byte_count >= TOGETHER_BYTES_MAX) {
            wait = RPC_WAIT_TIMEOUT;
            break;
        }
        wait = rpc_stream_next(stream, 0, message);
    } while (wait == RPC_WAIT_READY);
    pthread_mutex_lock(&transport->lock);
    for (uint32_t i = 0; i < count; i++) {
        push(transport, items[i]);
    }
    pthread_mutex_unlock(&transport->lock);
    return wait;
}

static void run_stream(struct transport *transport, struct rpc_stream *stream)
{
    auto_strbuf message = strbuf_make(EXECUTOR_MESSAGE_BYTES_MAX);
    enum rpc_wait wait = RPC_WAIT_READY;

    while (wait != RPC_WAIT_ENDED) {
        wait_for_room(transport);
        enum rpc_wait sent = send_requests(transport, stream);
        /* Whatever came before the end is still to be read. */
        wait = rpc_stream_next(
            stream, sent == RPC_WAIT_TIMEOUT ? SEND_AGAIN_MS : WAIT_MS,
            &message);
        if (wait == RPC_WAIT_READY) {
            wait = take_messages(transport, stream, &message);
        }
    }
}

static void run_exchange(struct transport *transport)
{
    struct rpc_call_options options = {
        .headers = transport->headers,
        .header_count = transport->header_count,
        .is_gzip = transport->is_gzip,
    };
    struct rpc_stream *stream =
        rpc_stream_open(transport->channel, lease_path, &options);

    pthread_mutex_lock(&transport->lock);
    transport->stream = stream;
    if (transport->is_stopping || transport->is_cancelled) {
        rpc_stream_cancel(stream);
    }
    pthread_mutex_unlock(&transport->lock);

    run_stream(transport, stream);
    struct item *end =
        make_end(EXECUTOR_LEASE_ENDED, rpc_stream_status(stream));

    pthread_mutex_lock(&transport->lock);
    transport->stream = NULL;
    transport->is_wanted = transport->is_cancelled = false;
    for (size_t i = 0; i < transport->requests.count; i++) {
        mem_free(transport->requests.items[i].bytes);
    }
    transport->requests.count = 0;
    push(transport, end);
    pthread_mutex_unlock(&transport->lock);
    rpc_stream_close(stream);
}

static void *thread_main(void *ctx)
{
    struct transport *transport = ctx;
    bool is_stopping = false;

    while (!is_stopping) {
        pthread_mutex_lock(&transport->lock);
        while (!transport->is_wanted && !transport->is_stopping) {
            pthread_cond_wait(&transport->changed, &transport->lock);
        }
        is_stopping = transport->is_stopping;
        pthread_mutex_unlock(&transport->lock);
        if (!is_stopping) {
            run_exchange(transport);
        }
    }
    return NULL;
}

/* The port. */

/* With the lock held. */
static void add_request(struct transport *transport, struct str request)
{
    VEC_PUSH(&transport->requests,
             (struct pending){str_dup(request), request.byte_count});
}

static void lease_open(struct executor_transport *port, struct str request)
{
    struct transport *transport = of(port);

    pthread_mutex_lock(&transport->lock);
    ASSERT(!transport->is_wanted);
    add_request(transport, request);
    transport->is_wanted = true;
    pthread_cond_broadcast(&transport->changed);
    pthread_mutex_unlock(&transport->lock);
}

/* With the lock held. */
static bool has_room(const struct transport *transport)
{
    return transport->stream != NULL && !transport->is_cancelled &&
           transport->requests.count < REQUESTS_MAX;
}

static bool lease_has_room(struct executor_transport *port)
{
    struct transport *transport = of(port);

    pthread_mutex_lock(&transport->lock);
    bool is_so = has_room(transport);
    pthread_mutex_unlock(&transport->lock);
    return is_so;
}

static bool lease_send(struct executor_transport *port, struct str request)
{
    struct transport *transport = of(port);
    bool is_taken;

    pthread_mutex_lock(&transport->lock);
    is_taken = has_room(transport);
    if (is_taken) {
        add_request(transport, request);
        rpc_stream_wake(transport->stream);
    }
    pthread_mutex_unlock(&transport->lock);
    return is_taken;
}

static void lease_cancel(struct executor_transport *port)
{
    struct transport *transport = of(port);

    pthread_mutex_lock(&transport->lock);
    transport->is_cancelled = transport->is_wanted;
    if (transport->stream) {
        rpc_stream_cancel(transport->stream);
    }
    pthread_cond_broadcast(&transport->changed);
    pthread_mutex_unlock(&transport->lock);
}

static void on_reply(void *ctx, const struct rpc_status *status,
                     struct str reply)
{
    struct call *call = ctx;
    struct transport *transport = call->transport;
    struct item *item = make_end(EXECUTOR_REPORT_DONE, status);

    (void)reply;
    item->arrival.ticket = call->ticket;
    pthread_mutex_lock(&transport->lock);
    push(transport, item);
    pthread_mutex_unlock(&transport->lock);
    mem_free(call);
}

static void report(struct executor_transport *port, uint64_t ticket,
                   struct str events)
{
    struct transport *transport = of(port);
    struct call *call = mem_alloc(sizeof(*call));
    struct rpc_call_options options = {
        .timeout_ms = TRANSPORT_REPORT_TIMEOUT_MS,
        .headers = transport->headers,
        .header_count = transport->header_count,
        .is_gzip = transport->is_gzip,
    };

    *call = (struct call){transport, ticket};
    rpc_channel_call_async(transport->channel, report_path, events, &options,
                           on_reply, call);
}

static bool next(struct executor_transport *port, struct executor_arrival *ret)
{
    struct transport *transport = of(port);

    item_free(steal_ptr(transport->handed));
    pthread_mutex_lock(&transport->lock);
    struct item *item = transport->first;
    if (item) {
        transport->first = item->next;
        transport->last = item->next ? transport->last : NULL;
        transport->queued_byte_count -=
            item->arrival.bytes.byte_count + sizeof(*item);
        pthread_cond_broadcast(&transport->changed);
    }
    pthread_mutex_unlock(&transport->lock);
    if (!item) {
        return false;
    }
    transport->handed = item;
    *ret = item->arrival;
    return true;
}

struct executor_transport *transport_port(struct transport *transport)
{
    return &transport->port;
}

int transport_wake_fd(const struct transport *transport)
{
    return transport->wake_fd;
}

void transport_clear_wake(struct transport *transport)
{
    uint64_t count;

    (void)!read(transport->wake_fd, &count, sizeof(count));
}

static void free_all(struct transport *transport)
{
    item_free(transport->handed);
    while (transport->first) {
        struct item *item = transport->first;
        transport->first = item->next;
        item_free(item);
    }
    for (size_t i = 0; i < transport->requests.count; i++) {
        mem_free(transport->requests.items[i].bytes);
    }
    VEC_FREE(&transport->requests);
    for (uint32_t i = 0; i < transport->header_count; i++) {
        mem_free((char *)(uintptr_t)transport->headers[i].name);
        mem_free((char *)(uintptr_t)transport->headers[i].value);
    }
    mem_free(transport->headers);
    mem_free(transport);
}

/* All that needs nothing of the system. */
static void init(struct transport *transport,
                 const struct transport_options *options)
{
    transport->port = (struct executor_transport){
        .lease_open = lease_open,
        .lease_has_room = lease_has_room,
        .lease_send = lease_send,
        .lease_cancel = lease_cancel,
        .report = report,
        .next = next,
    };
    transport->is_gzip = options->is_gzip;
    transport->header_count = options->header_count;
    transport->headers =
        mem_alloc_array(options->header_count + 1, sizeof(struct rpc_header));
    for (uint32_t i = 0; i < options->header_count; i++) {
        transport->headers[i] =
            (struct rpc_header){mem_strdup(options->headers[i].name),
                                mem_strdup(options->headers[i].value)};
    }
    pthread_mutex_init(&transport->lock, NULL);
    pthread_cond_init(&transport->changed, NULL);
}

/* What is left when its thread has ended, or never began. */
static void release(struct transport *transport)
{
    /* Cancels the reports under way and waits for their callbacks. */
    rpc_channel_close(transport->channel);
    if (transport->wake_fd >= 0) {
        close(transport->wake_fd);
    }
    pthread_cond_destroy(&transport->changed);
    pthread_mutex_destroy(&transport->lock);
    free_all(transport);
}

struct transport *transport_create(struct rpc_channel *channel,
                                   const struct transport_options *options,
                                   struct err *err)
{
    struct transport *transport = mem_alloc(sizeof(*transport));

    init(transport, options);
    transport->channel = channel;
    transport->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (transport->wake_fd < 0 ||
        pthread_create(&transport->thread, NULL, thread_main, transport) != 0) {
        (void)err_set(err, -ERR_IO, "cannot start a thread");
        release(transport);
        return NULL;
    }
    return transport;
}

void transport_destroy(struct transport *transport)
{
    if (!transport) {
        return;
    }
    pthread_mutex_lock(&transport->lock);
    transport->is_stopping = true;
    if (transport->stream) {
        rpc_stream_cancel(transport->stream);
    }
    pthread_cond_broadcast(&transport->changed);
    pthread_mutex_unlock(&transport->lock);
    pthread_join(transport->thread, NULL);
    release(transport);
}
