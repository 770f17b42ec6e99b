/* Makes what belongs to a pod beside it: a POST each, one after the other.  Of
 * a kind that is not known the server is asked first where its objects are. */
#include "executor/kubernetes/kube_answer.h"
#include "executor/kubernetes/kube_mapping.h"
#include "executor/kubernetes/kubernetes_private.h"

enum {
    BUSY_MS = 100, /* until the port, or the row, may take a request */
    STATUS_NOT_FOUND = 404,
};

void kubernetes_attach_free(struct kube_attach *attach)
{
    if (attach) {
        arena_fini(&attach->arena);
        mem_free(attach);
    }
}

static void look_at(struct kubernetes *k, int64_t at_ms)
{
    k->attach_ms = at_ms < k->attach_ms ? at_ms : k->attach_ms;
}

/* It cannot be had: the job ends, or goes elsewhere if it has not begun. */
static void give_up(struct kubernetes *k, struct kube_row *row, bool may_return,
                    struct str why)
{
    struct kube_attach *attach = row->attach;
    struct kube_attached *item = &attach->items[attach->made_count];
    auto_strbuf text = strbuf_make(0);

    item->refusal = arena_str(&attach->arena, why);
    item->changed_ms = k->clock->wall_ms(k->clock);
    kubernetes_push(k, RUNTIME_FACTS, row->run);
    strbuf_addf(&text, "the job's %.*s %.*s was not created: %.*s",
                STR_ARG(item->kind), STR_ARG(item->name), STR_ARG(why));
    kubernetes_doom(k, row,
                    may_return && row->phase == RECONCILE_PENDING
                        ? RUNTIME_CAUSE_REJECTED
                        : RUNTIME_CAUSE_REFUSED,
                    strbuf_str(&text));
}

static void again(struct kubernetes *k, struct kube_row *row,
                  const struct kube_verdict *verdict)
{
    struct kube_attach *attach = row->attach;

    attach->due_ms = kubernetes_now_ms(k) +
                     retry_failed(&attach->retry, k->rng, verdict->after_ms);
    if (attach->due_ms >= attach->until_ms) {
        give_up(k, row, true, str_of(verdict->why.text));
        return;
    }
    k->stats.again_count++;
    look_at(k, attach->due_ms);
}

void kubernetes_tell_addresses(struct kubernetes *k, struct kube_row *row)
{
    struct kube_attach *attach = row->attach;

    if (attach && !attach->is_told && attach->made_count == attach->count &&
        attach->exposed_count > 0 && *attach->host_ip &&
        row->phase == RECONCILE_RUNNING) {
        attach->is_told = true;
        kubernetes_push(k, RUNTIME_FACTS, row->run);
    }
}

static void made(struct kubernetes *k, struct kube_row *row, struct str answer)
{
    struct kube_attach *attach = row->attach;

    kube_attached_expose(answer, &attach->arena, attach->exposed,
                         &attach->exposed_count);
    kube_attached_note(answer, &attach->arena,
                       &attach->items[attach->made_count++]);
    attach->is_looking = false;
    retry_succeeded(&attach->retry);
    attach->due_ms = kubernetes_now_ms(k);
    look_at(k, attach->due_ms);
    kubernetes_tell_addresses(k, row);
    if (attach->made_count == attach->count && !attach->is_told) {
        kubernetes_push(k, RUNTIME_FACTS, row->run);
    }
}

/* There is one of that name: ours, from before a restart or an answer that was
 * lost; or that of the job's run before, which the cluster is deleting. */
static void take_found(struct kubernetes *k, struct kube_row *row,
                       struct kube_verdict *verdict, struct str answer)
{
    if (kube_attached_is_of(answer, str_of(row->uid))) {
        made(k, row, answer);
        return;
    }
    (void)err_set(&verdict->why, -ERR_INVALID,
                  "there is another one of that name in namespace %.*s",
                  STR_ARG(row->namespace_));
    row->attach->is_looking = false;
    again(k, row, verdict);
}

/* A secret that only the executor before this one had. */
static void miss(struct kubernetes *k, struct kube_row *row)
{
    give_up(k, row, true,
            STR("the executor was started anew before it was made"));
}

static void take_answer(struct kubernetes *k, struct kube_row *row,
                        const struct http_result *result,
                        struct kube_verdict *verdict)
{
    struct kube_attach *attach = row->attach;
    const struct kube_attached *item = &attach->items[attach->made_count];

