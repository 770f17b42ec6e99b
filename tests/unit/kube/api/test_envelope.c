/*
 * envelope: what API servers send, by hand.
 */
#include "kube/api/envelope.h"
#include "scripted_port.h"
#include "unit.h"

static void count(void *ctx, struct str object)
{
    struct object_head head;

    assert_int_equal(object_head_read(object, &head), 0);
    assert_true(head.name.byte_count > 0);
    (*(int *)ctx)++;
}

static void an_object_keeps_its_kind_and_its_bytes(void **state)
{
    (void)state;
    auto_strbuf object = strbuf_make(0), bytes = strbuf_make(0);
    struct envelope envelope;
    struct object_head head;
    scripted_object(&object, "a", "12");
    envelope_write(STR("v1"), STR("Pod"), strbuf_str(&object), &bytes);

    assert_int_equal(envelope_read(strbuf_str(&bytes), &envelope), 0);
    assert_true(str_equal(envelope.api_version, STR("v1")));
    assert_true(str_equal(envelope.kind, STR("Pod")));
    assert_true(str_equal(envelope.object, strbuf_str(&object)));
    assert_int_equal(object_head_read(envelope.object, &head), 0);
    assert_true(str_equal(head.name, STR("a")));
    assert_true(str_equal(head.resource_version, STR("12")));
    assert_int_equal(head.uid.byte_count, 0);
}

static void a_list_has_items_and_a_place_to_go_on(void **state)
{
    (void)state;
    auto_strbuf bytes = strbuf_make(0);
    struct envelope envelope;
    struct list_head head;
    int seen = 0;
    scripted_list(&bytes, (const char *const[]){"a", "b", NULL}, "9", "x");

    assert_int_equal(envelope_read(strbuf_str(&bytes), &envelope), 0);
    assert_int_equal(list_read(envelope.object, &head, count, &seen), 0);
    assert_int_equal(seen, 2);
    assert_true(str_equal(head.resource_version, STR("9")));
    assert_true(str_equal(head.continue_, STR("x")));
}

static void a_status_says_why_and_when(void **state)
{
    (void)state;
    auto_strbuf bytes = strbuf_make(0);
    struct envelope envelope;
    struct status_head head;
    scripted_status(&bytes, 429, "busy", 7);

    assert_int_equal(envelope_read(strbuf_str(&bytes), &envelope), 0);
    assert_int_equal(status_read(envelope.object, &head), 0);
    assert_int_equal(head.code, 429);
    assert_int_equal(head.retry_after_s, 7);
    assert_true(str_equal(head.message, STR("busy")));
}

/* Cut anywhere, it is refused or read, and never read beyond its end. */
static void what_is_cut_off_is_not_read_further(void **state)
{
    (void)state;
    auto_strbuf bytes = strbuf_make(0);
    int refused = 0, seen = 0;
    scripted_list(&bytes, (const char *const[]){"a", "b", NULL}, "9", "x");

    for (size_t n = 0; n < bytes.byte_count; n++) {
        auto_mem char *exact = mem_alloc(n + 1);
        struct envelope envelope;
        struct list_head head;
        memcpy(exact, bytes.bytes, n);
        if (envelope_read(str_make(exact, n), &envelope) < 0 ||
            list_read(envelope.object, &head, count, &seen) < 0) {
            refused++;
        }
    }
    assert_true(refused > 40);
    assert_int_equal(seen, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_object_keeps_its_kind_and_its_bytes),
        TEST(a_list_has_items_and_a_place_to_go_on),
        TEST(a_status_says_why_and_when),
        TEST(what_is_cut_off_is_not_read_further),
    };
    return RUN_TESTS(tests);
}
