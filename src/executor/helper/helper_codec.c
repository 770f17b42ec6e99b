#include "executor/helper/helper_codec.h"

#include "wire/message/message.h"

enum {
    NUMBER_BYTES = sizeof(int64_t),
    NAME_BYTES_MAX = 4096,
    ITEMS_MAX = 1 << 20,
    JOB_BYTES_MAX = 64 << 20,
};

/* Who adds a field to one of these adds it below, too. */
/* What belongs to pods beside them is only where there is no helper. */
_Static_assert(sizeof(struct runtime_status) == 128, "status");
_Static_assert(sizeof(struct runtime_ended) == 56, "ended");
_Static_assert(sizeof(struct runtime_pod) == 128, "pod");
_Static_assert(sizeof(struct runtime_change) == 56, "change");
_Static_assert(sizeof(struct runtime_run) == 136, "run");
/* Its windows are the server's to set, so they are not carried. */
_Static_assert(sizeof(struct node_record) == 136, "node");

void helper_put_int(struct strbuf *buf, int64_t number)
{
    strbuf_add(buf, &number, sizeof(number));
}

void helper_put_str(struct strbuf *buf, struct str text)
{
    helper_put_int(buf, (int64_t)text.byte_count);
    strbuf_add_str(buf, text);
}

static const char *take(struct helper_reader *reader, size_t byte_count)
{
    const char *p = reader->rest.p;

    if (reader->is_bad || reader->rest.byte_count < byte_count) {
        reader->is_bad = true;
        return NULL;
    }
    reader->rest =
        str_make(p + byte_count, reader->rest.byte_count - byte_count);
    return p;
}

int64_t helper_take_int(struct helper_reader *reader)
{
    const char *p = take(reader, NUMBER_BYTES);
    int64_t number = 0;

    if (p) {
        memcpy(&number, p, sizeof(number));
    }
    return number;
}

struct str helper_take_str(struct helper_reader *reader)
{
    int64_t byte_count = helper_take_int(reader);

    if (byte_count < 0 || (uint64_t)byte_count > reader->rest.byte_count) {
        reader->is_bad = true;
    }
    const char *p = reader->is_bad ? NULL : take(reader, (size_t)byte_count);
    return p ? str_make(p, (size_t)byte_count) : STR("");
}

bool helper_is_whole(const struct helper_reader *reader)
{
    return !reader->is_bad && reader->rest.byte_count == 0;
}

static struct str copy_str(struct helper_reader *reader, struct arena *arena)
{
    return arena_str(arena, helper_take_str(reader));
}

/* A count of items, each of which takes a number at least. */
static uint32_t take_count(struct helper_reader *reader, int64_t count_max)
{
    int64_t count = helper_take_int(reader);
    int64_t room = (int64_t)(reader->rest.byte_count / NUMBER_BYTES);

    if (count < 0 || count > count_max || count > room) {
        reader->is_bad = true;
        return 0;
    }
    return (uint32_t)count;
}

/* The run of a CREATE. */

static bool is_name(struct str text)
{
    return text.byte_count < NAME_BYTES_MAX &&
           !memchr(text.p, '\0', text.byte_count);
}

void helper_put_run(struct strbuf *buf, const struct runtime_run *run)
{
    auto_strbuf job = strbuf_make(JOB_BYTES_MAX);

    helper_put_str(buf, run->queue);
    helper_put_str(buf, run->job_set);
    helper_put_str(buf, run->user);
    helper_put_str(buf, run->namespace_);
    helper_put_str(buf, run->pod_name);
    helper_put_str(buf, run->node_name);
    wire_encode(&run->submit->base, &job);
    helper_put_str(buf, strbuf_str(&job));
    buf->is_over |= job.is_over;
}

int helper_take_run(struct str bytes, struct arena *arena,
                    struct runtime_run *ret_run, struct err *err)
{
    struct helper_reader reader = {.rest = bytes};
    struct wire_limits limits = wire_request_limits;
    struct str *const texts[] = {&ret_run->queue,    &ret_run->job_set,
                                 &ret_run->user,     &ret_run->namespace_,
                                 &ret_run->pod_name, &ret_run->node_name};
    ProtobufCMessage *job;
    bool is_good = true;

