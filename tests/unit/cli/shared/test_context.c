/*
 * context: which server, and as whom.
 */
#include "cli/shared/context.h"
#include "unit.h"

static const char file[] =
    "{\"currentContext\": \"a\", \"contexts\": {"
    "\"a\": {\"armadaUrl\": \"far.example:50051\","
    "        \"basicAuth\": {\"username\": \"u\", \"password\": \"p\"}},"
    "\"b\": {\"berthUrl\": \"10.0.0.1:1\", \"forceNoTls\": true}}}";

static int choose(const char *text, const char *name, struct arena *arena,
                  struct context *ret, struct err *err)
{
    json_t *json = text ? json_loads(text, 0, NULL) : NULL;

    int rc = context_choose(json, name, arena, ret, err);
    json_decref(json);
    return rc;
}

static void without_a_file_it_is_this_machine_without_tls(void **state)
{
    (void)state;
    auto_arena arena = {0};
    struct context context;
    struct err err;

    assert_int_equal(choose(NULL, NULL, &arena, &context, &err), 0);

    assert_string_equal(context.url, "localhost:50051");
    assert_true(context.is_plain);
    assert_null(context.user_name);
}

static void current_context_is_chosen_unless_another_is_named(void **state)
{
    (void)state;
    auto_arena arena = {0};
    struct context context;
    struct err err;

    assert_int_equal(choose(file, NULL, &arena, &context, &err), 0);
    assert_string_equal(context.url, "far.example:50051");
    assert_false(context.is_plain);
    assert_string_equal(context.user_name, "u");
    assert_string_equal(context.password, "p");

    assert_int_equal(choose(file, "b", &arena, &context, &err), 0);
    assert_string_equal(context.url, "10.0.0.1:1");
    assert_true(context.is_plain);
}

/* What may go to this machine in clear text may not to another. */
static void another_server_gets_no_clear_text(void **state)
{
    (void)state;
    auto_arena arena = {0};
    struct context context;
    struct err err;

    assert_int_equal(choose(NULL, NULL, &arena, &context, &err), 0);
    context_set_url(&context, "localhost.example.org:50051");
    assert_false(context.is_plain);
    context_set_url(&context, "127.0.0.1:50051");
    assert_true(context.is_plain);
    assert_int_equal(choose(file, "b", &arena, &context, &err), 0);
    context_set_url(&context, "far.example:1");
    assert_true(context.is_plain); /* forceNoTls says so by name */
}

static void unknown_context_is_refused(void **state)
{
    (void)state;
    auto_arena arena = {0};
    struct context context;
    struct err err;

    assert_int_equal(choose(file, "c", &arena, &context, &err), -ERR_NOT_FOUND);
    assert_string_equal(err.text, "there is no context c");
}

static void file_without_contexts_holds_the_keys_itself(void **state)
{
    (void)state;
    auto_arena arena = {0};
    struct context context;
    struct err err;

    assert_int_equal(choose("{\"armadaUrl\": \"localhost:9\"}", NULL, &arena,
                            &context, &err),
                     0);

    assert_string_equal(context.url, "localhost:9");
}

static void credentials_are_coded_as_basic_authentication(void **state)
{
    (void)state;
    auto_arena arena = {0};

    /* RFC 7617's own example, and each length of the last group. */
    assert_string_equal(context_basic("Aladdin", "open sesame", &arena),
                        "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
    assert_string_equal(context_basic("a", "bc", &arena), "Basic YTpiYw==");
    assert_string_equal(context_basic("a", "bcd", &arena), "Basic YTpiY2Q=");
    assert_string_equal(context_basic("a", "b", &arena), "Basic YTpi");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(without_a_file_it_is_this_machine_without_tls),
        TEST(current_context_is_chosen_unless_another_is_named),
        TEST(another_server_gets_no_clear_text),
        TEST(unknown_context_is_refused),
        TEST(file_without_contexts_holds_the_keys_itself),
        TEST(credentials_are_coded_as_basic_authentication),
    };
    return RUN_TESTS(tests);
}
