/* Draws the chart of use over time. */
#include <stdlib.h>

#include "sim/report/report.h"

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
    TIME_TICKS_MAX = 12,
    POOL_PANELS_MAX = 4, /* of shares: those that work wanted most */
    LINES_MAX = 7,       /* queues of a panel, those that obtained most */
};

#define PERCENT 100.0
#define LINE_WIDTH 1.6
#define WIDTH_STEP 1.2

/* Colours that can be told apart, also by the colour-blind. */
static const char *const colours[RESOURCE_COLUMNS_MAX] = {
    "#0072b2", "#d55e00", "#009e73", "#cc79a7",
    "#e69f00", "#56b4e9", "#7f7f7f", "#000000",
};

/* The queues of a pool that a panel shows. */
struct panel {
    struct str pool;
    double due_sum;           /* over queues and samples */
    uint32_t rows[LINES_MAX]; /* those that obtained most */
    double row_sums[LINES_MAX];
    uint32_t row_count;
    uint32_t hidden_count; /* others */
    double most;           /* of a share, at any sample */
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
                "<polyline fill=\"none\" stroke=\"%s\" "
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

/* A number that is at least `value`, and whose quarters are round. */
static double round_up(double value)
{
    static const double rounds[] = {4, 8, 12, 20};

    for (double step = 1;; step *= 10) {
        for (size_t i = 0; i < ARRAY_COUNT(rounds); i++) {
            if (rounds[i] * step >= value) {
                return rounds[i] * step;
            }
        }
    }
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

/* A round time such that not too many fit in what is shown. */
static double tick_s(double end)
{
    static const double steps[] = {1,      2,      5,      10,     15,    30,
                                   60,     120,    300,    600,    900,   1800,
                                   3600,   7200,   10800,  21600,  43200, 86400,
                                   172800, 432000, 864000, 1728000};
    double step = steps[ARRAY_COUNT(steps) - 1];

    for (size_t i = ARRAY_COUNT(steps); i > 0; i--) {
        step = steps[i - 1] * TIME_TICKS_MAX >= end ? steps[i - 1] : step;
    }
    while (step * TIME_TICKS_MAX < end) {
        step *= 2;
    }
    return step;
}

static void add_times(const struct report *report, struct strbuf *out, double y)
{
    double end = end_s(report);
    double step = tick_s(end);
    double unit = step >= 86400  ? 86400
                  : step >= 3600 ? 3600
                  : step >= 60   ? 60
                                 : 1;
    const char *name = unit > 3600 ? "d"
                       : unit > 60 ? "h"
                       : unit > 1  ? "min"
                                   : "s";

    for (int i = 0; step * i <= end; i++) {
        double x = LEFT + (WIDTH - LEFT - RIGHT) * (step * i / end);
        strbuf_addf(out,
                    "<text x=\"%.1f\" y=\"%.1f\" class=\"x\">%.10g %s</text>\n",
                    x, y, step * i / unit, name);
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
    *x -= 14.0 + 7.8 * (double)name.byte_count;
    strbuf_addf(out, "<text x=\"%.0f\" y=\"%.0f\" class=\"k\" fill=\"%s\">", *x,
                y, colour);
    add_escaped(out, name);
    strbuf_add_text(out, "</text>\n");
}

static void add_use(const struct report *report, struct strbuf *out, double top)
{
    const struct resource_schema *schema = &report->tally->world->policy.schema;
    double x = WIDTH - RIGHT;
    double width = LINE_WIDTH - WIDTH_STEP;

    for (uint32_t r = 0; r < schema->column_count; r++) {
        width += report_has_resource(report, r) ? WIDTH_STEP : 0;
    }
    add_frame(out, top, PERCENT, "%", "In use");
    for (uint32_t r = 0; r < schema->column_count; r++) {
        if (report_has_resource(report, r)) {
            /* What goes the same way is seen below what covers it. */
            strbuf_addf(out, "<g stroke-width=\"%.1f\">", width);
            add_line(report, out, used_part, r, colours[r], top, 1);
            strbuf_add_text(out, "</g>\n");
            width -= WIDTH_STEP;
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

/* Shares. */

static double obtained(const struct report *report, uint32_t row,
                       const struct tally_sample *sample)
{
    const struct tally_share *shares =
        &report->tally->shares.items[sample->share_first];

    for (uint32_t i = 0; i < sample->share_count; i++) {
        if (shares[i].row == row) {
            return (double)shares[i].obtained;
        }
    }
    return 0;
}

static double due(const struct report *report, uint32_t row,
                  const struct tally_sample *sample)
{
    const struct tally_share *shares =
        &report->tally->shares.items[sample->share_first];

    for (uint32_t i = 0; i < sample->share_count; i++) {
        if (shares[i].row == row) {
            return (double)shares[i].due;
        }
    }
    return 0;
}

/* Put a row among those of its panel that obtained most. */
static void rank(struct panel *panel, uint32_t row, double sum)
{
    uint32_t at = panel->row_count;

    panel->hidden_count += at == LINES_MAX;
    while (at > 0 && panel->row_sums[at - 1] < sum) {
        at--;
        if (at + 1 < LINES_MAX) {
            panel->rows[at + 1] = panel->rows[at];
            panel->row_sums[at + 1] = panel->row_sums[at];
        }
    }
    if (at < LINES_MAX) {
        panel->rows[at] = row;
        panel->row_sums[at] = sum;
        panel->row_count += panel->row_count < LINES_MAX;
    }
}

static int compare_panels(const void *a, const void *b)
{
    const struct panel *x = a, *y = b;

    return x->due_sum > y->due_sum   ? -1
           : x->due_sum < y->due_sum ? 1
                                     : str_compare(x->pool, y->pool);
}

static float larger(float a, float b)
{
    return a > b ? a : b;
}

/* The panels of a simulation: for each pool one, as many as are shown. */
static uint32_t make_panels(const struct report *report, struct panel *panels)
{
    const struct tally *tally = report->tally;
    size_t row_count = tally->rows.count;
    auto_mem struct panel *all = mem_alloc_array(row_count + 1, sizeof(*all));
    auto_mem struct tally_share *sums =
        mem_alloc_array(row_count + 1, sizeof(*sums));
    auto_mem float *most = mem_alloc_array(row_count + 1, sizeof(*most));
    uint32_t count = 0;

    for (size_t i = 0; i < tally->shares.count; i++) {
        const struct tally_share *share = &tally->shares.items[i];
        sums[share->row].due += share->due;
        sums[share->row].obtained += share->obtained;
        most[share->row] =
            larger(most[share->row], larger(share->due, share->obtained));
    }
    for (uint32_t row = 0; row < row_count; row++) {
        uint32_t at = 0;
        while (at < count &&
               !str_equal(all[at].pool, tally->rows.items[row].pool)) {
            at++;
        }
        if (at == count) {
            all[count++] = (struct panel){.pool = tally->rows.items[row].pool};
        }
        all[at].due_sum += (double)sums[row].due;
        all[at].most =
            all[at].most > (double)most[row] ? all[at].most : (double)most[row];
        rank(&all[at], row, (double)sums[row].obtained);
    }
    qsort(all, count, sizeof(*all), compare_panels);
    count = count < POOL_PANELS_MAX ? count : POOL_PANELS_MAX;
    memcpy(panels, all, count * sizeof(*panels));
    return count;
}

/* One colour for a queue in all panels, if they suffice. */
static const char *colour_of(const struct tally *tally,
                             const struct panel *panel, uint32_t at)
{
    uint32_t queue = tally->rows.items[panel->rows[at]].queue;

    return colours[tally->queues.count <= ARRAY_COUNT(colours) ? queue : at];
}

static void add_shares(const struct report *report, struct strbuf *out,
                       const struct panel *panel, double top)
{
    const struct tally *tally = report->tally;
    double x = WIDTH - RIGHT;
    double full = panel->most <= 0.2 ? 0.2 : panel->most <= 0.4 ? 0.4 : 1;
    auto_strbuf title = {0};

    strbuf_add_text(&title, "Shares of queues (dashed: due)");
    if (report_has_pools(report)) {
        strbuf_add_text(&title, " in ");
        add_escaped(&title, panel->pool);
    }
    add_frame(out, top, PERCENT * full, "%", strbuf_text(&title));
    for (uint32_t i = 0; i < panel->row_count; i++) {
        uint32_t row = panel->rows[i];
        const char *colour = colour_of(tally, panel, i);
        strbuf_add_text(out, "<g stroke-dasharray=\"3 4\" opacity=\"0.6\">");
        add_line(report, out, due, row, colour, top, full);
        strbuf_add_text(out, "</g>\n");
        add_line(report, out, obtained, row, colour, top, full);
    }
    if (panel->hidden_count) {
        auto_strbuf more = {0};
        strbuf_addf(&more, "(%u more not drawn)", panel->hidden_count);
        add_key(out, &x, top - 10, "#57606a", strbuf_str(&more));
    }
    for (uint32_t i = panel->row_count; i > 0; i--) {
        const struct tally_row *row = &tally->rows.items[panel->rows[i - 1]];
        add_key(out, &x, top - 10, colour_of(tally, panel, i - 1),
                tally->queues.items[row->queue].name);
    }
}

void report_svg(const struct report *report, struct strbuf *out)
{
    struct panel panels[POOL_PANELS_MAX];
    uint32_t panel_count = make_panels(report, panels);
    int step = PANEL_HEIGHT + GAP;
    int last = TOP + step * (1 + (int)panel_count);
    int height = last + PANEL_HEIGHT + BOTTOM;

    strbuf_addf(out,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
                "height=\"%d\" viewBox=\"0 0 %d %d\" "
                "font-family=\"system-ui,sans-serif\" font-size=\"12\" "
                "stroke-width=\"1.6\">\n",
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
    add_jobs(report, out, TOP + step);
    for (uint32_t i = 0; i < panel_count; i++) {
        add_shares(report, out, &panels[i], TOP + step * (2 + (int)i));
    }
    add_times(report, out, last + PANEL_HEIGHT + 20);
    strbuf_add_text(out, "</svg>\n");
}
