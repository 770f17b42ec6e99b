/* Who waits for more: how long, and who wakes it. */
#include <pthread.h>
#include <stdatomic.h>

#include "elog_contract_private.h"
#include "patience.h"

#define WAIT_MS_MAX patient_ms(10000)

static void waiting_ends_when_the_time_is_over(void **state)
{
    struct fixture *f = (struct fixture *)*state;

    contract_append(f->log, f->epoch, 1, 1);

    assert_int_equal(elog_wait(f->reader, 0, 0, NULL), 1);
    assert_int_equal(elog_wait(f->reader, 1, 0, NULL), 0);
    assert_int_equal(elog_wait(f->reader, 1, 20, NULL), 0);
}

static void an_interrupt_ends_one_wait(void **state)
{
    struct fixture *f = (struct fixture *)*state;

    elog_reader_interrupt(f->reader);

    assert_int_equal(elog_wait(f->reader, 0, WAIT_MS_MAX, NULL), 0);
    contract_append(f->log, f->epoch, 1, 1);
    assert_int_equal(elog_wait(f->reader, 0, WAIT_MS_MAX, NULL), 1);
}

/* A follower on a thread of its own. */
struct follower {
    struct elog *log;
    uint64_t until_seq;
    atomic_uint_fast64_t seen_seq;
    bool is_good;
};

static int on_followed(void *ctx, const struct elog_record *record)
{
    struct follower *follower = (struct follower *)ctx;

    follower->is_good &= record->seq == follower->seen_seq + 1;
    follower->seen_seq = record->seq;
    return 0;
}

static void *follow(void *ctx)
{
    struct follower *follower = (struct follower *)ctx;
    auto_ptr(elog_reader) reader = NULL;

    follower->is_good = elog_reader_open(follower->log, &reader, NULL) == 0;
    while (follower->is_good && follower->seen_seq < follower->until_seq) {
        struct elog_range range = {.from_seq = follower->seen_seq + 1,
                                   .record_count_max = 7};

        follower->is_good =
            elog_wait(reader, follower->seen_seq, WAIT_MS_MAX, NULL) == 1 &&
            elog_read(reader, &range, on_followed, follower, NULL) > 0;
    }
    return NULL;
}

static void a_reader_follows_while_records_are_appended(void **state)
{
    struct fixture *f = (struct fixture *)*state;
    struct follower follower = {.log = f->log, .until_seq = 300};
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, follow, &follower), 0);
    for (uint64_t seq = 1; seq <= 300; seq += 3) {
        struct told told = {0};
        for (uint64_t i = seq; i < seq + 3; i++) {
            assert_int_equal(
                contract_submit(f->log, f->epoch, i, STR("x"), &told), 0);
        }
        contract_poll_all(f->log);
        /* Visible before it is told. */
        assert_int_equal(contract_bounds_of(f->reader).head_seq, seq + 2);
    }
    pthread_join(thread, NULL);

    assert_true(follower.is_good);
    assert_int_equal(follower.seen_seq, 300);
}

static void *wait_for_one(void *ctx)
{
    struct elog_reader *reader = (struct elog_reader *)ctx;

    return (void *)(intptr_t)elog_wait(reader, 0, WAIT_MS_MAX, NULL);
}

static void an_append_wakes_who_waits(void **state)
{
    struct fixture *f = (struct fixture *)*state;
    pthread_t thread;
    void *answer;

    assert_int_equal(pthread_create(&thread, NULL, wait_for_one, f->reader), 0);
    contract_append(f->log, f->epoch, 1, 1);
    pthread_join(thread, &answer);

    assert_int_equal((intptr_t)answer, 1);
}

static void an_interrupt_wakes_who_waits(void **state)
{
    struct fixture *f = (struct fixture *)*state;
    pthread_t thread;
    void *answer;

    assert_int_equal(pthread_create(&thread, NULL, wait_for_one, f->reader), 0);
    elog_reader_interrupt(f->reader);
    pthread_join(thread, &answer);

    assert_int_equal((intptr_t)answer, 0);
}

int elog_contract_follow(struct fixture *fixture)
{
    const struct CMUnitTest tests[] = {
        CASE(waiting_ends_when_the_time_is_over),
        CASE(an_interrupt_ends_one_wait),
        CASE(a_reader_follows_while_records_are_appended),
        CASE(an_append_wakes_who_waits),
        CASE(an_interrupt_wakes_who_waits),
    };
    return cmocka_run_group_tests_name(fixture->contract->name, tests, NULL,
                                       NULL);
}
