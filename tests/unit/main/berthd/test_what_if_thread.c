/* What gives way to what on the thread of what-ifs.  The state that it is given
 * does not decode, so what is played says so and is over. */
#include <pthread.h>

#include "main/berthd/what_if_thread.h"
#include "unit.h"

enum { ASKED = 3 };

/* A clock that stands still, and whoever looks at it with it, until the gate is
 * open. */
struct scene {
    struct clock clock; /* first member */
    pthread_mutex_t lock;
    pthread_cond_t changed; /* of what follows */
    bool is_open;
    uint32_t look_count;
    enum command_result results[ASKED];
    bool is_answered[ASKED];
    struct what_if_thread *thread;
};

static uint64_t gate_ns(const struct clock *clock)
{
    struct scene *scene = (struct scene *)(uintptr_t)clock;

    pthread_mutex_lock(&scene->lock);
    scene->look_count++;
    pthread_cond_broadcast(&scene->changed);
    while (!scene->is_open) {
        pthread_cond_wait(&scene->changed, &scene->lock);
    }
    pthread_mutex_unlock(&scene->lock);
    return 0;
}

struct asked {
    struct scene *scene;
    uint32_t number;
};

static void on_done(struct command *command, void *ctx)
{
    struct asked *asked = ctx;
    struct scene *scene = asked->scene;

    pthread_mutex_lock(&scene->lock);
    scene->results[asked->number] = command->result;
    scene->is_answered[asked->number] = true;
    pthread_cond_broadcast(&scene->changed);
    pthread_mutex_unlock(&scene->lock);
    command_destroy(command);
}

static void ask(struct asked *asked, bool is_forecast)
{
    struct command *command = command_create(COMMAND_WHAT_IF);

    command->what_if.is_forecast = is_forecast;
    command->done = on_done;
    command->ctx = asked;
    what_if_thread_take(asked->scene->thread, command, mem_alloc(1), 0, 0);
}

static void wait_for_look(struct scene *scene)
{
    pthread_mutex_lock(&scene->lock);
    while (scene->look_count == 0) {
        pthread_cond_wait(&scene->changed, &scene->lock);
    }
    pthread_mutex_unlock(&scene->lock);
}

static void open_gate(struct scene *scene)
{
    pthread_mutex_lock(&scene->lock);
    scene->is_open = true;
    pthread_cond_broadcast(&scene->changed);
    pthread_mutex_unlock(&scene->lock);
}

static enum command_result result_of(const struct asked *asked)
{
    struct scene *scene = asked->scene;

    pthread_mutex_lock(&scene->lock);
    while (!scene->is_answered[asked->number]) {
        pthread_cond_wait(&scene->changed, &scene->lock);
    }
    pthread_mutex_unlock(&scene->lock);
    return scene->results[asked->number];
}

static struct scene *begin(struct forecasts *forecasts)
{
    struct scene *scene = mem_alloc(sizeof(*scene));
    struct err err;

    scene->clock = (struct clock){.mono_ns = gate_ns};
    (void)pthread_mutex_init(&scene->lock, NULL);
    (void)pthread_cond_init(&scene->changed, NULL);
    scene->thread = what_if_thread_start(&scene->clock, forecasts, &err);
    assert_non_null(scene->thread);
    return scene;
}

static void end(struct scene *scene)
{
    what_if_thread_stop(scene->thread);
    (void)pthread_cond_destroy(&scene->changed);
    (void)pthread_mutex_destroy(&scene->lock);
    mem_free(scene);
}

static void test_a_forecast_is_broken_off_for_who_asks(void **state)
{
    auto_ptr(forecasts) forecasts = forecasts_create();
    struct scene *scene = begin(forecasts);
    struct asked forecast = {scene, 0}, question = {scene, 1},
                 second = {scene, 2};

    (void)state;
    ask(&forecast, true);
    wait_for_look(scene); /* it is being made */
    ask(&question, false);
    ask(&second, false);
    assert_int_equal(result_of(&second), COMMAND_OVERLOADED);
    open_gate(scene);
    assert_int_equal(result_of(&forecast), COMMAND_UNAVAILABLE);
    assert_int_equal(result_of(&question), COMMAND_INVALID); /* it was played */
    end(scene);
}

static void test_a_forecast_waits_for_nobody(void **state)
{
    auto_ptr(forecasts) forecasts = forecasts_create();
    struct scene *scene = begin(forecasts);
    struct asked question = {scene, 0}, forecast = {scene, 1};

    (void)state;
    ask(&question, false);
    wait_for_look(scene);
    ask(&forecast, true);
    assert_int_equal(result_of(&forecast), COMMAND_OVERLOADED);
    open_gate(scene);
    assert_int_equal(result_of(&question), COMMAND_INVALID);
    end(scene);
}

static void test_a_stop_breaks_a_forecast_off(void **state)
{
    auto_ptr(forecasts) forecasts = forecasts_create();
    struct scene *scene = begin(forecasts);
    struct asked forecast = {scene, 0};

    (void)state;
    open_gate(scene);
    ask(&forecast, true);
    what_if_thread_stop(scene->thread);
    scene->thread = NULL;
    enum command_result result = result_of(&forecast);
    /* It may have been over before. */
    assert_true(result == COMMAND_UNAVAILABLE || result == COMMAND_INVALID);
    end(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_forecast_is_broken_off_for_who_asks),
        TEST(test_a_forecast_waits_for_nobody),
        TEST(test_a_stop_breaks_a_forecast_off),
    };

    return RUN_TESTS(tests);
}
