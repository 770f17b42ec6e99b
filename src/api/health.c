/* Health, as Armada's services answer it and as grpc.health.v1 does. */
#include "api/handlers.h"
#include "armada/health.pb-c.h"

void handle_get_health(struct api_call *call, struct str request)
{
    Api__HealthCheckResponse response = API__HEALTH_CHECK_RESPONSE__INIT;

    (void)request;
    response.status = API__HEALTH_CHECK_RESPONSE__SERVING_STATUS__SERVING;
    api_call_reply(call, &response.base);
}