    if (item->is_secret) {
        (void)err_set(&verdict->why, -ERR_UNAVAILABLE,
                      "the API server answered %d; what it said is not shown, "
                      "for it may quote the secret",
                      result->status);
    }
    if (verdict->answer == KUBE_MADE && attach->is_looking) {
        take_found(k, row, verdict, result->body);
    } else if (verdict->answer == KUBE_MADE) {
        made(k, row, result->body);
    } else if (verdict->answer == KUBE_EXISTS) {
        attach->is_looking = true;
        attach->due_ms = kubernetes_now_ms(k);
        look_at(k, attach->due_ms);
    } else if (item->is_withheld && result->status == STATUS_NOT_FOUND) {
        miss(k, row);
    } else if (verdict->answer == KUBE_AGAIN || attach->is_looking) {
        attach->is_looking = item->is_withheld;
        again(k, row, verdict);
    } else {
        give_up(k, row, verdict->answer == KUBE_RETURNED,
                str_of(verdict->why.text));
    }
}

/* The answer to what is asked for a row; false: it matters no more. */
static bool matters(const struct kube_row *row)
{
    return !row->is_doomed && !row->is_ending &&
           !reconcile_is_ended(row->phase);
}

static void on_answer(void *ctx, const struct http_result *result)
{
    struct kubernetes *k = ((struct kube_call *)ctx)->kubernetes;
    struct kube_row *row = kubernetes_end_call(ctx);
    struct kube_verdict verdict = kube_answer_read(result);

    if (matters(row)) {
        take_answer(k, row, result, &verdict);
    }
    (void)kubernetes_delete_wanted(k, row);
}

/* Where objects of a kind are. */

static struct str find_plural(const struct kubernetes *k,
                              const struct kube_attached *item)
{
    for (size_t i = 0; i < k->mappings.count; i++) {
        const struct kube_mapping *mapping = &k->mappings.items[i];
        if (str_equal(mapping->api_version, item->api_version) &&
            str_equal(mapping->kind, item->kind)) {
            return mapping->plural;
        }
    }
    return STR("");
}

static void take_group(struct kubernetes *k, struct kube_row *row,
                       const struct http_result *result,
                       const struct kube_verdict *verdict)
{
    struct kube_attach *attach = row->attach;
    struct kube_attached *item = &attach->items[attach->made_count];
    struct str plural;
    struct err err = verdict->why;
    int rc = verdict->answer != KUBE_MADE
                 ? -ERR_UNAVAILABLE
                 : kube_mapping_read(result->body, item->api_version,
                                     item->kind, &attach->arena, &plural, &err);

    if (verdict->answer == KUBE_AGAIN || rc == -ERR_CORRUPT) {
        struct kube_verdict later = {.after_ms = verdict->after_ms, .why = err};
        again(k, row, &later);
    } else if (rc < 0) {
        give_up(k, row, verdict->answer == KUBE_RETURNED, str_of(err.text));
    } else {
        if (find_plural(k, item).byte_count == 0) {
            struct kube_mapping mapping = {
                arena_str(&k->arena, item->api_version),
                arena_str(&k->arena, item->kind), arena_str(&k->arena, plural)};
            VEC_PUSH(&k->mappings, mapping);
        }
        attach->due_ms = kubernetes_now_ms(k);
        look_at(k, attach->due_ms);
    }
}

static void on_group(void *ctx, const struct http_result *result)
{
    struct kubernetes *k = ((struct kube_call *)ctx)->kubernetes;
    struct kube_row *row = kubernetes_end_call(ctx);
    struct kube_verdict verdict = kube_answer_read(result);

    if (matters(row)) {
        take_group(k, row, result, &verdict);
    }
    (void)kubernetes_delete_wanted(k, row);
}

/* False: not now. */
static bool ask(struct kubernetes *k, struct kube_row *row)
{
    struct kube_attach *attach = row->attach;
    struct kube_attached *item = &attach->items[attach->made_count];
    auto_strbuf path = strbuf_make(0);

    if (item->plural.byte_count == 0) {
        item->plural = find_plural(k, item);
    }
    if (item->plural.byte_count == 0) {
        kube_mapping_group(item->api_version, &path);
        return kubernetes_ask(k, row, "GET", strbuf_str(&path), STR(""),
                              &k->asking_count, on_group);
    }
    attach->is_looking |= item->is_withheld;
    kube_attached_path(item, attach->is_looking, &path);
    return (item->is_json ? kubernetes_ask_any : kubernetes_ask)(
        k, row, attach->is_looking ? "GET" : "POST", strbuf_str(&path),
        attach->is_looking ? STR("") : item->body, &k->asking_count, on_answer);
}

/* When to come again. */
static int64_t attach_row(struct kubernetes *k, struct kube_row *row,
                          int64_t now_ms)
{
    const struct kube_attach *attach = row->attach;

    if (!matters(row) || attach->made_count == attach->count) {
        return INT64_MAX;
    }
    if (attach->due_ms > now_ms) {
        return attach->due_ms;
    }
    /* Of a request under way the answer brings us here. */
    return row->call || k->asking_count >= KUBERNETES_CREATING_MAX ||
                   !ask(k, row)
               ? now_ms + BUSY_MS
               : INT64_MAX;
}

