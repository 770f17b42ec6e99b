/*
 * forecasting - forecasts starts while a scenario is played, and judges the
 * first forecast of each job (control/command/forecasts.h).
 *
 * Threads: one.
 */
#pragma once

#include "control/command/forecasts.h"
#include "sim/world/world.h"

struct forecasting;

/* The caller owns it. */
struct forecasting *forecasting_create(void) must_check;
/* NULL is fine. */
void forecasting_destroy(struct forecasting *forecasting);

/* What world_config.what_if is to be; `ctx` is the forecasting. */
void forecasting_take(void *ctx, struct command *command, char *bytes,
                      size_t byte_count, int64_t now_ms);
/* Forecast the starts of all that waits now. */
int forecasting_make(struct forecasting *forecasting, struct world *world,
                     struct err *err) must_check;
/* Count all jobs that have started. */
void forecasting_judge(const struct forecasting *forecasting,
                       const struct world *world,
                       struct forecast_quality *ret_quality);
