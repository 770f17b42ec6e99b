#include "api/core/message.h"
#include "api/submit/annotations.h"
#include "api/submit/defaults.h"
#include "api/submit/pod_group.h"
#include "api/submit/submission_private.h"
#include "api/submit/submit_event.h"
#include "api/submit/validate.h"
#include "wire/kube/pod.h"
#include "wire/log/log_codec.h"
#include "wire/message/message.h"

enum { POD_MILLI = 1000 /* of the resource `pods` */ };

int submission_decode(struct str bytes, struct arena *arena,
                      Berth__Submission__Request **ret_request, struct err *err)
{
    ProtobufCMessage *message;
    int rc = wire_decode(&berth__submission__request__descriptor, bytes,
                         &wire_request_limits, arena, &message, err);

    if (rc == 0) {
        *ret_request = (Berth__Submission__Request *)message;
    }
    return rc;
}

static int refuse_err(struct submission_builder *builder, const char *what,
                      const struct err *err)
{
    return refusal_set(builder->refusal, "%s: %s", what, err->text);
}

/* Encode the completed pod spec and what scheduling needs of it. */
static int keep_pod(struct submission_builder *builder, struct str raw,
                    struct pod_use use, const struct pod_view *view)
{
    struct requirement requirement;
    struct err err;
    auto_strbuf packed = strbuf_make(0);

    if (pod_requirement(view->message, &builder->scratch, &requirement, &err) <
        0) {
        return refuse_err(builder, "pod spec", &err);
    }
    if (builder->context->rules->counts_pods &&
        resource_list_add(&requirement.requests, STR("pods"), POD_MILLI) < 0) {
        return refusal_set(builder->refusal,
                           "pod spec: more than %d resources with pods",
                           RESOURCE_LIST_MAX - 1);
    }
    requirement.lifetime_ms = use.lifetime_ms;
    requirement_pack(&packed, &requirement);
    builder->pod = (struct done_pod){
        .raw = raw,
        .use = use,
        .encoded = wire_encode_arena(&view->message->base, &builder->kept),
        .class_key = arena_str(&builder->kept, strbuf_str(&packed)),
        .priority_class =
            arena_str(&builder->kept, str_of(view->message->priorityclassname)),
        .ports = pod_ports_of(view, &builder->kept),
    };
    return 0;
}

int submission_take_pod(struct submission_builder *builder, struct str raw,
                        struct pod_use use)
{
    const struct submit_rules *rules = builder->context->rules;
    ProtobufCMessage *message;
    struct pod_view view;
    struct err err;

    if (builder->pod.raw.p && builder->pod.use.lifetime_ms == use.lifetime_ms &&
        builder->pod.use.is_member == use.is_member &&
        str_equal(builder->pod.raw, raw)) {
        return 0;
    }
    arena_reset(&builder->scratch);
    if (wire_decode(&k8s__io__api__core__v1__pod_spec__descriptor, raw,
                    &wire_request_limits, &builder->scratch, &message,
                    &err) < 0) {
        return refuse_err(builder, "cannot decode pod spec", &err);
    }
    int rc = pod_view_make((K8s__Io__Api__Core__V1__PodSpec *)message,
                           &builder->scratch, &view, builder->refusal);
    if (rc == 0) {
        rc = validate_pod(&view, rules, builder->refusal);
    }
    if (rc == 0 && builder->context->remarks) {
        rc = pod_advice_make(&view, rules, builder->context->remarks,
                             builder->refusal);
    }
    if (rc < 0) {
        return rc;
    }
    defaults_pod(&view, rules, &builder->scratch);
    if (use.is_member) {
        pod_group_environment(&view, &builder->scratch);
    }
    return keep_pod(builder, raw, use, &view);
}

/* The id of a job that an item waits for. */
static struct job_id id_of(const struct submission_builder *builder,
                           const struct depend *depend)
{
    return depend->item > 0 ? builder->jobs[depend->item - 1] : depend->on;
}

/* What the item waits for, packed; "": nothing. */
static struct str put_waits(struct submission_builder *builder)
{
    const struct depends *depends = builder->context->depends;
    struct job_wait waits[JOB_WAITS_MAX];

    strbuf_clear(&builder->waits);
    if (!depends || depends[builder->item].count == 0) {
        return (struct str){0};
    }
    depends += builder->item;
    for (uint32_t i = 0; i < depends->count; i++) {
        waits[i] = (struct job_wait){id_of(builder, &depends->items[i]),
                                     depends->items[i].want};
    }
    job_waits_pack(&builder->waits, waits, depends->count);
    return strbuf_str(&builder->waits);
}

