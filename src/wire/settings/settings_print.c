#include "model/quantity.h"
#include "wire/settings/settings.h"

enum { COMMENT_COLUMNS = 78 };

static void indent(struct strbuf *out, int depth)
{
    for (int i = 0; i < depth; i++) {
        strbuf_add_text(out, "  ");
    }
}

/* `text` as comment lines, broken between words. */
static void print_comment(const char *text, int depth, struct strbuf *out)
{
    size_t column = COMMENT_COLUMNS;

    if (!*text) {
        return;
    }
    while (*text) {
        size_t word = strcspn(text, " ");
        if (column + 1 + word > COMMENT_COLUMNS) {
            if (column < COMMENT_COLUMNS) {
                strbuf_add_char(out, '\n');
            }
            indent(out, depth);
            strbuf_add_char(out, '#');
            column = (size_t)depth * 2 + 1;
        }
        strbuf_add_char(out, ' ');
        strbuf_add(out, text, word);
        column += 1 + word;
        text += word + (text[word] == ' ');
        if (!*text) {
            strbuf_add_char(out, '\n');
        }
    }
}

static void print_texts(const struct setting_texts *texts, struct strbuf *out)
{
    strbuf_add_char(out, '[');
    for (uint32_t i = 0; i < texts->count; i++) {
        strbuf_add_text(out, i > 0 ? ", " : "");
        setting_print_text(texts->items[i], out);
    }
    strbuf_add_char(out, ']');
}

static void print_amounts(const struct resource_list *list, struct strbuf *out)
{
    char text[QUANTITY_TEXT_BYTES_MAX];

    strbuf_add_char(out, '{');
    for (uint32_t i = 0; i < list->count; i++) {
        strbuf_add_text(out, i > 0 ? ", " : "");
        setting_print_text(list->items[i].name, out);
        /* Sizes read better in binary, small counts in decimal. */
        bool is_size = list->items[i].milli >= 1024 * 1000;
        strbuf_addf(out, ": %s",
                    quantity_format(list->items[i].milli, is_size, text));
    }
    strbuf_add_char(out, '}');
}

static void print_fractions(const struct setting_fractions *fractions,
                            struct strbuf *out)
{
    static const struct setting one = {.type = SETTING_PPM};

    strbuf_add_char(out, '{');
    for (uint32_t i = 0; i < fractions->count; i++) {
        strbuf_add_text(out, i > 0 ? ", " : "");
        setting_print_text(fractions->items[i].resource, out);
        strbuf_add_text(out, ": ");
        setting_print_scalar(&one, &fractions->items[i].fraction_ppm, out);
    }
    strbuf_add_char(out, '}');
}

static void print_record(const struct settings *table, const void *record,
                         enum settings_style style, int depth,
                         struct strbuf *out);

/* Where the records of a list are. */
static const char *items_of(const struct setting *setting, const void *record)
{
    const char *items = (const char *)record + setting->offset;

    if (setting->is_pointer) {
        memcpy(&items, items, sizeof(items));
    }
    return items;
}

/* A list of records, each begun by "- ". */
static void print_records(const struct setting *setting, const void *record,
                          enum settings_style style, int depth,
                          struct strbuf *out)
{
    const char *items = items_of(setting, record);
    uint32_t count = *(const uint32_t *)(const void *)((const char *)record +
                                                       setting->count_offset);
    /* Comments would stand between "-" and the first key: once, above the
     * list, is enough. */
    enum settings_style item_style =
        style == SETTINGS_COMMENTED ? SETTINGS_PLAIN : style;

    if (count == 0) {
        strbuf_add_text(out, " []\n");
        return;
    }
    strbuf_add_char(out, '\n');
    for (uint32_t i = 0; i < count; i++) {
        auto_strbuf item = {0};
        print_record(setting->table, items + i * setting->table->record_bytes,
                     item_style, depth + 2, &item);
        struct str text = strbuf_str(&item);
        size_t margin = ((size_t)depth + 2) * 2;
        indent(out, depth + 1);
        strbuf_add_text(out, "- ");
        strbuf_add(out, text.p + margin, text.byte_count - margin);
    }
}

static void print_value(const struct setting *setting, const void *record,
                        struct strbuf *out)
{
    const void *value = (const char *)record + setting->offset;

    switch (setting->type) {
    case SETTING_TEXTS:
        print_texts(value, out);
        return;
    case SETTING_AMOUNTS:
        print_amounts(value, out);
        return;
    case SETTING_FRACTIONS:
        print_fractions(value, out);
        return;
    case SETTING_BOOL:
    case SETTING_INT:
    case SETTING_DURATION:
    case SETTING_BYTES:
    case SETTING_PPM:
    case SETTING_MILLI:
    case SETTING_QUANTITY:
    case SETTING_TEXT:
        setting_print_scalar(setting, record, out);
        return;
    case SETTING_RECORD:
    case SETTING_RECORDS:
        break;
    }
    ASSERT(!"records are printed by the caller");
}

