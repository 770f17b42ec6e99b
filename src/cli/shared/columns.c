#include "cli/shared/columns.h"

/* What names an object, the first that it has. */
static const char *const name_keys[] = {"jobId", "name", "id", "jobSet"};

/* Take `text` up to one of `ends` off the front. */
static struct str take(const char **text, const char *ends)
{
    size_t length = strcspn(*text, ends);
    struct str piece = str_make(*text, length);

    *text += length;
    return piece;
}

typedef void value_fn(const json_t *value, void *ctx);

/* Hand over each value that a path leads to; a bad path leads nowhere. */
static void each_value(const json_t *at, const char *path, value_fn *fn,
                       void *ctx)
{
    if (!*path || !at) {
        if (at) {
            fn(at, ctx);
        }
        return;
    }
    if (*path == '[') {
        path++;
        struct str index = take(&path, "]");
        bool is_all = str_equal(index, STR("*"));
        size_t wanted = is_all ? 0 : strtoul(index.p, NULL, 10);
        path += *path == ']';
        for (size_t i = 0; i < json_array_size(at); i++) {
            if (is_all || i == wanted) {
                each_value(json_array_get(at, i), path, fn, ctx);
            }
        }
        return;
    }
    path += *path == '.';
    struct str key = take(&path, ".[");
    auto_mem char *name = str_dup(key);
    each_value(key.byte_count ? json_object_get(at, name) : at, path, fn, ctx);
}

static int put_bytes(const char *bytes, size_t count, void *ctx)
{
    strbuf_add(ctx, bytes, count);
    return 0;
}

static void put_value(const json_t *value, void *ctx)
{
    struct strbuf *text = ctx;

    if (text->byte_count > 0) {
        strbuf_add_char(text, ' ');
    }
    if (json_is_string(value)) {
        strbuf_add_text(text, json_string_value(value));
        return;
    }
    (void)json_dump_callback(value, put_bytes, text,
                             JSON_ENCODE_ANY | JSON_COMPACT);
}

static void print_name(const struct cli *cli, const json_t *item)
{
    for (size_t i = 0; i < ARRAY_COUNT(name_keys); i++) {
        const char *name =
            json_string_value(json_object_get(item, name_keys[i]));
        if (name) {
            cli_say(cli, "%s", name);
            return;
        }
    }
}

/* HEADING:PATH,... ; each heading, or of an item each value. */
static void add_row(const struct cli *cli, struct table *table,
                    const json_t *item)
{
    const char *rest = cli->pattern;

    while (*rest) {
        (void)take(&rest, ":");
        rest += *rest == ':';
        auto_mem char *path = str_dup(take(&rest, ","));
        auto_strbuf text = {0};
        rest += *rest == ',';
        each_value(item, path, put_value, &text);
        table_add(table, text.byte_count ? strbuf_text(&text) : "<none>");
    }
}

static uint32_t count_columns(const char *pattern)
{
    uint32_t count = 1;

    for (; *pattern; pattern++) {
        count += *pattern == ',';
    }
    return count;
}

static void print_columns(const struct cli *cli, const json_t *list)
{
    auto_arena arena = {0};
    uint32_t count = count_columns(cli->pattern);
    const char **headings = arena_alloc_array(&arena, count, sizeof(char *));
    struct table table = {&arena, headings, count, {0}, NULL, NULL, false};
    const char *rest = cli->pattern;

    for (uint32_t i = 0; i < count; i++) {
        headings[i] = arena_strdup(&arena, take(&rest, ":"));
        (void)take(&rest, ",");
        rest += *rest == ',';
    }
    for (size_t i = 0; i < json_array_size(list); i++) {
        add_row(cli, &table, json_array_get(list, i));
    }
    table_print(&table, cli->ports->out);
}

