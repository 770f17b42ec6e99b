#include "api/lease_request.h"

#include "armada/executorapi.pb-c.h"
#include "wire/message.h"
#include "wire/node.h"

enum {
    FIELDS_MAX = 32 << 20,
    MEMORY_FACTOR = 32, /* of what a message may take unpacked */
};

/* Run ids on their way into an array. */
struct run_list {
    struct run_id *items;
    uint32_t count;
};

static int add_run(struct run_list *runs, const char *text, struct err *err)
{
    if (run_id_parse(str_of(text), &runs->items[runs->count]) < 0) {
        return err_set(err, -ERR_INVALID, "\"%s\" is not a run id", text);
    }
    runs->count++;
    return 0;
}

static int add_runs(struct run_list *runs, char **texts, size_t count,
                    struct err *err)
{
    int rc = 0;

    for (size_t i = 0; i < count && rc == 0; i++) {
        rc = add_run(runs, texts[i], err);
    }
    return rc;
}

/* The runs that a whole request names: those on nodes, and those not yet. */
static int read_runs(const Executorapi__LeaseRequest *message,
                     struct arena *arena, struct run_list *ret_runs,
                     struct err *err)
{
    struct run_list runs = {0};
    size_t count = message->n_unassigned_job_run_ids;

    for (size_t i = 0; i < message->n_nodes; i++) {
        count += message->nodes[i]->n_run_ids_by_state;
    }
    runs.items = arena_alloc_array(arena, count, sizeof(runs.items[0]));
    for (size_t i = 0; i < message->n_nodes; i++) {
        const Executorapi__NodeInfo *node = message->nodes[i];
        for (size_t k = 0; k < node->n_run_ids_by_state; k++) {
            int rc = add_run(&runs, node->run_ids_by_state[k]->key, err);
            if (rc < 0) {
                return rc;
            }
        }
    }
    int rc = add_runs(&runs, message->unassigned_job_run_ids,
                      message->n_unassigned_job_run_ids, err);
    *ret_runs = runs;
    return rc;
}

static int read_nodes(const Executorapi__LeaseRequest *message,
                      struct arena *arena, struct exchange_request *request,
                      struct err *err)
{
    struct node_record *nodes =
        arena_alloc_array(arena, message->n_nodes, sizeof(*nodes));

    if (message->n_nodes > NODES_MAX) {
        return err_set(err, -ERR_LIMIT, "more than %d nodes", NODES_MAX);
    }
    for (size_t i = 0; i < message->n_nodes; i++) {
        int rc = *message->nodes[i]->name
                     ? node_from_info(message->nodes[i], arena,
                                      &nodes[request->node_count], err)
                     : 0;
        if (rc < 0) {
            return rc;
        }
        request->node_count += *message->nodes[i]->name != '\0';
    }
    request->nodes = nodes;
    return 0;
}

/* The nodes that a delta says are gone. */
static int read_nodes_gone(const Executorapi__LeaseRequest *message,
                           struct arena *arena,
                           struct exchange_request *request, struct err *err)
{
    size_t count = message->n_node_names_removed;

    if (count > NODES_MAX) {
        return err_set(err, -ERR_LIMIT, "more than %d nodes", NODES_MAX);
    }
    struct str *names = arena_alloc_array(arena, count, sizeof(*names));
    for (size_t i = 0; i < count; i++) {
        names[i] = str_of(message->node_names_removed[i]);
    }
    request->nodes_gone = names;
    request->nodes_gone_count = (uint32_t)count;
    request->has_nodes |= count > 0;
    return 0;
}

/* The runs that a delta adds and removes. */
static int read_delta(const Executorapi__LeaseRequest *message,
                      struct arena *arena, struct exchange_request *request,
                      struct err *err)
{
    struct run_list added = {arena_alloc_array(arena, message->n_run_ids_added,
                                               sizeof(struct run_id)),
                             0};
    struct run_list removed = {arena_alloc_array(arena,
                                                 message->n_run_ids_removed,
                                                 sizeof(struct run_id)),
                               0};

    int rc = read_nodes_gone(message, arena, request, err);
    if (rc == 0) {
        rc = add_runs(&added, message->run_ids_added, message->n_run_ids_added,
                      err);
    }
    if (rc == 0) {
        rc = add_runs(&removed, message->run_ids_removed,
                      message->n_run_ids_removed, err);
    }
    request->runs = added.items;
    request->run_count = added.count;
    request->runs_gone = removed.items;
    request->runs_gone_count = removed.count;
    return rc;
}

int lease_request_read(struct str bytes, size_t byte_count_max,
                       struct command *command, struct lease_wishes *ret_wishes,
                       struct err *err)
{
    struct arena *arena = &command->arena;
    struct exchange_request *request = &command->exchange.request;
    struct wire_limits limits = {
        .byte_count_max = byte_count_max,
        .field_count_max = FIELDS_MAX,
        .memory_bytes_max = byte_count_max * MEMORY_FACTOR,
        .depth_max = WIRE_DEPTH_MAX,
    };
    ProtobufCMessage *base;
    struct run_list runs = {0};

    int rc = wire_decode(&executorapi__lease_request__descriptor, bytes,
                         &limits, arena, &base, err);
    if (rc < 0) {
        return rc;
    }
    const Executorapi__LeaseRequest *message =
        (const Executorapi__LeaseRequest *)base;
    bool is_delta = message->held_stream && message->is_delta;
    *request = (struct exchange_request){
        .executor_id = str_of(message->executor_id),
        .pool = str_of(message->pool),
        .is_full = !is_delta,
        .has_nodes = !is_delta || message->n_nodes > 0,
        .lease_max = message->max_jobs_to_lease,
    };
    *ret_wishes = (struct lease_wishes){message->held_stream, is_delta};
    rc = read_nodes(message, arena, request, err);
    if (rc < 0) {
        return rc;
    }
    if (is_delta) {
        return read_delta(message, arena, request, err);
    }
    rc = read_runs(message, arena, &runs, err);
    request->runs = runs.items;
    request->run_count = runs.count;
    return rc;
}
