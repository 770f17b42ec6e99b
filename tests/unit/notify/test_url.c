/*
 * url: what can be posted to, and what is wrong with the rest.
 */
#include "notify/url.h"
#include "unit.h"

static void what_can_be_posted_to_has_no_problem(void **state)
{
    static const char *const urls[] = {
        "https://h/",
        "http://h",
        "https://chat.example.org:8443/hooks/x?y=%20z",
        "http://[::1]:80/x",
        "https://amy:sesame@h/x",
        "http://amy:sesame@127.0.0.1:8080/x",
        "http://amy:sesame@[::1]/x",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(urls); i++) {
        if (notify_url_problem(str_of(urls[i]))) {
            fail_msg("%s: %s", urls[i], notify_url_problem(str_of(urls[i])));
        }
    }
}

static void what_cannot_says_why(void **state)
{
    static const struct {
        const char *url, *why;
    } rows[] = {
        {"file:///etc/passwd", "neither https"},
        {"ftp://h/", "neither https"},
        {"h/x", ""},
        {"https://", ""},
        {"https://h:99999/", "ort"},
        {"https://h:8o/", "ort"},
        {"https://h:-1/", "ort"},
        {"https://h:0/", "port 0"},
        {"http://amy:sesame@h/", "need https"},
        {"http://user@127.example.org/", "need https"},
        {"https://h/a b", "space"},
        {"https://h/\n", "space"},
        {"https://h/\xc3\xa9", "not ASCII"},
        {"", ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        const char *why = notify_url_problem(str_of(rows[i].url));
        if (!why || !strstr(why, rows[i].why) || strstr(why, "sesame")) {
            fail_msg("%s: %s", rows[i].url, why ? why : "no problem");
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_can_be_posted_to_has_no_problem),
        TEST(what_cannot_says_why),
    };

    return RUN_TESTS(tests);
}
