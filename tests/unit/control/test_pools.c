/* Pools as objects in the leader: what the log says of them stays, and what
 * may not be is refused. */
#include "armada/queue.pb-c.h"
#include "leader_stage.h"
#include "unit.h"
#include "wire/message.h"
#include "wire/pool_codec.h"

static int setup(void **state)
{
    struct stage *s = mem_alloc(sizeof(*s));

    stage_init(s);
    stage_start(s);
    *state = s;
    return 0;
}

static int teardown(void **state)
{
    struct stage *s = *state;

    control_assert_valid(s->control);
    stage_fini(s);
    mem_free(s);
    return 0;
}

static void put(struct stage *s, const struct pool_record *record)
{
    auto_arena arena = {0};
    struct event event = stage_event_make(EVENT_POOL_SET);

    event.pool.encoded =
        wire_encode_arena(&pool_message_of(record, &arena)->base, &arena);
    stage_do(s, stage_event_command("", "", "anna", &event));
}

static void drop(struct stage *s, const char *name)
{
    struct event event = stage_event_make(EVENT_POOL_DELETED);

    event.pool.record.name = str_of(name);
    stage_do(s, stage_event_command("", "", "anna", &event));
}

/* All pools as text: "default a b". */
static void assert_pools(struct stage *s, const char *expected)
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

static void restart(struct stage *s)
{
    auto_strbuf before = {0}, after = {0};

    control_encode_state(s->control, &before);
    stage_crash(s);
    stage_start(s);
    control_encode_state(s->control, &after);
    assert_int_equal(before.byte_count, after.byte_count);
    assert_memory_equal(before.bytes, after.bytes, after.byte_count);
}

static void pools_are_listed_in_order_of_names(void **state)
{
    struct stage *s = *state;

    assert_pools(s, "default");
    put(s, &(struct pool_record){.name = STR("b")});
    put(s, &(struct pool_record){.name = STR("a")});
    put(s, &(struct pool_record){.name = STR("c")});
    assert_pools(s, "default a b c");
    drop(s, "b");
    drop(s, "never-there");
    assert_pools(s, "default a c");
}

static void a_pool_set_again_is_as_it_was_set_last(void **state)
{
    struct stage *s = *state;
    struct pool_record record = {.name = STR("a")};

    put(s, &record);
    record.is_sharing_off = true;
    put(s, &record);
    struct command *command = command_create(COMMAND_QUERY_POOLS);
    command->pools.name = STR("a");
    stage_do(s, command);
    assert_int_equal(s->answer->pools.row_count, 1);
    auto_arena arena = {0};
    struct err err;
    assert_int_equal(
        pool_decode(s->answer->pools.rows[0].encoded, &arena, &record, &err),
        0);
    assert_true(record.is_sharing_off);
}

static void pools_outlive_the_leader(void **state)
{
    struct stage *s = *state;

    put(s, &(struct pool_record){.name = STR("a"), .is_borrowing_off = true});
    put(s, &(struct pool_record){.name = STR("b")});
    drop(s, "b");
    restart(s);
    assert_pools(s, "default a");
}

static void pools_outlive_the_leader_by_a_checkpoint(void **state)
{
    struct stage *s = *state;

    s->checkpoint_events = 1;
    stage_crash(s);
    stage_start(s);
    put(s, &(struct pool_record){.name = STR("a"), .is_borrowing_off = true});
    stage_pass(s, 120 * 1000);
    restart(s);
    assert_pools(s, "default a");
}

static struct command *wish_command(const char *name, enum event_type type,
                                    enum pool_wish wish)
{
    auto_arena arena = {0};
    struct pool_record record = {.name = str_of(name)};
    struct event event = stage_event_make(type);

    event.pool.record = record;
    event.pool.encoded =
        wire_encode_arena(&pool_message_of(&record, &arena)->base, &arena);
    struct command *command = stage_event_command("", "", "anna", &event);
    command->events.pool_wish = wish;
    return command;
}

static void
of_two_who_make_a_pool_at_once_one_is_told_that_it_exists(void **state)
{
    struct stage *s = *state;

    stage_post(s, wish_command("a", EVENT_POOL_SET, POOL_WISH_NEW));
    stage_do(s, wish_command("a", EVENT_POOL_SET, POOL_WISH_NEW));
    assert_int_equal(s->answer->result, COMMAND_EXISTS);
    assert_int_equal(stage_count(s, EVENT_POOL_SET), 1);
    stage_do(s, wish_command("a", EVENT_POOL_SET, POOL_WISH_THERE));
    assert_int_equal(s->answer->result, COMMAND_OK);
}

