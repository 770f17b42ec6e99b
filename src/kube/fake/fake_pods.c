/* Requests about one pod. */
#include "kube/api/envelope.h"
#include "kube/fake/fake_private.h"
#include "wire/message/message.h"

enum {
    STATUS_OK = 200,
    STATUS_CREATED = 201,
    STATUS_NOT_FOUND = 404,
    STATUS_CONFLICT = 409,
};

static void answer_object(struct fake_api *api, struct fake_ask *ask,
                          int status, const struct fake_object *object)
{
    auto_strbuf body = strbuf_make(0);

    envelope_write(STR("v1"), STR("Pod"), strbuf_str(&object->bytes), &body);
    fake_api_end_ask(api, ask, status, strbuf_str(&body));
}

static void *decode(const ProtobufCMessageDescriptor *type,
                    const struct fake_ask *ask, struct arena *arena)
{
    ProtobufCMessage *message = NULL;
    struct envelope envelope;
    struct err err;

    return envelope_read(strbuf_str(&ask->body), &envelope) == 0 &&
                   wire_decode(type, envelope.object, &wire_request_limits,
                               arena, &message, &err) == 0
               ? message
               : NULL;
}

/* What a server adds to a pod that is made. */
static struct fake_object *make_pod(struct fake_api *api, fake_pod_message *pod,
                                    struct arena *arena)
{
    K8s__Io__Apimachinery__Pkg__Apis__Meta__V1__Time *time = wire_new(
        &k8s__io__apimachinery__pkg__apis__meta__v1__time__descriptor, arena);

    time->has_seconds = true;
    time->seconds = api->clock->wall_ms(api->clock) / 1000;
    pod->metadata->uid = fake_api_uid(api, arena);
    pod->metadata->creationtimestamp = time;
    pod->status =
        wire_new(&k8s__io__api__core__v1__pod_status__descriptor, arena);
    pod->status->phase = arena_strdup(arena, STR("Pending"));
    api->made_count++;
    return fake_api_write(api, FAKE_PODS, &pod->base);
}

static void create_pod(struct fake_api *api, struct fake_ask *ask)
{
    auto_arena arena = {0};
    fake_pod_message *pod =
        decode(&k8s__io__api__core__v1__pod__descriptor, ask, &arena);

    ASSERT(pod && pod->metadata && pod->spec);
    if (fake_api_find(api, FAKE_PODS, str_of(pod->metadata->name))) {
        fake_api_end_with_status(api, ask, STATUS_CONFLICT, "AlreadyExists",
                                 "the pod already exists");
        return;
    }
    struct fake_object *object = make_pod(api, pod, &arena);
    object->due_ms = fake_api_now_ms(api);
    answer_object(api, ask, STATUS_CREATED, object);
}

static void delete_pod(struct fake_api *api, struct fake_ask *ask,
                       struct fake_object *object)
{
    auto_arena arena = {0};
    const K8s__Io__Apimachinery__Pkg__Apis__Meta__V1__DeleteOptions *options =
        decode(
            &k8s__io__apimachinery__pkg__apis__meta__v1__delete_options__descriptor,
            ask, &arena);
    fake_pod_message *pod = fake_api_read(object, &arena);
    const char *phase = pod->status->phase;

    if (options && options->preconditions && options->preconditions->uid &&
        strcmp(options->preconditions->uid, pod->metadata->uid) != 0) {
        fake_api_end_with_status(api, ask, STATUS_CONFLICT, "Conflict",
                                 "the UID in the precondition does not match");
        return;
    }
    if (strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0) {
        fake_api_drop(api, object);
    } else {
        pod->metadata->deletiontimestamp = pod->metadata->creationtimestamp;
        fake_api_write(api, FAKE_PODS, &pod->base)->due_ms =
            fake_api_now_ms(api);
    }
    fake_api_end_with_status(api, ask, STATUS_OK, "", "");
}

void fake_api_answer_pods(struct fake_api *api, struct fake_ask *ask)
{
    const char *pods = strstr(ask->path, "/pods");
    struct fake_object *object =
        pods && strncmp(pods, "/pods/", 6) == 0
            ? fake_api_find(api, FAKE_PODS, str_of(pods + 6))
            : NULL;

    if (strcmp(ask->method, "POST") == 0) {
        create_pod(api, ask);
    } else if (!object) {
        fake_api_end_with_status(api, ask, STATUS_NOT_FOUND, "NotFound",
                                 "there is no such pod");
    } else if (strcmp(ask->method, "DELETE") == 0) {
        delete_pod(api, ask, object);
    } else {
        answer_object(api, ask, STATUS_OK, object);
    }
}
