/* Posts commands to the leader, with events of queues and pools. */
#include "armada/queue.pb-c.h"
#include "sim/world/world.h"
#include "wire/kube/pool_codec.h"
#include "wire/log/log_codec.h"
#include "wire/message/message.h"

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
        if (control_step(world->control, &err) < 0) {
            command->result = COMMAND_UNAVAILABLE;
            command->result_text = arena_str(&command->arena, str_of(err.text));
            command->done(command, command->ctx);
            return;
        }
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

void world_set_queue(struct world *world, struct str name, struct str encoded)
{
    struct event event;

    memset(&event, 0, sizeof(event));
    event.type = EVENT_QUEUE_SET;
    event.created_ms = world_wall_ms(world->now_ms);
    event.queue.record.name = name;
    event.queue.encoded = encoded;
    post_event(world, &event);
}

void world_add_queue(struct world *world, struct str name,
                     double priority_factor, struct str ordering)
{
    auto_arena arena = {0};
    Api__Queue *queue = wire_new(&api__queue__descriptor, &arena);

    queue->name = arena_strdup(&arena, name);
    queue->priority_factor = priority_factor;
    if (ordering.byte_count) {
        queue->scheduling =
            wire_new(&api__queue_scheduling__descriptor, &arena);
        queue->scheduling->ordering = arena_strdup(&arena, ordering);
    }
    world_set_queue(world, name, wire_encode_arena(&queue->base, &arena));
}

void world_add_pool(struct world *world, const struct pool_record *record)
{
    auto_arena arena = {0};
    struct event event;

    memset(&event, 0, sizeof(event));
    event.type = EVENT_POOL_SET;
    event.created_ms = world_wall_ms(world->now_ms);
    event.pool.record = *record;
    event.pool.encoded =
        wire_encode_arena(&pool_message_of(record, &arena)->base, &arena);
    post_event(world, &event);
}
