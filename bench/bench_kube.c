/*
 * bench_kube - how many pods a second the runtime kubernetes makes, beside what
 * the same API server takes from a plain loader: the same bodies, as fast as
 * they are answered, by the best of several counts of requests under way.
 *
 *     bench_kube KUBECONFIG [PODS]
 *
 * The two take turns; the best turn of each counts.  The API server needs a
 * node "n1"; nobody needs to run its pods.  See kube_rate.py, which starts one.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "executor/kubernetes/kube_build.h"
#include "executor/kubernetes/kubernetes.h"
#include "kube/api/envelope.h"
#include "kube/http/http_client.h"

enum { PODS_DEFAULT = 1000, TURNS = 6, WAIT_MS = 100 };

static int64_t wall_ms(const struct clock *clock)
{
    struct timespec now;

    (void)clock;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static uint64_t mono_ns(const struct clock *clock)
{
    struct timespec now;

    (void)clock;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void fill(const struct rng *rng, void *bytes, size_t byte_count)
{
    (void)rng;
    (void)!getrandom(bytes, byte_count, 0);
}

static const struct clock machine_clock = {mono_ns, wall_ms};
static const struct rng machine_rng = {fill};

/* A job that is made again and again, with other ids. */
struct job {
    struct runtime_run run;
    Armadaevents__SubmitJob submit;
    Armadaevents__ObjectMeta meta;
    Armadaevents__KubernetesMainObject main;
    Armadaevents__PodSpecWithAvoidList with;
    K8s__Io__Api__Core__V1__PodSpec spec;
    K8s__Io__Api__Core__V1__Container container, *containers[1];
    char name[ID_TEXT_BYTES_MAX + 16];
};

static void make_job(struct job *job)
{
    static char name[] = "main", image[] = "image";

    armadaevents__submit_job__init(&job->submit);
    armadaevents__object_meta__init(&job->meta);
    armadaevents__kubernetes_main_object__init(&job->main);
    armadaevents__pod_spec_with_avoid_list__init(&job->with);
    k8s__io__api__core__v1__pod_spec__init(&job->spec);
    k8s__io__api__core__v1__container__init(&job->container);
    job->container.name = name;
    job->container.image = image;
    job->containers[0] = &job->container;
    job->spec.containers = job->containers;
    job->spec.n_containers = 1;
    job->with.pod_spec = &job->spec;
    job->main.object_case =
        ARMADAEVENTS__KUBERNETES_MAIN_OBJECT__OBJECT_POD_SPEC;
    job->main.pod_spec = &job->with;
    job->submit.objectmeta = &job->meta;
    job->submit.mainobject = &job->main;
    job->run = (struct runtime_run){.queue = STR("queue"),
                                    .job_set = STR("set"),
                                    .user = STR("user"),
                                    .namespace_ = STR("default"),
                                    .node_name = STR("n1"),
                                    .submit = &job->submit};
}

static void next_job(struct job *job)
{
    uint8_t random[10];
    char id[ID_TEXT_BYTES_MAX];

    fill(NULL, random, sizeof(random));
    job->run.job = job_id_make(wall_ms(NULL), random);
    job->run.run = run_id_make(job->run.job, 0);
    (void)snprintf(job->name, sizeof(job->name), "armada-%s-0",
                   job_id_format(job->run.job, id));
    job->run.pod_name = str_of(job->name);
}

/* The plain loader. */

struct loader {
    struct http_client *client;
    struct job job;
    int asked, ended, failed;
};

static void on_end(void *ctx, const struct http_result *result)
{
    struct loader *loader = ctx;

    loader->ended++;
    loader->failed += result->status != 201;
}

static void ask(struct loader *loader)
{
    struct kube_port *port = http_client_port(loader->client);
    auto_strbuf body = strbuf_make(0);
    auto_arena arena = {0};
    struct err err;

    next_job(&loader->job);
    if (kube_build_pod(&loader->job.run, STR("bench"), STR(""), &arena, &body,
                       &err) < 0 ||
        port->ask(port,
                  &(struct http_ask){.method = "POST",
                                     .path = "/api/v1/namespaces/default/pods",
                                     .accept = ENVELOPE_MEDIA_TYPE,
                                     .content_type = ENVELOPE_MEDIA_TYPE,
                                     .body = strbuf_str(&body),
                                     .on_end = on_end,
                                     .ctx = loader}) == 0) {
        loader->failed++;
    }
    loader->asked++;
}