static void of_two_who_delete_a_pool_at_once_one_finds_none(void **state)
{
    struct stage *s = *state;

    stage_do(s, wish_command("a", EVENT_POOL_SET, POOL_WISH_THERE));
    assert_int_equal(s->answer->result, COMMAND_NOT_FOUND);
    stage_do(s, wish_command("a", EVENT_POOL_SET, POOL_WISH_NEW));
    stage_post(s, wish_command("a", EVENT_POOL_DELETED, POOL_WISH_THERE));
    stage_do(s, wish_command("a", EVENT_POOL_DELETED, POOL_WISH_THERE));
    assert_int_equal(s->answer->result, COMMAND_NOT_FOUND);
    assert_pools(s, "default");
}

static void a_pool_of_the_configuration_is_no_object(void **state)
{
    struct stage *s = *state;

    put(s, &(struct pool_record){.name = s->policy.pools[0].name});
    assert_int_equal(s->answer->result, COMMAND_INVALID);
    assert_pools(s, "default");
}

static void there_are_only_so_many_pools(void **state)
{
    struct stage *s = *state;

    for (int i = 0; i < POOL_OBJECTS_MAX; i++) {
        auto_strbuf name = {0};
        strbuf_addf(&name, "p%d", i);
        put(s, &(struct pool_record){.name = strbuf_str(&name)});
        assert_int_equal(s->answer->result, COMMAND_OK);
    }
    put(s, &(struct pool_record){.name = STR("one-more")});
    assert_int_equal(s->answer->result, COMMAND_INVALID);
    put(s, &(struct pool_record){.name = STR("p7"), .is_sharing_off = true});
    assert_int_equal(s->answer->result, COMMAND_OK);
}

/* Nodes n0, n1, ... of 10 cpu, each with the label of its pool; "": none.  The
 * last may have more. */
