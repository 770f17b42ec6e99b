/* Health, as Armada's services answer it and as grpc.health.v1 does. */
#include "api/handlers.h"
#include "armada/health.pb-c.h"
#include "wire/message/field.h"

void handle_get_health(struct api_call *call, struct str request)
{
    Api__HealthCheckResponse response = API__HEALTH_CHECK_RESPONSE__INIT;

    (void)request;
    response.status = API__HEALTH_CHECK_RESPONSE__SERVING_STATUS__SERVING;
    api_call_reply(call, &response.base);
}

/* The standard protocol's two messages are small enough to write by hand: a
 * service's name comes in, a status goes out.  Every service is as well as the
 * whole, and who can ask is served. */
static void put_serving(struct strbuf *reply)
{
    enum { RESPONSE_STATUS = 1, SERVING = 1 };

    field_put_u64(reply, RESPONSE_STATUS, SERVING);
}

void handle_check_health(struct api_call *call, struct str request)
{
    auto_strbuf reply = strbuf_make(0);

    (void)request;
    put_serving(&reply);
    api_call_reply_bytes(call, strbuf_str(&reply));
}

static void on_status_sent(void *ctx, struct rpc_call *rpc, bool is_ok)
{
    (void)ctx;
    (void)rpc;
    (void)is_ok; /* if not, the call is cancelled, and that ends it */
}

static void on_watch_over(void *ctx, struct rpc_call *rpc)
{
    (void)ctx;
    rpc_call_finish(rpc, RPC_CANCELLED, "", STR(""));
}

/* One status; then the stream stays open until the caller has seen enough or
 * the server stops, which it sees as UNAVAILABLE. */
void handle_watch_health(struct api_call *call, struct str request)
{
    auto_strbuf reply = strbuf_make(0);
    struct rpc_call *rpc = rpc_call_ref(call->rpc);

    (void)request;
    put_serving(&reply);
    /* Whether it can be sent or not: what cancels the call finishes it. */
    (void)!rpc_call_send(rpc, strbuf_str(&reply), on_status_sent, NULL);
    if (rpc_call_on_cancelled(rpc, on_watch_over, NULL) < 0) {
        on_watch_over(NULL, rpc);
    }
    rpc_call_unref(rpc);
}
