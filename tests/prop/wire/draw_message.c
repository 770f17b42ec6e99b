#include "draw_message.h"

#include "wire/message/message.h"

const char *const draw_texts[DRAW_TEXTS_COUNT] = {
    "",      "a",     "null", "true",  "1",        "0644",
    "- a",   "a: b",  "a #b", " a",    "a\nb",     "a\n\n",
    "\n",    "'\"\\", "<<",   "\t",    "\xc3\xa9", "\xe2\x80\xa8",
    "\x1b[", "1e3",   ".inf", "12:30", "a\r\nb",   "\xf0\x9f\x90\x99",
};

char *draw_text(struct tape *tape, struct arena *arena)
{
    return arena_strdup(
        arena, str_of(draw_texts[draw(tape, 0, DRAW_TEXTS_COUNT - 1)]));
}

static bool ends_with(const char *name, const char *end)
{
    size_t byte_count = strlen(name), end_bytes = strlen(end);

    return byte_count >= end_bytes &&
           strcmp(name + byte_count - end_bytes, end) == 0;
}

static int64_t draw_number(struct tape *tape)
{
    static const int64_t edges[] = {0,         1,         -1,        7,
                                    INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};

    return edges[draw(tape, 0, ARRAY_COUNT(edges) - 1)];
}

/* One value of the field's type at `to`. */
static void draw_value(struct tape *tape, const ProtobufCFieldDescriptor *field,
                       struct arena *arena, unsigned *budget, void *to)
{
    static const double reals[] = {0, 1, -1.5, 0.1, 1e300};
    const ProtobufCEnumDescriptor *values = field->descriptor;

    switch (field->type) {
    case PROTOBUF_C_TYPE_MESSAGE:
        *(ProtobufCMessage **)to =
            draw_message(tape, field->descriptor, arena, budget);
        break;
    case PROTOBUF_C_TYPE_STRING:
        *(char **)to = draw_text(tape, arena);
        break;
    case PROTOBUF_C_TYPE_BYTES:
        ((ProtobufCBinaryData *)to)->data =
            (uint8_t *)arena_strdup(arena, STR("{\"k\":1}"));
        ((ProtobufCBinaryData *)to)->len = 7;
        break;
    case PROTOBUF_C_TYPE_ENUM:
        *(int32_t *)to =
            values->values[draw(tape, 0, values->n_values - 1)].value;
        break;
    case PROTOBUF_C_TYPE_BOOL:
        *(protobuf_c_boolean *)to = (protobuf_c_boolean)draw(tape, 0, 1);
        break;
    case PROTOBUF_C_TYPE_DOUBLE:
        *(double *)to = reals[draw(tape, 0, ARRAY_COUNT(reals) - 1)];
        break;
    case PROTOBUF_C_TYPE_FLOAT:
        *(float *)to = (float)draw(tape, 0, 3);
        break;
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
        *(int64_t *)to = draw_number(tape);
        break;
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_SINT32:
    case PROTOBUF_C_TYPE_SFIXED32:
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_FIXED32:
        *(int32_t *)to = (int32_t)draw_number(tape);
        break;
    }
}

static size_t width_of(ProtobufCType type)
{
    return type == PROTOBUF_C_TYPE_BYTES ? sizeof(ProtobufCBinaryData)
                                         : sizeof(void *);
}

/* Items of four bytes stand closer than pointers do. */
static bool is_narrow(ProtobufCType type)
{
    return type == PROTOBUF_C_TYPE_ENUM || type == PROTOBUF_C_TYPE_BOOL ||
           type == PROTOBUF_C_TYPE_FLOAT || type == PROTOBUF_C_TYPE_INT32 ||
           type == PROTOBUF_C_TYPE_SINT32 || type == PROTOBUF_C_TYPE_UINT32 ||
           type == PROTOBUF_C_TYPE_FIXED32 || type == PROTOBUF_C_TYPE_SFIXED32;
}

static void draw_field(struct tape *tape, const ProtobufCFieldDescriptor *field,
                       struct arena *arena, unsigned *budget,
                       ProtobufCMessage *message)
{
    void *member = (char *)message + field->offset;
    void *quantifier = (char *)message + field->quantifier_offset;

    if (field->label == PROTOBUF_C_LABEL_REPEATED) {
        size_t count = draw(tape, 1, 3);
        size_t stride = is_narrow(field->type) ? 4 : width_of(field->type);
        char *items = arena_alloc_array(arena, count, stride);
        for (size_t i = 0; i < count; i++) {
            draw_value(tape, field, arena, budget, items + i * stride);
        }
        *(void **)member = items;
        *(size_t *)quantifier = count;
        return;
    }
    if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) {
        if (*(uint32_t *)quantifier) {
            return;
        }
        *(uint32_t *)quantifier = field->id;
    } else if (field->label == PROTOBUF_C_LABEL_OPTIONAL &&
               field->type != PROTOBUF_C_TYPE_MESSAGE &&
               field->type != PROTOBUF_C_TYPE_STRING) {
        *(protobuf_c_boolean *)quantifier = true;
    }
    draw_value(tape, field, arena, budget, member);
}

/* A message that is text, or a moment; false when the type is neither. */
static bool draw_formed(struct tape *tape, ProtobufCMessage *message,
                        struct arena *arena)
{
    static const char *const amounts[] = {"0", "1", "500m", "1Gi", "-1", "1e3"};
    const ProtobufCMessageDescriptor *type = message->descriptor;
    const char *name = type->name;
    unsigned budget = 1;

    if (ends_with(name, ".Quantity")) {
        *(char **)((char *)message + type->fields[0].offset) = arena_strdup(
            arena, str_of(amounts[draw(tape, 0, ARRAY_COUNT(amounts) - 1)]));
        return true;
    }
    if (ends_with(name, ".IntOrString")) {
        uint64_t is_text = draw(tape, 0, 1);
        draw_field(tape, &type->fields[is_text ? 2 : 1], arena, &budget,
                   message);
        *(protobuf_c_boolean *)((char *)message +
                                type->fields[0].quantifier_offset) = true;
        *(int64_t *)((char *)message + type->fields[0].offset) =
            (int64_t)is_text;
        return true;
    }
    if (ends_with(name, ".Time") || ends_with(name, ".MicroTime") ||
        ends_with(name, ".Timestamp")) {
        for (unsigned i = 0; i < 2; i++) {
            draw_field(tape, &type->fields[i], arena, &budget, message);
        }
        *(int64_t *)((char *)message + type->fields[0].offset) =
            (int64_t)draw(tape, 0, 253402300799) - 62135596800;
        *(int32_t *)((char *)message + type->fields[1].offset) =
            (int32_t)draw(tape, 0, 999999999);
        return true;
    }
    return false;
}

ProtobufCMessage *draw_message(struct tape *tape,
                               const ProtobufCMessageDescriptor *type,
                               struct arena *arena, unsigned *budget)
{
    ProtobufCMessage *message = wire_new(type, arena);

    if (draw_formed(tape, message, arena)) {
        return message;
    }
    bool is_entry = ends_with(type->name, "Entry");
    for (unsigned i = 0; i < type->n_fields; i++) {
        if (is_entry || (*budget > 0 && draw(tape, 0, 1) == 1)) {
            *budget -= *budget > 0;
            draw_field(tape, &type->fields[i], arena, budget, message);
        }
    }
    return message;
}
