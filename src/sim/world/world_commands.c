/* Posts commands to the leader, with events of queues and pools. */
#include "sim/world/world.h"
#include "wire/log/log_codec.h"

void world_refused(struct world *world, const struct command *command)
{
    if (!world->is_refused) {
        world->is_refused = true;
        err_set(&world->refusal, -ERR_INVALID, "%.*s",
                STR_ARG(command->result_text));
    }
}

static void on_done(struct command *command, void *ctx)
{
    struct world *world = ctx;

    if (command->result != COMMAND_OK) {
        world_refused(world, command);
    }
    command_destroy(command);
}

void world_post(struct world *world, struct command *command)
{
    if (!command->done) {
        command->done = on_done;
        command->ctx = world;
    }
    while (inbox_post(world->inbox, command) < 0) {
        struct err err;
        /* It is full: the leader takes what is there. */
        int rc = control_step(world->control, &err);
        ASSERT(rc >= 0);
    }
}

static void on_asked(struct command *command, void *ctx)
{
    (void)command;
    ((struct world *)ctx)->asked = NULL;
}

struct command *world_ask(struct world *world, struct command *command,
                          struct err *err)
{
    world->asked = command;
    command->done = on_asked;
    command->ctx = world;
    world_post(world, command);
    while (world->asked) {
        if (world_step(world, err) < 0) {
            return NULL;
        }
    }
    return command;
}

static void post_event(struct world *world, const struct event *event)
{
    struct command *command = command_create(COMMAND_EVENTS);
    struct log_batch batch = {0};
    struct event_scope scope = {.user = STR("operator")};

    log_batch_add(&batch, &scope, event);
    command_set_sequences(command, log_batch_finish(&batch));
    log_batch_fini(&batch);
    world_post(world, command);
}

void world_add_queue(struct world *world, struct str name,
                     double priority_factor, struct str ordering)
{
    auto_strbuf encoded = {0}, scheduling = {0};
    struct event event;

    /* api.Queue: 1 name, 2 priority_factor */
    strbuf_add_char(&encoded, 0x0a);
    pack_str(&encoded, name);
    strbuf_add_char(&encoded, 0x11);
    strbuf_add(&encoded, &priority_factor, sizeof(priority_factor));
    if (ordering.byte_count) {
        /* 1000 scheduling, with 1 ordering */
        strbuf_add_char(&scheduling, 0x0a);
        pack_str(&scheduling, ordering);
        pack_u64(&encoded, 1000 << 3 | 2);
        pack_str(&encoded, strbuf_str(&scheduling));
    }
    memset(&event, 0, sizeof(event));
    event.type = EVENT_QUEUE_SET;
    event.created_ms = world_wall_ms(world->now_ms);
    event.queue.record.name = name;
    event.queue.encoded = strbuf_str(&encoded);
    post_event(world, &event);
}

/* A field of a message: its number and, to follow, its bytes. */
static void put_bytes(struct strbuf *buf, uint32_t number, struct str bytes)
{
    pack_u64(buf, number << 3 | 2);
    pack_str(buf, bytes);
}

static void put_flag(struct strbuf *buf, uint32_t number, bool is_set)
{
    if (is_set) {
        pack_u64(buf, number << 3);
        pack_u64(buf, 1);
    }
}

/* berth.api.LabelSelector: 1 match_labels, a map. */
static void put_selector(struct strbuf *buf, const struct pool_record *record)
{
    auto_strbuf selector = {0};

    ASSERT(record->expression_count == 0); /* nobody asks for them yet */
    for (uint32_t i = 0; i < record->label_count; i++) {
        auto_strbuf entry = {0};
        put_bytes(&entry, 1, record->labels[i].key);
        put_bytes(&entry, 2, record->labels[i].value);
        put_bytes(&selector, 1, strbuf_str(&entry));
    }
    put_bytes(buf, 2, strbuf_str(&selector));
}

void world_add_pool(struct world *world, const struct pool_record *record)
{
    auto_strbuf encoded = {0};
    struct event event;

    /* berth.api.Pool */
    put_bytes(&encoded, 1, record->name);
    if (record->has_selector) {
        put_selector(&encoded, record);
    }
    put_flag(&encoded, 3, record->is_preemption_off);
    put_flag(&encoded, 4, record->is_borrowing_off);
    put_flag(&encoded, 5, record->is_sharing_off);
    for (uint32_t i = 0; i < record->lender_count; i++) {
        put_bytes(&encoded, 6, record->lenders[i]);
    }
    if (record->preemption_order == BORROW_FIRST) {
        put_bytes(&encoded, 7, STR("borrow-first"));
    }
    memset(&event, 0, sizeof(event));
    event.type = EVENT_POOL_SET;
    event.created_ms = world_wall_ms(world->now_ms);
    event.pool.record = *record;
    event.pool.encoded = strbuf_str(&encoded);
    post_event(world, &event);
}
