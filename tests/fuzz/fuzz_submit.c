/* A JobSubmitRequest, from its bytes to what is logged, shown and leased. */
#include "api/events/event_convert.h"
#include "api/leases/lease_message.h"
#include "api/submit/submission.h"
#include "fuzz.h"
#include "wire/log/log_codec.h"

/* Of a group all jobs are much alike. */
enum { INPUT_BYTES_MAX = 256 << 10, ITEMS_MAX = 64 };

static void fill(const struct rng *rng, void *bytes, size_t byte_count)
{
    (void)rng;
    memset(bytes, 0x55, byte_count);
}

static int count_event(void *ctx, const Api__EventMessage *message)
{
    (void)message;
    ++*(int *)ctx;
    return 0;
}

/* What was built is read by everybody who will read it. */
static void check_item(const struct submit_item *item,
                       const struct event_scope *scope)
{
    auto_arena arena = {0};
    auto_strbuf lease_bytes = strbuf_make(0);
    struct event event;
    struct job_digest digest;
    struct requirement requirement;
    struct lease_edits edits = {.node_id_label = STR("host"),
                                .resource_types = &(struct str){"cpu", 3},
                                .resource_type_count = 1};
    struct exchange_lease lease = {.job = item->job};
    int shown_count = 0;

    int rc = log_decode_event(item->event, &arena, &event, NULL);
    ASSERT(rc == 0);
    ASSERT(event.type == EVENT_SUBMIT);
    ASSERT(key128_compare(event.job.v, item->job.v) == 0);
    rc = digest_unpack(event.submit.digest, &digest);
    ASSERT(rc == 0);
    rc = requirement_unpack(digest.class_key, &arena, &requirement);
    ASSERT(rc == 0);
    rc = event_convert(item->event, scope, &arena, count_event, &shown_count,
                       NULL);
    ASSERT(rc == 0);
    ASSERT(shown_count == 2);
    rc = lease_message_put(&lease_bytes, &lease, event.submit.encoded, &edits,
                           NULL);
    ASSERT(rc == 0);
}

static void check(struct str bytes)
{
    auto_arena arena = {0};
    auto_ptr(command) command = command_create(COMMAND_SUBMIT);
    Berth__Submission__Request *request;
    struct submit_rules rules;
    struct refusal refusal;
    struct rng rng = {fill};
    struct submission_context context = {
        .rules = &rules, .rng = &rng, .owner = STR("amy"), .now_ms = 1};

    submit_rules_defaults(&rules);
    rules.adds_gang_id_label = bytes.byte_count % 2;
    rules.allows_custom_service_names = bytes.byte_count % 3 == 0;
    if (submission_decode(bytes, &arena, &request, NULL) < 0 ||
        submission_build(request, &context, command, &refusal) < 0) {
        return;
    }
    for (uint32_t i = 0; i < command->submit.item_count && i < ITEMS_MAX; i++) {
        check_item(&command->submit.items[i], &command->scope);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
    if (byte_count <= INPUT_BYTES_MAX) {
        check(str_make(bytes, byte_count));
    }
    return 0;
}
