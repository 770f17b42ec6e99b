/*
 * bench_e2e - what the real berthd does end to end, on this machine: the
 * server with its log on disk, a `fake` executor as a process of its own over
 * gRPC, and this client, all sharing the same cores.
 *
 *     bench_e2e BERTHD BERTH_EXECUTOR DIR [PHASE]
 *
 * DIR is made and must not exist; PHASE is accept, throughput, latency or
 * scrape, or all run.  One JSON line per figure:
 *     accept.jobs_per_s            durable acknowledgements, 100 jobs a request
 *     e2e.jobs_per_s               submit -> succeeded is seen by a watcher
 *     e2e.submit_to_leased_p99_ms  at 1,667 jobs a second, seen by a watcher
 *     metrics.scrape_ms, metrics.scrape_bytes
 *                                  /metrics at 1,000 queues and 10,000 nodes
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "load.h"
#include "scrape.h"

extern char **environ;

enum {
    JOBS_PER_REQUEST = 100,
    ACCEPT_JOBS = 200000,
    E2E_JOBS = 100000,
    LATENCY_JOBS = 16700, /* ten seconds of 1,667 a second */
    QUEUES = 10,
    IN_FLIGHT = 16,
    E2E_DEADLINE_MS = 120000,
    POLL_MS = 5,
    E2E_NODES = 1000,
};

static const char config_text[] =
    "executor:\n"
    "  fake:\n"
    "    runTime: %s\n"
    "    nodes:\n"
    "      - name: n\n"
    "        count: %d\n"
    "        resources: {cpu: 32, memory: 256Gi, ephemeral-storage: 512Gi}\n";

