/* The picture of use over time. */
#include "sim/report.h"

enum {
    WIDTH = 960,
    LEFT = 64,
    RIGHT = 24,
    TOP = 56,
    PANEL_HEIGHT = 260,
    GAP = 48,
    BOTTOM = 44,
    POINTS_MAX = 1200,
    GRID_LINES = 4,
    TIME_TICKS = 8,
};

#define PERCENT 100.0

/* Colours that can be told apart, also by the colour-blind. */
static const char *const colours[RESOURCE_COLUMNS_MAX] = {
    "#0072b2", "#d55e00", "#009e73", "#cc79a7",
    "#e69f00", "#56b4e9", "#7f7f7f", "#000000",
};

/* What of a sample a line shows. */
typedef double value_fn(const struct report *report, uint32_t column,
                        const struct tally_sample *sample);

static double used_part(const struct report *report, uint32_t column,
                        const struct tally_sample *sample)
{
    (void)report;
    return sample->capacity.v[column] > 0
               ? (double)sample->used.v[column] /
                     (double)sample->capacity.v[column]
               : 0;
}

static double running(const struct report *report, uint32_t column,
                      const struct tally_sample *sample)
{
    (void)report;
    (void)column;
    return sample->running_count;
}

static double queued(const struct report *report, uint32_t column,
                     const struct tally_sample *sample)
{
    (void)report;
    (void)column;
    return sample->queued_count;
}

static double end_s(const struct report *report)
{
    double s = (double)report->tally->world->now_ms / 1000;

    return s > 0 ? s : 1;
}

/* A line through the samples; neighbours share a point when there are more
 * than can be seen. */
static void add_line(const struct report *report, struct strbuf *out,
                     value_fn *value, uint32_t column, const char *colour,
                     double top, double full)
{
    const struct tally *tally = report->tally;
    size_t count = tally->samples.count;
    size_t stride = count / POINTS_MAX + 1;

    strbuf_addf(out,
                "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.6\" "
                "stroke-linejoin=\"round\" points=\"",
                colour);
    for (size_t i = 0; i < count; i += stride) {
        double sum = 0;
        size_t part = count - i < stride ? count - i : stride;
        for (size_t k = 0; k < part; k++) {
            sum += value(report, column, &tally->samples.items[i + k]);
        }
        double x = (double)tally->samples.items[i].time_ms / 1000 /
                   end_s(report) * (WIDTH - LEFT - RIGHT);
        double y = sum / (double)part / full * PANEL_HEIGHT;
        strbuf_addf(out, "%.1f,%.1f ", LEFT + x, top + PANEL_HEIGHT - y);
    }
    strbuf_add_text(out, "\"/>\n");
}

/* A round number that is at least `value`. */
static double round_up(double value)
{
    double step = 1;

    while (step * 10 < value) {
        step *= 10;
    }
    for (double at = step; at <= step * 10; at += step / 2) {
        if (at >= value) {
            return at;
        }
    }
    return step * 10;
}

/* The frame of a panel: lines across, with what they stand for. */
static void add_frame(struct strbuf *out, double top, double full,
                      const char *format, const char *title)
{
    strbuf_addf(out, "<text x=\"%d\" y=\"%.0f\" class=\"h\">%s</text>\n", LEFT,
                top - 10, title);
    for (int i = 0; i <= GRID_LINES; i++) {
        double y = top + PANEL_HEIGHT - (double)PANEL_HEIGHT * i / GRID_LINES;
        strbuf_addf(out,
                    "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" "
                    "class=\"g\"/>\n<text x=\"%d\" y=\"%.1f\" class=\"y\">",
                    LEFT, WIDTH - RIGHT, y, y, LEFT - 8, y + 4);
        strbuf_addf(out, strcmp(format, "%") == 0 ? "%.0f %%" : "%.10g",
                    full * i / GRID_LINES);
        strbuf_add_text(out, "</text>\n");
    }
}