    for (size_t i = 0; i < ARRAY_COUNT(texts); i++) {
        *texts[i] = copy_str(&reader, arena);
        is_good = is_good && is_name(*texts[i]);
    }
    struct str encoded = helper_take_str(&reader);
    if (!is_good || !helper_is_whole(&reader)) {
        return err_set(err, -ERR_INVALID, "malformed run");
    }
    limits.byte_count_max = JOB_BYTES_MAX;
    int rc = wire_decode(&armadaevents__submit_job__descriptor, encoded,
                         &limits, arena, &job, err);
    ret_run->submit = rc < 0 ? NULL : (const Armadaevents__SubmitJob *)job;
    return rc < 0 ? -ERR_INVALID : 0;
}

/* Logs. */

void helper_put_query(struct strbuf *buf, const struct runtime_log_query *query)
{
    helper_put_str(buf, query->container);
    helper_put_str(buf, query->since);
}

int helper_take_query(struct str bytes, struct runtime_log_query *ret_query,
                      struct err *err)
{
    struct helper_reader reader = {.rest = bytes};

    ret_query->container = helper_take_str(&reader);
    ret_query->since = helper_take_str(&reader);
    return helper_is_whole(&reader) && is_name(ret_query->container) &&
                   is_name(ret_query->since)
               ? 0
               : err_set(err, -ERR_INVALID, "malformed log query");
}

/* Files. */

void helper_put_files_query(struct strbuf *buf,
                            const struct runtime_files_query *query)
{
    helper_put_int(buf, query->is_read);
    helper_put_int(buf, (int64_t)query->file_id);
    helper_put_str(buf, query->path);
}

int helper_take_files_query(struct str bytes,
                            struct runtime_files_query *ret_query,
                            struct err *err)
{
    struct helper_reader reader = {.rest = bytes};

    ret_query->is_read = helper_take_int(&reader) != 0;
    ret_query->file_id = (uint64_t)helper_take_int(&reader);
    ret_query->path = helper_take_str(&reader);
    return helper_is_whole(&reader) && is_name(ret_query->path) &&
                   (!ret_query->is_read || ret_query->byte_count_max > 0)
               ? 0
               : err_set(err, -ERR_INVALID, "malformed query of files");
}

/* Pods and changes. */

static void put_id(struct strbuf *buf, struct key128 id)
{
    helper_put_int(buf, (int64_t)id.hi);
    helper_put_int(buf, (int64_t)id.lo);
}

static struct key128 take_id(struct helper_reader *reader)
{
    uint64_t hi = (uint64_t)helper_take_int(reader);

    return (struct key128){.hi = hi, .lo = (uint64_t)helper_take_int(reader)};
}

void helper_put_pod(struct strbuf *buf, const struct runtime_pod *pod)
{
    put_id(buf, pod->run.v);
    put_id(buf, pod->job.v);
    helper_put_str(buf, pod->queue);
    helper_put_str(buf, pod->job_set);
    helper_put_str(buf, pod->namespace_);
    helper_put_str(buf, pod->pod_name);
    helper_put_str(buf, pod->node_name);
    helper_put_int(buf, pod->phase);
    helper_put_int(buf, pod->acked);
    helper_put_int(buf, pod->is_foreign);
}

void helper_take_pod(struct helper_reader *reader, struct runtime_pod *ret_pod)
{
    *ret_pod = (struct runtime_pod){.run.v = take_id(reader)};
    ret_pod->job.v = take_id(reader);
    ret_pod->queue = helper_take_str(reader);
    ret_pod->job_set = helper_take_str(reader);
    ret_pod->namespace_ = helper_take_str(reader);
    ret_pod->pod_name = helper_take_str(reader);
    ret_pod->node_name = helper_take_str(reader);
    ret_pod->phase = (enum reconcile_phase)helper_take_int(reader);
    ret_pod->acked = (enum reconcile_phase)helper_take_int(reader);
    ret_pod->is_foreign = helper_take_int(reader) != 0;
}

void helper_put_change(struct strbuf *buf, const struct runtime_change *change)
{
    helper_put_int(buf, change->kind);
    put_id(buf, change->run.v);
    helper_put_int(buf, change->phase);
    helper_put_int(buf, change->scope);
    helper_put_str(buf, change->text);
    if (change->kind == RUNTIME_APPEARED) {
        helper_put_pod(buf, change->pod);
    }
}

