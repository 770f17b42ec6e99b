#include "wire/text/inner_path.h"

#include "wire/text/utf8.h"

static bool is_name(struct str name)
{
    return name.byte_count > 0 &&
           name.byte_count <= INNER_PATH_NAME_BYTES_MAX &&
           !str_equal(name, STR(".")) && !str_equal(name, STR(".."));
}

bool inner_path_is_good(struct str path)
{
    if (path.byte_count == 0 || path.byte_count > INNER_PATH_BYTES_MAX ||
        !utf8_is_text(path)) {
        return false;
    }
    for (size_t at = 0; at <= path.byte_count;) {
        const char *slash = memchr(path.p + at, '/', path.byte_count - at);
        size_t end = slash ? (size_t)(slash - path.p) : path.byte_count;
        if (!is_name(str_make(path.p + at, end - at))) {
            return false;
        }
        at = end + 1;
    }
    return true;
}
