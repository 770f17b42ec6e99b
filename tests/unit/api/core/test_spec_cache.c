/* Specs are at hand until the store has them, within a bound. */
#include "api/core/spec_cache.h"
#include "unit.h"
#include "wire/log/log_codec.h"

static struct job_id job_of(uint32_t n)
{
    return (struct job_id){{n + 1, 7}};
}

/* A submission of `count` jobs from `first` on, whose specs are their
 * numbers. */
static struct command *submission_of(uint32_t first, uint32_t count)
{
    struct command *command = command_create(COMMAND_SUBMIT);

    command->submit.items =
        arena_alloc_array(&command->arena, count, sizeof(struct submit_item));
    command->submit.item_count = count;
    for (uint32_t i = 0; i < count; i++) {
        auto_strbuf event = {0};
        auto_strbuf spec = {0};
        strbuf_addf(&spec, "\x0a\x04%04u", first + i); /* field 1, 4 bytes */
        log_put_submit(&event, 1000, strbuf_str(&spec), STR(""));
        command->submit.items[i] = (struct submit_item){
            .job = job_of(first + i),
            .event = arena_str(&command->arena, strbuf_str(&event)),
        };
    }
    return command;
}

static bool has(struct spec_cache *cache, uint32_t n)
{
    auto_arena arena = {0};
    auto_strbuf wanted = {0};
    struct str spec;

    if (!spec_cache_find(cache, job_of(n), &arena, &spec)) {
        return false;
    }
    strbuf_addf(&wanted, "\x0a\x04%04u", n);
    assert_true(spec.byte_count >= wanted.byte_count);
    assert_memory_equal(spec.p, wanted.bytes, wanted.byte_count);
    return true;
}

/* Hold and settle a submission. */
static void take(struct spec_cache *cache, uint32_t first, uint32_t count,
                 uint64_t seq)
{
    struct command *command = submission_of(first, count);
    struct spec_hold *hold = spec_cache_hold(cache, command);

    assert_non_null(hold);
    command->log_seq = seq;
    spec_cache_settle(cache, hold, command);
}

static void specs_are_held_until_the_store_has_them(void **state)
{
    auto_ptr(spec_cache) cache = spec_cache_create(1 << 20);
    uint64_t job_count;
    size_t byte_count;

    (void)state;
    take(cache, 0, 10, 5);
    take(cache, 10, 10, 5);
    take(cache, 20, 10, 7);
    assert_true(has(cache, 0) && has(cache, 19) && has(cache, 29));
    assert_false(has(cache, 30));
    spec_cache_forget(cache, 6);
    assert_false(has(cache, 0) || has(cache, 19));
    assert_true(has(cache, 20));
    spec_cache_stats(cache, &job_count, &byte_count);
    assert_int_equal(job_count, 10);
    spec_cache_forget(cache, 100);
    spec_cache_stats(cache, &job_count, &byte_count);
    assert_int_equal(job_count, 0);
    assert_int_equal(byte_count, 0);
    take(cache, 30, 1, 101);
    assert_true(has(cache, 30));
}

/* The projector may be there before the answer. */
static void what_the_store_has_already_is_not_kept(void **state)
{
    auto_ptr(spec_cache) cache = spec_cache_create(1 << 20);

    (void)state;
    spec_cache_forget(cache, 9);
    take(cache, 0, 3, 9);
    assert_false(has(cache, 0));
    take(cache, 0, 3, 0); /* duplicates, or refused: in no record */
    assert_false(has(cache, 0));
}

/* A lease may be decided before the submission's answer is out. */
static void specs_are_there_from_before_they_are_posted(void **state)
{
    auto_ptr(spec_cache) cache = spec_cache_create(1 << 20);
    auto_ptr(command) command = submission_of(0, 2);

    (void)state;
    struct spec_hold *hold = spec_cache_hold(cache, command);
    assert_true(has(cache, 1));
    spec_cache_drop(cache, hold);
    assert_false(has(cache, 1));
}

static void over_the_bound_there_is_no_room(void **state)
{
    auto_ptr(spec_cache) cache = spec_cache_create(10000);
    auto_ptr(command) command = submission_of(1000, 5);
    uint32_t count = 0;
    struct spec_hold *hold;

    (void)state;
    while ((hold = spec_cache_hold(cache, command))) {
        spec_cache_drop(cache, hold);
        take(cache, 5 * count, 5, count + 1);
        count++;
        assert_true(count < 100);
    }
    assert_true(count > 1);
    spec_cache_forget(cache, 1);
    hold = spec_cache_hold(cache, command);
    assert_non_null(hold);
    spec_cache_drop(cache, hold);
    /* One that is larger than all the room may go when nothing else is. */
    spec_cache_forget(cache, 1000);
    take(cache, 2000, 1000, 1001);
    assert_true(has(cache, 2999));
    assert_null(spec_cache_hold(cache, command));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(specs_are_held_until_the_store_has_them),
        TEST(what_the_store_has_already_is_not_kept),
        TEST(specs_are_there_from_before_they_are_posted),
        TEST(over_the_bound_there_is_no_room),
    };

    return RUN_TESTS(tests);
}
