/*
 * kube_follow - follows a collection of a real API server and prints what it is
 * told, a line each, until its standard input ends:
 *
 *     kube_follow KUBECONFIG CONTEXT PATH
 *
 * Of nodes and pods it prints what the executor makes of them; http2 when an
 * answer has come over HTTP/2.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "executor/kubernetes/kube_node.h"
#include "executor/kubernetes/kube_pod.h"
#include "kube/api/envelope.h"
#include "kube/api/follow.h"
#include "kube/http/http_client.h"

enum { WAIT_MS_MAX = 1000 };

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

static void say_name(const char *what, struct str object)
{
    struct object_head head;

    if (object_head_read(object, &head) == 0) {
        printf("%s %.*s\n", what, STR_ARG(head.name));
    }
}

static void on_begin(void *ctx)
{
    (void)ctx;
    puts("begin");
}

static void say_node(struct str object)
{
    const struct kube_node_labels labels = {STR(""), STR("")};
    auto_arena arena = {0};
    struct node_record node;
    struct err err;

    if (kube_node_read(object, &labels, &arena, &node, &err) < 0) {
        printf("bad %s\n", err.text);
        return;
    }
    printf("node %.*s cpu %lld taints %u%s\n", STR_ARG(node.name),
           (long long)resource_list_get(&node.total, STR("cpu")),
           node.taint_count, node.is_unschedulable ? " unschedulable" : "");
}

static void say_pod(struct str object)
{
    auto_arena arena = {0};
    struct kube_pod pod;
    struct err err;

    if (kube_pod_read(object, &arena, &pod, &err) < 0) {
        printf("bad %s\n", err.text);
        return;
    }
    printf("pod %.*s on \"%.*s\" phase %d cause %d%s\n",
           STR_ARG(pod.pod.pod_name), STR_ARG(pod.pod.node_name),
           (int)pod.pod.phase, (int)pod.status.cause,
           pod.is_ours ? " ours" : "");
}

static void on_object(void *ctx, struct str object)
{
    struct str path = str_of(ctx);

    if (str_equal(path, STR("/api/v1/nodes"))) {
        say_node(object);
    } else if (str_equal(path, STR("/api/v1/pods"))) {
        say_pod(object);
    } else {
        say_name("object", object);
    }
}

static void on_gone(void *ctx, struct str object)
{
    (void)ctx;
    say_name("gone", object);
}

static void on_listed(void *ctx)
{
    (void)ctx;
    puts("listed");
}

/* Follow until the input ends, and tell of failures. */
static void run(struct http_client *client, struct follow *follow)
{
    uint64_t failure_count = 0;
    bool is_http2 = false;
    struct pollfd fds[] = {{http_client_fd(client), POLLIN, 0},
                           {STDIN_FILENO, POLLIN, 0}};

    while (!fds[1].revents) {
        int64_t in_ms = follow_drive(follow);
        http_client_drive(client);
        const struct follow_stats *stats = follow_stats(follow);
        if (stats->failure_count != failure_count) {
            failure_count = stats->failure_count;
            printf("failure %s\n", stats->failure.text);
        }
        if (!is_http2 && http_client_stats(client)->http2_count > 0) {
            is_http2 = true;
            puts("http2");
        }
        fflush(stdout);
        (void)poll(fds, ARRAY_COUNT(fds),
                   in_ms < WAIT_MS_MAX ? (int)in_ms : WAIT_MS_MAX);
    }
}

int main(int argc, char **argv)
{
    struct kube_config config;
    struct err err;

    if (argc != 4 ||
        kube_config_load(argv[1], str_of(argv[2]), &config, &err) < 0) {
        fprintf(stderr, "%s\n",
                argc == 4 ? err.text : "kube_follow KUBECONFIG CONTEXT PATH");
        return EXIT_FAILURE;
    }
    struct http_client *client =
        http_client_create(&config, &machine_clock, &err);
    if (client) {
        struct follow *follow = follow_create(
            http_client_port(client), &machine_clock, &machine_rng,
            &(struct follow_options){
                .path = argv[3],
                .query = "",
                .told = {on_begin, on_object, on_gone, on_listed, argv[3]}});
        run(client, follow);
        follow_destroy(follow);
    }
    http_client_destroy(client);
    kube_config_fini(&config);
    return client ? EXIT_SUCCESS : EXIT_FAILURE;
}
