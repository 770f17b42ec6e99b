/*
 * host: hosts are parsed, not searched for words.
 */
#include "unit.h"
#include "wire/text/host.h"

static void parts_are_told(void **state)
{
    static const struct {
        const char *address, *host, *port;
    } rows[] = {
        {"a:1", "a", "1"},
        {"a", "a", ""},
        {"[::1]:50051", "::1", "50051"},
        {"[::1]", "::1", ""},
        {":80", "", "80"},
        {"", "", ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct str address = str_of(rows[i].address);
        assert_true(str_equal(wire_host(address), str_of(rows[i].host)));
        assert_true(str_equal(wire_port(address), str_of(rows[i].port)));
    }
}

static void loopback_is_a_host_and_not_a_word(void **state)
{
    static const struct {
        const char *address;
        bool is_loopback;
    } rows[] = {
        {"localhost:1", true},
        {"LOCALHOST", true},
        {"127.0.0.1:1", true},
        {"127.9.8.7:1", true},
        {"[::1]:1", true},
        {"localhost.example.org:1", false},
        {"notlocalhost:1", false},
        {"127.example.org:1", false},
        {"127.0.0.1.example.org", false},
        {"[::1].example.org:1", false},
        {"[::2]:1", false},
        {"10.0.0.1:127", false},
        {"evil:1/localhost", false},
        {"", false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        assert_int_equal(wire_is_loopback(str_of(rows[i].address)),
                         rows[i].is_loopback);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(parts_are_told),
        TEST(loopback_is_a_host_and_not_a_word),
    };

    return RUN_TESTS(tests);
}
