#include "wire/kube/expand.h"

bool expand_next(const char **at, struct expand_piece *ret_piece)
{
    const char *p = *at;
    const char *end = p[0] == '$' && p[1] == '(' ? strchr(p + 2, ')') : NULL;

    if (!*p) {
        return false;
    }
    *ret_piece = (struct expand_piece){.text = str_make(p, 1)};
    if (end) {
        ret_piece->name = str_make(p + 2, (size_t)(end - p - 2));
        ret_piece->text = str_make(p, (size_t)(end + 1 - p));
        *at = end + 1;
    } else if (p[0] == '$' && p[1] == '$') {
        *at = p + 2;
    } else {
        size_t n = 1 + strcspn(p + 1, "$");
        ret_piece->text = str_make(p, n);
        *at = p + n;
    }
    return true;
}

int expand_count(size_t *pod_byte_count, size_t value_byte_count,
                 struct err *err)
{
    if (value_byte_count > EXPAND_POD_BYTES_MAX - *pod_byte_count) {
        return err_set(err, -ERR_INVALID,
                       "the arguments and variables of the pod, expanded, are "
                       "longer than %d bytes",
                       EXPAND_POD_BYTES_MAX);
    }
    if (value_byte_count > EXPAND_VALUE_BYTES_MAX) {
        return err_set(err, -ERR_INVALID,
                       "an argument or variable, expanded, is longer than %d "
                       "bytes",
                       EXPAND_VALUE_BYTES_MAX);
    }
    *pod_byte_count += value_byte_count;
    return 0;
}
