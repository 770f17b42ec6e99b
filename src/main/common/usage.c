#include "main/common/usage.h"

#include <getopt.h>

#include "base/strbuf.h"

/* The codes of the options that are in no table. */
enum { CODE_HELP = 1000, CODE_VERSION, CODE_PRINT_OPTIONS };

static const struct usage_option common_options[] = {
    {"help", NULL, "show this help and exit"},
    {"version", NULL, "show the version and exit"},
};

static void make_options(const struct usage *usage, struct option *ret)
{
    ASSERT(usage->option_count <= USAGE_OPTIONS_MAX);
    for (uint32_t i = 0; i < usage->option_count; i++) {
        const struct usage_option *option = &usage->options[i];
        int takes = option->value ? required_argument : no_argument;
        *ret++ = (struct option){option->name, takes, NULL, (int)i + 1};
    }
    *ret++ = (struct option){"help", no_argument, NULL, CODE_HELP};
    *ret++ = (struct option){"version", no_argument, NULL, CODE_VERSION};
    *ret++ =
        (struct option){"print-options", no_argument, NULL, CODE_PRINT_OPTIONS};
    *ret = (struct option){0};
}

/* Answer an option that every program has; 1, or -1 if it is none. */
static int answer(const struct usage *usage, int code)
{
    switch (code) {
    case CODE_HELP:
        usage_print(usage, stdout);
        return 1;
    case CODE_VERSION:
        printf("%s %s\n", usage->program, BERTH_VERSION);
        return 1;
    case CODE_PRINT_OPTIONS:
        usage_print_table(usage, stdout);
        return 1;
    default:
        return -1;
    }
}

int usage_parse(const struct usage *usage, int argument_count, char **arguments,
                usage_take_fn *take, void *ctx)
{
    struct option options[USAGE_OPTIONS_MAX + 4];
    int code;
    int rc = 0;

    make_options(usage, options);
    while (rc == 0 && (code = getopt_long(argument_count, arguments, "",
                                          options, NULL)) != -1) {
        bool is_own = code >= 1 && code <= (int)usage->option_count;
        rc = is_own ? take(code, ctx) : answer(usage, code);
    }
    if (rc != 0 && rc != 1) {
        usage_hint(usage);
        return -1;
    }
    return rc;
}

/* The program, and its command if it has one. */
static void add_name(const struct usage *usage, struct strbuf *out)
{
    strbuf_add_text(out, usage->program);
    if (usage->command) {
        strbuf_addf(out, " %s", usage->command);
    }
}

void usage_hint(const struct usage *usage)
{
    auto_strbuf name = {0};

    add_name(usage, &name);
    fprintf(stderr, "try: %s --help\n", strbuf_text(&name));
}

static size_t left_width(const struct usage_option *option)
{
    return strlen("  --") + strlen(option->name) +
           (option->value ? 1 + strlen(option->value) : 0);
}

/* Add words, each on the line where it still fits. */
static void add_wrapped(struct strbuf *out, size_t indent, const char *text)
{
    size_t column = indent;

    while (*text) {
        size_t length = strcspn(text, " ");
        if (column > indent && column + 1 + length > USAGE_COLUMNS_MAX) {
            strbuf_addf(out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (column > indent) {
            strbuf_add_char(out, ' ');
            column++;
        }
        strbuf_add(out, text, length);
        column += length;
        text += length + (text[length] == ' ');
    }
    strbuf_add_char(out, '\n');
}

static void add_options(const struct usage_option *options, uint32_t count,
                        size_t indent, struct strbuf *out)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct usage_option *option = &options[i];
        strbuf_addf(out, "  --%s%s%s%*s", option->name,
                    option->value ? " " : "",
                    option->value ? option->value : "",
                    (int)(indent - left_width(option)), "");
        add_wrapped(out, indent, option->about);
    }
}

void usage_print(const struct usage *usage, FILE *out)
{
    auto_strbuf text = {0};
    size_t indent = left_width(&common_options[1]) + 2;

    for (uint32_t i = 0; i < usage->option_count; i++) {
        size_t width = left_width(&usage->options[i]) + 2;
        indent = width > indent ? width : indent;
    }
    add_name(usage, &text);
    strbuf_addf(&text, " - %s\n\nusage: ", usage->about);
    add_name(usage, &text);
    strbuf_addf(&text, " %s\n\n", usage->arguments);
    add_options(usage->options, usage->option_count, indent, &text);
    add_options(common_options, ARRAY_COUNT(common_options), indent, &text);
    if (usage->notes) {
        strbuf_addf(&text, "\n%s", usage->notes);
    }
    fputs(strbuf_text(&text), out);
}

static void print_rows(const struct usage_option *options, uint32_t count,
                       FILE *out)
{
    for (uint32_t i = 0; i < count; i++) {
        fprintf(out, "option\t%s\t\t%s\t%s\n", options[i].name,
                options[i].value ? options[i].value : "", options[i].about);
    }
}

void usage_print_table(const struct usage *usage, FILE *out)
{
    fprintf(out, "command\t%s\t\t%s\t%s\n",
            usage->command ? usage->command : "", usage->arguments,
            usage->about);
    print_rows(usage->options, usage->option_count, out);
    print_rows(common_options, ARRAY_COUNT(common_options), out);
}
