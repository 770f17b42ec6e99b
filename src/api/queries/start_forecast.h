/*
 * start_forecast - when a job that waits will probably start, for answers
 * (control/command/forecasts.h).
 */
#pragma once

#include "base/arena.h"
#include "base/strbuf.h"
#include "berth/api.pb-c.h"
#include "model/id.h"

struct api;

/* The message for a job; NULL: there is no forecast. */
Berth__Api__StartForecast *start_forecast_message(const struct api *api,
                                                  struct job_id job,
                                                  struct arena *arena);
/* Append it to an explanation as a sentence, and to its JSON object, which is
 * not closed yet, as a member behind others; nothing if there is no
 * forecast. */
void start_forecast_put(const struct api *api, struct job_id job,
                        struct strbuf *text, struct strbuf *json);
