#include "main/berthd/forecast_page.h"

#include <inttypes.h>

#include "main/berthd/metric_table.h"

enum { MS_PER_S = 1000 };

static void put_coverage(struct strbuf *out, const char *quantile,
                         uint64_t within_count, uint64_t count)
{
    if (count > 0) {
        strbuf_addf(out, "berth_forecast_coverage{quantile=\"%s\"} %.6g\n",
                    quantile, (double)within_count / (double)count);
    }
}

static void put_mean(struct strbuf *out, const char *name, int64_t ms_sum,
                     uint64_t count)
{
    metric_head(out, name);
    if (count > 0) {
        strbuf_addf(out, "%s %.6g\n", name,
                    (double)ms_sum / MS_PER_S / (double)count);
    }
}

void forecast_page_put(struct strbuf *out, struct forecasts *forecasts,
                       int64_t now_ms)
{
    struct forecast_quality quality;

    forecasts_quality(forecasts, now_ms, &quality);
    metric_head(out, "berth_forecast_coverage");
    put_coverage(out, "0.5", quality.within_p50_count, quality.started_count);
    put_coverage(out, "0.9", quality.within_p90_count, quality.p90_count);
    put_mean(out, "berth_forecast_error_seconds", quality.error_ms_sum,
             quality.started_count);
    metric_head(out, "berth_forecast_jobs");
    strbuf_addf(out, "berth_forecast_jobs %u\n", forecasts_count(forecasts));
    metric_head(out, "berth_forecast_started_jobs");
    strbuf_addf(out, "berth_forecast_started_jobs %" PRIu64 "\n",
                quality.started_count);
    put_mean(out, "berth_forecast_wait_seconds", quality.wait_ms_sum,
             quality.started_count);
}
