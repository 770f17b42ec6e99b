/* Jobs that are each a class of their own: what a user with a counter in a
 * request can do to everybody's rounds. */
#include "cluster.h"
#include "measure.h"
#include "sched_cases.h"

static const int64_t GI_MILLI = ((int64_t)1 << 30) * 1000;

/* `count` jobs of 1 core and a little more memory each. */
static void add_unique(struct cluster *cluster, uint32_t count, uint32_t queues)
{
    for (uint32_t i = 0; i < count; i++) {
        struct resource_amount amounts[] = {
            {STR("cpu"), 1000},
            {STR("memory"), GI_MILLI + (int64_t)i * 1000},
        };
        struct requirement requirement = {
            .lifetime_ms = LIFETIME_BY_CLASS,
            .priority_class = STR("armada-preemptible"),
            .requests = {amounts, 2},
        };
        cluster->class_index = sched_class_add(cluster->sched, &requirement);
        cluster_add_jobs(cluster, i % queues, 1, 1, 1);
    }
}

static void say(const char *name, double seconds)
{
    measure_print(&(struct figure){name, "s", 0}, seconds);
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

void case_unique_classes(uint32_t tenths)
{
    uint32_t jobs = sized(100000, tenths), nodes = sized(5000, tenths);
    double first_s = 1e9, full_s = 1e9, add_s = 1e9;

    for (int i = 0; i < 3; i++) {
        struct cluster cluster;
        struct sched_plan plan;
        cluster_make(&cluster, nodes);
        cluster_add_queues(&cluster, 101);
        double start_s = measure_now_s();
        add_unique(&cluster, jobs, 100);
        add_s = least(add_s, measure_now_s() - start_s);
        first_s =
            least(first_s, cluster_plan(&cluster, 1, ROUND_BALANCE, &plan));
        cluster_apply(&cluster, &plan, 1);
        /* The same again, where other work has left no room for it. */
        struct resource_amount amounts[] = {{STR("cpu"), 1000}};
        struct requirement requirement = {.lifetime_ms = LIFETIME_BY_CLASS,
                                          .priority_class =
                                              STR("armada-default"),
                                          .requests = {amounts, 1}};
        cluster.class_index = sched_class_add(cluster.sched, &requirement);
        cluster_add_jobs(&cluster, 100, 1, nodes * 32, 1);
        cluster_plan(&cluster, 2, ROUND_BALANCE, &plan);
        cluster_apply(&cluster, &plan, 2);
        add_unique(&cluster, jobs, 100);
        full_s = least(full_s, cluster_plan(&cluster, 3, ROUND_BALANCE, &plan));
        cluster_fini(&cluster);
    }
    say("sched.unique_class_add_s", add_s);
    say("sched.unique_class_round_s", first_s);
    say("sched.unique_class_full_round_s", full_s);
}
