/*
 * peer_user: whose socket is at the other end, and only while it is.
 */
#include <unistd.h>

#include "loopback.h"
#include "rpc/guard/peer_user.h"
#include "unit.h"

static void the_user_of_the_other_end_is_told(void **state)
{
    static const char *const hosts[] = {"127.0.0.1", "127.3.2.1"};
    uint32_t user_id, inode;

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(hosts); i++) {
        struct pair pair = connect_over(hosts[i]);
        assert_true(peer_user_find(pair.server, &user_id, &inode));
        assert_int_equal(user_id, geteuid());
        assert_int_equal(inode, inode_of(pair.client));
        close(pair.client);
        close(pair.server);
    }
}

/* The kernel says root of a socket that nobody holds any more. */
static void a_socket_that_was_closed_is_nobodys(void **state)
{
    struct pair pair = connect_over("127.0.0.1");
    uint32_t user_id, inode;

    (void)state;
    close(pair.client);
    assert_false(peer_user_find(pair.server, &user_id, &inode));
    close(pair.server);
}

static void what_is_no_connection_has_no_user(void **state)
{
    int pair[2];
    uint32_t user_id, inode;

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    assert_false(peer_user_find(pair[0], &user_id, &inode));
    close(pair[0]);
    close(pair[1]);
    assert_false(peer_user_find(-1, &user_id, &inode));
}

static void loopback_is_known_by_its_bytes(void **state)
{
    static const struct {
        int family;
        const char *text;
        bool is_loopback;
    } rows[] = {
        {AF_INET, "127.0.0.1", true},
        {AF_INET, "127.255.0.9", true},
        {AF_INET, "128.0.0.1", false},
        {AF_INET6, "::1", true},
        {AF_INET6, "::ffff:127.0.0.1", true},
        {AF_INET6, "::ffff:10.0.0.1", false},
        {AF_INET6, "::", false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct sockaddr_storage address = {.ss_family =
                                               (sa_family_t)rows[i].family};
        void *to = rows[i].family == AF_INET
                       ? (void *)&((struct sockaddr_in *)&address)->sin_addr
                       : (void *)&((struct sockaddr_in6 *)&address)->sin6_addr;
        assert_int_equal(inet_pton(rows[i].family, rows[i].text, to), 1);
        assert_int_equal(peer_user_is_loopback(&address), rows[i].is_loopback);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_user_of_the_other_end_is_told),
        TEST(a_socket_that_was_closed_is_nobodys),
        TEST(what_is_no_connection_has_no_user),
        TEST(loopback_is_known_by_its_bytes),
    };

    return RUN_TESTS(tests);
}
