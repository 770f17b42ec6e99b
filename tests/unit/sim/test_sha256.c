/*
 * sha256: the examples of the standard, however the bytes come.
 */
#include <stdio.h>

#include "sim/sha256.h"
#include "unit.h"

static void check(const char *text, size_t piece, const char *wanted)
{
    struct sha256 sha;
    uint8_t digest[SHA256_BYTES];
    char hex[2 * SHA256_BYTES + 1];
    size_t left = strlen(text);

    sha256_init(&sha);
    while (left > 0) {
        size_t n = left < piece ? left : piece;
        sha256_add(&sha, str_make(text, n));
        text += n;
        left -= n;
    }
    sha256_finish(&sha, digest);
    for (int i = 0; i < SHA256_BYTES; i++) {
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    }
    assert_string_equal(hex, wanted);
}

static void the_standard_s_examples_come_out(void **state)
{
    static const char abc[] = "ba7816bf8f01cfea414140de5dae2223"
                              "b00361a396177a9cb410ff61f20015ad";
    static const char two_blocks[] =
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    static const char of_two_blocks[] = "248d6a61d20638b8e5c026930c3e6039"
                                        "a33ce45964ff2167f6ecedd419db06c1";

    (void)state;
    check("", 1,
          "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    check("abc", 1, abc);
    check("abc", 3, abc);
    check(two_blocks, 5, of_two_blocks);
    check(two_blocks, 100, of_two_blocks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_standard_s_examples_come_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
