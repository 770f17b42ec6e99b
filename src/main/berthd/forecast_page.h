/*
 * forecast_page - metrics of forecasts, in Prometheus' text format.
 */
#pragma once

#include "base/strbuf.h"
#include "control/command/forecasts.h"

/* Append them, as of a moment of wall time. */
void forecast_page_put(struct strbuf *out, struct forecasts *forecasts,
                       int64_t now_ms);
