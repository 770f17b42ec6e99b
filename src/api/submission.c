#include "api/submission.h"

#include "api/annotations.h"
#include "api/defaults.h"
#include "api/message.h"
#include "api/services.h"
#include "api/validate.h"
#include "wire/field.h"
#include "wire/log_codec.h"
#include "wire/message.h"
#include "wire/pod.h"

enum {
    RANDOM_BYTES = 10,
    /* Fields of armadaevents.SubmitJob and of what it holds. */
    SUBMIT_DEDUPLICATION_ID = 2,
    SUBMIT_PRIORITY = 3,
    SUBMIT_OBJECT_META = 4,
    SUBMIT_MAIN_OBJECT = 5,
    SUBMIT_OBJECTS = 6,
    SUBMIT_JOB_ID = 14,
    SUBMIT_EXTERNAL_JOB_URI = 16,
    META_NAMESPACE = 2,
    META_ANNOTATIONS = 5,
    META_LABELS = 6,
    ENTRY_KEY = 1,
    ENTRY_VALUE = 2,
    MAIN_OBJECT_POD_SPEC = 2,
    POD_SPEC_WITH_AVOID_LIST_POD_SPEC = 1,
};

/* A pod spec that has been checked and completed. */
struct done_pod {
    struct str raw;       /* as it came; p is NULL before the first */
    struct str encoded;   /* completed */
    int64_t lifetime_ms;  /* of the job, part of class_key */
    struct str class_key; /* its packed requirement */
    struct pod_ports ports;
};

/* The building of one command. */
struct builder {
    const Berth__Submission__Request *request;
    const struct submission_context *context;
    struct command *command;
    struct refusal *refusal;
    struct arena scratch;        /* for one pod spec */
    struct arena kept;           /* for the request */
    struct done_pod pod;         /* the last one */
    struct strbuf submit, event; /* of one job */
    struct strbuf digest;
    uint8_t random[RANDOM_BYTES];
};

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

static int refuse_err(struct builder *builder, const char *what,
                      const struct err *err)
{
    return refusal_set(builder->refusal, "%s: %s", what, err->text);
}

/* Encode the completed pod spec and what scheduling needs of it. */
static int keep_pod(struct builder *builder, struct str raw,
                    int64_t lifetime_ms, const struct pod_view *view)
{
    struct requirement requirement;
    struct err err;
    auto_strbuf packed = strbuf_make(0);

    if (pod_requirement(view->message, &builder->scratch, &requirement, &err) <
        0) {
        return refuse_err(builder, "pod spec", &err);
    }
    requirement.lifetime_ms = lifetime_ms;
    requirement_pack(&packed, &requirement);
    builder->pod = (struct done_pod){
        .raw = raw,
        .lifetime_ms = lifetime_ms,
        .encoded = wire_encode_arena(&view->message->base, &builder->kept),
        .class_key = arena_str(&builder->kept, strbuf_str(&packed)),
        .ports = pod_ports_of(view, &builder->kept),
    };
    return 0;
}

