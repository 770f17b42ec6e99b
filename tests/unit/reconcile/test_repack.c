/*
 * repack: which nodes are equal, and which of them is taken.
 */
#include "reconcile/repack.h"
#include "unit.h"

enum { NODES = 4 };

/* Four nodes of 8 cores that differ in their names alone. */
struct cluster {
    struct resource_amount totals[NODES][1], others[NODES][1];
    struct label labels[NODES][2];
    struct node_record nodes[NODES];
    int64_t used[NODES];
    struct repack repack;
};

static int64_t used_of(void *ctx, uint32_t index, struct str resource)
{
    const struct cluster *cluster = ctx;

    assert_true(str_equal(resource, STR("cpu")));
    return cluster->used[index];
}

static struct cluster *make(void)
{
    static struct cluster cluster;
    static const char *const names[NODES] = {"a", "b", "c", "d"};

    cluster = (struct cluster){0};
    for (int i = 0; i < NODES; i++) {
        struct str name = str_of(names[i]);
        cluster.totals[i][0] = (struct resource_amount){STR("cpu"), 8000};
        cluster.others[i][0] = (struct resource_amount){STR("cpu"), 0};
        cluster.labels[i][0] =
            (struct label){STR("kubernetes.io/hostname"), name};
        cluster.labels[i][1] = (struct label){STR("rack"), STR("r1")};
        cluster.nodes[i] = (struct node_record){
            .name = name,
            .pool = STR("default"),
            .labels = cluster.labels[i],
            .label_count = 2,
            .total = {cluster.totals[i], 1},
            .foreign = {cluster.others[i], 1},
        };
    }
    cluster.repack = (struct repack){cluster.nodes, NODES, used_of, &cluster};
    return &cluster;
}

static uint32_t choose(struct cluster *cluster, int64_t milli)
{
    struct resource_amount amounts[] = {{STR("cpu"), milli}};
    struct resource_list request = {amounts, 1};

    return repack_choose(&cluster->repack, 0, &request);
}

static void a_node_with_room_is_kept(void **state)
{
    struct cluster *cluster = make();

    (void)state;
    cluster->used[1] = 4000; /* fuller, and would do */
    cluster->others[0][0].milli = 4000;
    assert_int_equal(choose(cluster, 4000), 0);
}

static void the_fullest_equal_node_is_taken_then_the_first(void **state)
{
    struct cluster *cluster = make();

    (void)state;
    cluster->others[0][0].milli = 4000;
    assert_int_equal(choose(cluster, 6000), 1);
    cluster->used[2] = 1000;
    cluster->others[3][0].milli = 1000;
    assert_int_equal(choose(cluster, 6000), 2);
    cluster->used[2] = 3000;
    assert_int_equal(choose(cluster, 6000), 3);
}

static void unlike_nodes_are_never_taken(void **state)
{
    struct cluster *cluster = make();
    struct taint taint = {STR("gpu"), STR("true"), TAINT_NO_SCHEDULE};

    (void)state;
    cluster->others[0][0].milli = 4000;
    cluster->labels[1][1].value = STR("r2");
    cluster->nodes[2].pool = STR("other");
    cluster->totals[3][0].milli = 16000;
    assert_int_equal(choose(cluster, 6000), REPACK_NONE);
    cluster->totals[3][0].milli = 8000;
    cluster->nodes[3].taints = &taint;
    cluster->nodes[3].taint_count = 1;
    assert_int_equal(choose(cluster, 6000), REPACK_NONE);
    cluster->nodes[3].taint_count = 0;
    cluster->nodes[3].is_unschedulable = true;
    assert_int_equal(choose(cluster, 6000), REPACK_NONE);
    cluster->nodes[3].is_unschedulable = false;
    assert_int_equal(choose(cluster, 6000), 3);
}

static void what_a_node_does_not_list_is_not_asked_of_it(void **state)
{
    struct cluster *cluster = make();
    struct resource_amount amounts[] = {{STR("cpu"), 1000},
                                        {STR("licence"), 5000}};
    struct resource_list request = {amounts, 2};

    (void)state;
    assert_int_equal(repack_choose(&cluster->repack, 0, &request), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_node_with_room_is_kept),
        cmocka_unit_test(the_fullest_equal_node_is_taken_then_the_first),
        cmocka_unit_test(unlike_nodes_are_never_taken),
        cmocka_unit_test(what_a_node_does_not_list_is_not_asked_of_it),
    };
    return RUN_TESTS(tests);
}
