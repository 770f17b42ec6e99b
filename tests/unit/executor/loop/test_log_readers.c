/*
 * log_readers: many questions, and answers that are slow.
 */
#include <pthread.h>
#include <stdlib.h>

#include "executor/loop/log_readers.h"
#include "unit.h"

struct fixture {
    struct log_readers *readers;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_open; /* slow questions may be answered */
    uint32_t slow_count, wake_count;
};

static void answer(void *ctx, struct str question, struct strbuf *text)
{
    struct fixture *f = ctx;

    if (str_equal(question, STR("slow"))) {
        pthread_mutex_lock(&f->lock);
        f->slow_count++;
        pthread_cond_broadcast(&f->changed);
        while (!f->is_open) {
            pthread_cond_wait(&f->changed, &f->lock);
        }
        pthread_mutex_unlock(&f->lock);
    }
    strbuf_addf(text, "answer to %.*s", STR_ARG(question));
}

static void wake(void *ctx)
{
    struct fixture *f = ctx;

    pthread_mutex_lock(&f->lock);
    f->wake_count++;
    pthread_cond_broadcast(&f->changed);
    pthread_mutex_unlock(&f->lock);
}

static int set_up(void **state)
{
    static struct fixture fixture;
    struct fixture *f = *state = &fixture;
    struct err err;

    *f = (struct fixture){.is_open = false};
    (void)pthread_mutex_init(&f->lock, NULL);
    (void)pthread_cond_init(&f->changed, NULL);
    f->readers =
        log_readers_start(&(struct log_readers_options){answer, wake, f}, &err);
    assert_non_null(f->readers);
    return 0;
}

static void open_gate(struct fixture *f)
{
    pthread_mutex_lock(&f->lock);
    f->is_open = true;
    pthread_cond_broadcast(&f->changed);
    pthread_mutex_unlock(&f->lock);
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    open_gate(f);
    log_readers_stop(f->readers);
    (void)pthread_cond_destroy(&f->changed);
    (void)pthread_mutex_destroy(&f->lock);
    return 0;
}

static void await_wakes(struct fixture *f, uint32_t count)
{
    pthread_mutex_lock(&f->lock);
    while (f->wake_count < count) {
        pthread_cond_wait(&f->changed, &f->lock);
    }
    pthread_mutex_unlock(&f->lock);
}

static uint32_t wakes(struct fixture *f)
{
    pthread_mutex_lock(&f->lock);
    uint32_t count = f->wake_count;
    pthread_mutex_unlock(&f->lock);
    return count;
}

static void await_slow(struct fixture *f, uint32_t count)
{
    pthread_mutex_lock(&f->lock);
    while (f->slow_count < count) {
        pthread_cond_wait(&f->changed, &f->lock);
    }
    pthread_mutex_unlock(&f->lock);
}

static void a_slow_answer_delays_no_other(void **state)
{
    struct fixture *f = *state;
    auto_strbuf text = strbuf_make(0);

    for (int i = 0; i < LOG_READERS - 1; i++) {
        assert_true(log_readers_ask(f->readers, STR("slow")));
    }
    assert_true(log_readers_ask(f->readers, STR("quick")));
    await_wakes(f, 1);

    assert_true(log_readers_take(f->readers, &text));
    assert_string_equal(strbuf_text(&text), "answer to quick");
    assert_false(log_readers_take(f->readers, &text));
}

static void every_question_is_answered_once(void **state)
{
    struct fixture *f = *state;
    auto_strbuf text = strbuf_make(0);
    bool is_seen[LOG_READERS_ASKED_MAX] = {false};

    for (uint32_t i = 0; i < LOG_READERS_ASKED_MAX; i++) {
        auto_strbuf question = strbuf_make(0);
        strbuf_addf(&question, "%u", i);
        assert_true(log_readers_ask(f->readers, strbuf_str(&question)));
    }
    await_wakes(f, LOG_READERS_ASKED_MAX);
    for (uint32_t i = 0; i < LOG_READERS_ASKED_MAX; i++) {
        assert_true(log_readers_take(f->readers, &text));
        unsigned long number =
            strtoul(strbuf_text(&text) + strlen("answer to "), NULL, 10);
        assert_true(number < LOG_READERS_ASKED_MAX && !is_seen[number]);
        is_seen[number] = true;
    }
    assert_false(log_readers_take(f->readers, &text));
}

static void more_than_the_bound_is_not_taken(void **state)
{
    struct fixture *f = *state;
    auto_strbuf text = strbuf_make(0);

    for (int i = 0; i < LOG_READERS_ASKED_MAX; i++) {
        assert_true(log_readers_ask(f->readers, STR("slow")));
    }
    assert_false(log_readers_ask(f->readers, STR("quick")));
    open_gate(f);
    await_wakes(f, 1);
    assert_true(log_readers_take(f->readers, &text));

    assert_true(log_readers_ask(f->readers, STR("quick")));
}

static void what_was_asked_before_a_clear_is_never_answered(void **state)
{
    struct fixture *f = *state;
    auto_strbuf text = strbuf_make(0);

    for (int i = 0; i < LOG_READERS_ASKED_MAX; i++) {
        assert_true(log_readers_ask(f->readers, STR("slow")));
    }
    await_slow(f, LOG_READERS);
    open_gate(f);
    log_readers_clear(f->readers);
    assert_false(log_readers_take(f->readers, &text));
    assert_true(log_readers_ask(f->readers, STR("quick")));
    for (uint32_t seen = wakes(f); !log_readers_take(f->readers, &text);
         seen = wakes(f)) {
        await_wakes(f, seen + 1);
    }

    assert_string_equal(strbuf_text(&text), "answer to quick");
}

#define READERS_TEST(name) \
    cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        READERS_TEST(a_slow_answer_delays_no_other),
        READERS_TEST(every_question_is_answered_once),
        READERS_TEST(more_than_the_bound_is_not_taken),
        READERS_TEST(what_was_asked_before_a_clear_is_never_answered),
    };

    return RUN_TESTS(tests);
}
