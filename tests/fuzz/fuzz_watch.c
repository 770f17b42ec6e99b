/* What an API server sends on a watch: the same is told however it is split. */
#include "executor/kubernetes/kube_node.h"
#include "executor/kubernetes/kube_pod.h"
#include "fuzz.h"
#include "kube/api/envelope.h"
#include "kube/api/follow.h"

/* A server that is given the test's bytes. */
struct fuzz_server {
    struct kube_port port;
    struct http_ask asked;
    uint64_t number;
    struct strbuf told;
};

static uint64_t on_ask(struct kube_port *port, const struct http_ask *ask)
{
    struct fuzz_server *server = container_of(port, struct fuzz_server, port);

    server->asked = *ask;
    return ++server->number;
}

static void on_cancel(struct kube_port *port, uint64_t request)
{
    (void)port;
    (void)request;
}

static uint64_t zero_ns(const struct clock *clock)
{
    (void)clock;
    return 0;
}

static void fill_zeros(const struct rng *rng, void *bytes, size_t byte_count)
{
    (void)rng;
    memset(bytes, 0, byte_count);
}

static void on_mark(void *ctx)
{
    strbuf_add_text(&((struct fuzz_server *)ctx)->told, "|");
}

static void on_object(void *ctx, struct str object)
{
    const struct kube_node_labels labels = {STR("a"), STR("b")};
    struct fuzz_server *server = ctx;
    auto_arena arena = {0};
    struct node_record node;
    struct kube_pod pod;
    struct err err;

    strbuf_add_text(&server->told, "+");
    strbuf_add_str(&server->told, object);
    if (kube_node_read(object, &labels, &arena, &node, &err) == 0) {
        ASSERT(node.name.byte_count > 0);
    }
    if (kube_pod_read(object, &arena, &pod, &err) == 0) {
        ASSERT(pod.pod.phase != RECONCILE_NEVER);
        ASSERT(pod.status.ended_count <= RUNTIME_CONTAINERS_MAX);
    }
}

static void on_gone(void *ctx, struct str object)
{
    strbuf_add_text(&((struct fuzz_server *)ctx)->told, "-");
    strbuf_add_str(&((struct fuzz_server *)ctx)->told, object);
}

/* Watch, and be given the bytes in pieces of this size. */
static void watch(struct fuzz_server *server, struct str bytes, size_t piece)
{
    static const struct clock clock = {.mono_ns = zero_ns};
    static const struct rng rng = {fill_zeros};
    auto_strbuf list = {0};

    server->port = (struct kube_port){.ask = on_ask, .cancel = on_cancel};
    struct follow *follow = follow_create(
        &server->port, &clock, &rng,
        &(struct follow_options){
            .path = "/x",
            .query = "",
            .told = {on_mark, on_object, on_gone, on_mark, server}});
    (void)follow_drive(follow);
    /* Nothing in it, at version 7. */
    envelope_write(STR("v1"), STR("List"), STR("\x0a\x03\x12\x01\x37"), &list);
    server->asked.on_end(server->asked.ctx,
                         &(struct http_result){.status = 200,
                                               .body = strbuf_str(&list),
                                               .retry_after_ms = -1,
                                               .text = ""});
    (void)follow_drive(follow);
    ASSERT(server->asked.on_bytes);
    bool goes_on = true;
    for (size_t at = 0; goes_on && at < bytes.byte_count; at += piece) {
        size_t left = bytes.byte_count - at;
        goes_on = server->asked.on_bytes(
            server->asked.ctx,
            str_make(bytes.p + at, left < piece ? left : piece));
    }
    follow_destroy(follow);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
    struct str all = str_make(bytes, byte_count);
    struct fuzz_server whole = {.number = 0}, pieces = {.number = 0};

    watch(&whole, all, byte_count + 1);
    watch(&pieces, all, 3);
    ASSERT(str_equal(strbuf_str(&whole.told), strbuf_str(&pieces.told)));
    strbuf_fini(&whole.told);
    strbuf_fini(&pieces.told);
    return 0;
}