/* What the items of a list may hold, one key a line. */
static void print_item_comments(const struct settings *table, int depth,
                                struct strbuf *out)
{
    for (size_t i = 0; i < table->count; i++) {
        auto_strbuf line = {0};
        strbuf_addf(&line, "- %s: %s", table->items[i].key,
                    table->items[i].about);
        print_comment(strbuf_text(&line), depth, out);
    }
}

static void print_record(const struct settings *table, const void *record,
                         enum settings_style style, int depth,
                         struct strbuf *out)
{
    bool has_comments = style == SETTINGS_COMMENTED;

    for (size_t i = 0; i < table->count; i++) {
        const struct setting *setting = &table->items[i];
        const char *place = (const char *)record + setting->offset;
        if (has_comments) {
            print_comment(setting->about, depth, out);
        }
        if (has_comments && setting->type == SETTING_RECORDS) {
            print_item_comments(setting->table, depth, out);
        }
        indent(out, depth);
        strbuf_addf(out, "%s:",
                    style == SETTINGS_LOGGED && setting->old_key
                        ? setting->old_key
                        : setting->key);
        if (setting->type == SETTING_RECORD) {
            strbuf_add_char(out, '\n');
            print_record(setting->table, place, style, depth + 1, out);
        } else if (setting->type == SETTING_RECORDS) {
            print_records(setting, record, style, depth, out);
        } else {
            strbuf_add_char(out, ' ');
            print_value(setting, record, out);
            strbuf_add_char(out, '\n');
        }
        if (has_comments && depth == 0 && i + 1 < table->count) {
            strbuf_add_char(out, '\n');
        }
    }
}

void settings_print(const struct settings *table, const void *record,
                    enum settings_style style, struct strbuf *out)
{
    print_record(table, record, style, 0, out);
}

static const char *const type_names[] = {
    [SETTING_BOOL] = "true, false",    [SETTING_INT] = "number",
    [SETTING_QUANTITY] = "quantity",   [SETTING_DURATION] = "duration",
    [SETTING_BYTES] = "bytes",         [SETTING_PPM] = "decimal",
    [SETTING_MILLI] = "decimal",       [SETTING_TEXT] = "text",
    [SETTING_TEXTS] = "list of texts", [SETTING_AMOUNTS] = "quantities",
    [SETTING_FRACTIONS] = "fractions", [SETTING_RECORD] = "",
    [SETTING_RECORDS] = "list",
};

static void print_rows(const struct settings *table, const void *record,
                       const char *prefix, struct strbuf *out)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct setting *setting = &table->items[i];
        const char *place = (const char *)record + setting->offset;
        auto_strbuf path = {0};
        strbuf_addf(&path, "%s%s", prefix, setting->key);
        if (setting->type == SETTING_RECORD) {
            strbuf_add_char(&path, '.');
            print_rows(setting->table, place, strbuf_text(&path), out);
            continue;
        }
        strbuf_addf(out, "| `%s` | %s | ", strbuf_text(&path),
                    setting->choices ? setting->choices
                                     : type_names[setting->type]);
        if (setting->default_from) {
            strbuf_addf(out, "from `%s`", setting->default_from);
        } else if (setting->type != SETTING_RECORDS && record &&
                   !setting->is_required) {
            auto_strbuf value = {0};
            print_value(setting, record, &value);
            strbuf_addf(out, "`%s`", strbuf_text(&value));
        }
        strbuf_addf(out, " | %s", setting->about);
        if (setting->old_key) {
            strbuf_addf(out, " Its old name is `%s`.", setting->old_key);
        }
        strbuf_add_text(out, " |\n");
        if (setting->type == SETTING_RECORDS) {
            auto_mem void *item = mem_alloc(setting->table->record_bytes);
            if (setting->table->init) {
                setting->table->init(item);
            }
            strbuf_add_text(&path, "[].");
            print_rows(setting->table, item, strbuf_text(&path), out);
        }
    }
}

void settings_print_manual(const struct settings *table, struct strbuf *out)
{
    auto_mem void *record = mem_alloc(table->record_bytes);

    if (table->init) {
        table->init(record);
    }
    strbuf_add_text(out, "| key | value | default | meaning |\n"
                         "|---|---|---|---|\n");
    print_rows(table, record, "", out);
}
