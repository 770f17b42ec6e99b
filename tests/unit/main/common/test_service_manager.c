/*
 * service_manager: who is told, and what is said of it when nobody can be.
 */
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "main/common/service_manager.h"
#include "tmpdir.h"
#include "unit.h"

static void nobody_asked(void **state)
{
    struct err err;

    (void)state;
    assert_int_equal(unsetenv("NOTIFY_SOCKET"), 0);
    assert_int_equal(service_manager_ready(&err), 0);
}

static void a_socket_is_told(void **state)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct tmpdir directory;
    char text[16] = "";
    struct err err;

    (void)state;
    tmpdir_init(&directory);
    tmpdir_path(&directory, "notify", address.sun_path);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_int_equal(
        bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(setenv("NOTIFY_SOCKET", address.sun_path, 1), 0);
    assert_int_equal(service_manager_ready(&err), 0);
    assert_int_equal(recv(fd, text, sizeof(text), MSG_DONTWAIT), 7);
    assert_string_equal(text, "READY=1");
    assert_int_equal(close(fd), 0);
    assert_int_equal(service_manager_ready(&err), -ERR_IO); /* it is gone */
    assert_non_null(strstr(err.text, address.sun_path));
    tmpdir_fini(&directory);
}

static void what_names_no_socket_is_refused(void **state)
{
    static const char *const names[] = {"", "/", "@", "notify", "vsock:2:1"};
    char longest[sizeof(((struct sockaddr_un *)0)->sun_path) + 1];
    struct err err;

    (void)state;
    memset(longest, '/', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    for (size_t i = 0; i <= ARRAY_COUNT(names); i++) {
        const char *name = i < ARRAY_COUNT(names) ? names[i] : longest;
        assert_int_equal(setenv("NOTIFY_SOCKET", name, 1), 0);
        assert_int_equal(service_manager_ready(&err), -ERR_IO);
        assert_non_null(strstr(err.text, "names no socket"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nobody_asked),
        TEST(a_socket_is_told),
        TEST(what_names_no_socket_is_refused),
    };

    return RUN_TESTS(tests);
}
