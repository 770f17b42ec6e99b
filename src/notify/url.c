#include "notify/url.h"

#include <curl/curl.h>

#include "base/strbuf.h"
#include "wire/text/host.h"

/* Whether a part is there; of a port: written as it is. */
static bool has_part(CURLU *parts, CURLUPart part, const char *text)
{
    char *found = NULL;

    bool has = curl_url_get(parts, part, &found, 0) == CURLUE_OK &&
               (!text || strcmp(found, text) == 0);
    curl_free(found);
    return has;
}

static bool is_own_machine(CURLU *parts)
{
    char *host = NULL;
    auto_strbuf address = {0};

    if (curl_url_get(parts, CURLUPART_HOST, &host, 0) != CURLUE_OK) {
        return false;
    }
    strbuf_addf(&address, "%s:80", host);
    curl_free(host);
    return wire_is_loopback(strbuf_str(&address));
}

static const char *problem_of(CURLU *parts)
{
    bool is_plain = has_part(parts, CURLUPART_SCHEME, "http");

    if (!is_plain && !has_part(parts, CURLUPART_SCHEME, "https")) {
        return "it begins with neither https:// nor http://";
    }
    if (has_part(parts, CURLUPART_PORT, "0")) {
        return "nothing can be sent to port 0";
    }
    if (is_plain && has_part(parts, CURLUPART_USER, NULL) &&
        !is_own_machine(parts)) {
        return "a user and password need https://";
    }
    return NULL;
}

const char *notify_url_problem(struct str url)
{
    auto_strbuf text = {0};

    for (size_t i = 0; i < url.byte_count; i++) {
        if (url.p[i] <= ' ' || url.p[i] >= 0x7f) {
            return "it has a space or a character that is not ASCII";
        }
    }
    CURLU *parts = curl_url();
    ASSERT(parts);
    strbuf_add_str(&text, url);
    CURLUcode rc = curl_url_set(parts, CURLUPART_URL, strbuf_text(&text), 0);
    const char *problem =
        rc == CURLUE_OK ? problem_of(parts) : curl_url_strerror(rc);
    curl_url_cleanup(parts);
    return problem;
}
