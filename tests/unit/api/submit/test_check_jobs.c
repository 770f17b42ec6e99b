/* CheckJobs: what SubmitJobs accepts as Armada does, though it cannot run. */
#include "api_fixture.h"
#include "armada/services.pb-c.h"
#include "berth/api.pb-c.h"
#include "field.h"
#include "sample.h"
#include "unit.h"

/* A server that schedules by cpu, memory and GPUs, with that runtime inside. */
static void begin(struct fixture *f, enum rules_runtime runtime)
{
    static const char *const names[] = {"cpu", "memory", "nvidia.com/gpu"};

    fixture_init(f);
    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        f->config.submit.resources[f->config.submit.resource_count++] =
            str_of(names[i]);
    }
    f->config.submit.runtime = runtime;
    fixture_start(f);
    fixture_queue(f, "q");
}

static K8s__Io__Api__Core__V1__Container *
container_of_pod(K8s__Io__Api__Core__V1__PodSpec *pod)
{
    return pod->containers[0];
}

/* Let the container run that, or nothing, from that image. */
static void set_run(struct fixture *f, K8s__Io__Api__Core__V1__PodSpec *pod,
                    const char *command, const char *image)
{
    K8s__Io__Api__Core__V1__Container *container = container_of_pod(pod);

    container->command = arena_alloc_array(&f->arena, 1, sizeof(char *));
    container->n_command = command != NULL;
    if (command) {
        container->command[0] = arena_strdup(&f->arena, str_of(command));
    }
    container->image = arena_strdup(&f->arena, str_of(image));
}

/* The remarks on a pod, or NULL with the refusal in `f->status`. */
static Berth__Api__CheckJobsResponse *
check_pod(struct fixture *f, K8s__Io__Api__Core__V1__PodSpec *pod)
{
    Berth__Submission__Item *item = sample_item(&f->arena, pod);
    Berth__Submission__Request *request =
        sample_request_of(&f->arena, &item, 1);

    return fixture_call(f, "/berth.api.Berth/CheckJobs", &request->base,
                        &berth__api__check_jobs_response__descriptor);
}

static void assert_refused(struct fixture *f,
                           K8s__Io__Api__Core__V1__PodSpec *pod,
                           const char *text)
{
    assert_null(check_pod(f, pod));
    assert_int_equal(f->status.code, RPC_INVALID_ARGUMENT);
    assert_string_equal(f->status.message, text);
    assert_string_equal(f->status.field, "job_request_items[0]");
}

/* Submissions of the same are accepted, as Armada accepts them. */
static void assert_submitted(struct fixture *f,
                             K8s__Io__Api__Core__V1__PodSpec *pod)
{
    Berth__Submission__Item *item = sample_item(&f->arena, pod);
    Berth__Submission__Request *request =
        sample_request_of(&f->arena, &item, 1);

    assert_non_null(fixture_call(f, "/api.Submit/SubmitJobs", &request->base,
                                 &api__job_submit_response__descriptor));
}

static void a_resource_that_nobody_can_offer_is_named(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f, RULES_RUNTIME_FAKE);
    K8s__Io__Api__Core__V1__PodSpec *pod = sample_pod(&f.arena);
    sample_resource(&f.arena, container_of_pod(pod), "cpuu", "1", "1");
    assert_refused(&f, pod,
                   "container main requests \"cpuu\", which no node can offer; "
                   "jobs are scheduled by cpu, memory, nvidia.com/gpu "
                   "(scheduling.supportedResourceTypes)");
    assert_submitted(&f, pod);
    pod = sample_pod(&f.arena);
    sample_resource(&f.arena, container_of_pod(pod), "nvidia.com/gpu", "1",
                    "1");
    sample_resource(&f.arena, container_of_pod(pod), "example.com/fpga", "1",
                    "1"); /* a node may report it */
    assert_int_equal(check_pod(&f, pod)->n_remarks, 0);
    fixture_fini(&f);
}

static void devices_are_whole(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f, RULES_RUNTIME_FAKE);
    K8s__Io__Api__Core__V1__PodSpec *pod = sample_pod(&f.arena);
    sample_resource(&f.arena, container_of_pod(pod), "nvidia.com/gpu", "1.5",
                    "1.5");
    assert_refused(&f, pod,
                   "container main requests nvidia.com/gpu: \"1.5\", which "
                   "must be a whole number");
    assert_submitted(&f, pod);
    fixture_fini(&f);
}

static void something_is_to_run(void **state)
{
    static const char nothing[] =
        "container main has neither command, args nor image: there is nothing "
        "to run";
    struct fixture f;

    (void)state;
    begin(&f, RULES_RUNTIME_PROCESS);
    K8s__Io__Api__Core__V1__PodSpec *pod = sample_pod(&f.arena);
    set_run(&f, pod, NULL, "none");
    assert_refused(&f, pod, nothing);
    assert_submitted(&f, pod);
    set_run(&f, pod, "true", "none");
    assert_int_equal(check_pod(&f, pod)->n_remarks, 0);
    set_run(&f, pod, NULL, "busybox");
    Berth__Api__CheckJobsResponse *response = check_pod(&f, pod);
    assert_int_equal(response->n_remarks, 1);
    assert_string_equal(response->remarks[0],
                        "container main has neither command nor args: it fails "
                        "on the nodes of this server, whose runtime process "
                        "uses no image");
    fixture_fini(&f);

    begin(&f, RULES_RUNTIME_KUBERNETES);
    pod = sample_pod(&f.arena);
    set_run(&f, pod, "true", "");
    response = check_pod(&f, pod);
    assert_int_equal(response->n_remarks, 1);
    assert_string_equal(response->remarks[0],
                        "container main has no image: it fails on the nodes of "
                        "this server, whose runtime kubernetes needs one");
    fixture_fini(&f);

    begin(&f, RULES_RUNTIME_UNKNOWN);
    pod = sample_pod(&f.arena);
    set_run(&f, pod, NULL, "");
    response = check_pod(&f, pod);
    assert_int_equal(response->n_remarks, 1);
    assert_string_equal(response->remarks[0], nothing);
    fixture_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_resource_that_nobody_can_offer_is_named),
        TEST(devices_are_whole),
        TEST(something_is_to_run),
    };

    return RUN_TESTS(tests);
}
