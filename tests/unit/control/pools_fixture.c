#include "pools_fixture.h"

int pools_setup(void **state)
{
    struct stage *s = mem_alloc(sizeof(*s));

    stage_init(s);
    stage_start(s);
    *state = s;
    return 0;
}

int pools_teardown(void **state)
{
    struct stage *s = *state;

    control_assert_valid(s->control);
    stage_fini(s);
    mem_free(s);
    return 0;
}

void pools_put(struct stage *s, const struct pool_record *record)
{
    auto_arena arena = {0};
    struct event event = stage_event_make(EVENT_POOL_SET);

    event.pool.encoded =
        wire_encode_arena(&pool_message_of(record, &arena)->base, &arena);
    stage_do(s, stage_event_command("", "", "anna", &event));
}

void pools_drop(struct stage *s, const char *name)
{
    struct event event = stage_event_make(EVENT_POOL_DELETED);

    event.pool.record.name = str_of(name);
    stage_do(s, stage_event_command("", "", "anna", &event));
}

void pools_assert_all(struct stage *s, const char *expected)
{
    struct command *command = command_create(COMMAND_QUERY_POOLS);
    auto_strbuf text = {0};

    stage_do(s, command);
    assert_int_equal(s->answer->result, COMMAND_OK);
    for (uint32_t i = 0; i < s->answer->pools.row_count; i++) {
        const struct pool_row *row = &s->answer->pools.rows[i];
        assert_int_equal(row->is_default, i == 0);
        strbuf_addf(&text, "%s%.*s", i ? " " : "", STR_ARG(row->name));
    }
    strbuf_add_char(&text, '\0');
    assert_string_equal(text.bytes, expected);
}

void pools_restart(struct stage *s)
{
    auto_strbuf before = {0}, after = {0};

    control_encode_state(s->control, &before);
    stage_crash(s);
    stage_start(s);
    control_encode_state(s->control, &after);
    assert_int_equal(before.byte_count, after.byte_count);
    assert_memory_equal(before.bytes, after.bytes, after.byte_count);
}

void pools_offer_up_to(struct stage *s, const char *const *labels,
                       uint32_t count, int64_t last_cpu_milli)
{
    struct command *command = stage_exchange_command("e", count, NULL, 0);
    struct node_record *nodes =
        (struct node_record *)(uintptr_t)command->exchange.request.nodes;

    for (uint32_t i = 0; i < count; i++) {
        struct label *label = arena_alloc(&command->arena, sizeof(*label));
        *label = (struct label){str_of(labels[i]), STR("true")};
        nodes[i].labels = label;
        nodes[i].label_count = *labels[i] ? 1 : 0;
    }
    struct resource_amount *total = arena_alloc_array(
        &command->arena, nodes[0].total.count, sizeof(*total));
    memcpy(total, nodes[0].total.items, nodes[0].total.count * sizeof(*total));
    total[0].milli = last_cpu_milli;
    nodes[count - 1].total.items = total;
    command->exchange.request.is_full = false;
    stage_do(s, command);
}

void pools_select(struct stage *s, const char *name, bool is_sharing_off)
{
    struct label label = {str_of(name), STR("true")};

    pools_put(s, &(struct pool_record){
                     .name = str_of(name),
                     .has_selector = true,
                     .labels = &label,
                     .label_count = 1,
                     .is_sharing_off = is_sharing_off,
                 });
    assert_int_equal(s->answer->result, COMMAND_OK);
}

struct job_id pools_submit_of(struct stage *s, const char *pool,
                              const char *priority_class, uint32_t count)
{
    struct job_id last = {{0, 0}};

    for (uint32_t i = 0; i < count; i++) {
        last = stage_submit(s, "q",
                            (struct stage_job){.pool = pool,
                                               .priority_class = priority_class,
                                               .is_requeue_preempted = true});
    }
    return last;
}

struct job_id pools_submit(struct stage *s, const char *pool, uint32_t count)
{
    return pools_submit_of(s, pool, "armada-default", count);
}

void pools_settle(struct stage *s)
{
    for (int i = 0; i < 5; i++) {
        stage_settle(s);
        stage_pass(s, 2000);
    }
}

struct pool_row pools_row(struct stage *s, const char *name)
{
    struct command *command = command_create(COMMAND_QUERY_POOLS);

    command->pools.name = arena_str(&command->arena, str_of(name));
    command->pools.has_conflicts = true;
    stage_do(s, command);
    assert_int_equal(s->answer->pools.row_count, 1);
    return s->answer->pools.rows[0];
}

void pools_assert_runs(struct stage *s, const char *pool, uint32_t own,
                       uint32_t foreign)
{
    struct pool_row row = pools_row(s, pool);

    assert_int_equal(row.running_own_count, own);
    assert_int_equal(row.running_foreign_count, foreign);
}
