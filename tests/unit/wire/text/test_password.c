/*
 * password: hashes that crypt(3) makes, and no others.
 */
#include "unit.h"
#include "wire/text/password.h"

static void a_password_matches_its_own_hash(void **state)
{
    char hash[PASSWORD_HASH_BYTES_MAX], other[PASSWORD_HASH_BYTES_MAX];
    struct err err;

    (void)state;
    assert_int_equal(password_hash(STR("a secret"), hash, &err), 0);
    assert_int_equal(password_hash(STR("a secret"), other, &err), 0);
    assert_string_not_equal(hash, other);
    assert_true(password_is_hash(str_of(hash)));
    assert_true(password_matches(str_of(hash), STR("a secret")));
    assert_false(password_matches(str_of(hash), STR("a secret ")));
    assert_false(password_matches(str_of(hash), STR("")));
    assert_false(password_matches(str_of(hash), STR("a\0secret")));
    /* bcrypt, as others make it: the password is U*U. */
    assert_true(password_matches(
        STR("$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"),
        STR("U*U")));
}

static void what_is_weak_or_no_hash_is_told(void **state)
{
    static const char *const texts[] = {
        "", "secret", "$", "$1$salt$hash", "abJnggxhB/yWI", "$y$", "*0"};

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(texts); i++) {
        assert_false(password_is_hash(str_of(texts[i])));
        assert_false(password_matches(str_of(texts[i]), STR("secret")));
    }
}

static void not_every_password_is_hashed(void **state)
{
    char hash[PASSWORD_HASH_BYTES_MAX], longer[PASSWORD_BYTES_MAX];
    struct err err;

    (void)state;
    memset(longer, 'x', sizeof(longer));
    assert_int_equal(password_hash(STR(""), hash, &err), -ERR_INVALID);
    assert_int_equal(password_hash(STR("a\0b"), hash, &err), -ERR_INVALID);
    assert_int_equal(
        password_hash(str_make(longer, sizeof(longer)), hash, &err),
        -ERR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_password_matches_its_own_hash),
        TEST(what_is_weak_or_no_hash_is_told),
        TEST(not_every_password_is_hashed),
    };

    return RUN_TESTS(tests);
}
