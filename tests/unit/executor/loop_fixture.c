#include "loop_fixture.h"

#include "unit.h"

struct loop_stub loop_stub;

static void stub_create(struct runtime *runtime, const struct runtime_run *run)
{
    loop_stub.create_count++;
    loop_stub.real->create(runtime, run);
}

static void stub_stop(struct runtime *runtime, struct run_id run,
                      int64_t grace_ms)
{
    if (loop_stub.has_long_grace) {
        loop_stub.stopped = run;
    } else {
        loop_stub.real->stop(runtime, run, grace_ms);
    }
}

void loop_end_stopped(struct loop_fixture *fixture)
{
    loop_stub.real->stop(fixture->runtime, loop_stub.stopped, 0);
}

static void stub_ack(struct runtime *runtime, struct run_id run,
                     enum reconcile_phase phase)
{
    loop_stub.ack_count++;
    loop_stub.real->ack(runtime, run, phase);
}

static struct runtime_ops stub_ops;

void loop_start(struct loop_fixture *fixture)
{
    fixture->executor =
        executor_create(&fixture->options, &fixture->clock.clock,
                        &fixture->server.port, fixture->runtime);
}

/* Open the runtime, with the stub before it. */
void loop_open(struct loop_fixture *fixture)
{
    struct err err;

    runtime_close(fixture->runtime);
    assert_int_equal(fake_open(&fixture->fake, &fixture->clock.clock,
                               &fixture->runtime, &err),
                     0);
    loop_stub.real = fixture->runtime->ops;
    stub_ops = *fixture->runtime->ops;
    stub_ops.create = stub_create;
    stub_ops.stop = stub_stop;
    stub_ops.ack = stub_ack;
    fixture->runtime->ops = &stub_ops;
}

int loop_set_up(void **state)
{
    static struct loop_fixture fixture;

    fixture = (struct loop_fixture){0};
    test_clock_init(&fixture.clock);
    server_init(&fixture.server, &fixture.clock);
    fake_options_default(&fixture.fake);
    executor_options_default(&fixture.options);
    loop_open(&fixture);
    loop_stub.create_count = loop_stub.ack_count = 0;
    loop_stub.has_long_grace = false;
    *state = &fixture;
    return 0;
}

int loop_tear_down(void **state)
{
    struct loop_fixture *fixture = *state;

    executor_destroy(fixture->executor);
    runtime_close(fixture->runtime);
    server_fini(&fixture->server);
    return 0;
}

void loop_run_for(struct loop_fixture *fixture, int64_t ms)
{
    int64_t until_ms = fixture->clock.now_ms + ms;

    for (;;) {
        int64_t wake_ms = executor_step(fixture->executor);
        if (fixture->server.queue_first < fixture->server.queue.count) {
            continue; /* something has arrived */
        }
        if (fixture->clock.now_ms + wake_ms > until_ms) {
            fixture->clock.now_ms = until_ms;
            (void)executor_step(fixture->executor);
            return;
        }
        fixture->clock.now_ms += wake_ms;
    }
}

const char *loop_events_of(const struct loop_fixture *fixture, uint32_t job)
{
    return fixture->server.jobs.items[job].events;
}
