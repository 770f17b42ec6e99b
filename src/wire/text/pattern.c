#include "wire/text/pattern.h"

#include <ctype.h>
#include <string.h>

#include "base/strbuf.h"

/* What glibc takes for a plain letter, or drops, where others mean something:
 * its first byte, or NULL. */
static const char *find_foreign(const char *text)
{
    static const char known[] = "wWsSbB<>`'123456789";

    for (const char *p = text; *p; p++) {
        if (p[0] == '(' && p[1] == '?') {
            return p;
        }
        if (p[0] != '\\' || p[1] == '\0') {
            continue;
        }
        p++;
        if (isalnum((unsigned char)*p) && !strchr(known, *p)) {
            return p - 1;
        }
    }
    return NULL;
}

int pattern_compile(struct str text, regex_t *ret_pattern, struct err *err)
{
    static const char folds[] = "(?i)";
    auto_strbuf copy = {0};
    int flags = REG_EXTENDED | REG_NOSUB;

    if (text.byte_count == 0 || text.byte_count > PATTERN_BYTES_MAX ||
        memchr(text.p, '\0', text.byte_count)) {
        return err_set(err, -ERR_INVALID, "a pattern has 1 to %d characters",
                       PATTERN_BYTES_MAX);
    }
    strbuf_add_str(&copy, text);
    const char *pattern = strbuf_text(&copy);
    if (strncmp(pattern, folds, sizeof(folds) - 1) == 0) {
        pattern += sizeof(folds) - 1;
        flags |= REG_ICASE;
    }
    const char *foreign = find_foreign(pattern);
    if (foreign) {
        return err_set(err, -ERR_INVALID,
                       "\"%.2s\" is not part of a POSIX extended regular "
                       "expression; [0-9] is a digit, (?i) may only stand in "
                       "front",
                       foreign);
    }
    int rc = regcomp(ret_pattern, pattern, flags);
    if (rc != 0) {
        char why[128];
        (void)regerror(rc, ret_pattern, why, sizeof(why));
        return err_set(err, -ERR_INVALID, "not a regular expression: %s", why);
    }
    return 0;
}

bool pattern_matches(const regex_t *pattern, struct str text)
{
    auto_strbuf copy = {0};

    strbuf_add_str(&copy, text);
    return regexec(pattern, strbuf_text(&copy), 0, NULL, 0) == 0;
}
