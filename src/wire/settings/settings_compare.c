#include "wire/settings/settings.h"

void setting_texts_add(struct setting_texts *texts, uint32_t count_max,
                       struct arena *arena, struct str text)
{
    if (texts->count >= count_max) {
        return;
    }
    struct str *items =
        arena_alloc_array(arena, texts->count + 1, sizeof(*items));
    for (uint32_t i = 0; i < texts->count; i++) {
        items[i] = texts->items[i];
    }
    items[texts->count] = arena_str(arena, text);
    *texts = (struct setting_texts){items, texts->count + 1};
}

/* Whether two records print the same for one key: that is all that a user can
 * tell apart. */
static bool is_same(const struct setting *setting, const void *a, const void *b)
{
    const struct settings one = {setting, 1, 0, NULL};
    auto_strbuf first = {0};
    auto_strbuf second = {0};

    settings_print(&one, a, SETTINGS_PLAIN, &first);
    settings_print(&one, b, SETTINGS_PLAIN, &second);
    return str_equal(strbuf_str(&first), strbuf_str(&second));
}

static void compare(const struct settings *table, const void *a, const void *b,
                    const char *before, struct arena *arena,
                    struct setting_texts *ret_paths)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct setting *setting = &table->items[i];
        auto_strbuf path = {0};
        if (is_same(setting, a, b)) {
            continue;
        }
        strbuf_addf(&path, "%s%s%s", before, *before ? "." : "", setting->key);
        if (setting->type == SETTING_RECORD) {
            compare(setting->table, (const char *)a + setting->offset,
                    (const char *)b + setting->offset, strbuf_text(&path),
                    arena, ret_paths);
        } else {
            setting_texts_add(ret_paths, SETTING_ERRORS_MAX, arena,
                              strbuf_str(&path));
        }
    }
}

void settings_compare(const struct settings *table, const void *a,
                      const void *b, struct arena *arena,
                      struct setting_texts *ret_paths)
{
    *ret_paths = (struct setting_texts){0};
    compare(table, a, b, "", arena, ret_paths);
}