static double rate_of_loader(const struct kube_config *config, int pods,
                             int flying_max)
{
    struct err err;
    struct loader loader = {
        .client = http_client_create(config, &machine_clock, &err)};
    struct pollfd fd = {http_client_fd(loader.client), POLLIN, 0};
    uint64_t began_ns = mono_ns(NULL);

    make_job(&loader.job);
    while (loader.ended < pods) {
        while (loader.asked < pods &&
               loader.asked - loader.ended < flying_max) {
            ask(&loader);
        }
        (void)poll(&fd, 1, WAIT_MS);
        http_client_drive(loader.client);
    }
    double rate = pods * 1e9 / (double)(mono_ns(NULL) - began_ns);
    http_client_destroy(loader.client);
    if (loader.failed > 0) {
        fprintf(stderr, "%d pods of the loader failed\n", loader.failed);
        exit(EXIT_FAILURE);
    }
    return rate;
}

/* The runtime. */

static struct runtime *open_runtime(const struct kube_config *config)
{
    struct kubernetes_options options;
    struct runtime *runtime = NULL;
    struct err err;

    kubernetes_options_default(&options);
    options.executor_id = STR("runtime");
    if (kubernetes_connect(&options, config, &machine_clock, &machine_rng,
                           &runtime, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        exit(EXIT_FAILURE);
    }
    return runtime;
}

/* Wait for so many changes of a kind. */
static void await(struct runtime *runtime, enum runtime_change_kind kind,
                  int count)
{
    struct runtime_change changes[256];
    struct pollfd fd = {runtime->wake_fd, POLLIN, 0};

    while (count > 0) {
        uint32_t n = runtime->ops->poll(runtime, changes, 256);
        for (uint32_t i = 0; i < n; i++) {
            count -= changes[i].kind == kind;
            if (changes[i].kind == RUNTIME_RETURNED ||
                changes[i].kind == RUNTIME_REFUSED) {
                fprintf(stderr, "%.*s\n", STR_ARG(changes[i].text));
                exit(EXIT_FAILURE);
            }
        }
        int64_t in_ms = runtime->ops->next_wake_ms(runtime) -
                        (int64_t)(mono_ns(NULL) / 1000000);
        (void)poll(&fd, 1,
                   in_ms < 0         ? 0
                   : in_ms < WAIT_MS ? (int)in_ms
                                     : WAIT_MS);
    }
}

static double rate_of_runtime(struct runtime *runtime, int pods)
{
    struct job job;
    uint64_t began_ns = mono_ns(NULL);

    make_job(&job);
    for (int i = 0; i < pods; i++) {
        next_job(&job);
        runtime->ops->create(runtime, &job.run);
    }
    await(runtime, RUNTIME_CREATED, pods);
    return pods * 1e9 / (double)(mono_ns(NULL) - began_ns);
}

static double best(double a, double b)
{
    return a > b ? a : b;
}

static void say(const char *name, double value, const char *unit)
{
    printf("{\"name\": \"%s\", \"value\": %.2f, \"unit\": \"%s\"}\n", name,
           value, unit);
}

int main(int argc, char **argv)
{
    static const int flying[] = {32, 64, 128};
    struct kube_config config;
    struct err err;
    double plain = 0, ours = 0;

    if (argc < 2 || kube_config_load(argv[1], STR(""), &config, &err) < 0) {
        fprintf(stderr, "%s\n",
                argc < 2 ? "bench_kube KUBECONFIG [PODS]" : err.text);
        return EXIT_FAILURE;
    }
    int pods = argc > 2 ? atoi(argv[2]) : PODS_DEFAULT;
    struct runtime *runtime = open_runtime(&config);
    await(runtime, RUNTIME_LISTED, 1);
    (void)rate_of_loader(&config, pods / 4, flying[0]); /* warm up */
    for (int turn = 0; turn < TURNS; turn++) {
        plain = best(plain, rate_of_loader(&config, pods,
                                           flying[turn % ARRAY_COUNT(flying)]));
        ours = best(ours, rate_of_runtime(runtime, pods));
    }
    runtime_close(runtime);
    kube_config_fini(&config);
    say("kube.plain_pods_per_s", plain, "1/s");
    say("kube.own_pods_per_s", ours, "1/s");
    say("kube.bound_pods_share", ours / plain, "");
    return EXIT_SUCCESS;
}
