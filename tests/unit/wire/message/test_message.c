/* Sentences of wire/message/message.h, each trap of protobuf-c among them. */
#include "armada/submit.pb-c.h"
#include "unit.h"
#include "wire/message/field.h"
#include "wire/message/message.h"

static const ProtobufCMessageDescriptor *const item_type =
    &api__job_submit_request_item__descriptor;

static int decode(struct str bytes, struct arena *arena,
                  Api__JobSubmitRequestItem **ret_item)
{
    ProtobufCMessage *message = NULL;
    struct err err = {{0}};
    int rc = wire_decode(item_type, bytes, &wire_request_limits, arena,
                         &message, &err);

    assert_true((rc < 0) == (err.text[0] != '\0'));
    *ret_item = (Api__JobSubmitRequestItem *)message;
    return rc;
}

static void assert_refused(struct str bytes, int code)
{
    auto_arena arena = {0};
    Api__JobSubmitRequestItem *item;

    assert_int_equal(decode(bytes, &arena, &item), code);
}

static void test_what_is_encoded_decodes_to_the_same_bytes(void **state)
{
    auto_arena arena = {0};
    auto_strbuf buf = {0}, again = {0};
    char service_name[] = "http";
    uint32_t ports[] = {80, 443};
    Api__ServiceConfig service = API__SERVICE_CONFIG__INIT;
    Api__ServiceConfig *services[] = {&service};
    Api__JobSubmitRequestItem item = API__JOB_SUBMIT_REQUEST_ITEM__INIT,
                              *copy = NULL;

    (void)state;
    service.name = service_name;
    service.ports = ports;
    service.n_ports = 2;
    item.priority = 1.5;
    item.services = services;
    item.n_services = 1;
    wire_encode(&item.base, &buf);

    assert_int_equal(decode(strbuf_str(&buf), &arena, &copy), 0);
    assert_int_equal(copy->services[0]->ports[1], 443);
    wire_encode(&copy->base, &again);
    assert_true(str_equal(strbuf_str(&buf), strbuf_str(&again)));
    assert_true(
        str_equal(strbuf_str(&buf), wire_encode_arena(&copy->base, &arena)));
}

static void test_unknown_fields_survive_at_every_level(void **state)
{
    auto_arena arena = {0};
    auto_strbuf buf = {0}, again = {0};
    Api__JobSubmitRequestItem *item;

    (void)state;
    field_put_bytes(&buf, 3, STR("ns"));
    size_t pod = field_begin(&buf, 7);
    field_put_bytes(&buf, 900, STR("of a newer Kubernetes"));
    field_end(&buf, pod);
    field_put_u64(&buf, 5000, 7);

    assert_int_equal(decode(strbuf_str(&buf), &arena, &item), 0);
    wire_encode(&item->base, &again);
    assert_true(str_equal(strbuf_str(&buf), strbuf_str(&again)));
}

static void test_field_number_0_is_refused_at_every_level(void **state)
{
    (void)state;
    assert_refused(STR("\x02\x01x"), -ERR_CORRUPT);
    assert_refused(STR("\x3a\x03\x02\x01x"), -ERR_CORRUPT);
}

static void test_a_string_must_be_text(void **state)
{
    (void)state;
    assert_refused(STR("\x1a\x03"
                       "a\0b"),
                   -ERR_CORRUPT);
    assert_refused(STR("\x1a\x02\xc3\x28"), -ERR_CORRUPT);
    /* Also in the key of a map, and in proto2 below. */
    assert_refused(STR("\x22\x04\x0a\x02\xc3\x28"), -ERR_CORRUPT);
    assert_refused(STR("\x3a\x04\x1a\x02\xc3\x28"), -ERR_CORRUPT);
}

static void test_mending_keeps_a_report_with_broken_texts(void **state)
{
    auto_arena arena = {0};
    struct wire_limits limits = wire_request_limits;
    ProtobufCMessage *message;
    struct str bytes = STR("\x1a\x06"
                           "a\0b\xc3(\xff");

    (void)state;
    limits.mends_text = true;
    assert_int_equal(
        wire_decode(item_type, bytes, &limits, &arena, &message, NULL), 0);
    assert_string_equal(((Api__JobSubmitRequestItem *)message)->namespace_,
                        "a?b?(?");
    assert_true(bytes.p[3] == '\0'); /* the original is as it was */
}