_Noreturn static void fail(const char *what)
{
    fprintf(stderr, "bench_e2e: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

/* Start a program with its standard output in a pipe; returns its pid. */
static pid_t start(char *const argv[], FILE **ret_out)
{
    int fds[2];
    pid_t pid = -1;
    posix_spawn_file_actions_t actions;

    if (pipe2(fds, O_CLOEXEC) < 0) {
        fail("pipe");
    }
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
    if (posix_spawn(&pid, argv[0], &actions, NULL, argv, environ) != 0) {
        fail(argv[0]);
    }
    posix_spawn_file_actions_destroy(&actions);
    close(fds[1]);
    *ret_out = fdopen(fds[0], "r");
    return pid;
}

/* End a program; how much of a processor it has used, in microseconds. */
static double stop(pid_t pid)
{
    struct rusage usage;

    kill(pid, SIGTERM);
    if (wait4(pid, NULL, 0, &usage) != pid) {
        fail("wait4");
    }
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

enum { ADDRESS_BYTES_MAX = 128 };

/* What stands behind `key` in a line; unchanged if the key is not there. */
static void read_address(const char *line, const char *key,
                         char ret_address[ADDRESS_BYTES_MAX])
{
    const char *at = strstr(line, key);

    if (at) {
        at += strlen(key);
        snprintf(ret_address, ADDRESS_BYTES_MAX, "%.*s",
                 (int)strcspn(at, " \n"), at);
    }
}

/* Read the line "ready grpc=ADDR http=ADDR"; an executor's is shorter. */
static void await_ready(FILE *out, char ret_grpc[ADDRESS_BYTES_MAX],
                        char ret_http[ADDRESS_BYTES_MAX])
{
    char line[512];

    while (fgets(line, sizeof(line), out)) {
        if (strncmp(line, "ready", 5) == 0) {
            read_address(line, "grpc=", ret_grpc);
            read_address(line, "http=", ret_http);
            return;
        }
    }
    fail("the program ended before it was ready");
}

static void print_figure(const char *name, double value, const char *unit)
{
    printf("{\"name\": \"%s\", \"value\": %.1f, \"unit\": \"%s\"}\n", name,
           value, unit);
    fflush(stdout);
}

struct bench {
    struct rpc_channel *channel;
    char grpc[ADDRESS_BYTES_MAX], http[ADDRESS_BYTES_MAX];
    char queues[QUEUES][32];
};

static struct strbuf *encode_requests(struct bench *bench, const char *job_set)
{
    struct strbuf *requests = mem_alloc_array(QUEUES, sizeof(*requests));

    for (int i = 0; i < QUEUES; i++) {
        load_encode_request(bench->queues[i], job_set, JOBS_PER_REQUEST,
                            &requests[i]);
    }
    return requests;
}

static void free_requests(struct strbuf *requests)
{
    for (int i = 0; i < QUEUES; i++) {
        strbuf_fini(&requests[i]);
    }
    mem_free(requests);
}

static struct load_plan plan_of(const struct bench *bench,
                                const struct strbuf *requests,
                                uint32_t job_count)
{
    return (struct load_plan){
        .channel = bench->channel,
        .requests = requests,
        .request_kind_count = QUEUES,
        .request_count = job_count / JOBS_PER_REQUEST,
        .jobs_per_request = JOBS_PER_REQUEST,
        .in_flight_max = IN_FLIGHT,
    };
}

static void bench_accept(struct bench *bench)
{
    struct strbuf *requests = encode_requests(bench, "accept");
    struct load_plan plan = plan_of(bench, requests, ACCEPT_JOBS);
    double took_ms = load_submit(&plan, NULL);

    print_figure("accept.jobs_per_s", ACCEPT_JOBS / took_ms * 1e3, "jobs/s");
    free_requests(requests);
}

static uint32_t succeeded_count(struct load_watch *watches)
{
    uint32_t count = 0;

    for (int i = 0; i < QUEUES; i++) {
        count += watches[i].succeeded_count;
        if (watches[i].failed_count > 0) {
            fprintf(stderr, "bench_e2e: a job failed\n");
            exit(1);
        }
    }
    return count;
}

static void await_succeeded(struct load_watch *watches, uint32_t job_count)
{
    double begun_ms = load_now_ms();

    while (succeeded_count(watches) < job_count) {
        if (load_now_ms() - begun_ms > E2E_DEADLINE_MS) {
            fprintf(stderr, "bench_e2e: only %u of %u jobs succeeded\n",
                    succeeded_count(watches), job_count);
            exit(1);
        }
        pause_ms(POLL_MS);
    }
}

static void start_watches(struct bench *bench, const char *job_set,
                          uint32_t job_count, struct load_watch *ret_watches)
{
    for (int i = 0; i < QUEUES; i++) {
        load_watch_start(&ret_watches[i], bench->channel, bench->queues[i],
                         job_set, job_count);
    }
}

static void stop_watches(struct load_watch *watches)
{
    for (int i = 0; i < QUEUES; i++) {
        load_watch_stop(&watches[i]);
    }
}

static void bench_throughput(struct bench *bench)
{
    struct strbuf *requests = encode_requests(bench, "throughput");
    struct load_plan plan = plan_of(bench, requests, E2E_JOBS);
    struct load_watch watches[QUEUES];

    start_watches(bench, "throughput", E2E_JOBS, watches);
    double begun_ms = load_now_ms();
    (void)load_submit(&plan, NULL);
    await_succeeded(watches, E2E_JOBS);
    print_figure("e2e.jobs_per_s", E2E_JOBS / (load_now_ms() - begun_ms) * 1e3,
                 "jobs/s");
    stop_watches(watches);
    free_requests(requests);
}

static int compare_ids(const void *a, const void *b)
{
    return key128_compare(((const struct load_time *)a)->job.v,
                          ((const struct load_time *)b)->job.v);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The q-th part of the times between sending a job and seeing its lease. */
static double latency_ms(struct load_time *sent, struct load_watch *watches,
                         double q)
{
    double *waits = mem_alloc_array(LATENCY_JOBS, sizeof(double));
    uint32_t count = 0;

    qsort(sent, LATENCY_JOBS, sizeof(*sent), compare_ids);
    for (int i = 0; i < QUEUES; i++) {
        for (uint32_t j = 0; j < watches[i].leased_count; j++) {
            const struct load_time *leased = &watches[i].leased[j];
            const struct load_time *from =
                bsearch(leased, sent, LATENCY_JOBS, sizeof(*sent), compare_ids);
            if (from && count < LATENCY_JOBS) {
                waits[count++] = leased->at_ms - from->at_ms;
            }
        }
    }
    qsort(waits, count, sizeof(double), compare_doubles);
    double answer = waits[(uint32_t)((count - 1) * q)];
    mem_free(waits);
    return answer;
}

static void bench_latency(struct bench *bench)
{
    struct strbuf *requests = encode_requests(bench, "latency");
    struct load_plan plan = plan_of(bench, requests, LATENCY_JOBS);
    struct load_watch watches[QUEUES];
    struct load_time *sent = mem_alloc_array(LATENCY_JOBS, sizeof(*sent));

    plan.pace_ms = JOBS_PER_REQUEST / 1.667;
    start_watches(bench, "latency", LATENCY_JOBS, watches);
    (void)load_submit(&plan, sent);
    await_succeeded(watches, LATENCY_JOBS);
    print_figure("e2e.submit_to_leased_p50_ms", latency_ms(sent, watches, 0.5),
                 "ms");
    print_figure("e2e.submit_to_leased_p99_ms", latency_ms(sent, watches, 0.99),
                 "ms");
    stop_watches(watches);
    mem_free(sent);
    free_requests(requests);
}

static void bench_scrape(struct bench *bench)
{
    double ms, bytes;

    scrape_measure(bench->channel, bench->http, &ms, &bytes);
    print_figure("metrics.scrape_ms", ms, "ms");
    print_figure("metrics.scrape_bytes", bytes, "bytes");
}

static void write_config(const char *path, const char *run_time, int node_count)
{
    FILE *file = fopen(path, "w");

    if (!file || fprintf(file, config_text, run_time, node_count) < 0 ||
        fclose(file) != 0) {
        fail(path);
    }
}

static struct rpc_channel *open_channel(const char *address)
{
    struct err err;
    struct rpc_channel *channel = rpc_channel_open(
        &(struct rpc_channel_options){.address = address}, &err);

    if (!channel) {
        fprintf(stderr, "bench_e2e: %s\n", err.text);
        exit(1);
    }
    return channel;
}

struct phase {
    const char *name;
    void (*run)(struct bench *);
    uint32_t job_count; /* of which the cost is told; 0: it is not */
    bool has_executor;
    const char *run_time; /* of its jobs */
    int node_count;
};

/* What a job has cost a program, start and end included. */
static void print_cost(const struct phase *phase, const char *program,
                       double used_us)
{
    char name[64];

    if (phase->job_count == 0) {
        return;
    }
    snprintf(name, sizeof(name), "e2e.%s_%s_cpu_us_per_job", phase->name,
             program);
    print_figure(name, used_us / phase->job_count, "us");
}

/* A server (and an executor, if the phase wants one) of its own for a phase,
 * so that no phase works off what another left. */
static void run_phase(char *const programs[2], const char *dir,
                      const struct phase *phase)
{
    char data[512], executor_data[512], config[512];
    struct bench bench = {0};
    FILE *out = NULL;
    FILE *executor_out = NULL;
    pid_t executor = -1;

    if (mkdir(dir, 0755) < 0) {
        fail(dir);
    }
    snprintf(data, sizeof(data), "%s/server", dir);
    snprintf(executor_data, sizeof(executor_data), "%s/executor", dir);
    snprintf(config, sizeof(config), "%s/berth.yaml", dir);
    write_config(config, phase->run_time, phase->node_count);
    char arg_grpc[] = "--grpc", arg_http[] = "--http", any[] = "127.0.0.1:0",
         arg_data[] = "--data", arg_server[] = "--server", arg_id[] = "--id",
         id[] = "fake", arg_runtime[] = "--runtime", arg_config[] = "--config";
    char *server_argv[] = {programs[0], arg_data, data, arg_grpc,
                           any,         arg_http, any,  NULL};
    pid_t server = start(server_argv, &out);
    await_ready(out, bench.grpc, bench.http);
    bench.channel = open_channel(bench.grpc);
    for (int i = 0; i < QUEUES; i++) {
        snprintf(bench.queues[i], sizeof(bench.queues[i]), "bench-%d", i);
        load_create_queue(bench.channel, bench.queues[i]);
    }
    if (phase->has_executor) {
        char *executor_argv[] = {programs[1], arg_server, bench.grpc,
                                 arg_id,      id,         arg_runtime,
                                 id,          arg_data,   executor_data,
                                 arg_config,  config,     NULL};
        executor = start(executor_argv, &executor_out);
        await_ready(executor_out, bench.grpc, bench.http);
    }
    phase->run(&bench);
    if (phase->has_executor) {
        print_cost(phase, "executor", stop(executor));
        fclose(executor_out);
    }
    rpc_channel_close(bench.channel);
    print_cost(phase, "server", stop(server));
    fclose(out);
}

int main(int argc, char **argv)
{
    static const struct phase phases[] = {
        {"accept", bench_accept, ACCEPT_JOBS, false, "100ms", E2E_NODES},
        {"throughput", bench_throughput, E2E_JOBS, true, "100ms", E2E_NODES},
        {"latency", bench_latency, LATENCY_JOBS, true, "100ms", E2E_NODES},
        {"scrape", bench_scrape, 0, true, "1h", SCRAPE_NODES},
    };
    char dir[400];

    if (argc < 4 || argc > 5 || mkdir(argv[3], 0755) < 0) {
        fprintf(stderr, "usage: bench_e2e BERTHD BERTH_EXECUTOR NEW_DIRECTORY "
                        "[PHASE]\n");
        return 2;
    }
    for (size_t i = 0; i < ARRAY_COUNT(phases); i++) {
        if (argc == 5 && strcmp(argv[4], phases[i].name) != 0) {
            continue;
        }
        snprintf(dir, sizeof(dir), "%s/%s", argv[3], phases[i].name);
        run_phase(&argv[1], dir, &phases[i]);
    }
    return 0;
}