static void offer_up_to(struct stage *s, const char *const *labels,
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

static void offer(struct stage *s, const char *const *labels, uint32_t count)
{
    offer_up_to(s, labels, count, 10000);
}

/* A pool that selects the label of its name. */
static void select_pool(struct stage *s, const char *name, bool is_sharing_off)
{
    struct label label = {str_of(name), STR("true")};

    put(s, &(struct pool_record){
               .name = str_of(name),
               .has_selector = true,
               .labels = &label,
               .label_count = 1,
               .is_sharing_off = is_sharing_off,
           });
    assert_int_equal(s->answer->result, COMMAND_OK);
}

/* Jobs of a pool that are requeued when they are preempted; the last one. */
static struct job_id submit_of(struct stage *s, const char *pool,
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

static struct job_id submit(struct stage *s, const char *pool, uint32_t count)
{
    return submit_of(s, pool, "armada-default", count);
}

/* Make class armada-default more urgent than armada-preemptible. */
static void add_urgency(struct stage *s)
{
    stage_crash(s);
    s->policy.classes[policy_class_index(&s->policy, STR("armada-default"))]
        .priority = 2000;
    stage_start(s);
}

static void settle(struct stage *s)
{
    for (int i = 0; i < 5; i++) {
        stage_settle(s);
        stage_pass(s, 2000);
    }
}

static struct pool_row row_of(struct stage *s, const char *name)
{
    struct command *command = command_create(COMMAND_QUERY_POOLS);

    command->pools.name = arena_str(&command->arena, str_of(name));
    command->pools.has_conflicts = true;
    stage_do(s, command);
    assert_int_equal(s->answer->pools.row_count, 1);
    return s->answer->pools.rows[0];
}

static void assert_runs(struct stage *s, const char *pool, uint32_t own,
                        uint32_t foreign)
{
    struct pool_row row = row_of(s, pool);

    assert_int_equal(row.running_own_count, own);
    assert_int_equal(row.running_foreign_count, foreign);
}

static void assert_waits(struct stage *s, const char *pool, uint32_t own)
{
    struct pool_row row = row_of(s, pool);

    assert_int_equal(row.queued_own_count, own);
}

static void begin(struct stage *s, const char *const *labels, uint32_t count)
{
    stage_queue(s, "q");
    offer(s, labels, count);
}

static void
po_02_a_deleted_pool_leaves_its_nodes_and_work_to_default(void **state)
{
    static const char *const labels[] = {"cpu", "gpu", "", "both"};
    static const struct label both[] = {{{"cpu", 3}, {"true", 4}},
                                        {{"gpu", 3}, {"true", 4}}};
    struct stage *s = *state;

    stage_queue(s, "q");
    struct command *command = stage_exchange_command("e", 4, NULL, 0);
    struct node_record *nodes =
        (struct node_record *)(uintptr_t)command->exchange.request.nodes;
    struct label alone[] = {{str_of(labels[0]), STR("true")},
                            {str_of(labels[1]), STR("true")}};
    nodes[0].labels = &alone[0];
    nodes[1].labels = &alone[1];
    nodes[0].label_count = nodes[1].label_count = 1;
    nodes[3].labels = both;
    nodes[3].label_count = 2;
    command->exchange.request.is_full = false;
    stage_do(s, command);
    select_pool(s, "cpu", true);
    select_pool(s, "gpu", true);
    assert_int_equal(row_of(s, "cpu").node_count, 1);
    assert_int_equal(row_of(s, "default").node_count, 2);
    assert_int_equal(row_of(s, "default").conflict_count, 1);
    /* Too much for any node, so that they wait. */
    for (int i = 0; i < 3; i++) {
        (void)stage_submit(s, "q",
                           (struct stage_job){.pool = "gpu",
                                              .gang = "never",
                                              .gang_cardinality = 4});
    }
    assert_waits(s, "gpu", 3);
    drop(s, "gpu");
    assert_pools(s, "default cpu");
    assert_int_equal(row_of(s, "cpu").node_count, 2);
    assert_int_equal(
        row_of(s, "cpu").amounts[POOL_AMOUNT_CPU].allocatable_milli, 20000);
    assert_int_equal(row_of(s, "default").node_count, 2);
    assert_int_equal(
        row_of(s, "default").amounts[POOL_AMOUNT_CPU].allocatable_milli, 20000);
    assert_waits(s, "default", 3);
}

static void
po_03_jobs_of_no_pool_or_an_unknown_one_are_defaults_own(void **state)
{
    static const char *const labels[] = {"cpu", ""};
    struct stage *s = *state;

    begin(s, labels, 2);
    select_pool(s, "cpu", true);
    submit(s, NULL, 1);
    submit(s, "tpu", 1);
    settle(s);
    assert_runs(s, "default", 2, 0);
    struct pool_row row = row_of(s, "default");
    assert_int_equal(row.amounts[POOL_AMOUNT_CPU].used_milli, 2000);
    assert_int_equal(row.amounts[POOL_AMOUNT_CPU].shared_milli, 0);
}

/* An unknown pool is Default's too while there has been no object at all. */
static void po_03_without_objects_too(void **state)
{
    static const char *const labels[] = {""};
    struct stage *s = *state;

    begin(s, labels, 1);
    submit(s, "cpu-pool", 1);
    settle(s);
    assert_runs(s, "default", 1, 0);
}

static void po_05_home_takes_back_its_places_before_it_borrows(void **state)
{
    static const char *const labels[] = {"cpu", "gpu", "idle"};
    struct stage *s = *state;

    begin(s, labels, 2);
    select_pool(s, "cpu", false);
    select_pool(s, "gpu", false);
    select_pool(s, "idle", false);
    submit(s, "gpu", 20);
    settle(s);
    assert_runs(s, "gpu", 10, 0);
    assert_runs(s, "cpu", 0, 10);
    offer(s, labels, 3);
    struct job_id own = submit(s, "cpu", 1);
    settle(s);
    assert_int_equal(stage_count(s, EVENT_RUN_PREEMPTED), 1);
    assert_false(key128_is_none(stage_run(s, own).v));
    assert_runs(s, "cpu", 1, 9);
    assert_runs(s, "idle", 0, 1); /* who lost its place */
    restart(s);
    assert_runs(s, "cpu", 1, 9);
}

/* The other order: it borrows while somebody is idle, and takes nothing; then
 * borrowers go. */
static void po_23_a_pool_may_borrow_before_it_preempts(void **state)
{
    static const char *const labels[] = {"cpu", "gpu", "idle"};
    struct stage *s = *state;

    begin(s, labels, 2);
    put(s, &(struct pool_record){
               .name = STR("cpu"),
               .has_selector = true,
               .labels = &(struct label){STR("cpu"), STR("true")},
               .label_count = 1,
               .preemption_order = BORROW_FIRST,
           });
    select_pool(s, "gpu", false);
    select_pool(s, "idle", false);
    submit(s, "gpu", 20);
    settle(s);
    assert_runs(s, "cpu", 0, 10);
    offer(s, labels, 3);
    struct job_id own = submit(s, "cpu", 1);
    settle(s);
    assert_int_equal(stage_count(s, EVENT_RUN_PREEMPTED), 0);
    assert_false(key128_is_none(stage_run(s, own).v));
    assert_runs(s, "cpu", 0, 10);
    assert_runs(s, "idle", 0, 1);
    submit(s, "cpu", 10);
    settle(s);
    assert_int_equal(stage_count(s, EVENT_RUN_PREEMPTED), 1);
    assert_runs(s, "cpu", 1, 9);
    assert_runs(s, "idle", 0, 10);
}

static void po_12_a_borrower_takes_nobodys_place(void **state)
{
    static const char *const labels[] = {"cpu", "gpu"};
    struct stage *s = *state;

    add_urgency(s);
    begin(s, labels, 2);
    select_pool(s, "cpu", false);
    select_pool(s, "gpu", false);
    submit_of(s, "cpu", "armada-preemptible", 10);
    submit(s, "gpu", 10);
    settle(s);
    assert_runs(s, "gpu", 10, 0);
    submit(s, "gpu", 4);
    settle(s);
    assert_runs(s, "cpu", 10, 0);
    assert_runs(s, "gpu", 10, 0);
    assert_waits(s, "gpu", 4);
    assert_int_equal(stage_count(s, EVENT_RUN_PREEMPTED), 0);
    assert_int_equal(row_of(s, "cpu").queued_foreign_count, 0);
    /* What is at home there takes such a place. */
    submit(s, "cpu", 1);
    settle(s);
    assert_int_equal(stage_count(s, EVENT_RUN_PREEMPTED), 1);
}

/* Masters have all of it off: theirs neither preempt nor borrow. */
static void po_16_masters_preempt_nobody(void **state)
{
    static const char *const labels[] = {"masters", "cpu"};
    struct stage *s = *state;
    struct label label = {STR("masters"), STR("true")};

    add_urgency(s);
    begin(s, labels, 2);
    put(s, &(struct pool_record){.name = STR("masters"),
                                 .has_selector = true,
                                 .labels = &label,
                                 .label_count = 1,
                                 .is_preemption_off = true,
                                 .is_borrowing_off = true,
                                 .is_sharing_off = true});
    select_pool(s, "cpu", false);
    submit_of(s, "masters", "armada-preemptible", 10);
    settle(s);
    submit(s, "masters", 1);
    settle(s);
    assert_runs(s, "masters", 10, 0);
    assert_runs(s, "cpu", 0, 0);
    assert_waits(s, "masters", 1);
    assert_int_equal(stage_count(s, EVENT_RUN_PREEMPTED), 0);
}

static void
po_17_what_runs_on_a_node_that_left_goes_on_as_a_borrower(void **state)
{
    static const char *const labels[] = {"cpu", "other"};
    struct stage *s = *state;

    begin(s, labels, 2);
    select_pool(s, "cpu", false);
    submit(s, "cpu", 10);
    settle(s);
    assert_runs(s, "cpu", 10, 0);
    struct label other = {STR("other"), STR("true")};
    put(s, &(struct pool_record){.name = STR("cpu"),
                                 .has_selector = true,
                                 .labels = &other,
                                 .label_count = 1});
    assert_runs(s, "default", 0, 10);
    assert_int_equal(row_of(s, "default").amounts[POOL_AMOUNT_CPU].shared_milli,
                     10000);
    submit(s, NULL, 1);
    settle(s);
    assert_int_equal(stage_count(s, EVENT_RUN_PREEMPTED), 1);
    assert_runs(s, "default", 1, 9);
    assert_runs(s, "cpu", 1, 0);
}

static void um_06_growth_does_not_borrow(void **state)
{
    static const char *const labels[] = {"cpu", "gpu"};
    static const struct gang_terms terms = {
        .kind = GANG_POD_GROUP,
        .sub_group_count = 1,
        .sub_groups = {{.name = {"w", 1},
                        .min_count = 1,
                        .max_count = 3,
                        .hops_max = HOPS_ANY}},
    };
    struct stage_job members[3];
    struct stage *s = *state;

    begin(s, labels, 2);
    select_pool(s, "cpu", false);
    select_pool(s, "gpu", false);
    for (int i = 0; i < 3; i++) {
        members[i] = (struct stage_job){
            .gang = "g",
            .gang_cardinality = 3,
            .gang_minimum = 1,
            .terms = &terms,
            .pool = "cpu",
            .cpu_milli = 6000,
            .is_requeue_preempted = true,
        };
    }
    stage_do(s, stage_submit_command(s, "q", members, 3));
    assert_int_equal(s->answer->result, COMMAND_OK);
    settle(s);
    stage_pass(s, 60 * 1000);
    assert_runs(s, "cpu", 1, 0);
    assert_runs(s, "gpu", 0, 0);
}

/* What a queue has of a pool, in millionths. */
static int64_t usage_of(struct stage *s, const char *pool)
{
    stage_do(s, command_create(COMMAND_QUERY_QUEUES));
    for (uint32_t i = 0; i < s->answer->queues.share_count; i++) {
        const struct queue_share *share = &s->answer->queues.shares[i];
        if (str_equal(share->pool, str_of(pool))) {
            return share->usage_ppm;
        }
    }
    fail_msg("there is no pool %s", pool);
    return 0;
}

static void um_07_a_borrower_counts_where_it_runs_and_not_at_home(void **state)
{
    static const char *const labels[] = {"cpu", "gpu"};
    struct stage *s = *state;

    begin(s, labels, 2);
    select_pool(s, "cpu", false);
    select_pool(s, "gpu", false);
    submit(s, "cpu", 10);
    settle(s);
    int64_t at_home = usage_of(s, "cpu");
    assert_int_equal(usage_of(s, "gpu"), 0);
    submit(s, "cpu", 5);
    settle(s);
    assert_runs(s, "gpu", 0, 5);
    assert_int_equal(usage_of(s, "cpu"), at_home);
    assert_true(usage_of(s, "gpu") > 0);
}

/* Pools cpu, whose node has 10 cpu, and gpu, whose node has 20. */
static void begin_uneven(struct stage *s, bool is_sharing_off)
{
    static const char *const labels[] = {"cpu", "gpu"};

    stage_queue(s, "q");
    offer_up_to(s, labels, 2, 20000);
    select_pool(s, "cpu", false);
    select_pool(s, "gpu", is_sharing_off);
}

static struct job_id submit_large(struct stage *s, int64_t cpu_milli)
{
    struct job_id job =
        stage_submit(s, "q",
                     (struct stage_job){.pool = "cpu",
                                        .priority_class = "armada-default",
                                        .cpu_milli = cpu_milli});

    settle(s);
    return job;
}

static void assert_refused(struct stage *s, struct job_id job, const char *why)
{
    auto_mem char *history = stage_history(s, job);
    auto_mem char *text = stage_failure(s, job);

    assert_string_equal(history, "submit failed");
    assert_non_null(strstr(text, why));
}

static void what_no_pool_could_hold_is_refused(void **state)
{
    struct stage *s = *state;

    begin_uneven(s, false);
    assert_refused(s, submit_large(s, 21000), "does not fit on any node");
    assert_runs(s, "gpu", 0, 0);
}

/* What is known of a class in one pool says nothing of another. */
static void even_if_a_pool_that_lends_nothing_holds_its_like(void **state)
{
    struct stage *s = *state;
    struct stage_job job = {.pool = "gpu", .cpu_milli = 15000};

    begin_uneven(s, true);
    (void)stage_submit(s, "q", job);
    settle(s);
    assert_runs(s, "gpu", 1, 0);
    job.pool = "cpu";
    struct job_id other = stage_submit(s, "q", job);
    settle(s);
    assert_refused(s, other, "does not fit on any node");
}

static void what_only_a_lender_could_hold_runs_there(void **state)
{
    struct stage *s = *state;

    begin_uneven(s, false);
    (void)submit_large(s, 15000);
    assert_runs(s, "gpu", 0, 1);
    /* And waits for it. */
    struct job_id next = submit_large(s, 16000);
    auto_mem char *history = stage_history(s, next);
    assert_string_equal(history, "submit");
}

static void what_only_a_pool_that_lends_nothing_holds_is_refused(void **state)
{
    struct stage *s = *state;

    begin_uneven(s, true);
    assert_refused(s, submit_large(s, 15000), "does not fit on any node");
}

static void nor_is_what_may_not_borrow_lent_a_larger_node(void **state)
{
    struct stage *s = *state;

    stage_crash(s);
    s->policy.classes[policy_class_index(&s->policy, STR("armada-default"))]
        .may_borrow = false;
    stage_start(s);
    begin_uneven(s, false);
    assert_refused(s, submit_large(s, 15000), "does not fit on any node");
}

/* Two members of a gang at home in cpu; the last of them. */
static struct job_id submit_pair(struct stage *s, int64_t cpu_milli)
{
    struct job_id last = {{0, 0}};

    for (int i = 0; i < 2; i++) {
        last = stage_submit(s, "q",
                            (struct stage_job){.pool = "cpu",
                                               .gang = "pair",
                                               .gang_cardinality = 2,
                                               .cpu_milli = cpu_milli});
    }
    settle(s);
    return last;
}

static void a_gang_that_no_pool_could_hold_is_refused(void **state)
{
    struct stage *s = *state;

    begin_uneven(s, false);
    assert_refused(s, submit_pair(s, 11000), "can never start");
}

static void a_gang_that_only_a_lender_could_hold_runs_there(void **state)
{
    struct stage *s = *state;

    begin_uneven(s, false);
    (void)submit_pair(s, 9000);
    assert_runs(s, "gpu", 0, 2);
}

/* Queue q, which may have so much cpu in all. */
static void put_quota(struct stage *s, const char *cpu)
{
    Api__QueueScheduling__QuotaEntry entry =
        API__QUEUE_SCHEDULING__QUOTA_ENTRY__INIT;
    Api__QueueScheduling__QuotaEntry *entries[] = {&entry};
    Api__QueueScheduling scheduling = API__QUEUE_SCHEDULING__INIT;
    Api__Queue queue = API__QUEUE__INIT;
    struct event event = stage_event_make(EVENT_QUEUE_SET);
    char name[] = "q", column[] = "cpu";
    auto_arena arena = {0};

    entry.key = column;
    entry.value = arena_strdup(&arena, str_of(cpu));
    scheduling.quota = entries;
    scheduling.n_quota = 1;
    queue.name = name;
    queue.priority_factor = 1;
    queue.scheduling = &scheduling;
    event.queue.record.name = STR("q");
    event.queue.encoded = wire_encode_arena(&queue.base, &arena);
    stage_do(s, stage_event_command("", "", "root", &event));
    assert_int_equal(s->answer->result, COMMAND_OK);
}

/* An executor has nodes of 10 cpu, each with the label of its pool. */
static void offer_as(struct stage *s, const char *executor, uint32_t count,
                     const char *const *pools)
{
    struct command *command = stage_exchange_command(executor, count, NULL, 0);
    struct node_record *nodes =
        (struct node_record *)(uintptr_t)command->exchange.request.nodes;

    for (uint32_t i = 0; i < count; i++) {
        struct label *label = arena_alloc(&command->arena, sizeof(*label));
        *label = (struct label){str_of(pools[i]), STR("true")};
        nodes[i].labels = label;
        nodes[i].label_count = 1;
    }
    stage_do(s, command);
}

/* The executor of a and b takes up one lease at a time, so what b plans beside
 * a is not told: nobody hears of it, and it takes nothing of the quota. */
static void a_plan_that_is_not_told_leaves_others_their_quota(void **state)
{
    static const char *const pools[] = {"a", "b", "c"};
    struct stage *s = *state;

    stage_crash(s);
    s->policy.unacknowledged_max = 1;
    stage_start(s);
    put_quota(s, "11");
    for (int i = 0; i < 3; i++) {
        select_pool(s, pools[i], true);
    }
    offer_as(s, "e", 2, pools);
    offer_as(s, "f", 1, &pools[2]);
    offer_as(s, "g", 1, &pools[2]);
    settle(s);
    struct stage_job jobs[] = {
        {.pool = "a"},
        {.pool = "b"},
        {.pool = "c", .cpu_milli = 10000},
        {.pool = "c"},
    };
    stage_do(s, stage_submit_command(s, "q", jobs, ARRAY_COUNT(jobs)));
    assert_int_equal(s->answer->result, COMMAND_OK);
    struct job_id large = s->answer->submit.items[2].ret_job;
    STAGE_HISTORY(s, large, "submit leased");
    assert_true(stage_is_made_again(s, NULL));
}

/* A pool of the configuration that has one node of two cores. */
static void add_small_pool(struct stage *s)
{
    struct resource_amount cpu = {STR("cpu"), 2000};
    struct node_record node = {.name = STR("small"), .total = {&cpu, 1}};
    struct event event = stage_event_make(EVENT_EXECUTOR_NODES);

    event.nodes.executor_id = STR("f");
    event.nodes.pool = STR("small");
    event.nodes.is_full = true;
    event.nodes.set = &node;
    event.nodes.set_count = 1;
    stage_do(s, stage_event_command("", "", "", &event));
}

/* That a class fits in one pool of the configuration says nothing of others. */
static void a_job_that_fits_in_another_configured_pool_is_rejected(void **state)
{
    struct stage stage;

    (void)state;
    stage_init(&stage);
    stage.policy.pools[1] = stage.policy.pools[0];
    stage.policy.pools[1].name = STR("small");
    stage.policy.pool_count = 2;
    stage_start(&stage);
    stage_queue(&stage, "q");
    stage_exchange(&stage, "e", 1, NULL, 0);
    add_small_pool(&stage);
    struct job_id first = stage_submit(
        &stage, "q", (struct stage_job){.pool = "default", .cpu_milli = 4000});
    STAGE_HISTORY(&stage, first, "submit leased");
    struct job_id second = stage_submit(
        &stage, "q", (struct stage_job){.pool = "small", .cpu_milli = 4000});
    STAGE_HISTORY(&stage, second, "submit failed");
    stage_fini(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define STAGED(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        STAGED(po_02_a_deleted_pool_leaves_its_nodes_and_work_to_default),
        STAGED(po_03_jobs_of_no_pool_or_an_unknown_one_are_defaults_own),
        STAGED(po_03_without_objects_too),
        STAGED(po_05_home_takes_back_its_places_before_it_borrows),
        STAGED(po_23_a_pool_may_borrow_before_it_preempts),
        STAGED(po_12_a_borrower_takes_nobodys_place),
        STAGED(po_16_masters_preempt_nobody),
        STAGED(po_17_what_runs_on_a_node_that_left_goes_on_as_a_borrower),
        STAGED(um_06_growth_does_not_borrow),
        STAGED(um_07_a_borrower_counts_where_it_runs_and_not_at_home),
        STAGED(what_no_pool_could_hold_is_refused),
        STAGED(even_if_a_pool_that_lends_nothing_holds_its_like),
        STAGED(what_only_a_lender_could_hold_runs_there),
        STAGED(what_only_a_pool_that_lends_nothing_holds_is_refused),
        STAGED(nor_is_what_may_not_borrow_lent_a_larger_node),
        STAGED(a_gang_that_no_pool_could_hold_is_refused),
        STAGED(a_gang_that_only_a_lender_could_hold_runs_there),
        STAGED(a_plan_that_is_not_told_leaves_others_their_quota),
        STAGED(pools_are_listed_in_order_of_names),
        STAGED(a_pool_set_again_is_as_it_was_set_last),
        STAGED(pools_outlive_the_leader),
        STAGED(pools_outlive_the_leader_by_a_checkpoint),
        STAGED(of_two_who_make_a_pool_at_once_one_is_told_that_it_exists),
        STAGED(of_two_who_delete_a_pool_at_once_one_finds_none),
        STAGED(a_pool_of_the_configuration_is_no_object),
        STAGED(there_are_only_so_many_pools),
        cmocka_unit_test(
            a_job_that_fits_in_another_configured_pool_is_rejected),
    };

    return RUN_TESTS(tests);
}
