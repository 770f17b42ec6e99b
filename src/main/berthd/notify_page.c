#include "main/berthd/notify_page.h"

#include "main/berthd/metric_table.h"
#include "main/berthd/pages.h"

/* What a metric says of a target: `reason` is the label's value or NULL. */
struct figure {
    const char *reason;
    uint64_t value;
};

enum { FIGURES_MAX = 3 };

/* How many figures a metric has of a target. */
typedef uint32_t figures_fn(const struct outbox_counts *counts,
                            struct figure ret_figures[FIGURES_MAX]);

static uint32_t waiting(const struct outbox_counts *counts,
                        struct figure ret_figures[FIGURES_MAX])
{
    ret_figures[0] = (struct figure){NULL, counts->waiting_count};
    return 1;
}

static uint32_t sent(const struct outbox_counts *counts,
                     struct figure ret_figures[FIGURES_MAX])
{
    ret_figures[0] = (struct figure){NULL, counts->sent_count};
    return 1;
}

static uint32_t retried(const struct outbox_counts *counts,
                        struct figure ret_figures[FIGURES_MAX])
{
    ret_figures[0] = (struct figure){NULL, counts->retry_count};
    return 1;
}

static uint32_t dropped(const struct outbox_counts *counts,
                        struct figure ret_figures[FIGURES_MAX])
{
    ret_figures[0] = (struct figure){"full", counts->full_count};
    ret_figures[1] = (struct figure){"refused", counts->refused_count};
    ret_figures[2] = (struct figure){"expired", counts->expired_count};
    return FIGURES_MAX;
}

static void put(struct strbuf *out, struct notifier *notifier, const char *name,
                figures_fn *figures_of)
{
    struct outbox_counts counts;
    struct str target;

    metric_head(out, name);
    for (uint32_t i = 0; notifier_metrics(notifier, i, &target, &counts); i++) {
        struct figure figures[FIGURES_MAX];
        uint32_t count = figures_of(&counts, figures);
        for (uint32_t k = 0; k < count; k++) {
            strbuf_add_text(out, name);
            pages_put_named(out, "{", "target", target);
            if (figures[k].reason) {
                pages_put_named(out, ",", "reason", str_of(figures[k].reason));
            }
            strbuf_addf(out, "} %llu\n", (unsigned long long)figures[k].value);
        }
    }
}

void notify_page_put(struct strbuf *out, struct notifier *notifier)
{
    if (notifier) {
        put(out, notifier, "berth_notifications_dropped_total", dropped);
        put(out, notifier, "berth_notifications_retried_total", retried);
        put(out, notifier, "berth_notifications_sent_total", sent);
        put(out, notifier, "berth_notifications_waiting", waiting);
    }
}
