#include "cli/shared/command.h"
#include "wire/text/printable.h"

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

static void print_cell(const struct table *table, uint32_t column,
                       const int *widths, const char *text, FILE *out)
{
    bool is_last = column + 1 == table->column_count;

    fputs(text, out);
    if (is_last) {
        fputc('\n', out);
    } else {
        fprintf(out, "%*s", widths[column] - width(text) + 2, "");
    }
}

void table_print(struct table *table, FILE *out)
{
    int *widths =
        arena_alloc_array(table->arena, table->column_count, sizeof(*widths));

    for (uint32_t column = 0; column < table->column_count; column++) {
        widths[column] = column_width(table, column);
    }
    for (uint32_t column = 0; column < table->column_count; column++) {
        print_cell(table, column, widths, table->headings[column], out);
    }
    for (size_t i = 0; i < table->cells.count; i++) {
        print_cell(table, (uint32_t)(i % table->column_count), widths,
                   table->cells.items[i], out);
    }
    VEC_FREE(&table->cells);
}
