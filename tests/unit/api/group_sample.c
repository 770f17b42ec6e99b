#include "group_sample.h"

#include "api/submit/submission.h"
#include "field.h"
#include "sample.h"
#include "wire/message/message.h"

Google__Protobuf__UInt32Value *group_number(struct arena *arena, uint32_t value)
{
    Google__Protobuf__UInt32Value *message =
        wire_new(&google__protobuf__uint32_value__descriptor, arena);

    message->value = value;
    return message;
}

Berth__Submission__Item *group_item(struct arena *arena)
{
    static const struct {
        const char *name;
        uint32_t min, max;
        bool is_auxiliary;
    } rows[] = {{"ps", 2, 0, true}, {"worker", 4, 8, false}};
    Berth__Submission__Item *item = sample_item(arena, NULL);
    struct str pod = wire_encode_arena(&sample_pod(arena)->base, arena);

    item->pod_group =
        wire_new(&berth__submission__pod_group__descriptor, arena);
    item->pod_group->sub_groups = arena_alloc_array(
        arena, SUB_GROUPS_MAX + 1, sizeof(*item->pod_group->sub_groups));
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        Berth__Submission__SubGroup *group =
            wire_new(&berth__submission__sub_group__descriptor, arena);
        group->name = (char *)(uintptr_t)rows[i].name;
        group->min = rows[i].min;
        group->max = rows[i].max;
        group->auxiliary = rows[i].is_auxiliary;
        group->template_.len = pod.byte_count;
        group->template_.data = (uint8_t *)(uintptr_t)pod.p;
        item->pod_group->sub_groups[item->pod_group->n_sub_groups++] = group;
    }
    return item;
}

static void fill(const struct rng *rng, void *bytes, size_t byte_count)
{
    (void)rng;
    memset(bytes, 0x55, byte_count);
}

const char *group_build(Berth__Submission__Item **items, size_t count,
                        struct command *command, struct arena *arena)
{
    struct refusal *refusal = arena_alloc(arena, sizeof(*refusal));
    struct submit_rules rules;
    struct rng rng = {fill};
    struct submission_context context = {
        .rules = &rules, .rng = &rng, .owner = STR("amy"), .now_ms = 1};

    submit_rules_defaults(&rules);
    return submission_build(sample_request_of(arena, items, count), &context,
                            command, refusal) < 0
               ? refusal->text
               : "";
}

const char *group_refusal(Berth__Submission__Item *item, struct arena *arena)
{
    auto_ptr(command) command = command_create(COMMAND_SUBMIT);

    return group_build(&item, 1, command, arena);
}
