#include "api/queries/start_forecast.h"

#include <inttypes.h>

#include "api/core/message.h"
#include "api/core/state.h"
#include "api/queries/job_story.h"

static bool find(const struct api *api, struct job_id job,
                 struct forecast *ret_forecast)
{
    struct forecasts *forecasts = api->ports.forecasts;

    return forecasts && forecasts_find(forecasts, job, ret_forecast);
}

Berth__Api__StartForecast *start_forecast_message(const struct api *api,
                                                  struct job_id job,
                                                  struct arena *arena)
{
    struct forecast forecast;

    if (!find(api, job, &forecast)) {
        return NULL;
    }
    Berth__Api__StartForecast *message =
        message_new(arena, &berth__api__start_forecast__descriptor);
    message->made = message_time(arena, forecast.made_ms);
    message->p50 = message_time(arena, forecast.p50_ms);
    message->p90 =
        forecast.p90_ms ? message_time(arena, forecast.p90_ms) : NULL;
    return message;
}

void start_forecast_put(const struct api *api, struct job_id job,
                        struct strbuf *text, struct strbuf *json)
{
    struct forecast forecast;

    if (!find(api, job, &forecast)) {
        return;
    }
    strbuf_add_text(text, "It will probably start at ");
    job_story_put_moment(text, forecast.p50_ms);
    strbuf_addf(json,
                ",\"forecast\":{\"madeMs\":%" PRId64 ",\"p50Ms\":%" PRId64,
                forecast.made_ms, forecast.p50_ms);
    if (forecast.p90_ms) {
        strbuf_add_text(text, ", and with a chance of 90 % by ");
        job_story_put_moment(text, forecast.p90_ms);
        strbuf_addf(json, ",\"p90Ms\":%" PRId64, forecast.p90_ms);
    }
    strbuf_add_text(text, ". This is a forecast, made at ");
    job_story_put_moment(text, forecast.made_ms);
    strbuf_add_text(text, "; it promises nothing.\n");
    strbuf_add_char(json, '}');
}
