#include "sim/world/text_file.h"

#include <errno.h>
#include <zlib.h>

enum { CHUNK_BYTES = 1 << 16 };

int text_file_read(const char *path, struct strbuf *ret_text, struct err *err)
{
    gzFile file = gzopen(path, "rb");
    int count;

    *ret_text = strbuf_make(TEXT_FILE_BYTES_MAX);
    if (!file) {
        return err_set(err, -ERR_IO, "%s: %s", path, strerror(errno));
    }
    do {
        char bytes[CHUNK_BYTES];
        count = gzread(file, bytes, sizeof(bytes));
        strbuf_add(ret_text, bytes, count > 0 ? (size_t)count : 0);
    } while (count > 0);
    int rc = gzclose(file);
    if (count < 0 || rc != Z_OK || ret_text->is_over) {
        bool is_over = ret_text->is_over;
        strbuf_fini(ret_text);
        return is_over ? err_set(err, -ERR_LIMIT, "%s: is too large", path)
                       : err_set(err, -ERR_IO, "%s: cannot be read", path);
    }
    return 0;
}

bool text_file_line(struct str *rest, struct str *ret_line)
{
    if (rest->byte_count == 0) {
        return false;
    }
    const char *end = memchr(rest->p, '\n', rest->byte_count);
    size_t byte_count = end ? (size_t)(end - rest->p) : rest->byte_count;

    *ret_line = str_make(rest->p, byte_count);
    byte_count += end != NULL;
    *rest = str_make(rest->p + byte_count, rest->byte_count - byte_count);
    return true;
}

uint32_t text_file_columns(struct str line, struct str *ret_columns,
                           uint32_t count_max)
{
    uint32_t count = 0;

    if (line.byte_count && line.p[line.byte_count - 1] == '\r') {
        line.byte_count--;
    }
    while (count < count_max) {
        const char *end = memchr(line.p, ',', line.byte_count);
        size_t n = end ? (size_t)(end - line.p) : line.byte_count;
        ret_columns[count++] = str_make(line.p, n);
        if (!end) {
            return count;
        }
        line = str_make(line.p + n + 1, line.byte_count - n - 1);
    }
    return count + 1;
}
