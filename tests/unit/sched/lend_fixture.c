#include "lend_fixture.h"

static void add_class(struct world *w, const char *name, int32_t priority)
{
    w->policy.classes[w->policy.class_count++] = (struct priority_class){
        .name = str_of(name),
        .priority = priority,
        .is_preemptible = true,
    };
}

int lend_setup(void **state)
{
    (void)world_setup(state);
    struct world *w = *state;

    w->policy.class_count = 0;
    add_class(w, "p0", 0);
    add_class(w, "p5", 5);
    add_class(w, "p10", 10);
    add_class(w, "p100", 100);
    add_class(w, "p1000", 1000);
    w->policy.classes[w->policy.class_count++] = (struct priority_class){
        .name = STR("kept"),
        .priority = 1000,
        .default_lifetime_ms = LIFETIME_INFINITE,
    };
    world_restart(w);
    return 0;
}

int lend_setup_object(void **state)
{
    (void)lend_setup(state);
    sched_preemption_set(((struct world *)*state)->sched, false);
    return 0;
}

uint32_t lend_node(struct world *w, const char *name, int64_t cores)
{
    return world_node(w, &(struct world_node){name, .cores = cores});
}

uint32_t lend_own(struct world *w, const char *class, int64_t cores)
{
    return world_submit(w, &(struct world_job){.queue = "A",
                                               .priority_class = class,
                                               .cores = cores});
}

uint32_t lend_foreign(struct world *w, const char *class, int64_t cores)
{
    return world_submit(w, &(struct world_job){.queue = "B",
                                               .priority_class = class,
                                               .cores = cores,
                                               .is_foreign = true});
}

bool lend_runs(const struct world *w, uint32_t job)
{
    return w->node_of[job] != SCHED_NONE;
}

void lend_assert_recalls(const struct world *w, uint32_t count)
{
    uint32_t found = 0;

    for (uint32_t i = 0; i < w->plan.decision_count; i++) {
        const struct sched_decision *decision = &w->plan.decisions[i];
        if (decision->action == SCHED_PREEMPT) {
            assert_int_equal(decision->preemption, SCHED_PREEMPT_HOME);
            found++;
        }
    }
    assert_int_equal(found, count);
}
