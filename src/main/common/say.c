#include "main/common/say.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "wire/text/printable.h"

void say(enum say_level level, const char *event, const char *format, ...)
{
    static const char *const names[] = {"error", "warn", "info"};
    char line[SAY_LINE_BYTES_MAX];
    va_list arguments;

    int length =
        snprintf(line, sizeof(line) - 1, "%s %s ", names[level], event);
    va_start(arguments, format);
    int more = vsnprintf(line + length, sizeof(line) - 1 - (size_t)length,
                         format, arguments);
    va_end(arguments);
    length += more < 0 ? 0 : more;
    if (length > (int)sizeof(line) - 2) {
        length = (int)sizeof(line) - 2;
    }
    while (length > 0 && line[length - 1] == ' ') {
        length--;
    }
    for (int i = 0; i < length; i++) {
        if (line[i] == '\n' || line[i] == '\t') {
            line[i] = ' ';
        }
    }
    auto_strbuf shown = {0};
    wire_printable(str_make(line, (size_t)length), PRINTABLE_LINE, &shown);
    strbuf_add_char(&shown, '\n');
    ssize_t written = write(STDERR_FILENO, shown.bytes, shown.byte_count);
    (void)written;
}

void say_each(enum say_level level, const char *event, const char *key,
              const struct setting_texts *texts)
{
    for (uint32_t i = 0; i < texts->count; i++) {
        say(level, event, "%s=\"%.*s\"", key, STR_ARG(texts->items[i]));
    }
}
