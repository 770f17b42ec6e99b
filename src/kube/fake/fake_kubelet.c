/* Plays the kubelet: pods start, end and go. */
#include <stdlib.h>

#include "kube/fake/fake_private.h"
#include "wire/message/message.h"

enum { EXIT_CODE_KILLED = 143, MS_PER_S = 1000 };

static const char run_ms_annotation[] = "berth.dev/fakeRunMs";
static const char exit_code_annotation[] = "berth.dev/fakeExitCode";

static int64_t now_ms(const struct fake_api *api)
{
    return (int64_t)(api->clock->mono_ns(api->clock) / 1000000);
}

static int64_t annotation(const fake_pod_message *pod, const char *key)
{
    for (size_t i = 0; i < pod->metadata->n_annotations; i++) {
        if (strcmp(pod->metadata->annotations[i]->key, key) == 0) {
            return strtoll(pod->metadata->annotations[i]->value, NULL, 10);
        }
    }
    return 0;
}

static struct str phase_of(const fake_pod_message *pod)
{
    return pod->status ? str_of(pod->status->phase) : STR("Pending");
}

static bool has_ended(const fake_pod_message *pod)
{
    return str_equal(phase_of(pod), STR("Succeeded")) ||
           str_equal(phase_of(pod), STR("Failed"));
}

static void set_phase(fake_pod_message *pod, const char *phase,
                      struct arena *arena)
{
    if (!pod->status) {
        pod->status =
            wire_new(&k8s__io__api__core__v1__pod_status__descriptor, arena);
    }
    pod->status->phase = arena_strdup(arena, str_of(phase));
}

static void *time_now(const struct fake_api *api, struct arena *arena)
{
    K8s__Io__Apimachinery__Pkg__Apis__Meta__V1__Time *time = wire_new(
        &k8s__io__apimachinery__pkg__apis__meta__v1__time__descriptor, arena);

    time->has_seconds = true;
    time->seconds = api->clock->wall_ms(api->clock) / MS_PER_S;
    return time;
}

/* The status of the pod's one container. */
static K8s__Io__Api__Core__V1__ContainerState *set_state(fake_pod_message *pod,
                                                         struct arena *arena)
{
    K8s__Io__Api__Core__V1__ContainerStatus **all =
        arena_alloc_array(arena, 1, sizeof(*all));

    all[0] =
        wire_new(&k8s__io__api__core__v1__container_status__descriptor, arena);
    all[0]->name = pod->spec->n_containers > 0 ? pod->spec->containers[0]->name
                                               : arena_strdup(arena, STR(""));
    all[0]->state =
        wire_new(&k8s__io__api__core__v1__container_state__descriptor, arena);
    pod->status->containerstatuses = all;
    pod->status->n_containerstatuses = 1;
    return all[0]->state;
}

static void start(struct fake_api *api, struct fake_object *object,
                  fake_pod_message *pod, struct arena *arena)
{
    int64_t run_ms = annotation(pod, run_ms_annotation);

    set_phase(pod, "Running", arena);
    pod->status->hostip = arena_strdup(arena, STR("10.0.0.9"));
    K8s__Io__Api__Core__V1__ContainerState *state = set_state(pod, arena);
    state->running = wire_new(
        &k8s__io__api__core__v1__container_state_running__descriptor, arena);
    state->running->startedat = time_now(api, arena);
    object = fake_api_write(api, FAKE_PODS, &pod->base);
    object->due_ms = now_ms(api) + run_ms;
}

static void end(struct fake_api *api, fake_pod_message *pod, const char *reason,
                int exit_code, struct arena *arena)
{
    set_phase(pod, exit_code == 0 ? "Succeeded" : "Failed", arena);
    K8s__Io__Api__Core__V1__ContainerStateTerminated *ended = wire_new(
        &k8s__io__api__core__v1__container_state_terminated__descriptor, arena);
    ended->has_exitcode = true;
    ended->exitcode = exit_code;
    ended->reason =
        arena_strdup(arena, exit_code == 0 ? STR("Completed") : STR("Error"));
    ended->startedat = ended->finishedat = time_now(api, arena);
    if (*reason) {
        pod->status->reason = arena_strdup(arena, str_of(reason));
    } else {
        set_state(pod, arena)->terminated = ended;
    }
    struct fake_object *object = fake_api_write(api, FAKE_PODS, &pod->base);
    object->due_ms = pod->metadata->deletiontimestamp ? now_ms(api) : INT64_MAX;
}

void fake_api_end_pod(struct fake_api *api, struct fake_object *object,
                      const char *reason, int exit_code)
{
    auto_arena arena = {0};

    end(api, fake_api_read(object, &arena), reason, exit_code, &arena);
}

void fake_api_set_waiting(struct fake_api *api, const char *name,
                          const char *reason, const char *message)
{
    struct fake_object *object = fake_api_find(api, FAKE_PODS, str_of(name));
    auto_arena arena = {0};

    ASSERT(object);
    fake_pod_message *pod = fake_api_read(object, &arena);
    K8s__Io__Api__Core__V1__ContainerState *state = set_state(pod, &arena);
    state->waiting = wire_new(
        &k8s__io__api__core__v1__container_state_waiting__descriptor, &arena);
    state->waiting->reason = arena_strdup(&arena, str_of(reason));
    state->waiting->message = arena_strdup(&arena, str_of(message));
    fake_api_write(api, FAKE_PODS, &pod->base)->due_ms = INT64_MAX;
}

void fake_api_start_pod(struct fake_api *api, const char *name)
{
    struct fake_object *object = fake_api_find(api, FAKE_PODS, str_of(name));
    auto_arena arena = {0};

    ASSERT(object);
    start(api, object, fake_api_read(object, &arena), &arena);
}

/* False: it is gone, and another object is in its place. */
static bool step_pod(struct fake_api *api, struct fake_object *object)
{
    auto_arena arena = {0};
    fake_pod_message *pod = fake_api_read(object, &arena);

    if (pod->metadata->deletiontimestamp && has_ended(pod)) {
        fake_api_drop(api, object);
        return false;
    }
    if (pod->metadata->deletiontimestamp) {
        end(api, pod, "", EXIT_CODE_KILLED, &arena);
    } else if (str_equal(phase_of(pod), STR("Pending"))) {
        start(api, object, pod, &arena);
    } else {
        end(api, pod, "", (int)annotation(pod, exit_code_annotation), &arena);
    }
    return true;
}

void fake_api_kubelet_step(struct fake_api *api)
{
    int64_t now = now_ms(api);

    for (size_t i = 0; !api->are_kubelets_held && i < api->objects.count; i++) {
        struct fake_object *object = &api->objects.items[i];
        if (object->due_ms <= now) {
            object->due_ms = INT64_MAX;
            i -= !step_pod(api, object);
        }
    }
}

int64_t fake_api_kubelet_due_ms(const struct fake_api *api)
{
    int64_t due_ms = INT64_MAX;

    for (size_t i = 0; !api->are_kubelets_held && i < api->objects.count; i++) {
        if (api->objects.items[i].due_ms < due_ms) {
            due_ms = api->objects.items[i].due_ms;
        }
    }
    return due_ms;
}
