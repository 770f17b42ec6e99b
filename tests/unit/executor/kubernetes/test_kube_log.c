/*
 * kube_log: logs of pods, read from a server on this machine.
 */
#include <stdio.h>

#include "executor/kubernetes/kube_log.h"
#include "rpc/http.h"
#include "support.h"
#include "unit.h"

#define LINE_1 "2026-01-02T03:04:05.000000001Z one\n"
#define LINE_2 "2026-01-02T03:04:05.000000002Z two\n"
#define LINE_3 "2026-01-02T03:04:06.000000000Z three\n"

struct fixture {
    struct http_server *server;
    struct kube_config config;
    char url[64];
    struct strbuf text;
    struct err err;
};

/* As an API server: the lines from a whole second on. */
static void say_log(void *ctx, const struct http_request *request,
                    struct http_reply *reply)
{
    const char *container = http_request_query(request, "container");
    const char *since = http_request_query(request, "sinceTime");
    const char *tail = http_request_query(request, "tailLines");

    (void)ctx;
    if (strcmp(container, "main") != 0) {
        reply->status = 400;
        strbuf_addf(&reply->body, "container %s is not valid for pod p",
                    container);
        return;
    }
    assert_string_equal(http_request_query(request, "timestamps"), "true");
    if (!tail && (!since || strncmp(since, "2026-01-02T03:04:05", 19) <= 0)) {
        strbuf_add_text(&reply->body, LINE_1 LINE_2);
    }
    strbuf_add_text(&reply->body, LINE_3);
}

/* As one that does not care what was asked for. */
static void say_much(void *ctx, const struct http_request *request,
                     struct http_reply *reply)
{
    (void)ctx;
    (void)request;
    for (int i = 0; i < 4096; i++) {
        strbuf_add_text(&reply->body, LINE_1);
    }
}

static int set_up(void **state)
{
    static struct fixture fixture;
    static const char *const none[] = {NULL};
    const struct http_route routes[] = {
        {"/api/v1/namespaces/ns/pods/p/log", say_log, NULL},
        {"/api/v1/namespaces/ns/pods/much/log", say_much, NULL}};
    struct err err;

    fixture = (struct fixture){.text = strbuf_make(0)};
    fixture.server = http_server_create(
        &(struct http_options){.routes = routes,
                               .route_count = ARRAY_COUNT(routes),
                               .address = "127.0.0.1:0"},
        &err);
    assert_non_null(fixture.server);
    (void)snprintf(fixture.url, sizeof(fixture.url), "http://127.0.0.1:%u",
                   http_server_port(fixture.server));
    fixture.config = (struct kube_config){
        .server = fixture.url,
        .tls_server_name = "",
        .proxy = "",
        .token_file = "",
        .exec = {.args = none, .envs = none, .hint = ""},
    };
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    http_server_destroy(f->server);
    strbuf_fini(&f->text);
    return 0;
}

static int read_log(struct fixture *f, const char *pod,
                    struct runtime_log_query query)
{
    const struct kube_log_place place = {STR("ns"), str_of(pod), STR("main")};

    strbuf_clear(&f->text);
    query.byte_count_max = query.byte_count_max ? query.byte_count_max : 1000;
    return kube_log_read(&f->config, &machine_clock, &place, &query, &f->text,
                         &f->err);
}

static void a_log_is_read_whole_or_its_last_lines(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(
        read_log(f, "p", (struct runtime_log_query){.line_count_max = -1}), 0);
    assert_string_equal(strbuf_text(&f->text), LINE_1 LINE_2 LINE_3);
    assert_int_equal(
        read_log(f, "p", (struct runtime_log_query){.line_count_max = 1}), 0);
    assert_string_equal(strbuf_text(&f->text), LINE_3);
}

static void lines_of_the_same_second_are_told_apart(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(
        read_log(f, "p",
                 (struct runtime_log_query){
                     .since = STR("2026-01-02T03:04:05.000000001Z"),
                     .line_count_max = -1}),
        0);
    assert_string_equal(strbuf_text(&f->text), LINE_2 LINE_3);
}

static void too_long_a_log_is_cut_after_a_line(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(read_log(f, "p",
                              (struct runtime_log_query){.byte_count_max = 80,
                                                         .line_count_max = -1}),
                     1);
    assert_string_equal(strbuf_text(&f->text), LINE_1 LINE_2);
}

static void names_that_lead_elsewhere_are_not_asked_for(void **state)
{
    struct fixture *f = *state;
    static const char *const all[] = {"ns/pods/p/log?container=main&x=", "..",
                                      "other/../ns", ""};
    const struct runtime_log_query query = {.line_count_max = -1,
                                            .byte_count_max = 1000};

    for (size_t i = 0; i < ARRAY_COUNT(all); i++) {
        const struct kube_log_place place = {str_of(all[i]), STR("p"),
                                             STR("main")};
        assert_int_equal(kube_log_read(&f->config, &machine_clock, &place,
                                       &query, &f->text, &f->err),
                         -ERR_NOT_FOUND);
        assert_int_equal(f->text.byte_count, 0);
    }
    assert_int_equal(read_log(f, "x/../p", query), -ERR_NOT_FOUND);
}

static void an_answer_is_not_kept_far_beyond_what_was_asked_for(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(
        read_log(f, "much", (struct runtime_log_query){.line_count_max = -1}),
        -ERR_UNAVAILABLE);
    assert_int_equal(read_log(f, "much",
                              (struct runtime_log_query){
                                  .line_count_max = -1,
                                  .byte_count_max = 4096 * sizeof(LINE_1)}),
                     0);
}

static void what_cannot_be_read_says_why(void **state)
{
    struct fixture *f = *state;
    const struct runtime_log_query all = {.line_count_max = -1};

    assert_int_equal(read_log(f, "gone", all), -ERR_NOT_FOUND);
    assert_int_equal(
        read_log(f, "p",
                 (struct runtime_log_query){.container = STR("other"),
                                            .line_count_max = -1}),
        -ERR_NOT_FOUND);
    assert_non_null(strstr(f->err.text, "container other is not valid"));
    assert_int_equal(
        read_log(f, "p",
                 (struct runtime_log_query){.container = STR("a&b"),
                                            .line_count_max = -1}),
        -ERR_NOT_FOUND);
    assert_int_equal(
        read_log(f, "p",
                 (struct runtime_log_query){.since = STR("yesterday"),
                                            .line_count_max = -1}),
        -ERR_INVALID);
    f->config.server = "http://127.0.0.1:1";
    assert_int_equal(read_log(f, "p", all), -ERR_UNAVAILABLE);
}

#define LOG_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOG_TEST(a_log_is_read_whole_or_its_last_lines),
        LOG_TEST(lines_of_the_same_second_are_told_apart),
        LOG_TEST(too_long_a_log_is_cut_after_a_line),
        LOG_TEST(names_that_lead_elsewhere_are_not_asked_for),
        LOG_TEST(an_answer_is_not_kept_far_beyond_what_was_asked_for),
        LOG_TEST(what_cannot_be_read_says_why),
    };

    return RUN_TESTS(tests);
}
