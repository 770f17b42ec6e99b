#include "wire/kube/kube_name.h"

static bool is_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9');
}

/* Letters and digits at both ends, those or one of `inner` between. */
static bool is_word(struct str s, const char *inner, bool is_lower_only)
{
    if (s.byte_count == 0 || !is_alnum(s.p[0]) ||
        !is_alnum(s.p[s.byte_count - 1])) {
        return false;
    }
    for (size_t i = 0; i < s.byte_count; i++) {
        bool is_upper = s.p[i] >= 'A' && s.p[i] <= 'Z';
        if (s.p[i] == '\0' || (is_lower_only && is_upper) ||
            (!is_alnum(s.p[i]) && !strchr(inner, s.p[i]))) {
            return false;
        }
    }
    return true;
}

static bool is_label_name(struct str name)
{
    return name.byte_count <= KUBE_LABEL_BYTES_MAX &&
           is_word(name, "-_.", false);
}

bool kube_is_dns_label(struct str name)
{
    return name.byte_count <= KUBE_LABEL_BYTES_MAX && is_word(name, "-", true);
}

bool kube_is_subdomain(struct str name)
{
    if (name.byte_count > KUBE_SUBDOMAIN_BYTES_MAX) {
        return false;
    }
    while (true) {
        const char *dot =
            name.byte_count ? memchr(name.p, '.', name.byte_count) : NULL;
        size_t count = dot ? (size_t)(dot - name.p) : name.byte_count;
        if (!is_word(str_make(name.p, count), "-", true)) {
            return false;
        }
        if (!dot) {
            return true;
        }
        name = str_make(dot + 1, name.byte_count - count - 1);
    }
}

bool kube_is_label_key(struct str key)
{
    const char *slash =
        key.byte_count ? memchr(key.p, '/', key.byte_count) : NULL;
    struct str name = key;

    if (slash) {
        size_t prefix_count = (size_t)(slash - key.p);
        if (!kube_is_subdomain(str_make(key.p, prefix_count))) {
            return false;
        }
        name = str_make(slash + 1, key.byte_count - prefix_count - 1);
    }
    return is_label_name(name);
}

bool kube_is_label_value(struct str value)
{
    return value.byte_count == 0 || is_label_name(value);
}
