/* Draws courses of a history beside one another. */
#include "sim/history/history_private.h"

enum {
    WIDTH = 960,
    PANEL_HEIGHT = 220,
    LEFT = 64,
    TOP = 48,
    GAP = 56,
    GRID_LINES = 4,
    COURSES = 3,
};

#define MS_PER_H 3.6e6

static const char *const names[COURSES] = {"as it was", "same rules",
                                           "what if"};
/* Colours that can be told apart, also by the colour-blind. */
static const char *const colours[COURSES] = {"#7f7f7f", "#0072b2", "#d55e00"};

static double value(const struct history_sample *sample, bool is_queued)
{
    return is_queued ? sample->queued_count : sample->running_count;
}

static double most(const struct history_result *const results[COURSES],
                   bool is_queued)
{
    double most = 1;

    for (int c = 0; c < COURSES; c++) {
        for (int i = 0; i < HISTORY_SAMPLES; i++) {
            double v = value(&results[c]->samples[i], is_queued);
            most = v > most ? v : most;
        }
    }
    return most;
}

static void add_frame(struct strbuf *out, double top, double full,
                      const char *title)
{
    strbuf_addf(out, "<text x=\"%d\" y=\"%.0f\">%s</text>\n", LEFT, top - 10,
                title);
    for (int i = 0; i <= GRID_LINES; i++) {
        double y = top + PANEL_HEIGHT - (double)PANEL_HEIGHT * i / GRID_LINES;
        strbuf_addf(out,
                    "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" "
                    "stroke=\"#ddd\"/>\n<text x=\"%d\" y=\"%.1f\" "
                    "text-anchor=\"end\">%.10g</text>\n",
                    LEFT, WIDTH - LEFT, y, y, LEFT - 8, y + 4,
                    full * i / GRID_LINES);
    }
}

static void add_panel(const struct history_result *const results[COURSES],
                      struct strbuf *out, double top, bool is_queued)
{
    double full = most(results, is_queued);

    add_frame(out, top, full, is_queued ? "jobs that wait" : "jobs that run");
    for (int c = 0; c < COURSES; c++) {
        strbuf_addf(out,
                    "<polyline fill=\"none\" stroke=\"%s\" "
                    "stroke-width=\"1.6\" points=\"",
                    colours[c]);
        for (int i = 0; i < HISTORY_SAMPLES; i++) {
            strbuf_addf(out, "%.1f,%.1f ",
                        LEFT + (double)(WIDTH - 2 * LEFT) * i / HISTORY_SAMPLES,
                        top + PANEL_HEIGHT -
                            value(&results[c]->samples[i], is_queued) / full *
                                PANEL_HEIGHT);
        }
        strbuf_add_text(out, "\"/>\n");
    }
}

void history_svg(const struct history *history,
                 const struct history_result *const results[3],
                 struct strbuf *out)
{
    int height = TOP + 2 * PANEL_HEIGHT + 2 * GAP;

    strbuf_addf(out,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
                "height=\"%d\" font-family=\"sans-serif\" font-size=\"12\">\n"
                "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
                WIDTH, height);
    for (int c = 0; c < COURSES; c++) {
        strbuf_addf(out, "<text x=\"%d\" y=\"18\" fill=\"%s\">%s</text>\n",
                    LEFT + 120 * c, colours[c], names[c]);
    }
    add_panel(results, out, TOP, false);
    add_panel(results, out, TOP + PANEL_HEIGHT + GAP, true);
    strbuf_addf(out,
                "<text x=\"%d\" y=\"%d\">0 h</text>\n<text x=\"%d\" y=\"%d\" "
                "text-anchor=\"end\">%.1f h</text>\n</svg>\n",
                LEFT, height - GAP + 20, WIDTH - LEFT, height - GAP + 20,
                (double)history->span_ms / MS_PER_H);
}