/* The same for the leader, which checks that those jobs are there. */
static void add_waits(struct submission_builder *builder,
                      struct submit_item *item)
{
    const struct depends *depends = builder->context->depends;
    struct submit_wait *waits;

    if (!depends || depends[builder->item].count == 0) {
        return;
    }
    depends += builder->item;
    waits = arena_alloc_array(&builder->command->arena, depends->count,
                              sizeof(*waits));
    for (uint32_t i = 0; i < depends->count; i++) {
        waits[i] = (struct submit_wait){id_of(builder, &depends->items[i]),
                                        depends->items[i].is_known};
    }
    item->waits = waits;
    item->wait_count = depends->count;
}

void submission_put_digest(struct submission_builder *builder,
                           const Berth__Submission__Item *item,
                           const struct gang *gang,
                           const struct pod_group *group,
                           const struct pod_member *member)
{
    struct job_digest digest = {
        .class_key = builder->pod.class_key,
        .client_id = str_of(item->client_id),
    };
    struct gang_terms terms;

    annotations_digest(item, gang, &digest);
    if (!digest.pool.byte_count) {
        digest.pool = builder->context->default_pool;
    }
    if (member) {
        pod_group_digest(item, group, member, strbuf_str(&builder->terms),
                         &digest);
    } else if (gang->has_terms) {
        strbuf_clear(&builder->terms);
        annotations_terms(gang, &terms);
        gang_terms_pack(&builder->terms, &terms);
        digest.gang_terms = strbuf_str(&builder->terms);
    }
    digest.waits = put_waits(builder);
    strbuf_clear(&builder->digest);
    digest_pack(&builder->digest, &digest);
}

struct job_id submission_next_job_id(struct submission_builder *builder)
{
    for (int i = SUBMISSION_RANDOM_BYTES - 1; i >= 0; i--) {
        if (++builder->random[i]) {
            break;
        }
    }
    return job_id_make(builder->context->now_ms, builder->random);
}

struct submit_item submission_make_job(struct submission_builder *builder,
                                       const Berth__Submission__Item *item,
                                       struct job_id job)
{
    struct arena *arena = &builder->command->arena;
    char job_id[ID_TEXT_BYTES_MAX];

    struct submit_event event = {
        .owner =
            {
                .job_id = job_id_format(job, job_id),
                .queue = builder->request->queue,
                .job_set = builder->request->job_set_id,
                .owner = builder->owner,
            },
        .pod_spec = builder->pod.encoded,
        .ports = &builder->pod.ports,
        .rules = builder->context->rules,
    };

    strbuf_clear(&builder->submit);
    submit_event_put(&builder->submit, item, &event, &builder->kept);
    strbuf_clear(&builder->event);
    log_put_submit(&builder->event, builder->context->now_ms,
                   strbuf_str(&builder->submit), strbuf_str(&builder->digest));
    return (struct submit_item){
        .job = job,
        .client_id = arena_str(arena, str_of(item->client_id)),
        .event = arena_str(arena, strbuf_str(&builder->event)),
    };
}

static int build_item(struct submission_builder *builder,
                      Berth__Submission__Item *item,
                      struct submit_item *ret_item)
{
    const struct submission_context *context = builder->context;
    struct refusal *refusal = builder->refusal;
    struct str raw;
    struct gang gang;

    int rc = validate_item_shape(item, context->rules, &raw, refusal);
    struct pod_use use = {.lifetime_ms = annotations_lifetime_ms(item)};
    rc = rc ? rc : submission_take_pod(builder, raw, use);
    rc = rc ? rc : validate_item_rest(item, context->rules, refusal);
    rc = rc ? rc : annotations_gang(item, &gang, refusal);
    if (rc < 0) {
        return rc;
    }
    struct job_id job = submission_next_job_id(builder);
    defaults_metadata(item, gang.is_gang && gang.cardinality > 1, job,
                      context->rules, &builder->kept);
    rc = annotations_gang(item, &gang, refusal);
    if (rc < 0) {
        return rc;
    }
    submission_put_digest(builder, item, &gang, NULL, NULL);
    *ret_item = submission_make_job(builder, item, job);
    add_waits(builder, ret_item);
    return 0;
}

/* An item: one job, or those of its group; adds their number to `*at`. */
static int build_any(struct submission_builder *builder,
                     Berth__Submission__Item *item, uint32_t *at,
                     struct submit_item *ret_items)
{
    struct pod_group group;

