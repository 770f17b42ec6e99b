#include "rpc_fixture.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

int counter_add(struct counter *counter, int delta)
{
    int value = 0;

    pthread_mutex_lock(&counter->lock);
    value = counter->value += delta;
    pthread_cond_broadcast(&counter->changed);
    pthread_mutex_unlock(&counter->lock);
    return value;
}

int counter_value(struct counter *counter)
{
    return counter_add(counter, 0);
}

bool counter_wait(struct counter *counter, int value)
{
    struct timespec until;
    bool is_there = false;
    int rc = 0;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += FIXTURE_WAIT_MS / 1000;
    pthread_mutex_lock(&counter->lock);
    while (counter->value < value && rc != ETIMEDOUT) {
        rc = pthread_cond_timedwait(&counter->changed, &counter->lock, &until);
    }
    is_there = counter->value >= value;
    pthread_mutex_unlock(&counter->lock);
    return is_there;
}

int counter_settle(struct counter *counter)
{
    enum { NS_PER_S = 1000000000 };
    int quiet_ms = patient_ms(100);
    struct timespec until;
    int value = 0, rc = 0;

    pthread_mutex_lock(&counter->lock);
    do {
        value = counter->value;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += quiet_ms / 1000;
        until.tv_nsec += quiet_ms % 1000 * 1000000;
        until.tv_sec += until.tv_nsec / NS_PER_S;
        until.tv_nsec %= NS_PER_S;
        do {
            rc = pthread_cond_timedwait(&counter->changed, &counter->lock,
                                        &until);
        } while (rc == 0 && counter->value == value);
    } while (counter->value != value);
    pthread_mutex_unlock(&counter->lock);
    return value;
}

void fixture_start(struct fixture *f, struct rpc_server_options options)
{
    static const char *const any_port[] = {"127.0.0.1:0"};
    struct err err = {""};

    if (options.address_count == 0) {
        options.addresses = any_port;
        options.address_count = 1;
    }
    f->server = rpc_server_create(&options, &err);
    assert_string_equal(err.text, "");
    assert_non_null(f->server);
    snprintf(f->address, sizeof(f->address), "127.0.0.1:%u",
             rpc_server_port(f->server, 0));
    f->channel = rpc_channel_open(
        &(struct rpc_channel_options){.address = f->address}, &err);
    assert_non_null(f->channel);
}

void fixture_start_one(struct fixture *f, enum rpc_kind kind,
                       rpc_handler_fn *handle, void *ctx)
{
    const struct rpc_method method = {
        .path = "/t.T/M", .kind = kind, .handle = handle, .ctx = ctx};

    fixture_start(
        f, (struct rpc_server_options){.methods = &method, .method_count = 1});
}

void fixture_stop(struct fixture *f)
{
    rpc_channel_close(f->channel);
    rpc_server_destroy(f->server);
}

int64_t fixture_now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int fixture_connect(uint16_t port)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    return fd;
}

void fixture_echo(void *ctx, struct rpc_call *call, struct str request)
{
    (void)ctx;
    rpc_call_finish(call, RPC_OK, NULL, request);
}

bool fixture_pem_make(struct fixture_pem *pem)
{
    const char *base = getenv("TMPDIR");
    char command[1024];

    snprintf(pem->directory, sizeof(pem->directory), "%s/berth-tls-XXXXXX",
             base ? base : "/tmp");
    assert_non_null(mkdtemp(pem->directory));
    snprintf(pem->certificate, sizeof(pem->certificate), "%s/cert.pem",
             pem->directory);
    snprintf(pem->key, sizeof(pem->key), "%s/key.pem", pem->directory);
    snprintf(command, sizeof(command),
             "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 "
             "-nodes -days 2 -subj /CN=localhost "
             "-addext subjectAltName=DNS:localhost "
             "-keyout %s -out %s 2>/dev/null",
             pem->key, pem->certificate);
    if (system(command) == 0) {
        return true;
    }
    fixture_pem_remove(pem);
    return false;
}

void fixture_pem_remove(const struct fixture_pem *pem)
{
    (void)unlink(pem->key);
    (void)unlink(pem->certificate);
    (void)rmdir(pem->directory);
}
