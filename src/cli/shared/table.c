#include "cli/shared/command.h"
#include "wire/text/printable.h"

/* Of the last column, before other columns are left out for it. */
enum { LAST_ROOM_MIN = 20 };

void table_add(struct table *table, const char *text)
{
    auto_strbuf shown = {0};

    wire_printable(str_of(text), PRINTABLE_LINE, &shown);
    VEC_PUSH(&table->cells, arena_strdup(table->arena, strbuf_str(&shown)));
}

void table_addf(struct table *table, const char *format, ...)
{
    va_list arguments;
    char text[256];

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    table_add(table, text);
}

/* Characters, not bytes: what a terminal shows of UTF-8. */
static int width(const char *text)
{
    int count = 0;

    for (; *text; text++) {
        count += ((unsigned char)*text & 0xc0) != 0x80;
    }
    return count;
}

static int column_width(const struct table *table, uint32_t column)
{
    int widest = width(table->headings[column]);

    for (size_t i = column; i < table->cells.count; i += table->column_count) {
        int cell = width(table->cells.items[i]);
        widest = cell > widest ? cell : widest;
    }
    return widest;
}

/* What words mean at a glance. */
static const char *colour_of(const char *text)
{
    static const struct {
        const char *word, *colour;
    } words[] = {
        {"failed", "31"},    {"rejected", "31"}, {"cancelled", "31"},
        {"preempted", "31"}, {"lost", "31"},     {"quarantined", "31"},
        {"stale", "33"},     {"queued", "33"},   {"leased", "33"},
        {"pending", "33"},   {"cordoned", "33"}, {"trial", "33"},
        {"succeeded", "32"}, {"running", "32"},  {"ready", "32"},
        {"live", "32"},
    };

    for (size_t i = 0; i < ARRAY_COUNT(words); i++) {
        if (strcmp(words[i].word, text) == 0) {
            return words[i].colour;
        }
    }
    return NULL;
}

/* How a table is written. */
struct layout {
    int *widths;   /* of each column; -1: it is left out */
    int width_max; /* 0: any */
    bool has_colours;
};

/* Bytes of the text that `room` characters take. */
static size_t cut(const char *text, int room)
{
    size_t at = 0;

    for (; text[at]; at++) {
        if (((unsigned char)text[at] & 0xc0) != 0x80 && room-- <= 0) {
            break;
        }
    }
    return at;
}

/* What is left of the line for the last column. */
static int room_for_last(const struct table *table, const struct layout *layout)
{
    int room = layout->width_max;

    for (uint32_t i = 0; i + 1 < table->column_count; i++) {
        room -= layout->widths[i] < 0 ? 0 : layout->widths[i] + 2;
    }
    return room;
}

/* Leave out what it can be without until the last column has some room. */
static void leave_out(const struct table *table, const struct layout *layout)
{
    uint32_t last = table->column_count - 1;
    int wanted = layout->widths[last] < LAST_ROOM_MIN ? layout->widths[last]
                                                      : LAST_ROOM_MIN;

    for (const char *const *name = table->spare;
         name && *name && room_for_last(table, layout) < wanted; name++) {
        for (uint32_t i = 0; i < last; i++) {
            if (strcmp(table->headings[i], *name) == 0) {
                layout->widths[i] = -1;
            }
        }
    }
}

static void print_cell(const struct table *table, uint32_t column,
                       const struct layout *layout, const char *text,
                       bool is_heading, FILE *out)
{
    bool is_last = column + 1 == table->column_count;
    size_t byte_count = strlen(text);
    const char *colour = is_heading ? "1" : colour_of(text);

    if (layout->widths[column] < 0) {
        return;
    }
    if (is_last && layout->width_max > 0) {
        int room = room_for_last(table, layout);
        int heading = width(table->headings[column]);
        byte_count = cut(text, room > heading ? room : heading);
    }
    colour = layout->has_colours ? colour : NULL;
    fprintf(out, "%s%s%s%.*s%s", colour ? "\033[" : "", colour ? colour : "",
            colour ? "m" : "", (int)byte_count, text, colour ? "\033[0m" : "");
    if (is_last) {
        fputc('\n', out);
    } else {
        int pad = layout->widths[column] - width(text);
        fprintf(out, "%*s", (pad > 0 ? pad : 0) + 2, "");
    }
}

/* Choose the widths by the headings and cells that are there. */
static void lay_out(const struct table *table, const struct layout *layout)
{
    for (uint32_t column = 0; column < table->column_count; column++) {
        layout->widths[column] = column_width(table, column);
    }
    if (layout->width_max > 0) {
        leave_out(table, layout);
    }
}

static void print(struct table *table, struct layout layout, FILE *out)
{
    layout.widths = table->widths
                        ? table->widths
                        : arena_alloc_array(table->arena, table->column_count,
                                            sizeof(*layout.widths));
    if (!table->has_headings) {
        lay_out(table, &layout);
    }
    for (uint32_t column = 0;
         column < table->column_count && !table->has_headings; column++) {
        print_cell(table, column, &layout, table->headings[column], true, out);
    }
    table->has_headings = true;
    for (size_t i = 0; i < table->cells.count; i++) {
        print_cell(table, (uint32_t)(i % table->column_count), &layout,
                   table->cells.items[i], false, out);
    }
    VEC_FREE(&table->cells);
}

void table_print(struct table *table, FILE *out)
{
    print(table, (struct layout){0}, out);
}

/* A field, in quotes if it has to be. */
static void print_field(const char *text, bool is_last, FILE *out)
{
    if (strpbrk(text, ",\"\n\r")) {
        fputc('"', out);
        for (; *text; text++) {
            fputs(*text == '"' ? "\"" : "", out);
            fputc(*text, out);
        }
        fputc('"', out);
    } else {
        fputs(text, out);
    }
    fputc(is_last ? '\n' : ',', out);
}

static void print_csv(struct table *table, FILE *out)
{
    uint32_t last = table->column_count - 1;

    for (uint32_t i = 0; i <= last && !table->has_headings; i++) {
        print_field(table->headings[i], i == last, out);
    }
    table->has_headings = true;
    for (size_t i = 0; i < table->cells.count; i++) {
        print_field(table->cells.items[i], i % table->column_count == last,
                    out);
    }
    VEC_FREE(&table->cells);
}

void cli_print_rows(const struct cli *cli, struct table *table)
{
    struct layout layout = {
        .width_max = cli->is_wide ? 0 : cli->ports->width,
        .has_colours = cli->ports->has_colours,
    };

    if (cli->is_csv) {
        print_csv(table, cli->ports->out);
    } else {
        print(table, layout, cli->ports->out);
    }
}

void cli_print_table(const struct cli *cli, struct table *table)
{
    table->has_headings = false;
    cli_print_rows(cli, table);
}
