#include "api/exec/exec_link.h"

#include <pthread.h>
#include <sys/queue.h>

#include "api/core/state.h"
#include "api/exec/exec_table.h"

enum side { USER, EXECUTOR, SIDES };

/* One of the calls; messages that come on it go out on the other. */
struct end {
    struct exec_link *link;
    struct api_call
        *call; /* valid until the link is over; NULL: has not come */
};

struct exec_link {
    LIST_ENTRY(exec_link) entry; /* of the table, while it is not over */
    struct exec_table *table;
    struct end ends[SIDES];
    char *counted_as;    /* owned: the user; NULL: not counted */
    struct strbuf start; /* the user's first message */
    pthread_mutex_t lock;
    bool is_over; /* under the lock */
    atomic_uint ref_count;
};

struct exec_table {
    pthread_mutex_t lock;
    LIST_HEAD(, exec_link) links;
    uint32_t count;
};

/* The table. */

struct exec_table *exec_table_create(void)
{
    struct exec_table *table = mem_alloc(sizeof(*table));

    LIST_INIT(&table->links);
    pthread_mutex_init(&table->lock, NULL);
    return table;
}

void exec_table_destroy(struct exec_table *table)
{
    if (table) {
        ASSERT(LIST_EMPTY(&table->links));
        pthread_mutex_destroy(&table->lock);
        mem_free(table);
    }
}

/* With the lock of the table. */
static uint32_t count_same(const struct exec_table *table, const char *user)
{
    const struct exec_link *link;
    uint32_t count = 0;

    LIST_FOREACH(link, &table->links, entry)
    {
        count +=
            user && link->counted_as && strcmp(link->counted_as, user) == 0;
    }
    return count;
}

/* Take a place.  -ERR_LIMIT: there is none. */
static int enter(struct exec_table *table, struct exec_link *link,
                 struct err *err)
{
    int rc = 0;

    pthread_mutex_lock(&table->lock);
    if (table->count >= EXEC_SESSIONS_MAX) {
        rc = err_set(err, -ERR_LIMIT,
                     "%d sessions, as many as there may be, are open in this "
                     "server",
                     EXEC_SESSIONS_MAX);
    } else if (count_same(table, link->counted_as) >= EXEC_SESSIONS_EACH_MAX) {
        rc = err_set(err, -ERR_LIMIT,
                     "%d of your sessions are open; end one of them first",
                     EXEC_SESSIONS_EACH_MAX);
    } else {
        LIST_INSERT_HEAD(&table->links, link, entry);
        table->count++;
    }
    pthread_mutex_unlock(&table->lock);
    return rc;
}

static void leave(struct exec_table *table, struct exec_link *link)
{
    pthread_mutex_lock(&table->lock);
    LIST_REMOVE(link, entry);
    table->count--;
    pthread_mutex_unlock(&table->lock);
}

/* The life of a link. */

static void unref(void *data)
{
    struct exec_link *link = data;

    if (atomic_fetch_sub(&link->ref_count, 1) == 1) {
        strbuf_fini(&link->start);
        mem_free(link->counted_as);
        pthread_mutex_destroy(&link->lock);
        mem_free(link);
    }
}

static void belong_to(struct exec_link *link, struct api_call *call)
{
    atomic_fetch_add(&link->ref_count, 1);
    call->data = link;
    call->destroy_data = unref;
}

bool exec_link_make(struct api_call *user, struct str start)
{
    struct exec_link *link = mem_alloc(sizeof(*link));
    struct err err;

    link->table = user->api->exec_table;
    link->counted_as = user->counted_as.p ? str_dup(user->counted_as) : NULL;
    link->ends[USER] = (struct end){link, user};
    link->ends[EXECUTOR] = (struct end){link, NULL};
    pthread_mutex_init(&link->lock, NULL);
    strbuf_add_str(&link->start, start);
    belong_to(link, user);
    if (enter(link->table, link, &err) < 0) {
        api_call_fail(user, RPC_RESOURCE_EXHAUSTED, "%s", err.text);
        return false;
    }
    return true;
}

