#include "cli/commands/watch_screen.h"

enum {
    WIDTH_MIN = 60,
    HEIGHT_MIN = 8,
    LINES_AROUND = 4, /* summary, headings, how many more, the prompt */
    ROWS_MAX = 200,
    QUIET_MS = 50,   /* nothing has come for so long: draw */
    BUSY_MS = 200,   /* or that long has passed */
    AGEING_MS = 1000 /* what is said to be so old is older now */
};

bool watch_screen_fits(const struct cli *cli)
{
    return cli->ports->is_terminal && cli->output == CLI_OUTPUT_TEXT &&
           cli->ports->width >= WIDTH_MIN && cli->ports->height >= HEIGHT_MIN;
}

void watch_screen_fini(struct watch_screen *screen)
{
    for (size_t i = 0; i < screen->rows.count; i++) {
        mem_free(screen->rows.items[i].job_id);
        mem_free(screen->rows.items[i].node);
        mem_free(screen->rows.items[i].reason);
    }
    VEC_FREE(&screen->rows);
}

/* Replace a text that is owned, unless nothing is known. */
static void replace(char **text, const char *by)
{
    if (by && *by) {
        mem_free(*text);
        *text = mem_strdup(by);
    }
}

void watch_screen_note(struct watch_screen *screen, uint32_t index,
                       const struct watch_row *row)
{
    while (screen->rows.count <= index) {
        VEC_PUSH(&screen->rows, (struct watch_row){0});
    }
    struct watch_row *own = &screen->rows.items[index];
    replace(&own->job_id, row->job_id);
    replace(&own->node, row->node);
    replace(&own->reason, row->reason);
    own->state = row->state;
    own->is_over = row->is_over;
    own->since_s = row->since_s;
    own->change = ++screen->change_count;
    screen->is_stale = true;
}

static bool goes_before(const struct watch_row *a, const struct watch_row *b)
{
    return a->is_over != b->is_over ? b->is_over : a->change > b->change;
}

/* The first rows in that order; how many. */
static size_t choose(const struct watch_screen *screen, size_t count_max,
                     const struct watch_row **ret_rows)
{
    size_t count = 0;

    for (size_t i = 0; i < screen->rows.count; i++) {
        const struct watch_row *row = &screen->rows.items[i];
        size_t at = count;
        if (!row->job_id ||
            (count == count_max && !goes_before(row, ret_rows[count - 1]))) {
            continue;
        }
        count += count < count_max;
        at = at < count ? at : count - 1;
        for (; at > 0 && goes_before(row, ret_rows[at - 1]); at--) {
            ret_rows[at] = ret_rows[at - 1];
        }
        ret_rows[at] = row;
    }
    return count;
}

static void add_row(struct cli *cli, struct table *table,
                    const struct watch_row *row)
{
    Google__Protobuf__Timestamp since = GOOGLE__PROTOBUF__TIMESTAMP__INIT;

    since.seconds = row->since_s;
    table_add(table, row->job_id);
    table_add(table, row->state);
    table_add(table, cli_age(cli, row->since_s ? &since : NULL));
    table_add(table, row->node ? row->node : "");
    table_add(table, cli_cell(cli, row->reason ? row->reason : ""));
}

/* Go back to where the last drawing began, and clear it. */
static void clear(const struct watch_screen *screen)
{
    if (screen->line_count > 0) {
        fprintf(screen->cli->ports->out, "\033[%dA\r\033[J",
                screen->line_count);
    }
}

void watch_screen_draw(struct watch_screen *screen, const char *summary)
{
    static const char *const headings[] = {"JOB", "STATE", "FOR", "NODE",
                                           "REASON"};
    static const char *const spare[] = {"NODE", NULL};
    struct cli *cli = screen->cli;
    struct arena kept = cli->arena;
    int height = cli->ports->height - LINES_AROUND;
    const struct watch_row *rows[ROWS_MAX];

    cli->arena = (struct arena){0};
    struct table table = {
        &cli->arena, headings, ARRAY_COUNT(headings), {0}, spare, NULL, false};
    size_t count = choose(
        screen, height < ROWS_MAX ? (size_t)height : (size_t)ROWS_MAX, rows);
    for (size_t i = 0; i < count; i++) {
        add_row(cli, &table, rows[i]);
    }
    clear(screen);
    fprintf(cli->ports->out, "%.*s\n", cli->ports->width - 1, summary);
    cli_print_table(cli, &table);
    screen->line_count = (int)count + 2;
    if (count < screen->rows.count) {
        fprintf(cli->ports->out, "and %zu more\n", screen->rows.count - count);
        screen->line_count++;
    }
    (void)fflush(cli->ports->out);
    arena_fini(&cli->arena);
    cli->arena = kept;
    screen->drawn_ms = cli->ports->clock->wall_ms(cli->ports->clock);
    screen->is_stale = false;
}

int64_t watch_screen_wait_ms(const struct watch_screen *screen)
{
    return screen->is_stale ? QUIET_MS : AGEING_MS;
}

bool watch_screen_is_due(const struct watch_screen *screen)
{
    const struct clock *clock = screen->cli->ports->clock;

    return clock->wall_ms(clock) - screen->drawn_ms >= BUSY_MS;
}
