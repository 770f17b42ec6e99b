#include "store_fixture.h"

struct job_id store_job_at(int64_t n)
{
    const uint8_t random[10] = {1};

    return job_id_make(T0 + n, random);
}

void store_submit_as(struct store_world *world, int64_t n, const char *set,
                     const char *client_id, const char *uri)
{
    auto_strbuf spec = {0};
    auto_strbuf event = {0};
    struct event_scope scope = {STR("q"), str_of(set), STR("ann")};

    store_world_encode_submit(&spec, store_job_at(n), client_id, uri);
    log_put_submit(&event, T0 + n, strbuf_str(&spec), (struct str){0});
    log_batch_add_encoded(&world->batch, &scope, strbuf_str(&event));
}

void store_submit_plain(struct store_world *world, int64_t n)
{
    store_submit_as(world, n, "set", "", "");
}

struct event store_event_about(enum event_type type, int64_t n, int64_t at_ms)
{
    return (struct event){.type = type,
                          .created_ms = at_ms,
                          .job = store_job_at(n),
                          .run = run_id_make(store_job_at(n), 0)};
}

void store_add_event(struct store_world *world, struct event event)
{
    store_world_add(world, "set", &event);
}

void store_add_lease(struct store_world *world, int64_t n, uint32_t attempt,
                     int64_t at_ms)
{
    struct event event = store_event_about(EVENT_LEASED, n, at_ms);

    event.run = run_id_make(store_job_at(n), attempt);
    event.leased.executor_id = STR("cluster");
    event.leased.node_name = STR("node");
    event.leased.pool = STR("pool");
    event.leased.attempt = attempt;
    store_add_event(world, event);
}

struct stored_job store_job_of(struct store_world *world, int64_t n,
                               struct arena *arena)
{
    struct stored_job job = {0};

    assert_int_equal(
        store_job(world->reader, store_job_at(n), arena, &job, NULL), 1);
    return job;
}

int store_set_up(void **state)
{
    struct store_world *world = mem_alloc(sizeof(*world));

    store_world_init(world);
    *state = world;
    return 0;
}

int store_tear_down(void **state)
{
    store_world_fini((struct store_world *)*state);
    mem_free(*state);
    return 0;
}
