/*
 * The three metrics of the seed as scenarios, played by the shipped control
 * loop: MX-01 and MX-02 at one hundredth of their size, MX-03 whole.
 * `make bench` plays them whole.
 */
#include "sim/play/play.h"
#include "sim/world/cluster.h"
#include "sim/world/text_file.h"
#include "unit.h"

enum {
    FULL_MS = 600 * 1000,
    STEADY_MS = 3600 * 1000,
    WINDOW_MS = 600 * 1000,
    SCALE = 100,
    /* At this size chance moves what starts in a window by 29 (one standard
     * deviation); at full size by a tenth of that part. */
    WINDOW_CHANCE = 3 * 29,
    BALANCE_PERIOD_MS = 1000,
};

struct played {
    struct arena arena;
    struct tally tally;
    struct world *world;
    struct tally_result result;
};

static struct scenario *read_example(struct arena *arena, const char *name)
{
    auto_strbuf path = {0}, text = {0};
    struct scenario *scenario = NULL;
    struct err err;

    strbuf_addf(&path, "%s/%s", EXAMPLES, name);
    if (text_file_read(strbuf_text(&path), &text, &err) < 0 ||
        scenario_read(arena_str(arena, strbuf_str(&text)), name, arena,
                      &scenario, &err) < 0) {
        fail_msg("%s", err.text);
    }
    return scenario;
}

static void play_it(struct played *played, const struct scenario *scenario,
                    struct elog *log)
{
    struct play_options options = {.log = log};
    struct err err;

    if (play(scenario, &options, &played->tally, &played->world, &err) < 0) {
        fail_msg("%s", err.text);
    }
    tally_finish(&played->tally, &played->result);
}

static void played_fini(struct played *played)
{
    tally_fini(&played->tally);
    world_destroy(played->world);
    arena_fini(&played->arena);
}

/* How many jobs started in [from, to). */
static uint32_t started_between(const struct world *world, int64_t from_ms,
                                int64_t to_ms)
{
    uint32_t count = 0;

    for (size_t i = 0; i < world->jobs.count; i++) {
        int64_t at_ms = world->jobs.items[i].started_ms;
        count += at_ms >= from_ms && at_ms < to_ms;
    }
    return count;
}

/* The use of cores at a sample, in parts of what there is. */
static double use_at(const struct tally_sample *sample, int column)
{
    return (double)sample->used.v[column] / (double)sample->capacity.v[column];
}

static void mx_01_the_pool_fills_and_stays_full_while_work_waits(void **state)
{
    struct played played = {0};
    struct scenario *scenario = read_example(&played.arena, "mx-01.yaml");
    int64_t last_ms = 0;
    double sum = 0;
    uint32_t count = 0;

    (void)state;
    scenario_scale(scenario, SCALE);
    play_it(&played, scenario, NULL);
    int cpu = resource_column(&played.world->policy.schema, STR("cpu"));
    for (size_t i = 0; i < played.tally.samples.count; i++) {
        const struct tally_sample *sample = &played.tally.samples.items[i];
        if (sample->time_ms >= FULL_MS && sample->queued_count > 0) {
            assert_true(use_at(sample, cpu) >= 0.99);
            sum += use_at(sample, cpu);
            count++;
            last_ms = sample->time_ms;
        }
    }
    assert_true(count > 60);
    assert_true(use_at(&played.tally.samples.items[FULL_MS / 60000 - 1], cpu) >
                0.99);
    assert_true(sum / count >= 0.99);
    for (int64_t from_ms = STEADY_MS; from_ms + WINDOW_MS <= last_ms;
         from_ms += WINDOW_MS / 10) {
        uint32_t started =
            started_between(played.world, from_ms, from_ms + WINDOW_MS);
        assert_true(started + WINDOW_CHANCE >=
                    1650 * (WINDOW_MS / 1000) / SCALE);
    }
    assert_int_equal(played.result.unstarted_count, 0);
    played_fini(&played);
}