void helper_take_change(struct helper_reader *reader, struct runtime_pod *pod,
                        struct runtime_change *ret_change)
{
    *ret_change = (struct runtime_change){
        .kind = (enum runtime_change_kind)helper_take_int(reader)};
    ret_change->run.v = take_id(reader);
    ret_change->phase = (enum reconcile_phase)helper_take_int(reader);
    ret_change->scope = (enum runtime_scope)helper_take_int(reader);
    ret_change->text = helper_take_str(reader);
    if (ret_change->kind == RUNTIME_APPEARED) {
        helper_take_pod(reader, pod);
        ret_change->pod = pod;
    }
}

/* Amounts. */

static void put_amounts(struct strbuf *buf, const struct resource_list *amounts)
{
    helper_put_int(buf, amounts->count);
    for (uint32_t i = 0; i < amounts->count; i++) {
        helper_put_str(buf, amounts->items[i].name);
        helper_put_int(buf, amounts->items[i].milli);
    }
}

static void take_amounts(struct helper_reader *reader, struct arena *arena,
                         struct resource_list *ret_amounts)
{
    uint32_t count = take_count(reader, ITEMS_MAX);

    *ret_amounts = (struct resource_list){
        arena_alloc_array(arena, count, sizeof(struct resource_amount)), count};
    for (uint32_t i = 0; i < count; i++) {
        ret_amounts->items[i].name = copy_str(reader, arena);
        ret_amounts->items[i].milli = helper_take_int(reader);
    }
}

/* How a pod stands. */

void helper_put_status(struct strbuf *buf, const struct runtime_status *status)
{
    helper_put_int(buf, status->cause);
    helper_put_str(buf, status->message);
    helper_put_int(buf, status->created_ms);
    helper_put_int(buf, status->started_ms);
    helper_put_int(buf, status->ended_ms);
    helper_put_int(buf, status->ended_count);
    for (uint32_t i = 0; i < status->ended_count; i++) {
        const struct runtime_ended *ended = &status->ended[i];
        helper_put_str(buf, ended->name);
        helper_put_str(buf, ended->reason);
        helper_put_str(buf, ended->message);
        helper_put_int(buf, ended->exit_code);
        helper_put_int(buf, ended->cause);
    }
    helper_put_int(buf, status->address_count);
    for (uint32_t i = 0; i < status->address_count; i++) {
        helper_put_int(buf, status->addresses[i].port);
        helper_put_str(buf, status->addresses[i].address);
    }
    put_amounts(buf, &status->used_max);
    put_amounts(buf, &status->used_sum);
}

static void take_addresses(struct helper_reader *reader, struct arena *arena,
                           struct runtime_status *status)
{
    status->address_count = take_count(reader, ITEMS_MAX);
    struct runtime_address *addresses =
        arena_alloc_array(arena, status->address_count, sizeof(*addresses));
    for (uint32_t i = 0; i < status->address_count; i++) {
        addresses[i].port = (int32_t)helper_take_int(reader);
        addresses[i].address = copy_str(reader, arena);
    }
    status->addresses = addresses;
}

void helper_take_status(struct helper_reader *reader, struct arena *arena,
                        struct runtime_status *ret_status)
{
    *ret_status = (struct runtime_status){
        .cause = (enum runtime_cause)helper_take_int(reader)};
    ret_status->message = copy_str(reader, arena);
    ret_status->created_ms = helper_take_int(reader);
    ret_status->started_ms = helper_take_int(reader);
    ret_status->ended_ms = helper_take_int(reader);
    ret_status->ended_count = take_count(reader, RUNTIME_CONTAINERS_MAX);
    ret_status->ended = arena_alloc_array(arena, ret_status->ended_count + 1,
                                          sizeof(*ret_status->ended));
    for (uint32_t i = 0; i < ret_status->ended_count; i++) {
        struct runtime_ended *ended = &ret_status->ended[i];
        ended->name = copy_str(reader, arena);
        ended->reason = copy_str(reader, arena);
        ended->message = copy_str(reader, arena);
        ended->exit_code = (int32_t)helper_take_int(reader);
        ended->cause = (enum runtime_cause)helper_take_int(reader);
    }
    take_addresses(reader, arena, ret_status);
    take_amounts(reader, arena, &ret_status->used_max);
    take_amounts(reader, arena, &ret_status->used_sum);
}