    if (!item->pod_group) {
        return build_item(builder, item, &ret_items[(*at)++]);
    }
    int rc = pod_group_read(item, &group, builder->refusal);
    rc = rc ? rc
            : submission_put_group(builder, item, &group, STR(""),
                                   &ret_items[*at]);
    *at += rc ? 0 : pod_group_max(&group);
    return rc;
}

/* Room in the command for so many jobs. */
static int take_room(struct submission_builder *builder, uint64_t count)
{
    struct command *command = builder->command;

    if (count > SUBMIT_ITEMS_MAX) {
        return refusal_set(builder->refusal,
                           "%llu jobs in one request, more than the %d allowed",
                           (unsigned long long)count, SUBMIT_ITEMS_MAX);
    }
    command->submit.items =
        arena_alloc_array(&command->arena, count, sizeof(struct submit_item));
    command->submit.item_count = (uint32_t)count;
    return 0;
}

static int build_items(struct submission_builder *builder)
{
    const Berth__Submission__Request *request = builder->request;
    struct submit_item *items;
    uint64_t count = 0;
    uint32_t at = 0;

    for (size_t i = 0; i < request->n_job_request_items; i++) {
        uint64_t pod_count = pod_group_job_count(request->job_request_items[i]);
        if (pod_count > SUBMIT_ITEMS_MAX) {
            builder->refusal->item_number = (uint32_t)i + 1;
            return refusal_set(builder->refusal,
                               "podGroup.subGroups: max is %llu in all, more "
                               "than the %d allowed",
                               (unsigned long long)pod_count, SUBMIT_ITEMS_MAX);
        }
        count += pod_count;
    }
    int rc = take_room(builder, count);
    items = builder->command->submit.items;
    builder->jobs = arena_alloc_array(
        &builder->kept, request->n_job_request_items, sizeof(*builder->jobs));
    for (size_t i = 0; i < request->n_job_request_items && rc == 0; i++) {
        uint32_t first = at;
        builder->item = (uint32_t)i;
        rc = build_any(builder, request->job_request_items[i], &at, items);
        if (rc == 0 && at > first) {
            builder->jobs[i] = items[first].job;
        }
        builder->refusal->item_number = rc < 0 ? (uint32_t)i + 1 : 0;
    }
    return rc;
}

/* What goes for all items of a request. */
static int begin(struct submission_builder *builder,
                 Berth__Submission__Request *request)
{
    const struct submission_context *context = builder->context;
    struct command *command = builder->command;

    if (!*request->job_set_id) {
        request->job_set_id = message_text(annotations_job_set(request));
    }
    int rc = validate_request(request, builder->refusal);
    if (rc < 0) {
        return rc;
    }
    builder->owner = arena_strdup(&builder->kept, context->owner);
    context->rng->fill(context->rng, builder->random, sizeof(builder->random));
    builder->random[0] &= 0x7f; /* so that counting up never wraps */
    command->scope = (struct event_scope){
        .queue = arena_str(&command->arena, str_of(request->queue)),
        .job_set = arena_str(&command->arena, str_of(request->job_set_id)),
        .user = arena_str(&command->arena, context->owner),
    };
    return 0;
}

static void builder_fini(struct submission_builder *builder)
{
    arena_fini(&builder->scratch);
    arena_fini(&builder->member);
    arena_fini(&builder->kept);
    strbuf_fini(&builder->submit);
    strbuf_fini(&builder->event);
    strbuf_fini(&builder->digest);
    strbuf_fini(&builder->terms);
    strbuf_fini(&builder->waits);
}

int submission_build(Berth__Submission__Request *request,
                     const struct submission_context *context,
                     struct command *command, struct refusal *refusal)
{
    struct submission_builder builder = {.request = request,
                                         .context = context,
                                         .command = command,
                                         .refusal = refusal};

    int rc = begin(&builder, request);
    rc = rc ? rc : build_items(&builder);
    builder_fini(&builder);
    return rc;
}

int submission_build_group(Berth__Submission__Request *request,
                           const struct pod_group *group, struct str gang_id,
                           const struct submission_context *context,
                           struct command *command, struct refusal *refusal)
{
    struct submission_builder builder = {.request = request,
                                         .context = context,
                                         .command = command,
                                         .refusal = refusal};

    ASSERT(request->n_job_request_items == 1);
    int rc = begin(&builder, request);
    rc = rc ? rc : take_room(&builder, pod_group_max(group));
    rc = rc ? rc
            : submission_put_group(&builder, request->job_request_items[0],
                                   group, gang_id, command->submit.items);
    builder_fini(&builder);
    return rc;
}
