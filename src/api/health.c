/* Health, as Armada's services answer it and as grpc.health.v1 does. */
#include "api/handlers.h"
#include "armada/health.pb-c.h"
#include "wire/field.h"

void handle_get_health(struct api_call *call, struct str request)
{
    Api__HealthCheckResponse response = API__HEALTH_CHECK_RESPONSE__INIT;

    (void)request;
    response.status = API__HEALTH_CHECK_RESPONSE__SERVING_STATUS__SERVING;
    api_call_reply(call, &response.base);
}

/* The standard protocol's two messages are small enough to write by hand: a
 * service's name comes in, a status goes out. */
void handle_check_health(struct api_call *call, struct str request)
{
    enum { RESPONSE_STATUS = 1, SERVING = 1 };
    auto_strbuf reply = strbuf_make(0);

    (void)request; /* every service is as well as the whole */
    field_put_u64(&reply, RESPONSE_STATUS, SERVING);
    api_call_reply_bytes(call, strbuf_str(&reply));
}
