/*
 * signature: a receiver knows who has sent it.
 */
#include "notify/signature.h"
#include "unit.h"

/* The example of the convention's own text. */
static void a_signature_is_that_of_the_convention(void **state)
{
    auto_strbuf key = {0}, text = {0};
    struct err err;

    (void)state;
    assert_int_equal(
        signature_key(STR(" whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n"), &key,
                      &err),
        0);
    signature_put(strbuf_str(&key), STR("msg_p5jXN8AQM9LWM0D4loKWxJek"),
                  1614265330, STR("{\"test\": 2432232314}"), &text);
    assert_string_equal(strbuf_text(&text),
                        "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
}

static void a_key_is_long_enough(void **state)
{
    auto_strbuf key = {0};
    struct err err;

    (void)state;
    assert_int_equal(signature_key(STR("fifteen bytes.."), &key, &err),
                     -ERR_INVALID);
    strbuf_clear(&key);
    assert_int_equal(signature_key(STR("sixteen bytes..."), &key, &err), 0);
    strbuf_clear(&key);
    assert_int_equal(signature_key(STR("whsec_no base64!"), &key, &err),
                     -ERR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_signature_is_that_of_the_convention),
        TEST(a_key_is_long_enough),
    };

    return RUN_TESTS(tests);
}