static void mx_02_nobody_waits_a_minute_to_be_looked_at(void **state)
{
    struct played played = {0};
    struct scenario *scenario = read_example(&played.arena, "mx-02.yaml");

    (void)state;
    scenario_scale(scenario, SCALE);
    play_it(&played, scenario, NULL);
    assert_true(played.result.submitted_count > 1650 * 3600 / SCALE);
    /* To be started is more than to be looked at. */
    assert_true(played.result.wait_s.p99 <= 60);
    played_fini(&played);
}

/* What was promised to gangs, and when they started. */
struct promises {
    struct map by_job; /* index in starts */
    VEC(int64_t) starts;
    uint32_t kept_count, broken_count;
};

/* Streams of whole-node gangs are called so. */
static bool is_gang(struct str job_set)
{
    return str_equal(job_set, STR("cpu-gang")) ||
           str_equal(job_set, STR("gpu-gang"));
}

static int note_promise(const struct log_item *item, void *ctx)
{
    struct promises *promises = ctx;
    const struct event *event = &item->event;
    uint32_t known = map_find(&promises->by_job, event->job.v);

    if (event->type == EVENT_ADMITTED && event->admitted.start_ms > 0 &&
        known == MAP_NONE && is_gang(item->scope.job_set)) {
        map_put(&promises->by_job, event->job.v,
                (uint32_t)promises->starts.count);
        VEC_PUSH(&promises->starts, event->admitted.start_ms);
    } else if (event->type == EVENT_LEASED && known != MAP_NONE &&
               promises->starts.items[known] > 0) {
        /* Room that is made by preemption is made by full rounds. */
        bool is_kept = event->created_ms <=
                       promises->starts.items[known] + BALANCE_PERIOD_MS;
        promises->kept_count += is_kept;
        promises->broken_count += !is_kept;
        promises->starts.items[known] = 0;
    }
    return 0;
}

static int note_promises(void *ctx, const struct elog_record *record)
{
    auto_arena arena = {0};
    struct err err;

    return log_decode(record->payload, &arena, note_promise, ctx, &err);
}

static void mx_03_pools_are_used_and_gangs_start_when_promised(void **state)
{
    struct played played = {0};
    struct scenario *scenario = read_example(&played.arena, "mx-03.yaml");
    struct elog_memory_storage *storage = elog_memory_storage_create();
    struct promises promises = {0};
    struct elog_range range = {.from_seq = 1};
    struct elog_reader *reader = NULL;
    struct err err;

    (void)state;
    play_it(&played, scenario, elog_memory_open(storage));
    for (uint32_t r = 0; r < 3; r++) {
        assert_true(played.result.utilisation[r] >= 0.90);
    }
    int rc = elog_reader_open(played.world->log, &reader, &err);
    assert_int_equal(rc, 0);
    rc = elog_read(reader, &range, note_promises, &promises, &err);
    assert_true(rc > 0);
    elog_reader_close(reader);
    /* What was due before the end and never started was not kept either. */
    for (size_t i = 0; i < promises.starts.count; i++) {
        promises.broken_count += promises.starts.items[i] > 0 &&
                                 promises.starts.items[i] + BALANCE_PERIOD_MS <
                                     world_wall_ms(scenario->duration_ms);
    }
    assert_true(promises.kept_count > 0);
    assert_int_equal(promises.broken_count, 0);
    map_fini(&promises.by_job);
    VEC_FREE(&promises.starts);
    played_fini(&played);
    elog_memory_storage_destroy(storage);
}

static void every_example_can_be_read(void **state)
{
    static const char *const names[] = {"failing-nodes.yaml", "gangs.yaml",
                                        "mx-01.yaml",         "mx-02.yaml",
                                        "mx-03.yaml",         "two-teams.yaml"};

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        auto_arena arena = {0};
        assert_true(read_example(&arena, names[i])->stream_count > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_example_can_be_read),
        cmocka_unit_test(mx_01_the_pool_fills_and_stays_full_while_work_waits),
        cmocka_unit_test(mx_02_nobody_waits_a_minute_to_be_looked_at),
        cmocka_unit_test(mx_03_pools_are_used_and_gangs_start_when_promised),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