static void test_a_wrong_wire_type_is_refused(void **state)
{
    (void)state;
    assert_refused(STR("\x18\x01"), -ERR_CORRUPT);  /* namespace as varint */
    assert_refused(STR("\x09\x01"), -ERR_CORRUPT);  /* priority cut short */
    assert_refused(STR("\x0a\x01x"), -ERR_CORRUPT); /* priority as bytes */
}

static void test_packed_and_unpacked_numbers_both_read(void **state)
{
    auto_arena arena = {0};
    Api__JobSubmitRequestItem *item;

    (void)state;
    /* services[0].ports: packed 80 and 443, then 8080 alone. */
    assert_int_equal(
        decode(STR("\x52\x08\x12\x03\x50\xbb\x03\x10\x90\x3f"), &arena, &item),
        0);
    assert_int_equal(item->services[0]->n_ports, 3);
    assert_int_equal(item->services[0]->ports[2], 8080);
    assert_refused(STR("\x52\x03\x12\x01\x80"), -ERR_CORRUPT);
}

static void test_a_single_message_given_twice_is_refused(void **state)
{
    (void)state;
    assert_refused(STR("\x12\x00\x12\x00"), -ERR_CORRUPT);
}

static void test_depth_is_bounded(void **state)
{
    struct wire_limits limits = wire_request_limits;
    struct err err;

    (void)state;
    limits.depth_max = 2;
    assert_int_equal(wire_check(item_type, STR("\x3a\x00"), &limits, &err), 0);
    limits.depth_max = 1;
    assert_int_equal(wire_check(item_type, STR("\x3a\x00"), &limits, &err),
                     -ERR_LIMIT);
}

static void test_size_count_and_memory_are_bounded(void **state)
{
    auto_strbuf buf = {0};
    struct wire_limits limits = wire_request_limits;
    struct err err;

    (void)state;
    for (int i = 0; i < 1000; i++) {
        field_put_bytes(&buf, 7, STR("")); /* an empty pod spec */
    }
    struct str bytes = strbuf_str(&buf);
    assert_int_equal(wire_check(item_type, bytes, &limits, &err), 0);
    limits.field_count_max = 999;
    assert_int_equal(wire_check(item_type, bytes, &limits, &err), -ERR_LIMIT);
    limits.field_count_max = 1000;
    limits.memory_bytes_max = 100000; /* 2,000 bytes that unpack to more */
    assert_int_equal(wire_check(item_type, bytes, &limits, &err), -ERR_LIMIT);
    limits = wire_request_limits;
    limits.byte_count_max = bytes.byte_count - 1;
    assert_int_equal(wire_check(item_type, bytes, &limits, &err), -ERR_LIMIT);
}

static void test_the_memory_estimate_is_from_above(void **state)
{
    auto_arena arena = {0};
    auto_strbuf buf = {0};
    struct wire_limits limits = wire_request_limits;
    ProtobufCMessage *message;

    (void)state;
    for (uint32_t i = 0; i < 3000; i++) {
        field_put_bytes(&buf, i % 2 ? 7 : 4, STR(""));
        field_put_u64(&buf, 3000 + i, i);
    }
    limits.memory_bytes_max = 1 << 20;
    while (wire_check(item_type, strbuf_str(&buf), &limits, NULL) < 0) {
        limits.memory_bytes_max += 1 << 16;
    }
    assert_int_equal(wire_decode(item_type, strbuf_str(&buf), &limits, &arena,
                                 &message, NULL),
                     0);
    assert_true(arena.byte_count <= limits.memory_bytes_max);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_what_is_encoded_decodes_to_the_same_bytes),
        TEST(test_unknown_fields_survive_at_every_level),
        TEST(test_field_number_0_is_refused_at_every_level),
        TEST(test_a_string_must_be_text),
        TEST(test_mending_keeps_a_report_with_broken_texts),
        TEST(test_a_wrong_wire_type_is_refused),
        TEST(test_packed_and_unpacked_numbers_both_read),
        TEST(test_a_single_message_given_twice_is_refused),
        TEST(test_depth_is_bounded),
        TEST(test_size_count_and_memory_are_bounded),
        TEST(test_the_memory_estimate_is_from_above),
    };
    return RUN_TESTS(tests);
}
