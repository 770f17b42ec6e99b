/*
 * commands: what is said when nothing was done, or only a part, and in which
 * words.
 */
#include "script.h"

/* Let there be one pool, with one node and one job of each kind. */
static void set_pool(struct script *script, char *name, bool is_default)
{
    Berth__Api__ListPoolsResponse response =
        BERTH__API__LIST_POOLS_RESPONSE__INIT;
    Berth__Api__PoolStatus status = BERTH__API__POOL_STATUS__INIT;
    Berth__Api__PoolStatus *pools[] = {&status};
    Berth__Api__Pool pool = BERTH__API__POOL__INIT;

    pool.name = name;
    pool.disable_sharing = true;
    status.pool = &pool;
    status.is_default = is_default;
    status.node_count = 1;
    status.queued_own_count = 1;
    status.running_own_count = 1;
    response.pools = pools;
    response.n_pools = 1;
    answer(script, &response.base);
}

static void edit_that_changes_nothing_says_so(void **state)
{
    struct script *script = *state;
    char name[] = "a";

    set_pool(script, name, false);
    script->call_count = 0;
    check(ASK(script, "", "edit", "pool", "a", "--disable-sharing"), CLI_OK,
          "Unchanged pool a\n", "");
    assert_int_equal(script->call_count, 1);
    check(ASK(script, "", "edit", "pool", "a", "--disable-sharing=false"),
          CLI_OK, "Edited pool a\n",
          "berthctl: pool a has no nodes, because it has no nodeSelector; set "
          "one with: edit pool a --selector K=V\n");
    check(ASK(script, "", "edit", "pool", "a"), CLI_USAGE, "",
          "berthctl: edit pool a needs options for the settings to change\n");
}

static void delete_counts_as_people_do(void **state)
{
    struct script *script = *state;
    char name[] = "a";

    set_pool(script, name, false);
    check(ASK(script, "", "delete", "pool", "a"), CLI_OK,
          "Deleted pool a\n"
          "  1 node goes to the pool that matches it now, or to the default "
          "pool; 1 job goes on there\n"
          "  1 waiting job goes to the default pool\n",
          "");
}

static void default_pool_goes_by_either_name(void **state)
{
    struct script *script = *state;
    auto_arena arena = {0};
    char name[] = "default";

    set_pool(script, name, true);
    struct run_result result = ASK(script, "", "get", "pools", "Default");
    assert_int_equal(result.code, CLI_OK);
    assert_non_null(strstr(result.out, "\ndefault "));
    free(result.out);
    free(result.err);
    Berth__Api__ListPoolsRequest *request =
        asked(script, &arena, &berth__api__list_pools_request__descriptor);
    assert_string_equal(request->name, "default");
    check(ASK(script, "", "edit", "pool", "Default", "--disable-sharing"),
          CLI_INVALID, "",
          "berthctl: the default pool cannot be created, edited or deleted\n");
    check(ASK(script, "", "get", "pools", "default", "b"), CLI_NOT_FOUND, "",
          "berthctl: there is no pool b\n");
}

static void file_that_is_done_in_part_says_which(void **state)
{
    struct script *script = *state;
    static const char file[] = "apiVersion: armadaproject.io/v1beta1\n"
                               "kind: Queue\nname: one\n---\n"
                               "kind: Nonsense\n---\n"
                               "apiVersion: armadaproject.io/v1beta1\n"
                               "kind: Queue\nname: three\n";

    script->code = RPC_OK;
    strbuf_clear(&script->reply);
    check(ASK(script, file, "create", "-f", "-"), CLI_INVALID,
          "Created queue one\n",
          "berthctl: apiVersion must be armadaproject.io/v1beta1, or of a pool "
          "resource.aibee.cn/v1alpha1\n"
          "berthctl: -: document 2 of 3; the documents before it were applied, "
          "this one and the rest were not\n");
}

static void amounts_of_nodes_are_in_one_unit(void **state)
{
    static const char *const keys[] = {"cpu", "memory", "pods", "storage",
                                       "odd"};
    static const char *const has[] = {"2500m", "15000Mi", "110", "1Ti", "many"};
    static const char *const left[] = {"500m", "24684096Ki", "7", "1023Gi",
                                       "few"};
    struct script *script = *state;
    Berth__Api__ListNodesResponse response =
        BERTH__API__LIST_NODES_RESPONSE__INIT;
    Berth__Api__NodeStatus node = BERTH__API__NODE_STATUS__INIT;
    Berth__Api__NodeStatus *nodes[] = {&node};
    Berth__Api__NodeStatus__CapacityEntry all[5], *capacity[5];
    Berth__Api__NodeStatus__FreeEntry rest[5], *free_entries[5];
    char name[] = "n";

    for (size_t i = 0; i < ARRAY_COUNT(keys); i++) {
        berth__api__node_status__capacity_entry__init(&all[i]);
        berth__api__node_status__free_entry__init(&rest[i]);
        all[i].key = rest[i].key = (char *)(uintptr_t)keys[i];
        all[i].value = (char *)(uintptr_t)has[i];
        rest[i].value = (char *)(uintptr_t)left[i];
        capacity[i] = &all[i];
        free_entries[i] = &rest[i];
    }
    node.name = name;
    node.n_capacity = node.n_free = ARRAY_COUNT(keys);
    node.capacity = capacity;
    node.free = free_entries;
    response.nodes = nodes;
    response.n_nodes = 1;
    answer(script, &response.base);
    struct run_result result = ASK(script, "", "get", "nodes");
    assert_non_null(strstr(result.out,
                           " cpu 0.5/2.5, memory 23.5/14.6Gi, odd few/many, "
                           "pods 7/110, storage 0.9/1Ti "));
    free(result.out);
    free(result.err);
}

static void what_was_done_is_an_object_for_programs(void **state)
{
    struct script *script = *state;
    char name[] = "a";

    set_pool(script, name, false);
    check(ASK(script, "", "delete", "pool", "a", "-o", "yaml"), CLI_OK,
          "messages:\n- Deleted pool a\n"
          "- \"  1 node goes to the pool that matches it now, or to the "
          "default pool; 1 job goes on there\"\n"
          "- \"  1 waiting job goes to the default pool\"\n",
          "");
    check(ASK(script, "", "create", "queue", "q", "-o", "json"), CLI_OK,
          "{\n  \"messages\": [\n    \"Created queue q\"\n  ]\n}\n", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVED(edit_that_changes_nothing_says_so),
        SERVED(delete_counts_as_people_do),
        SERVED(default_pool_goes_by_either_name),
        SERVED(file_that_is_done_in_part_says_which),
        SERVED(what_was_done_is_an_object_for_programs),
        SERVED(amounts_of_nodes_are_in_one_unit),
    };
    return RUN_TESTS(tests);
}
