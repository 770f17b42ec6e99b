#include "cli/shared/cli.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <time.h>

#include "cli/shared/columns.h"
#include "cli/shared/command.h"
#include "wire/text/printable.h"
#include "wire/yaml/yaml.h"

/* Format a text without what a terminal would obey. */
static void format_shown(enum printable how, const char *format,
                         va_list arguments, struct strbuf *shown)
{
    va_list again;

    ASSERT(format);
    va_copy(again, arguments);
    int byte_count = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (byte_count >= 0) {
        auto_mem char *text = mem_alloc((size_t)byte_count + 1);
        (void)vsnprintf(text, (size_t)byte_count + 1, format, arguments);
        wire_printable(str_of(text), how, shown);
    }
}

void cli_put(FILE *file, const char *format, ...)
{
    auto_strbuf shown = {0};
    va_list arguments;

    va_start(arguments, format);
    format_shown(PRINTABLE_TEXT, format, arguments, &shown);
    va_end(arguments);
    fputs(strbuf_text(&shown), file);
}

static int add_json(const char *bytes, size_t byte_count, void *ctx)
{
    strbuf_add(ctx, bytes, byte_count);
    return 0;
}

void cli_json_text(const json_t *json, struct strbuf *buf)
{
    auto_strbuf text = {0};

    (void)json_dump_callback(json, add_json, &text, JSON_INDENT(2));
    wire_printable(strbuf_str(&text), PRINTABLE_JSON, buf);
    strbuf_add_char(buf, '\n');
}

void cli_put_json(FILE *file, const json_t *json, size_t flags)
{
    auto_strbuf text = {0}, shown = {0};

    (void)json_dump_callback(json, add_json, &text, flags);
    wire_printable(strbuf_str(&text), PRINTABLE_JSON, &shown);
    fprintf(file, "%s\n", strbuf_text(&shown));
}

/* Begin a line about what is wrong.  Further lines, which may come from a name
 * in it, are indented: none of them looks like one of berthctl's own. */
static void say_error(const struct cli *cli, const char *format,
                      va_list arguments)
{
    auto_strbuf shown = {0};

    cli_put(cli->ports->err, "berthctl: %s%s", cli->place ? cli->place : "",
            cli->place ? ": " : "");
    format_shown(PRINTABLE_TEXT, format, arguments, &shown);
    for (const char *rest = strbuf_text(&shown), *end; *rest;
         rest = end + (*end == '\n')) {
        end = rest + strcspn(rest, "\n");
        fprintf(cli->ports->err, "%.*s%s", (int)(end - rest), rest,
                *end ? "\n  " : "");
    }
}

void cli_remark(const struct cli *cli, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    say_error(cli, format, arguments);
    va_end(arguments);
    fputc('\n', cli->ports->err);
}

enum cli_exit cli_fail(const struct cli *cli, enum cli_exit code,
                       const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    say_error(cli, format, arguments);
    va_end(arguments);
    fputc('\n', cli->ports->err);
    return code;
}

enum cli_exit cli_fail_errno(const struct cli *cli, enum cli_exit code,
                             const char *format, ...)
{
    const char *why = strerror(errno);
    va_list arguments;

    va_start(arguments, format);
    say_error(cli, format, arguments);
    va_end(arguments);
    fprintf(cli->ports->err, ": %s\n", why);
    return code;
}

void cli_say(const struct cli *cli, const char *format, ...)
{
    auto_strbuf shown = {0};
    va_list arguments;

    va_start(arguments, format);
    format_shown(PRINTABLE_LINE, format, arguments, &shown);
    va_end(arguments);
    fprintf(cli->ports->out, "%s\n", strbuf_text(&shown));
}

void cli_note(struct cli *cli, const char *format, ...)
{
    va_list arguments;
    char line[1024];

    va_start(arguments, format);
    (void)vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    if (cli->output == CLI_OUTPUT_TEXT) {
        cli_say(cli, "%s", line);
        return;
    }
    if (!cli->notes) {
        cli->notes = json_array();
    }
    (void)json_array_append_new(cli->notes, json_string(line));
}

char *cli_format(struct cli *cli, const char *format, ...)
{
    va_list arguments;

    ASSERT(format); /* else -fsanitize makes the compiler warn of it */
    va_start(arguments, format);
    int byte_count = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    ASSERT(byte_count >= 0);
    size_t room = (size_t)byte_count + 1;
    char *text = arena_alloc(&cli->arena, room);
    va_start(arguments, format);
    (void)vsnprintf(text, room, format, arguments);
    va_end(arguments);
    return text;
}