void exec_link_end(struct exec_link *link, enum rpc_code code, const char *text)
{
    pthread_mutex_lock(&link->lock);
    bool is_first = !link->is_over;
    link->is_over = true;
    pthread_mutex_unlock(&link->lock);
    if (!is_first) {
        return;
    }
    struct api_call *user = link->ends[USER].call;
    struct api_call *executor = link->ends[EXECUTOR].call;
    leave(link->table, link);
    /* The link goes with the last of them. */
    if (executor && code != RPC_OK) {
        rpc_call_break(executor->rpc); /* its program may not be reading */
    }
    if (executor) {
        api_call_end(executor);
    }
    if (code == RPC_OK) {
        api_call_end(user);
    } else {
        api_call_fail(user, code, "%s", text);
    }
}

/* Copying. */

/* The transport's half of an end, with a reference; NULL: the link is over. */
static struct rpc_call *hold(const struct end *end)
{
    struct exec_link *link = end->link;

    pthread_mutex_lock(&link->lock);
    struct rpc_call *rpc = link->is_over ? NULL : rpc_call_ref(end->call->rpc);
    pthread_mutex_unlock(&link->lock);
    return rpc;
}

static struct end *other(struct end *end)
{
    struct exec_link *link = end->link;

    return &link->ends[end == &link->ends[USER] ? EXECUTOR : USER];
}

static void on_message(void *ctx, struct rpc_call *rpc,
                       enum rpc_received received, struct str bytes);

/* Ask for what comes next.  A call that is over tells of it by itself. */
static void receive(struct end *from)
{
    struct rpc_call *rpc = hold(from);

    if (rpc) {
        (void)!rpc_call_recv(rpc, on_message, from);
        rpc_call_unref(rpc);
    }
}

static void on_sent(void *ctx, struct rpc_call *rpc, bool is_ok)
{
    (void)rpc;
    if (is_ok) {
        receive(ctx);
    }
}

/* Send what came on `from` to the other, and go on once it was taken. */
static void send(struct end *from, struct str bytes)
{
    struct rpc_call *rpc = hold(other(from));

    if (rpc) {
        (void)!rpc_call_send(rpc, bytes, on_sent, from);
        rpc_call_unref(rpc);
    }
}

static void on_message(void *ctx, struct rpc_call *rpc,
                       enum rpc_received received, struct str bytes)
{
    struct end *from = ctx;
    struct exec_link *link = from->link;

    (void)rpc;
    if (received == RPC_RECEIVED && bytes.byte_count > EXEC_MESSAGE_BYTES_MAX) {
        exec_link_end(link, RPC_INVALID_ARGUMENT,
                      "a message of the session is out of its bounds");
    } else if (received == RPC_RECEIVED) {
        send(from, bytes);
    } else if (received == RPC_HALF_CLOSED && from == &link->ends[EXECUTOR]) {
        exec_link_end(link, RPC_OK, "");
    }
    /* A user who sends no more still reads. */
}

static void on_executor_gone(void *ctx, struct rpc_call *rpc)
{
    (void)rpc;
    exec_link_end(ctx, RPC_UNAVAILABLE,
                  "the executor has disconnected, which ends the session");
}

void exec_link_join(struct exec_link *link, struct api_call *executor)
{
    struct rpc_call *rpc = rpc_call_ref(executor->rpc);

    pthread_mutex_lock(&link->lock);
    bool is_over = link->is_over;
    if (!is_over) {
        belong_to(link, executor);
        link->ends[EXECUTOR].call = executor;
    }
    pthread_mutex_unlock(&link->lock);
    if (is_over) {
        api_call_fail(executor, RPC_CANCELLED, "the user is gone");
    } else {
        /* Once it was taken, what the user sent since is asked for. */
        send(&link->ends[USER], strbuf_str(&link->start));
        receive(&link->ends[EXECUTOR]);
        if (rpc_call_on_cancelled(rpc, on_executor_gone, link) < 0) {
            on_executor_gone(link, rpc);
        }
    }
    rpc_call_unref(rpc);
}