/* Text, and in braces paths: "{.jobId}{\"\\n\"}". */
static void print_template(const struct cli *cli, const json_t *answer)
{
    const char *rest = cli->pattern;
    auto_strbuf text = {0};

    while (*rest) {
        strbuf_add_str(&text, take(&rest, "{"));
        if (*rest != '{') {
            break;
        }
        rest++;
        auto_mem char *path = str_dup(take(&rest, "}"));
        auto_strbuf value = {0};
        rest += *rest == '}';
        if (strcmp(path, "\"\\n\"") == 0) {
            strbuf_add_char(&value, '\n');
        } else if (strcmp(path, "\"\\t\"") == 0) {
            strbuf_add_char(&value, '\t');
        } else {
            each_value(answer, path, put_value, &value);
        }
        strbuf_add_str(&text, strbuf_str(&value));
    }
    cli_put(cli->ports->out, "%s\n", strbuf_text(&text));
}

/* Whether a path is .KEY, [N] and [*], behind each other; the first key may go
 * without its dot. */
static bool is_path(const char *path)
{
    path += strcspn(path, ".[");
    while (*path) {
        if (*path == '.') {
            path += 1 + strcspn(path + 1, ".[");
            continue;
        }
        size_t length = strcspn(path + 1, "]");
        bool is_index = length > 0 && strspn(path + 1, "0123456789") == length;
        if (path[1 + length] != ']' ||
            !(is_index || (length == 1 && path[1] == '*'))) {
            return false;
        }
        path += 1 + length + 1;
    }
    return true;
}

/* Whether each brace of a template is closed and has what can be in it. */
static bool is_template(const char *rest)
{
    bool has_path = false;

    for (rest = strchr(rest, '{'); rest; rest = strchr(rest, '{')) {
        rest++;
        auto_mem char *path = str_dup(take(&rest, "}"));
        if (*rest != '}' || !*path ||
            (strcmp(path, "\"\\n\"") != 0 && strcmp(path, "\"\\t\"") != 0 &&
             !is_path(path))) {
            return false;
        }
        has_path = true;
    }
    return has_path;
}

enum cli_exit columns_check(const struct cli *cli)
{
    const char *rest = cli->pattern;

    if (cli->output == CLI_OUTPUT_TEMPLATE && !is_template(rest)) {
        return cli_fail(cli, CLI_USAGE,
                        "-o jsonpath takes paths in braces, as in "
                        "'jsonpath={[*].jobId}'");
    }
    if (cli->output == CLI_OUTPUT_COLUMNS && !*rest) {
        return cli_fail(cli, CLI_USAGE,
                        "-o custom-columns takes HEADING:.PATH,..., not \"\"");
    }
    while (cli->output == CLI_OUTPUT_COLUMNS && *rest) {
        struct str heading = take(&rest, ":,");
        if (*rest != ':' || heading.byte_count == 0 || rest[1] != '.') {
            return cli_fail(cli, CLI_USAGE,
                            "-o custom-columns takes HEADING:.PATH,..., not "
                            "\"%s\"",
                            cli->pattern);
        }
        (void)take(&rest, ",");
        rest += *rest == ',';
    }
    return CLI_OK;
}

/* The items of an answer: of a list, which may be all that an object has; else
 * the answer is the only one.  The caller lets it go. */
static json_t *items_of(const json_t *answer)
{
    const json_t *only = json_object_size(answer) == 1
                             ? json_object_iter_value(json_object_iter(
                                   (json_t *)(uintptr_t)answer))
                             : answer;

    return json_is_array(only) ? json_incref((json_t *)(uintptr_t)only)
                               : json_pack("[O]", answer);
}

void columns_print(const struct cli *cli, const json_t *answer)
{
    json_t *list = items_of(answer);

    if (cli->output == CLI_OUTPUT_TEMPLATE) {
        print_template(cli, answer);
    } else if (cli->output == CLI_OUTPUT_COLUMNS) {
        print_columns(cli, list);
    } else {
        for (size_t i = 0; i < json_array_size(list); i++) {
            print_name(cli, json_array_get(list, i));
        }
    }
    json_decref(list);
}
