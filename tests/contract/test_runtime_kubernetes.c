/*
 * kubernetes against the contract of the port: over an API server in memory,
 * or over a real one:
 *
 *     contract_runtime_kubernetes [KUBECONFIG]
 *
 * There it needs a node "n1", and somebody who plays its kubelet as
 * tests/kube/stages.yaml says.
 */
#include <stdio.h>

#include "executor/kubernetes/kubernetes.h"
#include "kube/fake/fake_api.h"
#include "runtime_backends.h"

static const char *config_path; /* NULL: in memory */
static struct kube_config config;
/* Each test has an executor, for a real server keeps the pods of all. */
static char executor_id[32];

static void *place_create(void)
{
    struct fake_api *api = fake_api_create(&machine_clock);
    static int count;

    (void)snprintf(executor_id, sizeof(executor_id), "contract-%d", ++count);
    fake_api_put_node(api, "n1", true);
    return api;
}

static struct runtime *open_place(void *place)
{
    struct kubernetes_options options;
    struct runtime *runtime = NULL;
    struct err err = {""};
    int rc;

    kubernetes_options_default(&options);
    options.executor_id = str_of(executor_id);
    options.retention_ms = 0;
    if (config_path) {
        rc = kubernetes_connect(&options, &config, &machine_clock, &machine_rng,
                                &runtime, &err);
    } else {
        rc = kubernetes_open(&options, fake_api_port(place), &machine_clock,
                             &machine_rng, &runtime, &err);
    }
    ASSERT(rc == 0);
    return runtime;
}

static void make_job(struct job *job, int number, enum contract_program program)
{
    char name[ID_TEXT_BYTES_MAX + 16], id[ID_TEXT_BYTES_MAX];

    job_make(job, number, (const char *const[]){"program", NULL});
    (void)snprintf(name, sizeof(name), "armada-%s-0",
                   job_id_format(job->run.job, id));
    job->run.pod_name = arena_str(&job->arena, str_of(name));
    job->run.node_name = STR("n1");
    job->pod->containers[0]->image = arena_strdup(&job->arena, STR("image"));
    if (program == CONTRACT_FAILS) {
        job_annotate(job, "berth.dev/fakeExitCode", "3");
    } else if (program == CONTRACT_RUNS_ON) {
        job_annotate(job, "berth.dev/fakeRunMs", "1000000000");
    }
}

static void place_destroy(void *place)
{
    fake_api_destroy(place);
}

int main(int argc, char **argv)
{
    struct err err;

    config_path = argc > 1 ? argv[1] : NULL;
    if (config_path &&
        kube_config_load(config_path, STR(""), &config, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        return EXIT_FAILURE;
    }
    int failed_count = runtime_contract_run(&(struct runtime_contract){
        .name = config_path ? "kubernetes, a real API server" : "kubernetes",
        .remembers = true,
        .place_create = place_create,
        .open = open_place,
        .make_job = make_job,
        .wait = backend_wait,
        .place_destroy = place_destroy,
    });
    if (config_path) {
        kube_config_fini(&config);
    }
    return failed_count;
}
