/*
 * queues and pools: what their commands ask of a server, print and exit with.
 */
#include "armada/services.pb-c.h"
#include "berth/api.pb-c.h"
#include "script.h"
#include "unit.h"
#include "wire/json/json.h"
#include "wire/message/message.h"

static void queue_is_made_from_options_or_a_file(void **state)
{
    struct script *script = *state;
    auto_arena arena = {0};

    script->code = RPC_OK;
    strbuf_clear(&script->reply);
    check(ASK(script, "", "create", "queue", "q", "--priority-factor", "2.5",
              "--owners", "anna,bo", "-l", "team=x", "--cordon"),
          CLI_OK, "Created queue q\n", "");
    Api__Queue *queue = asked(script, &arena, &api__queue__descriptor);
    assert_true(queue->priority_factor == 2.5);
    assert_int_equal(queue->n_user_owners, 2);
    assert_string_equal(queue->labels[0]->key, "team");
    assert_string_equal(queue->labels[0]->value, "x");
    assert_true(queue->cordoned);

    check(ASK(script,
              "apiVersion: armadaproject.io/v1beta1\nkind: Queue\nname: r\n"
              "priorityFactor: 3\npermissions: [{subjects: [{kind: Group, "
              "name: g}], verbs: [submit]}]\n",
              "create", "-f", "-"),
          CLI_OK, "Created queue r\n", "");
    queue = asked(script, &arena, &api__queue__descriptor);
    assert_true(queue->priority_factor == 3);
    assert_string_equal(queue->permissions[0]->subjects[0]->name, "g");

    check(ASK(script,
              "apiVersion: armadaproject.io/v1beta1\nkind: Queue\nname: r\n"
              "schedulng: {ordering: fifo}\n",
              "create", "-f", "-"),
          CLI_OK, "Created queue r\n",
          "berthctl: schedulng: unknown key, ignored\n");

    check(ASK(script, "", "delete", "queue", "q"), CLI_OK,
          "Deleted queue q (or it did not exist)\n", "");
}

/* Counts of nodes are of each pool, those of jobs of all together. */
static void deleting_a_queue_says_which_jobs_it_leaves(void **state)
{
    struct script *script = *state;
    Berth__Api__GetQueueSharesResponse response =
        BERTH__API__GET_QUEUE_SHARES_RESPONSE__INIT;
    Berth__Api__QueueShare here = BERTH__API__QUEUE_SHARE__INIT, there = here;
    Berth__Api__QueueShare *shares[] = {&here, &there};

    here.job_count = there.job_count = 7;
    here.queued_count = there.queued_count = 4;
    here.leased_count = 1;
    there.running_count = 2;
    response.shares = shares;
    response.n_shares = 2;
    wire_encode(&response.base, &script->shares);
    check(ASK(script, "", "delete", "queue", "q"), CLI_OK,
          "Deleted queue q (or it did not exist)\n",
          "berthctl: 3 of its jobs are leased or running and continue until "
          "they end\n"
          "berthctl: 4 of its jobs wait: they start only if queue q is created "
          "again; cancel job-set q JOBSET ends them\n");
    strbuf_clear(&script->shares);
}

/* A queue that has some of everything, in JSON. */
static const char full_queue[] =
    "{\"name\": \"q\", \"priorityFactor\": 3, \"permissions\": ["
    "{\"subjects\": [{\"kind\": \"User\", \"name\": \"anna\"},"
    " {\"kind\": \"Group\", \"name\": \"g\"}], \"verbs\": [\"submit\","
    " \"cancel\", \"preempt\", \"reprioritize\", \"watch\"]},"
    "{\"subjects\": [{\"kind\": \"User\", \"name\": \"bo\"}],"
    " \"verbs\": [\"watch\"]}],"
    "\"resourceLimitsByPriorityClassName\": {\"c\":"
    " {\"maximumResourceFraction\": {\"cpu\": 0.5}}},"
    "\"labels\": {\"team\": \"x\"}, \"retryPolicies\": [\"p\"],"
    "\"scheduling\": {\"ordering\": \"fifo\", \"maxRunningApps\": 4,"
    " \"classPriorityIgnored\": true, \"overShareFactor\": 0.5}}";