const char *cli_time(struct cli *cli, const Google__Protobuf__Timestamp *stamp)
{
    char text[64] = "";
    struct tm parts;

    if (stamp) {
        time_t seconds = (time_t)stamp->seconds;
        if (gmtime_r(&seconds, &parts)) {
            (void)strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
        }
    }
    return arena_strdup(&cli->arena, str_of(text));
}

/* Two units are enough for people. */
static const char *put_span(struct cli *cli, int64_t seconds)
{
    static const struct {
        int64_t seconds;
        char unit, part;
        int64_t part_seconds;
    } units[] = {
        {86400, 'd', 'h', 3600}, {3600, 'h', 'm', 60}, {60, 'm', 's', 1}};

    for (size_t i = 0; i < ARRAY_COUNT(units); i++) {
        if (seconds < units[i].seconds) {
            continue;
        }
        int64_t whole = seconds / units[i].seconds;
        int64_t rest = seconds % units[i].seconds / units[i].part_seconds;
        return rest == 0
                   ? cli_format(cli, "%" PRId64 "%c", whole, units[i].unit)
                   : cli_format(cli, "%" PRId64 "%c%" PRId64 "%c", whole,
                                units[i].unit, rest, units[i].part);
    }
    return cli_format(cli, "%" PRId64 "s", seconds);
}

/* How many seconds ago a time was. */
static int64_t seconds_since(const struct cli *cli,
                             const Google__Protobuf__Timestamp *stamp)
{
    return cli->ports->clock->wall_ms(cli->ports->clock) / 1000 -
           stamp->seconds;
}

const char *cli_age(struct cli *cli, const Google__Protobuf__Timestamp *stamp)
{
    if (!stamp || cli->is_wide) {
        return cli_time(cli, stamp);
    }
    int64_t seconds = seconds_since(cli, stamp);
    return put_span(cli, seconds > 0 ? seconds : 0);
}

const char *cli_when(struct cli *cli, const Google__Protobuf__Timestamp *stamp)
{
    if (!stamp || cli->is_wide) {
        return cli_time(cli, stamp);
    }
    int64_t seconds = seconds_since(cli, stamp);
    return seconds < 0 ? cli_format(cli, "in %s", put_span(cli, -seconds))
                       : cli_format(cli, "%s ago", put_span(cli, seconds));
}

const char *cli_one_line(struct cli *cli, const char *text)
{
    size_t length = strlen(text);

    while (length > 0 && text[length - 1] == '\n') {
        length--;
    }
    char *line = arena_strdup(&cli->arena, str_make(text, length));
    char *to = line;
    for (const char *at = line; *at;) {
        bool is_end = *at == '\n';
        *to++ = is_end ? ' ' : *at;
        at++;
        at += is_end ? strspn(at, " ") : 0;
    }
    *to = '\0';
    return line;
}

const char *cli_cell(struct cli *cli, const char *text)
{
    enum { BYTES_MAX = 60 };
    size_t length = strcspn(text, "\n");

    if (cli->is_wide || cli->ports->width == 0) {
        return cli_one_line(cli, text);
    }
    if (length <= BYTES_MAX) {
        return arena_strdup(&cli->arena, str_make(text, length));
    }
    length = BYTES_MAX - strlen("...");
    while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80) {
        length--;
    }
    return cli_format(cli, "%.*s...", (int)length, text);
}

void cli_print_json(const struct cli *cli, json_t *json)
{
    if (cli->output >= CLI_OUTPUT_NAME) {
        columns_print(cli, json);
    } else if (cli->output == CLI_OUTPUT_JSON) {
        cli_put_json(cli->ports->out, json, JSON_INDENT(2));
    } else {
        auto_strbuf yaml = {0};
        wire_yaml_write(json, &yaml);
        fputs(strbuf_text(&yaml), cli->ports->out);
    }
    json_decref(json);
}

bool cli_print_message(const struct cli *cli, const ProtobufCMessage *message)
{
    if (cli->output == CLI_OUTPUT_TEXT) {
        return false;
    }
    cli_print_json(cli, wire_json_write(message, 0));
    return true;
}
