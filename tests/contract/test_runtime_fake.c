/*
 * fake against the contract of the port: at once, and as a cluster that takes
 * its time.
 */
#include "executor/fake/fake.h"
#include "runtime_backends.h"
#include "server.h"

static bool is_slow;

static void *place_create(void)
{
    struct test_clock *clock = mem_alloc(sizeof(*clock));

    test_clock_init(clock);
    return clock;
}

static struct runtime *open_place(void *place)
{
    struct test_clock *clock = place;
    struct fake_options options;
    struct runtime *runtime = NULL;
    struct err err;

    fake_options_default(&options);
    if (is_slow) {
        options.list_delay_ms = 500;
        options.create_delay_ms = 300;
        options.start_delay_ms = 2000;
    }
    int rc = fake_open(&options, &clock->clock, &runtime, &err);
    ASSERT(rc == 0);
    return runtime;
}

static void wait(void *place, struct runtime *runtime)
{
    struct test_clock *clock = place;
    int64_t wake_ms = runtime->ops->next_wake_ms(runtime);

    ASSERT(wake_ms < INT64_MAX);
    clock->now_ms = wake_ms > clock->now_ms ? wake_ms : clock->now_ms;
}

static void place_destroy(void *place)
{
    mem_free(place);
}

int main(void)
{
    struct runtime_contract contract = {
        .name = "fake",
        .place_create = place_create,
        .open = open_place,
        .make_job = backend_make_fake_job,
        .wait = wait,
        .place_destroy = place_destroy,
    };
    int failed_count = runtime_contract_run(&contract);

    is_slow = true;
    contract.name = "fake, slow";
    return failed_count + runtime_contract_run(&contract);
}