/* The server has the queue of this text. */
static Api__Queue *serve_queue(struct script *script, const char *text,
                               struct arena *arena)
{
    auto_json_t *json = json_loads(text, 0, NULL);
    ProtobufCMessage *message;
    struct err err = {""};

    assert_non_null(json);
    int rc =
        wire_json_read(&api__queue__descriptor, json, 0, arena, &message, &err);
    assert_string_equal(err.text, "");
    assert_int_equal(rc, 0);
    answer(script, message);
    return (void *)message;
}

/* The last request was this queue, whole. */
static void check_queue_sent(const struct script *script,
                             const Api__Queue *queue)
{
    auto_strbuf bytes = {0};

    wire_encode(&queue->base, &bytes);
    assert_int_equal(bytes.byte_count, script->request.byte_count);
    assert_memory_equal(bytes.bytes, script->request.bytes, bytes.byte_count);
}

static void update_queue_changes_only_what_is_named(void **state)
{
    struct script *script = *state;
    auto_arena arena = {0};
    Api__Queue *queue = serve_queue(script, full_queue, &arena);

    script->call_count = 0;
    check(ASK(script, "", "update", "queue", "q"), CLI_OK,
          "Unchanged queue q\n", "");
    assert_int_equal(script->call_count, 1);

    check(ASK(script, "", "update", "queue", "q", "--cordon",
              "--max-running-apps", "9"),
          CLI_OK, "Updated queue q\n", "");
    queue->cordoned = true;
    queue->scheduling->max_running_apps = 9;
    check_queue_sent(script, queue);

    answer(script, &queue->base);
    check(ASK(script, "", "update", "queue", "q", "--cordon=false",
              "--ignore-class-priority=false", "-l", "", "--priority-factor",
              "2"),
          CLI_OK, "Updated queue q\n", "");
    queue->cordoned = false;
    queue->scheduling->class_priority_ignored = false;
    queue->n_labels = 0;
    queue->priority_factor = 2;
    check_queue_sent(script, queue);
}

/* The server tells owners as the first of the permissions. */
static void update_queue_replaces_the_owners_named_only(void **state)
{
    struct script *script = *state;
    auto_arena arena = {0};

    (void)serve_queue(script, full_queue, &arena);
    check(ASK(script, "", "update", "queue", "q", "--owners", "carl,dora"),
          CLI_OK, "Updated queue q\n", "");
    Api__Queue *queue = asked(script, &arena, &api__queue__descriptor);
    assert_int_equal(queue->n_user_owners, 2);
    assert_string_equal(queue->user_owners[1], "dora");
    assert_int_equal(queue->n_group_owners, 1);
    assert_string_equal(queue->group_owners[0], "g");
    assert_int_equal(queue->n_permissions, 1);
    assert_string_equal(queue->permissions[0]->subjects[0]->name, "bo");
}

static void update_queue_makes_none(void **state)
{
    struct script *script = *state;

    script->code = RPC_NOT_FOUND;
    script->message = "why";
    script->call_count = 0;
    check(
        ASK(script, "", "update", "queue", "q", "--cordon"), CLI_NOT_FOUND, "",
        "berthctl: there is no queue q to update; create queue creates one\n");
    assert_int_equal(script->call_count, 1);
    check(ASK(script, "", "update", "queue", "q", "--cordon=maybe"), CLI_USAGE,
          "", "berthctl: --cordon is true or false, not \"maybe\"\n");
    assert_int_equal(script->call_count, 1);
}

static void queue_is_shown_as_a_file_that_makes_it(void **state)
{
    struct script *script = *state;
    Api__Queue queue = API__QUEUE__INIT;
    char name[] = "q";

    queue.name = name;
    queue.priority_factor = 2;
    answer(script, &queue.base);
    check(ASK(script, "", "get", "queue", "q"), CLI_OK,
          "apiVersion: armadaproject.io/v1beta1\nkind: Queue\n"
          "name: q\npriorityFactor: 2\n",
          "");
}