/* Nodes. */

static void put_node(struct strbuf *buf, const struct node_record *node)
{
    helper_put_str(buf, node->name);
    helper_put_str(buf, node->pool);
    helper_put_str(buf, node->node_type);
    helper_put_int(buf, node->label_count);
    for (uint32_t i = 0; i < node->label_count; i++) {
        helper_put_str(buf, node->labels[i].key);
        helper_put_str(buf, node->labels[i].value);
    }
    helper_put_int(buf, node->taint_count);
    for (uint32_t i = 0; i < node->taint_count; i++) {
        helper_put_str(buf, node->taints[i].key);
        helper_put_str(buf, node->taints[i].value);
        helper_put_int(buf, node->taints[i].effect);
    }
    put_amounts(buf, &node->total);
    put_amounts(buf, &node->foreign);
    helper_put_int(buf, node->is_unschedulable);
}

static void take_node(struct helper_reader *reader, struct arena *arena,
                      struct node_record *ret_node)
{
    *ret_node = (struct node_record){.name = copy_str(reader, arena)};
    ret_node->pool = copy_str(reader, arena);
    ret_node->node_type = copy_str(reader, arena);
    ret_node->label_count = take_count(reader, ITEMS_MAX);
    struct label *labels =
        arena_alloc_array(arena, ret_node->label_count, sizeof(*labels));
    for (uint32_t i = 0; i < ret_node->label_count; i++) {
        labels[i].key = copy_str(reader, arena);
        labels[i].value = copy_str(reader, arena);
    }
    ret_node->labels = labels;
    ret_node->taint_count = take_count(reader, ITEMS_MAX);
    struct taint *taints =
        arena_alloc_array(arena, ret_node->taint_count, sizeof(*taints));
    for (uint32_t i = 0; i < ret_node->taint_count; i++) {
        taints[i].key = copy_str(reader, arena);
        taints[i].value = copy_str(reader, arena);
        taints[i].effect = (enum taint_effect)helper_take_int(reader);
    }
    ret_node->taints = taints;
    take_amounts(reader, arena, &ret_node->total);
    take_amounts(reader, arena, &ret_node->foreign);
    ret_node->is_unschedulable = helper_take_int(reader) != 0;
}

void helper_put_nodes(struct strbuf *buf, const struct node_set *nodes,
                      uint64_t version)
{
    auto_arena arena = {0};
    struct node_set_delta delta = {0};

    bool is_delta = node_set_since(nodes, version, &arena, &delta);
    if (!is_delta) {
        delta.changed = node_set_all(nodes, &delta.changed_count);
    }
    helper_put_int(buf, is_delta);
    helper_put_int(buf, delta.removed_count);
    for (uint32_t i = 0; i < delta.removed_count; i++) {
        helper_put_str(buf, delta.removed[i]);
    }
    helper_put_int(buf, delta.changed_count);
    for (uint32_t i = 0; i < delta.changed_count; i++) {
        put_node(buf, &delta.changed[i]);
    }
}

static void remove_all(struct node_set *nodes)
{
    uint32_t count;
    const struct node_record *all;

    while ((all = node_set_all(nodes, &count)) && count > 0) {
        auto_arena arena = {0};
        (void)node_set_remove(nodes, arena_str(&arena, all[0].name));
    }
}

void helper_take_nodes(struct helper_reader *reader, struct node_set *nodes)
{
    auto_arena arena = {0};

    if (!helper_take_int(reader) && !reader->is_bad) {
        remove_all(nodes);
    }
    for (uint32_t n = take_count(reader, ITEMS_MAX); n > 0; n--) {
        (void)node_set_remove(nodes, helper_take_str(reader));
    }
    for (uint32_t n = take_count(reader, ITEMS_MAX); n > 0; n--) {
        struct node_record node;
        take_node(reader, &arena, &node);
        if (!reader->is_bad) {
            node_set_put(nodes, &node);
        }
    }
}
