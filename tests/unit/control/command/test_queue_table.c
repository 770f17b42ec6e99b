/* Readers of other threads find whole entries, whatever the leader does. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "control/command/command.h"
#include "control/command/queue_table.h"
#include "unit.h"

enum { NAMES = 300, TURNS = 3000, READERS = 3 };

static struct str name_of(uint32_t n, char text[16])
{
    return str_make(text, (size_t)snprintf(text, 16, "queue-%03u", n));
}

static void put(struct queue_table *table, uint32_t n)
{
    char text[16];
    struct queue_limit limit = {STR("class"), STR("pool"), STR("cpu"), 5};
    struct queue_record record = {.name = name_of(n, text),
                                  .priority_factor_micro = 1000000 + n,
                                  .limits = &limit,
                                  .limit_count = 1};

    assert_int_equal(queue_table_put(table, &record, record.name), 0);
}

static void entries_are_found_listed_and_outlive_their_removal(void **state)
{
    auto_ptr(queue_table) table = queue_table_create();
    char text[16];
    uint32_t count;

    (void)state;
    for (uint32_t n = NAMES; n > 0; n--) {
        put(table, n - 1);
    }
    put(table, 7);
    assert_int_equal(queue_table_count(table), NAMES);
    const struct queue_entry **list = queue_table_list(table, &count);
    assert_int_equal(count, NAMES);
    for (uint32_t n = 0; n < NAMES; n++) {
        assert_true(str_equal(list[n]->name, name_of(n, text)));
    }
    for (uint32_t n = 0; n < NAMES; n += 2) {
        assert_true(queue_table_remove(table, name_of(n, text)));
        assert_false(queue_table_remove(table, name_of(n, text)));
    }
    for (uint32_t n = 0; n < NAMES; n++) {
        const struct queue_entry *entry =
            queue_table_find(table, name_of(n, text));
        assert_int_equal(entry != NULL, n % 2);
        queue_entry_unref(entry);
        assert_int_equal(list[n]->record.limits[0].fraction_ppm, 5);
        assert_true(str_equal(list[n]->record.limits[0].pool, STR("pool")));
    }
    queue_list_free(list, count);
}

struct reading {
    struct queue_table *table;
    atomic_bool is_over;
    atomic_uint bad_count;
};

static void *read_entries(void *ctx)
{
    struct reading *reading = ctx;
    char text[16];

    for (uint32_t n = 0; !atomic_load(&reading->is_over); n = (n + 1) % NAMES) {
        const struct queue_entry *entry =
            queue_table_find(reading->table, name_of(n, text));
        if (entry && (!str_equal(entry->name, entry->encoded) ||
                      entry->record.priority_factor_micro != 1000000 + n)) {
            atomic_fetch_add(&reading->bad_count, 1);
        }
        queue_entry_unref(entry);
    }
    return NULL;
}

static void readers_see_whole_entries(void **state)
{
    auto_ptr(queue_table) table = queue_table_create();
    struct reading reading = {.table = table};
    pthread_t threads[READERS];
    char text[16];

    (void)state;
    for (int i = 0; i < READERS; i++) {
        pthread_create(&threads[i], NULL, read_entries, &reading);
    }
    for (uint32_t turn = 0; turn < TURNS; turn++) {
        put(table, turn * 7 % NAMES);
        if (turn % 3 == 0) {
            queue_table_remove(table, name_of(turn * 5 % NAMES, text));
        }
    }
    atomic_store(&reading.is_over, true);
    for (int i = 0; i < READERS; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_int_equal(atomic_load(&reading.bad_count), 0);
}

/* The inbox: every command that was posted is answered once, in order of each
 * poster. */
static void on_done(struct command *command, void *ctx)
{
    uint32_t *next = ctx;

    assert_int_equal(command->report.verbosity, (int)*next);
    (*next)++;
    command_destroy(command);
}

struct posting {
    struct inbox *inbox;
    uint32_t answered;
};

static void *post_commands(void *ctx)
{
    struct posting *posting = ctx;

    for (int n = 0; n < TURNS; n++) {
        struct command *command = command_create(COMMAND_QUERY_REPORT);
        command->report.verbosity = n;
        command->done = on_done;
        command->ctx = &posting->answered;
        while (inbox_post(posting->inbox, command) < 0) {
        }
    }
    return NULL;
}

static void every_command_is_answered_once(void **state)
{
    struct inbox *inbox = inbox_create(NULL, NULL);
    struct posting postings[READERS];
    pthread_t threads[READERS];
    uint32_t taken = 0;

    (void)state;
    for (int i = 0; i < READERS; i++) {
        postings[i] = (struct posting){inbox, 0};
        pthread_create(&threads[i], NULL, post_commands, &postings[i]);
    }
    while (taken < READERS * TURNS) {
        struct command *command = inbox_take(inbox);
        while (command) {
            struct command *next = command->next;
            command->done(command, command->ctx);
            command = next;
            taken++;
        }
    }
    for (int i = 0; i < READERS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(postings[i].answered, TURNS);
    }
    inbox_close(inbox);
    struct command *late = command_create(COMMAND_QUERY_REPORT);
    late->done = on_done;
    assert_int_equal(inbox_post(inbox, late), -ERR_UNAVAILABLE);
    command_destroy(late);
    inbox_destroy(inbox);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(entries_are_found_listed_and_outlive_their_removal),
        TEST(readers_see_whole_entries),
        TEST(every_command_is_answered_once),
    };
    return RUN_TESTS(tests);
}
