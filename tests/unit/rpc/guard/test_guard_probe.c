/*
 * The guard's probe: it comes in as a client does, beside the limits, and says
 * when nobody could.
 */
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "guard_stage.h"
#include "patience.h"
#include "rpc_fixture.h"
#include "unit.h"

enum { PROBE_MS = 20, LONG_MS = 300 /* far more than a probe takes */ };

static atomic_bool accepts_nothing;

int __real_accept4(int fd, struct sockaddr *address, socklen_t *byte_count,
                   int flags);
int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *byte_count,
                   int flags);

/* As of a library that has forgotten its listener. */
int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *byte_count,
                   int flags)
{
    if (atomic_load(&accepts_nothing)) {
        errno = EAGAIN;
        return -1;
    }
    return __real_accept4(fd, address, byte_count, flags);
}

/* A guard of one connection, whose library answers from `is_answering` on. */
static void begin(struct stage *stage, const struct guard_tls *tls)
{
    stage_begin_with(stage, (struct guard_options){.connection_count_max = 1,
                                                   .address_count_max = 1,
                                                   .tls = tls,
                                                   .probe_ms = PROBE_MS});
}

/* Whether the next probe is answered: it says that it does not serve before,
 * and that it does afterwards. */
static void answer_first(struct stage *stage)
{
    char bytes[GUARD_HELLO_BYTES];

    int library = stage_handed(stage, 0);
    stage_hear(library, bytes, sizeof(bytes));
    assert_memory_equal(bytes, guard_hello, sizeof(bytes));
    stage_await_dead(stage->guard, LONG_MS);
    atomic_store(&stage->is_answering, true);
    stage_say(library, guard_settings, GUARD_SETTINGS_BYTES);
    stage_await_alive(stage->guard, LONG_MS + 1000);
    close(library);
    stage->handed_count = 0;
}

static void assert_uncounted(struct stage *stage, uint32_t open_count)
{
    struct guard_counts counts;

    guard_counts(stage->guard, &counts);
    assert_int_equal(counts.open_count, open_count);
    assert_int_equal(counts.accepted_count, open_count);
    assert_int_equal(counts.refused_count, 0);
}

static void a_probe_is_in_no_count(void **state)
{
    struct stage stage;

    (void)state;
    begin(&stage, NULL);
    answer_first(&stage);
    assert_uncounted(&stage, 0);
    stage_end(&stage);
}

/* Until `accepts_nothing` is over nobody is served, and then all are again. */
static void lose_and_find(struct stage *stage)
{
    atomic_store(&accepts_nothing, true);
    stage_await_dead(stage->guard, 1100);
    /* Its thread goes round meanwhile, so it is not that which is noticed. */
    assert_true(guard_is_alive(stage->guard, (uint32_t)patient_ms(60000)));
    atomic_store(&accepts_nothing, false);
    stage_await_alive(stage->guard, 1100);
}

static void a_listener_that_accepts_nothing_is_noticed(void **state)
{
    struct stage stage;

    (void)state;
    begin(&stage, NULL);
    answer_first(&stage);
    lose_and_find(&stage);
    stage_end(&stage);
}

static void a_full_guard_still_answers_its_probe(void **state)
{
    struct guard_counts counts = {0};
    struct stage stage;

    (void)state;
    begin(&stage, NULL);
    answer_first(&stage);
    int client = stage_dial(&stage);
    while (counts.open_count == 0) {
        (void)poll(NULL, 0, 1);
        guard_counts(stage.guard, &counts);
    }
    lose_and_find(&stage);
    guard_counts(stage.guard, &counts);
    assert_int_equal(counts.refused_count, 0);
    close(client);
    stage_end(&stage);
}

/* It shows no certificate, which clients must there. */
static void tls_is_probed(void **state)
{
    struct fixture_pem pem;
    const struct guard_tls tls = {pem.certificate, pem.key, pem.certificate};
    struct stage stage;

    (void)state;
    if (!fixture_pem_make(&pem)) {
        skip();
    }
    begin(&stage, &tls);
    answer_first(&stage);
    assert_uncounted(&stage, 0);
    stage_end(&stage);
    fixture_pem_remove(&pem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_probe_is_in_no_count),
        TEST(a_full_guard_still_answers_its_probe),
        TEST(a_listener_that_accepts_nothing_is_noticed),
        TEST(tls_is_probed),
    };

    return RUN_TESTS(tests);
}
