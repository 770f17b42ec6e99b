/*
 * apply: what of a file goes into the place of what is there.
 */
#include "armada/services.pb-c.h"
#include "field.h"
#include "script.h"

#define QUEUE_HEAD \
    "apiVersion: armadaproject.io/v1beta1\nkind: Queue\nname: q\n"

/* The server has queue `q`, cordoned, of factor 4, first in first out. */
static void have_queue(struct script *script)
{
    Api__Queue queue = API__QUEUE__INIT;
    Api__QueueScheduling scheduling = API__QUEUE_SCHEDULING__INIT;

    queue.name = field("q");
    queue.priority_factor = 4;
    queue.cordoned = true;
    scheduling.ordering = field("fifo");
    scheduling.max_running_apps = 7;
    queue.scheduling = &scheduling;
    answer(script, &queue.base);
}

static void what_the_file_does_not_name_stays(void **state)
{
    struct script *script = *state;
    auto_arena arena = {0};

    have_queue(script);
    check(ASK(script, QUEUE_HEAD "scheduling: {ordering: cfs}\n", "apply", "-f",
              "-"),
          CLI_OK, "Updated queue q\n", "");
    Api__Queue *queue = asked(script, &arena, &api__queue__descriptor);
    assert_true(queue->cordoned);
    assert_true(queue->priority_factor == 4);
    assert_string_equal(queue->scheduling->ordering, "cfs");
    assert_int_equal(queue->scheduling->max_running_apps, 7);
}

/* `get queues -o yaml` prints a list of them, without a kind. */
static void what_get_queues_prints_is_taken(void **state)
{
    struct script *script = *state;
    auto_arena arena = {0};

    have_queue(script);
    have_queue(script);
    check(ASK(script,
              "- name: q\n  priorityFactor: 4\n  cordoned: true\n"
              "  scheduling: {ordering: fifo, maxRunningApps: 7}\n"
              "- name: q\n  priorityFactor: 2\n",
              "apply", "-f", "-"),
          CLI_OK, "Unchanged queue q\nUpdated queue q\n", "");
    Api__Queue *queue = asked(script, &arena, &api__queue__descriptor);
    assert_true(queue->priority_factor == 2);
}

static void null_is_the_default(void **state)
{
    struct script *script = *state;
    auto_arena arena = {0};

    have_queue(script);
    check(ASK(script,
              QUEUE_HEAD "priority_factor: null\ncordoned: null\n"
                         "scheduling: {ordering: null}\n",
              "apply", "-f", "-"),
          CLI_OK, "Updated queue q\n", "");
    Api__Queue *queue = asked(script, &arena, &api__queue__descriptor);
    assert_false(queue->cordoned);
    assert_true(queue->priority_factor == 1);
    assert_string_equal(queue->scheduling->ordering, "");
}

static void what_is_so_already_is_not_sent(void **state)
{
    struct script *script = *state;

    have_queue(script);
    script->call_count = 0;
    check(ASK(script, QUEUE_HEAD "priority_factor: 4\n", "apply", "-f", "-"),
          CLI_OK, "Unchanged queue q\n", "");
    check(ASK(script, QUEUE_HEAD "cordoned: false\n", "apply", "-f", "-",
              "--dry-run"),
          CLI_OK, "Updated queue q (not done: --dry-run)\n", "");
    assert_int_equal(script->call_count, 2);
    script->code = RPC_NOT_FOUND;
    check(ASK(script, QUEUE_HEAD, "apply", "-f", "-", "--dry-run"), CLI_OK,
          "Created queue q (not done: --dry-run)\n", "");
}

static void a_key_that_is_none_is_told_before_the_server_is_asked(void **state)
{
    struct script *script = *state;

    script->call_count = 0;
    struct run_result result =
        ASK(script, QUEUE_HEAD "weight: 2\n", "apply", "-f", "-");
    assert_non_null(strstr(result.err, "weight"));
    assert_int_equal(result.code, CLI_INVALID);
    free(result.out);
    free(result.err);
    assert_int_equal(script->call_count, 0);
    check(ASK(script, "queue: q\njobSetId: s\njobs: []\n", "apply", "-f", "-"),
          CLI_INVALID, "",
          "berthctl: apiVersion must be armadaproject.io/v1beta1, or of a pool "
          "resource.aibee.cn/v1alpha1; use submit for a file of jobs\n");
    check(ASK(script, "", "apply"), CLI_USAGE, "",
          "berthctl: apply needs -f FILE\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVED(what_the_file_does_not_name_stays),
        SERVED(what_get_queues_prints_is_taken),
        SERVED(null_is_the_default),
        SERVED(what_is_so_already_is_not_sent),
        SERVED(a_key_that_is_none_is_told_before_the_server_is_asked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