void kubernetes_attach_due(struct kubernetes *k)
{
    int64_t now_ms = kubernetes_now_ms(k), next_ms = INT64_MAX;
    size_t kept = 0;

    if (now_ms < k->attach_ms) {
        return;
    }
    k->attach_ms = INT64_MAX;
    for (size_t i = 0; i < k->attaching.count; i++) {
        struct run_id run = k->attaching.items[i];
        struct kube_row *row = kubernetes_find(k, run);
        if (!row || !row->attach) {
            continue;
        }
        int64_t at_ms = attach_row(k, row, now_ms);
        next_ms = at_ms < next_ms ? at_ms : next_ms;
        if (at_ms < INT64_MAX || row->call) {
            k->attaching.items[kept++] = run;
        }
    }
    k->attaching.count = kept;
    look_at(k, next_ms);
}

static void begin(struct kubernetes *k, struct kube_row *row,
                  const struct kube_pod *pod)
{
    struct kube_attach *attach = mem_alloc(sizeof(*attach));
    char id[ID_TEXT_BYTES_MAX];
    const struct kube_attached_owner owner = {
        row->pod_name,
        row->namespace_,
        str_of(row->uid),
        row->node_name,
        str_of(job_id_format(row->job, id)),
        row->queue};
    struct str text = row->objects ? str_of(row->objects) : pod->objects;
    const struct kube_attached_rules rules = {k->options.hostname_suffix,
                                              k->options.certificate_suffix,
                                              k->options.allowed};
    struct err err;

    row->attach = attach;
    attach->host_ip = "";
    int rc = kube_attached_unpack(text, &owner, &rules, &attach->arena,
                                  &attach->items, &attach->count, &err);
    mem_free(row->objects);
    row->objects = NULL;
    if (rc < 0) {
        attach->count = 0;
        kubernetes_doom(k, row, RUNTIME_CAUSE_REFUSED, str_of(err.text));
        return;
    }
    attach->due_ms = kubernetes_now_ms(k);
    attach->until_ms = attach->due_ms + k->options.create_ms_max;
    VEC_PUSH(&k->attaching, row->run);
    look_at(k, attach->due_ms);
}

void kubernetes_note_objects(struct kubernetes *k, struct kube_row *row,
                             const struct kube_pod *pod)
{
    if (pod->objects.byte_count == 0 || reconcile_is_ended(row->phase) ||
        row->is_ending) {
        return;
    }
    if (!row->attach) {
        begin(k, row, pod);
    }
    if (pod->host_ip.byte_count > 0 && !*row->attach->host_ip) {
        row->attach->host_ip = arena_strdup(&row->attach->arena, pod->host_ip);
    }
    kubernetes_tell_addresses(k, row);
}

/* Those of which it is known what became of them, by index. */
static void put_objects(const struct kube_attach *attach, struct arena *arena,
                        struct runtime_status *status)
{
    struct runtime_object *objects =
        arena_alloc_array(arena, attach->count, sizeof(*objects));

    for (uint32_t i = 0; i < attach->count; i++) {
        const struct kube_attached *item = &attach->items[i];
        uint32_t at = status->object_count;
        if (item->uid.byte_count + item->refusal.byte_count == 0) {
            continue;
        }
        for (; at > 0 && objects[at - 1].index > item->index; at--) {
            objects[at] = objects[at - 1];
        }
        objects[at] = (struct runtime_object){
            .index = item->index,
            .api_version = item->api_version,
            .kind = item->kind,
            .name = item->name,
            .namespace_ = item->namespace_,
            .uid = item->uid,
            .message = item->refusal,
            .generation = item->generation,
            .changed_ms = item->changed_ms,
        };
        status->object_count++;
    }
    status->objects = objects;
}

void kubernetes_put_objects(const struct kube_row *row, struct arena *arena,
                            struct runtime_status *status)
{
    const struct kube_attach *attach = row->attach;

    if (attach) {
        put_objects(attach, arena, status);
    }
    if (!attach || !attach->is_told) {
        return;
    }
    struct runtime_address *addresses =
        arena_alloc_array(arena, attach->exposed_count, sizeof(*addresses));
    for (uint32_t i = 0; i < attach->exposed_count; i++) {
        const struct kube_exposed *exposed = &attach->exposed[i];
        auto_strbuf text = strbuf_make(0);
        if (exposed->node_port > 0) {
            strbuf_addf(&text, "%s:%d", attach->host_ip, exposed->node_port);
        } else {
            strbuf_add_str(&text, exposed->address);
        }
        addresses[i] = (struct runtime_address){
            exposed->port, arena_str(arena, strbuf_str(&text))};
    }
    status->addresses = addresses;
    status->address_count = attach->exposed_count;
}
