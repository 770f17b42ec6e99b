/*
 * control_audit: the decisions of any log are made again to the byte, from its
 * first record and from a checkpoint; one that is not what the shipped code
 * decides is named.
 */
#include "control/audit/audit.h"
#include "sim/play/play.h"
#include "unit.h"
#include "wire/log/log_codec.h"

/* Gangs, two clusters with failing nodes, several classes and lifetimes,
 * under a profile. */
static const char scenario_format[] =
    "duration: 4h\n"
    "clusters:\n"
    "  - {name: a, nodes: [{name: n, count: 6, resources: {cpu: 8}}], "
    "failures: {meanBetween: 4h, repair: 5m}}\n"
    "  - {name: b, startDelay: 3s, nodes: [{name: n, count: 4, "
    "resources: {cpu: 16}}]}\n"
    "queues: [{name: p}, {name: q, weight: 0.5}, {name: r}]\n"
    "jobs:\n"
    "  - {name: many, queue: p, count: 800, resources: {cpu: 1}, "
    "runTime: {distribution: uniform, a: 1m, b: 29m}, failures: 0.02}\n"
    "  - {name: late, queue: q, arrivals: poisson, rate: 0.05, first: 10m, "
    "last: 3h, resources: {cpu: 2}, runTime: {distribution: exponential, a: "
    "6m}}\n"
    "  - {name: gang, queue: r, arrivals: steady, rate: 0.002, last: 2h, "
    "resources: {cpu: 8}, gang: {size: 4, minimum: 3}, runTime: {a: 20m}, "
    "deadline: 30m}\n"
    "  - {name: urgent, queue: r, arrivals: poisson, rate: 0.01, last: 2h, "
    "resources: {cpu: 4}, priorityClass: armada-default}\n"
    "  - {name: huge, queue: q, count: 2, resources: {cpu: 100}}\n"
    "scheduling:\n"
    "  pools: [{name: default, profile: %s}]\n";

/* Play it into a log that is kept. */
static struct elog_memory_storage *play_kept(const char *profile)
{
    auto_arena arena = {0};
    auto_strbuf text = {0};
    struct elog_memory_storage *storage = elog_memory_storage_create();
    struct scenario *scenario = NULL;
    struct tally tally = {0};
    struct world *world = NULL;
    struct err err;

    strbuf_addf(&text, scenario_format, profile);
    if (scenario_read(strbuf_str(&text), "s.yaml", &arena, &scenario, &err) <
        0) {
        fail_msg("%s", err.text);
    }
    struct play_options options = {.log = elog_memory_open(storage)};
    if (play(scenario, &options, &tally, &world, &err) < 0) {
        fail_msg("%s", err.text);
    }
    tally_fini(&tally);
    world_destroy(world);
    return storage;
}

static int audit_all(struct elog_memory_storage *storage,
                     struct control_audit_counts *counts,
                     struct control_difference *difference)
{
    struct elog *log = elog_memory_open(storage);
    struct elog_reader *reader = NULL;
    struct control_audit *audit = control_audit_create();
    struct err err;

    int rc = elog_reader_open(log, &reader, &err);
    assert_int_equal(rc, 0);
    rc = control_audit_begin(audit, reader, &err);
    assert_true(rc >= 0);
    while ((rc = control_audit_read(audit, reader, 100, difference, &err)) >
           0) {
    }
    *counts = control_audit_counts(audit);
    control_audit_destroy(audit);
    elog_reader_close(reader);
    elog_close(log);
    return rc;
}

static void check_profile(const char *profile)
{
    struct elog_memory_storage *storage = play_kept(profile);
    struct control_audit_counts counts;
    struct control_difference difference = {0};

    int rc = audit_all(storage, &counts, &difference);
    if (rc < 0) {
        fail_msg("%s: record %llu event %u: expected %s, got %s", profile,
                 (unsigned long long)difference.seq, difference.index,
                 difference.expected, difference.got);
    }
    assert_true(counts.first_seq == 1);
    assert_true(counts.record_count == counts.last_seq);
    assert_true(counts.decision_count > 1500);
    assert_true(counts.round_count > 500);
    elog_memory_storage_destroy(storage);
}

static void decisions_under_profile_berth_are_made_again(void **state)
{
    (void)state;
    check_profile("berth");
}

static void decisions_under_profile_armada_are_made_again(void **state)
{
    (void)state;
    check_profile("armada");
}

static void decisions_under_profile_flow_are_made_again(void **state)
{
    (void)state;
    check_profile("flow");
}

/* Copies a log, with the node of one lease changed. */
struct forger {
    struct elog *to;
    uint64_t seq; /* of the record that was changed; 0: none yet */
};

static void on_told(void *ctx, int result, uint64_t seq)
{
    (void)ctx;
    (void)seq;
    assert_int_equal(result, 0);
}

/* Send a lease of node 2 to node 3. */
static int forge_item(const struct log_item *item, void *ctx)
{
    struct str name = item->event.leased.node_name;

    if (item->event.type != EVENT_LEASED ||
        !str_equal(name, STR("a-n-00002"))) {
        return 0;
    }
    ((char *)(uintptr_t)name.p)[name.byte_count - 1] = '3';
    *(bool *)ctx = true;
    return 1;
}

static int forge(void *ctx, const struct elog_record *record)
{
    struct forger *forger = ctx;
    struct elog_record copy = *record;
    auto_arena arena = {0};
    auto_mem char *bytes =
        mem_dup(record->payload.p, record->payload.byte_count);
    bool is_forged = false;
    struct err err;

    copy.payload.p = bytes;
    if (forger->seq == 0 && record->seq > 1000) {
        int rc = log_decode(copy.payload, &arena, forge_item, &is_forged, &err);
        assert_true(rc >= 0);
        forger->seq = is_forged ? record->seq : 0;
    }
    int rc = elog_submit(forger->to, &copy, on_told, forger);
    assert_int_equal(rc, 0);
    elog_poll(forger->to, 0);
    return 0;
}

static void a_decision_that_differs_is_named(void **state)
{
    struct elog_memory_storage *storage = play_kept("berth");
    struct elog_memory_storage *forged = elog_memory_storage_create();
    struct elog *log = elog_memory_open(storage);
    struct forger forger = {.to = elog_memory_open(forged)};
    struct elog_range range = {.from_seq = 1};
    struct elog_reader *reader = NULL;
    struct control_audit_counts counts;
    struct control_difference difference = {0};
    uint64_t epoch;
    struct err err;

    (void)state;
    int rc = elog_acquire(forger.to, &epoch, &err);
    assert_int_equal(rc, 0);
    rc = elog_reader_open(log, &reader, &err);
    assert_int_equal(rc, 0);
    rc = elog_read(reader, &range, forge, &forger, &err);
    assert_true(rc > 0);
    assert_true(forger.seq > 0);
    elog_reader_close(reader);
    elog_close(log);
    elog_close(forger.to);
    assert_int_equal(audit_all(forged, &counts, &difference), -ERR_CONFLICT);
    assert_true(difference.seq == forger.seq);
    assert_non_null(strstr(difference.expected, "a-n-00002"));
    assert_non_null(strstr(difference.got, "a-n-00003"));
    elog_memory_storage_destroy(storage);
    elog_memory_storage_destroy(forged);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decisions_under_profile_berth_are_made_again),
        cmocka_unit_test(decisions_under_profile_armada_are_made_again),
        cmocka_unit_test(decisions_under_profile_flow_are_made_again),
        cmocka_unit_test(a_decision_that_differs_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