static void create_pool_takes_options_or_a_file(void **state)
{
    struct script *script = *state;
    auto_arena arena = {0};
    Google__Protobuf__Empty empty = GOOGLE__PROTOBUF__EMPTY__INIT;

    Berth__Api__ListPoolsResponse list = BERTH__API__LIST_POOLS_RESPONSE__INIT;
    char cpu[] = "cpu";
    char *configured[] = {cpu};

    answer(script, &empty.base);
    script->has_pools = true;
    list.configured = configured;
    list.n_configured = 1;
    wire_encode(&list.base, &script->pools);
    check(ASK(script, "", "create", "pool", "gpu", "--selector",
              "gpu=true,zone!=b,ssd,!old", "--disable-sharing",
              "--disable-borrowing=false", "--borrowing-pools", "cpu"),
          CLI_OK, "Created pool gpu\n", "");
    Berth__Api__Pool *pool =
        asked(script, &arena, &berth__api__pool__descriptor);
    assert_string_equal(pool->name, "gpu");
    assert_int_equal(pool->node_selector->n_match_labels, 1);
    assert_string_equal(pool->node_selector->match_labels[0]->value, "true");
    assert_int_equal(pool->node_selector->n_match_expressions, 3);
    assert_string_equal(pool->node_selector->match_expressions[0]->operator_,
                        "NotIn");
    assert_string_equal(pool->node_selector->match_expressions[2]->key, "old");
    assert_true(pool->disable_sharing);
    assert_false(pool->disable_borrowing);
    assert_string_equal(pool->borrowing_pools[0], "cpu");

    check(ASK(script,
              "apiVersion: resource.aibee.cn/v1alpha1\nkind: Pool\n"
              "metadata: {name: a}\nspec: {disablePreemption: true, "
              "nodeSelector: {matchLabels: {k: v}}}\n---\n"
              "apiVersion: resource.aibee.cn/v1alpha1\nkind: Pool\n"
              "metadata: {name: b}\n",
              "create", "-f", "-"),
          CLI_OK, "Created pool a\nCreated pool b\n",
          "berthctl: pool b has no nodes, because it has no nodeSelector; set "
          "one with: edit pool b --selector K=V\n");
    check(ASK(script, "", "create", "pool", "default"), CLI_INVALID, "",
          "berthctl: metadata.name: \"default\" is the default pool, which "
          "cannot be created, edited or deleted\n");
    check(ASK(script, "", "create", "pool"), CLI_USAGE, "",
          "berthctl: create pool needs NAME or -f FILE\n");
}

static void get_pools_shows_whose_jobs_are_in_them(void **state)
{
    struct script *script = *state;
    Berth__Api__Pool pool = BERTH__API__POOL__INIT;
    Berth__Api__PoolStatus status = BERTH__API__POOL_STATUS__INIT;
    Berth__Api__PoolStatus *statuses[] = {&status};
    Berth__Api__ListPoolsResponse list = BERTH__API__LIST_POOLS_RESPONSE__INIT;
    char name[] = "gpu";

    pool.name = name;
    pool.disable_preemption = true;
    status.pool = &pool;
    status.node_count = 2;
    status.running_foreign_count = 7;
    list.pools = statuses;
    list.n_pools = 1;
    answer(script, &list.base);
    check(ASK(script, "", "get", "pools"), CLI_OK,
          "POOL  FLAGS          NODES  RUNNING OWN  RUNNING LENT  "
          "WAITING OWN  WAITING LENT\n"
          "gpu   (p=x,b=√,s=√)  2      0            7             0            "
          "0\n",
          "");
    check(ASK(script, "", "get", "pool", "cpu"), CLI_NOT_FOUND, "",
          "berthctl: there is no pool cpu\n");
}

/* Those of the default pool are those of the configuration's pools; of objects
 * only the ones asked for. */