static void add_times(const struct report *report, struct strbuf *out, double y)
{
    double end = end_s(report);
    double unit = end > 3 * 86400  ? 86400
                  : end > 3 * 3600 ? 3600
                  : end > 300      ? 60
                                   : 1;
    const char *name = unit > 3600 ? "d"
                       : unit > 60 ? "h"
                       : unit > 1  ? "min"
                                   : "s";

    for (int i = 0; i <= TIME_TICKS; i++) {
        double x = LEFT + (double)(WIDTH - LEFT - RIGHT) * i / TIME_TICKS;
        strbuf_addf(out,
                    "<text x=\"%.1f\" y=\"%.1f\" class=\"x\">%.3g %s</text>\n",
                    x, y, end * i / TIME_TICKS / unit, name);
    }
}

static void add_escaped(struct strbuf *out, struct str text)
{
    for (size_t i = 0; i < text.byte_count; i++) {
        switch (text.p[i]) {
        case '<':
            strbuf_add_text(out, "&lt;");
            break;
        case '>':
            strbuf_add_text(out, "&gt;");
            break;
        case '&':
            strbuf_add_text(out, "&amp;");
            break;
        default:
            strbuf_add_char(out, text.p[i]);
        }
    }
}

/* A coloured word of the key at the right of a panel's title. */
static void add_key(struct strbuf *out, double *x, double y, const char *colour,
                    struct str name)
{
    *x -= 12.0 + 7.2 * (double)name.byte_count;
    strbuf_addf(out, "<text x=\"%.0f\" y=\"%.0f\" class=\"k\" fill=\"%s\">", *x,
                y, colour);
    add_escaped(out, name);
    strbuf_add_text(out, "</text>\n");
}

static void add_use(const struct report *report, struct strbuf *out, double top)
{
    const struct resource_schema *schema = &report->tally->world->policy.schema;
    double x = WIDTH - RIGHT;

    add_frame(out, top, PERCENT, "%", "In use");
    for (uint32_t r = 0; r < schema->column_count; r++) {
        if (report->tally->capacity_ms[r] > 0) {
            add_line(report, out, used_part, r, colours[r], top, 1);
            add_key(out, &x, top - 10, colours[r], schema->columns[r].name);
        }
    }
}

static void add_jobs(const struct report *report, struct strbuf *out,
                     double top)
{
    double most = 1;
    double x = WIDTH - RIGHT;

    for (size_t i = 0; i < report->tally->samples.count; i++) {
        const struct tally_sample *sample = &report->tally->samples.items[i];
        most = sample->queued_count > most ? sample->queued_count : most;
        most = sample->running_count > most ? sample->running_count : most;
    }
    most = round_up(most);
    add_frame(out, top, most, "", "Jobs");
    add_line(report, out, queued, 0, colours[1], top, most);
    add_line(report, out, running, 0, colours[0], top, most);
    add_key(out, &x, top - 10, colours[0], STR("running"));
    add_key(out, &x, top - 10, colours[1], STR("waiting"));
}

void report_svg(const struct report *report, struct strbuf *out)
{
    int second = TOP + PANEL_HEIGHT + GAP;
    int height = second + PANEL_HEIGHT + BOTTOM;

    strbuf_addf(out,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
                "height=\"%d\" viewBox=\"0 0 %d %d\" "
                "font-family=\"system-ui,sans-serif\" font-size=\"12\">\n",
                WIDTH, height, WIDTH, height);
    strbuf_add_text(out,
                    "<style>.t{font-size:17px;font-weight:600}"
                    ".h{font-weight:600}.k{font-weight:600}"
                    ".g{stroke:#d8dde3;stroke-width:1}"
                    ".x{text-anchor:middle;fill:#57606a}"
                    ".y{text-anchor:end;fill:#57606a}</style>\n"
                    "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n");
    strbuf_addf(out, "<text x=\"%d\" y=\"26\" class=\"t\">", LEFT);
    add_escaped(out, report->title);
    strbuf_add_text(out, "</text>\n");
    add_use(report, out, TOP);
    add_jobs(report, out, second);
    add_times(report, out, second + PANEL_HEIGHT + 20);
    strbuf_add_text(out, "</svg>\n");
}
