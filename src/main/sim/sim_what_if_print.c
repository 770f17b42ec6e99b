/* What is said of the courses. */
#include <inttypes.h>
#include <stdio.h>

#include "base/plural.h"
#include "main/sim/sim_what_if.h"
#include "wire/text/printable.h"
#include "wire/text/rfc3339.h"

static double queue_wait(const struct history_result *result, uint32_t queue)
{
    return result->queues[queue].mean_wait_s;
}

static void add_estimate(struct strbuf *out,
                         const struct sim_what_if_estimate *estimate)
{
    auto_strbuf text = {0};

    strbuf_addf(&text, "%.1f ± %.1f", estimate->mean, estimate->half);
    /* Two bytes of one column. */
    strbuf_addf(out, "  %21s", strbuf_text(&text));
}

static void add_line(struct strbuf *out, struct str name,
                     const struct sim_what_if_line *line)
{
    strbuf_addf(out, "%-24.*s%12.1f", STR_ARG(name), line->was);
    add_estimate(out, &line->same);
    add_estimate(out, &line->what_if);
    add_estimate(out, &line->difference);
    strbuf_add_char(out, '\n');
}

/* Whether there is something to use that a figure is about. */
static bool is_there(const struct sim_what_if_results *results, uint32_t figure)
{
    return history_figure(&results->was, figure) >= 0 ||
           history_figure(&results->same[0], figure) >= 0;
}

void sim_what_if_print_text(const struct history *history,
                            const struct sim_what_if_results *results)
{
    char began[WIRE_RFC3339_TEXT_BYTES_MAX];
    auto_strbuf out = {0}, shown = {0};
    bool is_long = history->span_ms >= 3600000;
    size_t job_count = history->jobs.count - history->left_out_count;

    wire_rfc3339_format(history->began_ms / 1000, 0, 0, began);
    strbuf_addf(&out,
                "history  from %s on, %.1f %s: %zu job%s of %zu queue%s, "
                "%zu node%s\n",
                began, (double)history->span_ms / (is_long ? 3.6e6 : 1e3),
                is_long ? "h" : "s", job_count, plural_s(job_count),
                history->queues.count, plural_s(history->queues.count),
                history->nodes.count, plural_s(history->nodes.count));
    if (history->left_out_count) {
        strbuf_addf(&out, "left out %u job%s, cancelled before %s ran\n",
                    history->left_out_count, plural_s(history->left_out_count),
                    plural_of(history->left_out_count, "it", "they"));
    }
    strbuf_addf(&out, "\n%-24s%12s  %20s  %20s  %20s\n", "", "as it was",
                "same rules", "what if", "difference");
    for (uint32_t i = 0; i < HISTORY_FIGURES; i++) {
        struct sim_what_if_line line =
            sim_what_if_line_of(results, history_figure, i);
        if (is_there(results, i)) {
            add_line(&out, str_of(history_figure_names[i]), &line);
        }
    }
    strbuf_add_text(&out, "\nmean wait (s) by queue\n");
    for (uint32_t i = 0; i < history->queues.count; i++) {
        struct sim_what_if_line line =
            sim_what_if_line_of(results, queue_wait, i);
        add_line(&out, history->queues.items[i].name, &line);
    }
    strbuf_addf(&out,
                "\n± is half of the 95 %% confidence interval of the mean of "
                "%u seed%s.\n",
                results->seed_count, plural_s(results->seed_count));
    wire_printable(strbuf_str(&out), PRINTABLE_TEXT, &shown);
    fputs(strbuf_text(&shown), stdout);
}

static void put_estimate(struct strbuf *out, const char *name,
                         const struct sim_what_if_estimate *estimate)
{
    strbuf_addf(out, ", \"%s\": {\"mean\": %.6g, \"half_width_95\": %.6g}",
                name, estimate->mean, estimate->half);
}

static void put_line(struct strbuf *out, struct str name,
                     const struct sim_what_if_line *line)
{
    strbuf_add_text(out, "{\"name\": ");
    report_json_text(out, name);
    strbuf_addf(out, ", \"as_it_was\": %.6g", line->was);
    put_estimate(out, "same_rules", &line->same);
    put_estimate(out, "what_if", &line->what_if);
    put_estimate(out, "difference", &line->difference);
    strbuf_add_char(out, '}');
}

void sim_what_if_print_json(const struct history *history,
                            const struct sim_what_if_results *results)
{
    auto_strbuf out = {0};

    strbuf_addf(&out,
                "{\"began_ms\": %" PRId64 ", \"span_s\": %.3f, \"jobs\": %zu, "
                "\"left_out\": %u, \"nodes\": %zu, \"seeds\": %u, "
                "\"figures\": [",
                history->began_ms, (double)history->span_ms / 1000,
                history->jobs.count - history->left_out_count,
                history->left_out_count, history->nodes.count,
                results->seed_count);
    for (uint32_t i = 0, count = 0; i < HISTORY_FIGURES; i++) {
        struct sim_what_if_line line =
            sim_what_if_line_of(results, history_figure, i);
        if (is_there(results, i)) {
            strbuf_add_text(&out, count++ ? ", " : "");
            put_line(&out, str_of(history_figure_names[i]), &line);
        }
    }
    strbuf_add_text(&out, "], \"queue_mean_wait_s\": [");
    for (uint32_t i = 0; i < history->queues.count; i++) {
        struct sim_what_if_line line =
            sim_what_if_line_of(results, queue_wait, i);
        strbuf_add_text(&out, i ? ", " : "");
        put_line(&out, history->queues.items[i].name, &line);
    }
    strbuf_add_text(&out, "]}\n");
    auto_strbuf shown = {0};
    wire_printable(strbuf_str(&out), PRINTABLE_JSON, &shown);
    fputs(strbuf_text(&shown), stdout);
}