/* Check and complete a pod spec unless it is the one before. */
static int take_pod(struct builder *builder, struct str raw,
                    int64_t lifetime_ms)
{
    const struct submit_rules *rules = builder->context->rules;
    ProtobufCMessage *message;
    struct pod_view view;
    struct err err;

    if (builder->pod.raw.p && builder->pod.lifetime_ms == lifetime_ms &&
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
    if (rc < 0) {
        return rc;
    }
    defaults_pod(&view, rules, &builder->scratch);
    return keep_pod(builder, raw, lifetime_ms, &view);
}

static void put_pair(struct strbuf *buf, uint32_t number, const char *key,
                     const char *value)
{
    size_t entry = field_begin(buf, number);

    field_put_set_bytes(buf, ENTRY_KEY, str_of(key));
    field_put_set_bytes(buf, ENTRY_VALUE, str_of(value));
    field_end(buf, entry);
}

static void put_meta(struct strbuf *buf, const Berth__Submission__Item *item)
{
    size_t meta = field_begin(buf, SUBMIT_OBJECT_META);

    field_put_set_bytes(buf, META_NAMESPACE, str_of(item->namespace_));
    for (size_t i = 0; i < item->n_annotations; i++) {
        put_pair(buf, META_ANNOTATIONS, item->annotations[i]->key,
                 item->annotations[i]->value);
    }
    for (size_t i = 0; i < item->n_labels; i++) {
        put_pair(buf, META_LABELS, item->labels[i]->key,
                 item->labels[i]->value);
    }
    field_end(buf, meta);
}

static void put_pod(struct strbuf *buf, struct str pod_spec)
{
    size_t object = field_begin(buf, SUBMIT_MAIN_OBJECT);
    size_t with_avoid_list = field_begin(buf, MAIN_OBJECT_POD_SPEC);

    field_put_bytes(buf, POD_SPEC_WITH_AVOID_LIST_POD_SPEC, pod_spec);
    field_end(buf, with_avoid_list);
    field_end(buf, object);
}

static void put_objects(struct builder *builder,
                        const Berth__Submission__Item *item, const char *job_id)
{
    struct object_owner owner = {
        .job_id = job_id,
        .queue = builder->request->queue,
        .job_set = builder->request->job_set_id,
        .owner = arena_strdup(&builder->kept, builder->context->owner),
    };
    uint32_t count;
    Armadaevents__KubernetesObject **objects =
        services_make(item, &builder->pod.ports, &owner,
                      builder->context->rules, &builder->kept, &count);

    for (uint32_t i = 0; i < count; i++) {
        size_t object = field_begin(&builder->submit, SUBMIT_OBJECTS);
        wire_encode(&objects[i]->base, &builder->submit);
        field_end(&builder->submit, object);
    }
}

/* The encoded armadaevents.SubmitJob, in builder->submit. */
static void put_submit_job(struct builder *builder,
                           const Berth__Submission__Item *item,
                           const char *job_id)
{
    struct strbuf *buf = &builder->submit;

    strbuf_clear(buf);
    field_put_set_bytes(buf, SUBMIT_DEDUPLICATION_ID, str_of(item->client_id));
    field_put_set_u64(buf, SUBMIT_PRIORITY, defaults_priority(item->priority));
    put_meta(buf, item);
    put_pod(buf, builder->pod.encoded);
    if (item->n_services || item->n_ingress) {
        put_objects(builder, item, job_id);
    }
    field_put_bytes(buf, SUBMIT_JOB_ID, str_of(job_id));
    field_put_set_bytes(buf, SUBMIT_EXTERNAL_JOB_URI,
                        defaults_external_job_uri(item));
}

static void put_digest(struct builder *builder,
                       const Berth__Submission__Item *item,
                       const struct gang *gang)
{
    struct job_digest digest = {
        .class_key = builder->pod.class_key,
        .client_id = str_of(item->client_id),
    };

    annotations_digest(item, gang, &digest);
    strbuf_clear(&builder->digest);
    digest_pack(&builder->digest, &digest);
}

/* Ids of one request count up from a random one, so that their order is that
 * of the items. */
static struct job_id next_job_id(struct builder *builder)
{
    for (int i = RANDOM_BYTES - 1; i >= 0; i--) {
        if (++builder->random[i]) {
            break;
        }
    }
    return job_id_make(builder->context->now_ms, builder->random);
}

static int build_item(struct builder *builder, Berth__Submission__Item *item,
                      struct submit_item *ret_item)
{
    const struct submission_context *context = builder->context;
    struct refusal *refusal = builder->refusal;
    struct arena *arena = &builder->command->arena;
    char job_id[ID_TEXT_BYTES_MAX];
    struct str raw;
    struct gang gang;

    int rc = validate_item_shape(item, context->rules, &raw, refusal);
    rc = rc ? rc : take_pod(builder, raw, annotations_lifetime_ms(item));
    rc = rc ? rc : validate_item_rest(item, refusal);
    rc = rc ? rc : annotations_gang(item, &gang, refusal);
    if (rc < 0) {
        return rc;
    }
    struct job_id job = next_job_id(builder);
    defaults_metadata(item, gang.is_gang && gang.cardinality > 1, job,
                      context->rules, &builder->kept);
    rc = annotations_gang(item, &gang, refusal);
    if (rc < 0) {
        return rc;
    }
    put_submit_job(builder, item, job_id_format(job, job_id));
    put_digest(builder, item, &gang);
    strbuf_clear(&builder->event);
    log_put_submit(&builder->event, context->now_ms,
                   strbuf_str(&builder->submit), strbuf_str(&builder->digest));
    *ret_item = (struct submit_item){
        .job = job,
        .client_id = arena_str(arena, str_of(item->client_id)),
        .event = arena_str(arena, strbuf_str(&builder->event)),
    };
    return 0;
}

static int build_items(struct builder *builder)
{
    const Berth__Submission__Request *request = builder->request;
    struct command *command = builder->command;
    size_t count = request->n_job_request_items;
    int rc = 0;

    if (count > SUBMIT_ITEMS_MAX) {
        return refusal_set(builder->refusal,
                           "%zu jobs in one request, more than the %d allowed",
                           count, SUBMIT_ITEMS_MAX);
    }
    command->submit.items =
        arena_alloc_array(&command->arena, count, sizeof(struct submit_item));
    for (size_t i = 0; i < count && rc == 0; i++) {
        rc = build_item(builder, request->job_request_items[i],
                        &command->submit.items[i]);
    }
    command->submit.item_count = (uint32_t)count;
    return rc;
}

int submission_build(Berth__Submission__Request *request,
                     const struct submission_context *context,
                     struct command *command, struct refusal *refusal)
{
    struct builder builder = {.request = request,
                              .context = context,
                              .command = command,
                              .refusal = refusal};
    if (!*request->job_set_id) {
        request->job_set_id = message_text(annotations_job_set(request));
    }
    int rc = validate_request(request, context->rules, refusal);

    if (rc < 0) {
        return rc;
    }
    context->rng->fill(context->rng, builder.random, sizeof(builder.random));
    builder.random[0] &= 0x7f; /* so that counting up never wraps */
    command->scope = (struct event_scope){
        .queue = arena_str(&command->arena, str_of(request->queue)),
        .job_set = arena_str(&command->arena, str_of(request->job_set_id)),
        .user = arena_str(&command->arena, context->owner),
    };
    rc = build_items(&builder);
    arena_fini(&builder.scratch);
    arena_fini(&builder.kept);
    strbuf_fini(&builder.submit);
    strbuf_fini(&builder.event);
    strbuf_fini(&builder.digest);
    return rc;
}
