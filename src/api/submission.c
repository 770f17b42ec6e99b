#include "api/submission.h"

#include "api/annotations.h"
#include "api/defaults.h"
#include "api/message.h"
#include "api/pod_group.h"
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

/* What pod specs become beside the rules. */
struct pod_use {
    int64_t lifetime_ms; /* of the job, part of its class_key */
    bool is_member;      /* of a group: its environment tells it its place */
};

/* A pod spec that has been checked and completed. */
struct done_pod {
    struct str raw;     /* as it came; p is NULL before the first */
    struct str encoded; /* completed */
    struct pod_use use;
    struct str class_key;      /* its packed requirement */
    struct str priority_class; /* of it */
    struct pod_ports ports;
};

/* The building of one command. */
struct builder {
    const Berth__Submission__Request *request;
    const struct submission_context *context;
    struct command *command;
    struct refusal *refusal;
    struct arena scratch;        /* for one pod spec */
    struct arena member;         /* for one job of a group */
    struct arena kept;           /* for the request */
    struct done_pod pod;         /* the last one */
    struct strbuf submit, event; /* of one job */
    struct strbuf digest;
    struct strbuf terms; /* packed, of its gang */
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
static int keep_pod(struct builder *builder, struct str raw, struct pod_use use,
                    const struct pod_view *view)
{
    struct requirement requirement;
    struct err err;
    auto_strbuf packed = strbuf_make(0);

    if (pod_requirement(view->message, &builder->scratch, &requirement, &err) <
        0) {
        return refuse_err(builder, "pod spec", &err);
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

/* Check and complete a pod spec unless it is the one before. */
static int take_pod(struct builder *builder, struct str raw, struct pod_use use)
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
    if (rc < 0) {
        return rc;
    }
    defaults_pod(&view, rules, &builder->scratch);
    if (use.is_member) {
        pod_group_environment(&view, &builder->scratch);
    }
    return keep_pod(builder, raw, use, &view);
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

/* The digest of a job, in builder->digest; its gang is that of its
 * annotations, or the group that it is a member of. */
static void put_digest(struct builder *builder,
                       const Berth__Submission__Item *item,
                       const struct gang *gang, const struct pod_group *group,
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

/* The finished job, whose digest is in builder->digest. */
static struct submit_item make_job(struct builder *builder,
                                   const Berth__Submission__Item *item,
                                   struct job_id job)
{
    struct arena *arena = &builder->command->arena;
    char job_id[ID_TEXT_BYTES_MAX];

    put_submit_job(builder, item, job_id_format(job, job_id));
    strbuf_clear(&builder->event);
    log_put_submit(&builder->event, builder->context->now_ms,
                   strbuf_str(&builder->submit), strbuf_str(&builder->digest));
    return (struct submit_item){
        .job = job,
        .client_id = arena_str(arena, str_of(item->client_id)),
        .event = arena_str(arena, strbuf_str(&builder->event)),
    };
}

static int build_item(struct builder *builder, Berth__Submission__Item *item,
                      struct submit_item *ret_item)
{
    const struct submission_context *context = builder->context;
    struct refusal *refusal = builder->refusal;
    struct str raw;
    struct gang gang;

    int rc = validate_item_shape(item, context->rules, &raw, refusal);
    struct pod_use use = {.lifetime_ms = annotations_lifetime_ms(item)};
    rc = rc ? rc : take_pod(builder, raw, use);
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
    put_digest(builder, item, &gang, NULL, NULL);
    *ret_item = make_job(builder, item, job);
    return 0;
}

/* Groups: one job for each pod. */

/* Take the pod spec of a sub-group; what is wrong with it is said with its
 * name. */
static int take_template(struct builder *builder, const struct pod_group *group,
                         uint32_t sub_group, struct pod_use use)
{
    const struct submit_rules *rules = builder->context->rules;
    struct str template = group->templates[sub_group];
    struct str name = group->terms.sub_groups[sub_group].name;
    struct refusal detail;

    int rc = validate_pod_bytes(template, rules, &detail);
    if (rc == 0) {
        struct refusal *outer = builder->refusal;
        builder->refusal = &detail;
        rc = take_pod(builder, template, use);
        builder->refusal = outer;
    }
    return rc == 0 ? 0
                   : refusal_set(builder->refusal,
                                 "podGroup.subGroups[%u] (%.*s): %s", sub_group,
                                 STR_ARG(name), detail.text);
}

/* The class goes for the whole group, as for any gang. */
static int check_class(struct builder *builder, const struct pod_group *group,
                       uint32_t sub_group, struct str first_class)
{
    struct str name = group->terms.sub_groups[sub_group].name;

    if (str_equal(first_class, builder->pod.priority_class)) {
        return 0;
    }
    return refusal_set(builder->refusal,
                       "podGroup.subGroups[%u] (%.*s): priorityClassName %.*s "
                       "is not that of the first sub-group, %.*s; a group has "
                       "one",
                       sub_group, STR_ARG(name),
                       STR_ARG(builder->pod.priority_class),
                       STR_ARG(first_class));
}

/* A few bytes can ask for a great many jobs: stop before they fill the
 * memory. */
static int check_bytes(struct builder *builder)
{
    return builder->command->arena.byte_count <= COMMAND_BYTES_MAX
               ? 0
               : refusal_set(builder->refusal,
                             "the jobs of the request are together larger "
                             "than one record of the log may be, %d bytes",
                             COMMAND_BYTES_MAX);
}

/* The jobs of one sub-group, whose pod spec was taken; `ret_items` is where
 * the group's first job is, or will be. */
static int build_members(struct builder *builder,
                         const Berth__Submission__Item *item,
                         const struct pod_group *group,
                         struct pod_member *member, uint32_t *at,
                         struct submit_item *ret_items)
{
    const struct submit_rules *rules = builder->context->rules;
    const struct gang no_gang = {.cardinality = 1, .minimum = 1};
    uint32_t count = group->terms.sub_groups[member->sub_group].max_count;
    char id[ID_TEXT_BYTES_MAX];

    for (member->index = 0; member->index < count; member->index++) {
        arena_reset(&builder->member);
        member->job = next_job_id(builder);
        if (!member->gang_id.byte_count) {
            member->gang_id = arena_str(&builder->kept,
                                        str_of(job_id_format(member->job, id)));
        }
        Berth__Submission__Item *own =
            pod_group_item(item, group, member, &builder->member);
        if (*at > 0) {
            own->client_id = message_text(STR(""));
        }
        defaults_metadata(own, false, member->job, rules, &builder->member);
        put_digest(builder, own, &no_gang, group, member);
        ret_items[*at] = make_job(builder, own, member->job);
        ret_items[*at].is_further = *at > 0;
        (*at)++;
        if (check_bytes(builder) < 0) {
            return -ERR_INVALID;
        }
    }
    return 0;
}

static int build_group(struct builder *builder,
                       const Berth__Submission__Item *item,
                       const struct pod_group *group, struct str gang_id,
                       struct submit_item *ret_items)
{
    struct pod_use use = {annotations_lifetime_ms(item), true};
    struct pod_member member = {
        .gang_id = gang_id,
        .has_gang_label = builder->context->rules->adds_gang_id_label,
    };
    struct str first_class = {0};
    uint32_t at = 0;

    int rc = validate_item_rest(item, builder->refusal);
    strbuf_clear(&builder->terms);
    gang_terms_pack(&builder->terms, &group->terms);
    for (uint32_t i = 0; i < group->terms.sub_group_count && rc == 0; i++) {
        member.sub_group = i;
        rc = take_template(builder, group, i, use);
        first_class = i ? first_class : builder->pod.priority_class;
        rc = rc ? rc : check_class(builder, group, i, first_class);
        rc = rc ? rc
                : build_members(builder, item, group, &member, &at, ret_items);
    }
    return rc;
}

/* An item: one job, or those of its group; adds their number to `*at`. */
static int build_any(struct builder *builder, Berth__Submission__Item *item,
                     uint32_t *at, struct submit_item *ret_items)
{
    struct pod_group group;

    if (!item->pod_group) {
        return build_item(builder, item, &ret_items[(*at)++]);
    }
    int rc = pod_group_read(item, &group, builder->refusal);
    rc = rc ? rc : build_group(builder, item, &group, STR(""), &ret_items[*at]);
    *at += rc ? 0 : pod_group_max(&group);
    return rc;
}

/* Room in the command for so many jobs. */
static int take_room(struct builder *builder, uint64_t count)
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

static int build_items(struct builder *builder)
{
    const Berth__Submission__Request *request = builder->request;
    struct submit_item *items;
    uint64_t count = 0;
    uint32_t at = 0;

    for (size_t i = 0; i < request->n_job_request_items; i++) {
        count += pod_group_job_count(request->job_request_items[i]);
    }
    int rc = take_room(builder, count);
    items = builder->command->submit.items;
    for (size_t i = 0; i < request->n_job_request_items && rc == 0; i++) {
        rc = build_any(builder, request->job_request_items[i], &at, items);
        builder->refusal->item_number = rc < 0 ? (uint32_t)i + 1 : 0;
    }
    return rc;
}

/* What goes for all items of a request. */
static int begin(struct builder *builder, Berth__Submission__Request *request)
{
    const struct submission_context *context = builder->context;
    struct command *command = builder->command;

    if (!*request->job_set_id) {
        request->job_set_id = message_text(annotations_job_set(request));
    }
    int rc = validate_request(request, context->rules, builder->refusal);
    if (rc < 0) {
        return rc;
    }
    context->rng->fill(context->rng, builder->random, sizeof(builder->random));
    builder->random[0] &= 0x7f; /* so that counting up never wraps */
    command->scope = (struct event_scope){
        .queue = arena_str(&command->arena, str_of(request->queue)),
        .job_set = arena_str(&command->arena, str_of(request->job_set_id)),
        .user = arena_str(&command->arena, context->owner),
    };
    return 0;
}

static void builder_fini(struct builder *builder)
{
    arena_fini(&builder->scratch);
    arena_fini(&builder->member);
    arena_fini(&builder->kept);
    strbuf_fini(&builder->submit);
    strbuf_fini(&builder->event);
    strbuf_fini(&builder->digest);
    strbuf_fini(&builder->terms);
}

int submission_build(Berth__Submission__Request *request,
                     const struct submission_context *context,
                     struct command *command, struct refusal *refusal)
{
    struct builder builder = {.request = request,
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
    struct builder builder = {.request = request,
                              .context = context,
                              .command = command,
                              .refusal = refusal};

    ASSERT(request->n_job_request_items == 1);
    int rc = begin(&builder, request);
    rc = rc ? rc : take_room(&builder, pod_group_max(group));
    rc = rc ? rc
            : build_group(&builder, request->job_request_items[0], group,
                          gang_id, command->submit.items);
    builder_fini(&builder);
    return rc;
}
