/*
 * What goes through the wire and back is what it was: messages through bytes
 * and through JSON, JSON values through YAML, events through the log.
 */
#include <stdio.h>
#include <stdlib.h>

#include "armada/event.pb-c.h"
#include "armada/executorapi.pb-c.h"
#include "armada/job.pb-c.h"
#include "armada/queue.pb-c.h"
#include "armada/retry.pb-c.h"
#include "armada/submit.pb-c.h"
#include "berth/log.pb-c.h"
#include "draw_message.h"
#include "wire/json/json.h"
#include "wire/log/log_codec.h"
#include "wire/message/field.h"
#include "wire/message/message.h"
#include "wire/yaml/yaml.h"

enum { BUDGET = 200 };

static const ProtobufCMessageDescriptor *const types[] = {
    &api__queue__descriptor,
    &api__retry_policy__descriptor,
    &api__job_submit_request__descriptor,
    &api__event_message__descriptor,
    &api__job_details_response__descriptor,
    &executorapi__lease_request__descriptor,
    &executorapi__event_list__descriptor,
    &k8s__io__api__core__v1__pod__descriptor,
    &k8s__io__api__core__v1__service__descriptor,
    &k8s__io__api__core__v1__node__descriptor,
    &berth__log__event_sequence__descriptor,
};

static const struct wire_limits no_limits = {SIZE_MAX, SIZE_MAX, SIZE_MAX,
                                             WIRE_DEPTH_MAX, false};

static ProtobufCMessage *draw_any(struct tape *tape, struct arena *arena)
{
    unsigned budget = BUDGET;
    uint64_t type = draw(tape, 0, ARRAY_COUNT(types) - 1);

    return draw_message(tape, types[type], arena, &budget);
}

static bool messages_survive_bytes(struct tape *tape)
{
    auto_arena arena = {0};
    ProtobufCMessage *message = draw_any(tape, &arena), *copy;

    struct str first = wire_encode_arena(message, &arena);
    if (wire_decode(message->descriptor, first, &no_limits, &arena, &copy,
                    NULL) < 0) {
        return false;
    }
    return str_equal(first, wire_encode_arena(copy, &arena));
}

/* JSON tells some things apart less than protobuf does (no text and an empty
 * one), so the first JSON is the measure. */
static bool messages_survive_json(struct tape *tape)
{
    auto_arena arena = {0};
    ProtobufCMessage *message = draw_any(tape, &arena), *copy;
    struct err err = {{0}};

    auto_json_t *first = wire_json_write(message, 0);
    if (wire_json_read(message->descriptor, first, WIRE_JSON_STRICT, &arena,
                       &copy, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        return false;
    }
    auto_json_t *second = wire_json_write(copy, 0);
    return json_equal(first, second);
}

static json_t *draw_json(struct tape *tape, struct arena *arena, int depth)
{
    static const double reals[] = {0.1, -1.5, 1e300, 5e-324};
    uint64_t kind = draw(tape, 0, depth > 0 ? 7 : 5);
    json_t *value;

    switch (kind) {
    case 0:
        return json_string(draw_text(tape, arena));
    case 1:
        return json_integer((json_int_t)draw(tape, 0, UINT64_MAX));
    case 2:
        return json_real(reals[draw(tape, 0, ARRAY_COUNT(reals) - 1)]);
    case 3:
        return json_null();
    case 4:
    case 5:
        return json_boolean(kind == 4);
    case 6:
        value = json_array();
        for (uint64_t i = draw(tape, 0, 3); i > 0; i--) {
            json_array_append_new(value, draw_json(tape, arena, depth - 1));
        }
        return value;
    default:
        value = json_object();
        for (uint64_t i = draw(tape, 0, 3); i > 0; i--) {
            char *key = draw_text(tape, arena);
            json_object_set_new(value, key, draw_json(tape, arena, depth - 1));
        }
        return value;
    }
}

static bool values_survive_yaml(struct tape *tape)
{
    auto_arena arena = {0};
    auto_strbuf text = {0};
    auto_json_t *value = draw_json(tape, &arena, 4), *copy = NULL;
    struct err err = {{0}};

    wire_yaml_write(value, &text);
    if (wire_yaml_read_first(strbuf_str(&text), &copy, &err) < 0) {
        fprintf(stderr, "%s\n%s", err.text, strbuf_text(&text));
        return false;
    }
    return json_equal(value, copy);
}

/* An event as protobuf-c encodes it, its ids made good. */
static struct str draw_event(struct tape *tape, struct arena *arena)
{
    static const unsigned bodies[] = {
        2,    3,    4,    5,    6,    7,    8,    9,    10,   11,
        12,   13,   14,   19,   22,   23,   24,   25,   1000, 1001,
        1002, 1003, 1004, 1005, 1006, 1007, 1008, 1009, 1010, 1011};
    unsigned number = bodies[draw(tape, 0, ARRAY_COUNT(bodies) - 1)];
    const ProtobufCFieldDescriptor *field =
        protobuf_c_message_descriptor_get_field(
            number < 1000 ? &armadaevents__event_sequence__event__descriptor
                          : &berth__log__event__descriptor,
            number);
    unsigned budget = BUDGET;
    ProtobufCMessage *body =
        draw_message(tape, field->descriptor, arena, &budget);

    for (unsigned i = 0; i < body->descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *id = &body->descriptor->fields[i];
        char **member = (char **)(void *)((char *)body + id->offset);
        size_t name_bytes = strlen(id->name);
        if (name_bytes >= 6 && !strcmp(id->name + name_bytes - 6, "job_id")) {
            *member = arena_strdup(arena, STR("01h2xcejqtf2nbrexx3vqjhp41"));
        } else if (name_bytes >= 6 &&
                   !strcmp(id->name + name_bytes - 6, "run_id")) {
            *member = arena_strdup(arena,
                                   STR("123e4567-e89b-12d3-a456-426614174000"));
        }
    }
    auto_strbuf buf = {0};
    field_put_bytes(&buf, number, wire_encode_arena(body, arena));
    return arena_str(arena, strbuf_str(&buf));
}

/* The first decoding drops what Berth does not look at; from then on nothing
 * may change. */
static bool events_survive_the_log(struct tape *tape)
{
    auto_arena arena = {0};
    auto_strbuf first = {0}, second = {0};
    struct str encoded = draw_event(tape, &arena);
    struct event event, again;
    struct err err = {{0}};

    int rc = log_decode_event(encoded, &arena, &event, &err);
    if (rc < 0) {
        fprintf(stderr, "%s\n", err.text);
        return rc == -ERR_LIMIT;
    }
    if (event.type == EVENT_NONE) {
        return false;
    }
    log_encode_event(&first, &event);
    if (log_decode_event(strbuf_str(&first), &arena, &again, NULL) < 0) {
        return false;
    }
    log_encode_event(&second, &again);
    return again.type == event.type &&
           str_equal(strbuf_str(&first), strbuf_str(&second));
}

int main(void)
{
    bool is_ok =
        prop_check("messages_survive_bytes", messages_survive_bytes, 3000, 0) &&
        prop_check("messages_survive_json", messages_survive_json, 3000, 0) &&
        prop_check("values_survive_yaml", values_survive_yaml, 10000, 0) &&
        prop_check("events_survive_the_log", events_survive_the_log, 10000, 0);

    return is_ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
