/* Which leases and cancels an executor receives: those that it does not hold
 * yet, oldest first, within its credit. */
#include "control/exchange/exchange.h"
#include "control/fold/executors.h"
#include "control/state/state.h"

/* The value of a label on a node as it was last reported. */
static struct str node_label(struct control *c,
                             const struct control_executor *executor,
                             struct str node_name, struct str key,
                             struct arena *arena)
{
    uint32_t index = intern_find(&executor->node_names, node_name);
    struct event event;
    struct err err;

    if (index == INTERN_NONE || !executor->nodes.items[index].bytes) {
        return (struct str){0};
    }
    const struct control_node *node = &executor->nodes.items[index];
    arena_reset(&c->scratch);
    if (log_decode_event(str_make(node->bytes, node->byte_count), &c->scratch,
                         &event, &err) < 0) {
        return (struct str){0};
    }
    const struct label *label = label_find(event.nodes.set[0].labels,
                                           event.nodes.set[0].label_count, key);
    return label ? arena_str(arena, label->value) : (struct str){0};
}

/* A run that is less urgent than its class is away: the taints of the node
 * types that it may be on (it is bound to its node). */
static void fill_away(struct control *c, const struct job_view *view,
                      struct arena *arena, struct exchange_lease *lease)
{
    const struct policy *policy = &c->policy->policy;
    auto_arena scratch = {0};
    struct requirement requirement;

    if (policy->node_type_count == 0 ||
        requirement_unpack(view->class_key, &scratch, &requirement) < 0) {
        return;
    }
    const struct priority_class *class_ =
        &policy
             ->classes[policy_class_index(policy, requirement.priority_class)];
    struct taint *taints = arena_alloc_array(
        arena, (size_t)POLICY_AWAY_MAX * POLICY_TAINTS_MAX, sizeof(*taints));
    for (uint32_t i = 0; i < class_->away_count; i++) {
        const struct node_type *type =
            &policy->node_types[class_->away[i].type_index];
        bool is_there = class_->away[i].priority == view->run.priority;
        for (uint32_t t = 0; is_there && t < type->taint_count; t++) {
            ASSERT(lease->away_taint_count <
                   POLICY_AWAY_MAX * POLICY_TAINTS_MAX);
            taints[lease->away_taint_count++] =
                (struct taint){arena_str(arena, type->taints[t].key),
                               arena_str(arena, type->taints[t].value),
                               type->taints[t].effect};
        }
    }
    lease->away_taints = taints;
}

static void fill_lease(struct control *c,
                       const struct control_executor *executor, uint32_t job,
                       struct arena *arena, struct exchange_lease *lease)
{
    struct job_view view;
    struct job_digest digest;

    jobs_get(c->jobs, job, &view);
    jobs_digest(c->jobs, job, &digest);
    /* Only the executor that a run was leased to hears of it. */
    ASSERT(view.has_run && str_equal(view.run.executor_id, executor->id));
    *lease = (struct exchange_lease){
        .job = view.id,
        .run = view.run.id,
        .queue = arena_str(arena, view.queue),
        .job_set = arena_str(arena, view.job_set),
        .user = arena_str(arena, view.user),
        .node_name = arena_str(arena, view.run.node_name),
        .pool = arena_str(arena, view.run.pool),
        .is_preemptible = jobs_is_preemptible(c->jobs, job),
        .was_reported = view.state == JOB_PENDING || view.state == JOB_RUNNING,
    };
    fill_away(c, &view, arena, lease);
    if (digest.gang_uniformity.byte_count) {
        lease->gang_uniformity_label = arena_str(arena, digest.gang_uniformity);
        lease->gang_uniformity_value =
            node_label(c, executor, view.run.node_name,
                       lease->gang_uniformity_label, arena);
    }
}

static void set_leases(struct command *command,
                       const struct exchange_lease *leases, size_t count)
{
    struct exchange_response *response = &command->exchange.response;

    if (count > 0) {
        response->leases =
            arena_alloc_array(&command->arena, count, sizeof(*leases));
        memcpy(response->leases, leases, count * sizeof(*leases));
        response->lease_count = (uint32_t)count;
    }
}

void lease_full(struct control *c, struct control_executor *executor,
                struct command *command, bool is_session)
{
    uint32_t lease_max = command->exchange.request.lease_max;
    VEC(struct exchange_lease) leases = {0};
    uint32_t job = JOBS_NONE;

    if (is_session) {
        executor->unsent.count = executor->unsent_first = 0;
    }
    while ((job = jobs_next_on_executor(c->jobs, executor->id, job)) !=
           JOBS_NONE) {
        struct job_view view;
        jobs_get(c->jobs, job, &view);
        struct run_note *note = &c->notes.items[view.run.index];
        if (note->exchange_no == c->exchange_no) {
            continue;
        }
        if (leases.count < lease_max) {
            VEC_PUSH(&leases, (struct exchange_lease){0});
            fill_lease(c, executor, job, &command->arena,
                       &leases.items[leases.count - 1]);
            note->session_no = executor->session_no;
        } else if (is_session) {
            note->session_no = 0;
            VEC_PUSH(&executor->unsent,
                     (struct unsent_run){view.run.index, view.run.id});
        } else {
            break;
        }
    }
    set_leases(command, leases.items, leases.count);
    if (is_session) {
        executor->credit = lease_max - (uint32_t)leases.count;
    }
    VEC_FREE(&leases);
}

uint32_t lease_unsent(struct control *c, struct control_executor *executor,
                      struct arena *arena, struct exchange_lease **ret_leases)
{
    ASSERT(executor->unsent_first <= executor->unsent.count);
    size_t listed = executor->unsent.count - executor->unsent_first;
    uint32_t room =
        listed < executor->credit ? (uint32_t)listed : executor->credit;
    struct exchange_lease *leases =
        arena_alloc_array(arena, room, sizeof(*leases));
    uint32_t count = 0;

    while (count < room && executor->unsent_first < executor->unsent.count) {
        struct unsent_run unsent =
            executor->unsent.items[executor->unsent_first++];
        uint32_t job = jobs_find_run(c->jobs, unsent.id);
        if (job == JOBS_NONE || !job_state_has_run(jobs_state(c->jobs, job)) ||
            c->notes.items[unsent.run].session_no == executor->session_no) {
            continue; /* ended meanwhile, or known */
        }
        fill_lease(c, executor, job, arena, &leases[count++]);
        c->notes.items[unsent.run].session_no = executor->session_no;
    }
    if (executor->unsent_first == executor->unsent.count) {
        executor->unsent.count = executor->unsent_first = 0;
    }
    ASSERT(count <= executor->credit);
    executor->credit -= count;
    *ret_leases = leases;
    return count;
}