static void get_pools_shows_the_rules_of_each(void **state)
{
    struct script *script = *state;
    Berth__Api__Pool gpu = BERTH__API__POOL__INIT, rest = gpu;
    Berth__Api__PoolStatus one = BERTH__API__POOL_STATUS__INIT, other = one;
    Berth__Api__PoolStatus *statuses[] = {&one, &other};
    Berth__Api__PoolRules plain = BERTH__API__POOL_RULES__INIT, flow = plain;
    Berth__Api__PoolRules *rules[] = {&flow, &plain};
    Berth__Api__ListPoolsResponse list = BERTH__API__LIST_POOLS_RESPONSE__INIT;
    Google__Protobuf__DoubleValue factor = GOOGLE__PROTOBUF__DOUBLE_VALUE__INIT;
    char name[] = "gpu", whole[] = "default", cpu[] = "cpu", drf[] = "drf";
    char profile[] = "flow", berth[] = "berth", order[] = "inOrder";
    char off[] = "off", *configured[] = {cpu};

    gpu.name = name;
    rest.name = whole;
    one.pool = &rest;
    one.is_default = true;
    other.pool = &gpu;
    list.pools = statuses;
    list.n_pools = 2;
    list.configured = configured;
    list.n_configured = 1;
    flow.pool = cpu;
    flow.profile = profile;
    flow.cost = plain.cost = drf;
    flow.flow_half_time_seconds = 600;
    flow.admitted_window = 3;
    flow.admitted_window_per_queue = 1;
    flow.strict_order = true;
    flow.backfill = order;
    factor.value = 0.2;
    flow.over_share_factor = &factor;
    plain.pool = name;
    plain.profile = berth;
    plain.backfill = off;
    list.rules = rules;
    list.n_rules = 2;
    answer(script, &list.base);
    check(ASK(script, "", "get", "pools", "--rules"), CLI_OK,
          "POOL  PROFILE  COST  HALF TIME S  WINDOW  OF A QUEUE  STRICT  "
          "BACKFILL  OVER SHARE  BUDGET MIN  LEVELS\n"
          "cpu   flow     drf   600          3       1           on      "
          "inOrder   0.2         -           0\n"
          "gpu   berth    drf   -            0       0           off     "
          "off       -           -           0\n",
          "");
    check(ASK(script, "", "get", "pools", "gpu", "--rules"), CLI_OK,
          "POOL  PROFILE  COST  HALF TIME S  WINDOW  OF A QUEUE  STRICT  "
          "BACKFILL  OVER SHARE  BUDGET MIN  LEVELS\n"
          "gpu   berth    drf   -            0       0           off     "
          "off       -           -           0\n",
          "");
}

static void names_that_look_like_paths_are_refused(void **state)
{
    static char names[][16] = {"../../etc", ".hidden", "a/b"};
    struct script *script = *state;

    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        struct run_result result = ASK(script, "", "create", "queue", names[i]);
        assert_int_equal(result.code, CLI_INVALID);
        assert_non_null(strstr(result.err, names[i]));
        assert_non_null(strstr(result.err, "nor contain a slash"));
        assert_string_equal(result.out, "");
        free(result.out);
        free(result.err);
    }
    check(ASK(script,
              "apiVersion: armadaproject.io/v1beta1\nkind: Queue\nname: a/b\n",
              "create", "-f", "-"),
          CLI_INVALID, "",
          "berthctl: queue name \"a/b\": must not begin with a dot or a dash, "
          "nor contain a slash\n");
}

/* Armada takes them, and only Kubernetes does not. */
static void names_that_are_no_label_are_remarked_on(void **state)
{
    struct script *script = *state;
    struct run_result result =
        ASK(script, "", "create", "queue", "my own queue");

    assert_int_equal(result.code, CLI_OK);
    assert_string_equal(result.out, "Created queue my own queue\n");
    assert_non_null(strstr(result.err, "with the runtime kubernetes"));
    free(result.out);
    free(result.err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVED(queue_is_made_from_options_or_a_file),
        SERVED(names_that_look_like_paths_are_refused),
        SERVED(names_that_are_no_label_are_remarked_on),
        SERVED(deleting_a_queue_says_which_jobs_it_leaves),
        SERVED(update_queue_changes_only_what_is_named),
        SERVED(update_queue_replaces_the_owners_named_only),
        SERVED(update_queue_makes_none),
        SERVED(queue_is_shown_as_a_file_that_makes_it),
        SERVED(create_pool_takes_options_or_a_file),
        SERVED(get_pools_shows_whose_jobs_are_in_them),
        SERVED(get_pools_shows_the_rules_of_each),
    };
    return RUN_TESTS(tests);
}
