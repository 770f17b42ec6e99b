/* Exchanges: what executors say and are told, at once or over a session. */
#include "control/control_exchange.h"

#include <stdio.h>

#include "control/control_answers.h"
#include "control/control_executors.h"
#include "control/control_private.h"

/* Exchanges: inventory. */

static bool node_differs(struct control *c, struct control_executor *executor,
                         struct str pool, const struct node_record *record,
                         struct strbuf *buf)
{
    uint32_t index = names_find(&executor->node_names, record->name);

    if (index == NAMES_NONE || !executor->nodes.items[index].bytes) {
        return true;
    }
    struct control_node *node = &executor->nodes.items[index];
    node->seen_no = c->exchange_no;
    node_encode(buf, executor->id, pool, record);
    return buf->byte_count != node->byte_count ||
           memcmp(buf->bytes, node->bytes, buf->byte_count) != 0;
}

/* Nodes of a whole inventory that were not seen in this exchange. */
static uint32_t nodes_gone(struct control *c,
                           const struct control_executor *executor,
                           struct str *names)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < executor->nodes.count; i++) {
        if (executor->nodes.items[i].bytes &&
            executor->nodes.items[i].seen_no != c->exchange_no) {
            names[count++] = names_get(&executor->node_names, i);
        }
    }
    return count;
}

/* Nodes that a delta says are gone, each once; one that it lists as well is
 * there. */
static uint32_t nodes_said_gone(struct control *c,
                                struct control_executor *executor,
                                const struct exchange_request *request,
                                struct str *names)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < request->nodes_gone_count; i++) {
        uint32_t index =
            names_find(&executor->node_names, request->nodes_gone[i]);
        struct control_node *node =
            index == NAMES_NONE ? NULL : &executor->nodes.items[index];
        if (node && node->bytes && node->seen_no != c->exchange_no) {
            node->seen_no = c->exchange_no;
            names[count++] = names_get(&executor->node_names, index);
        }
    }
    return count;
}

static bool pending_differs(const struct control_executor *executor,
                            const struct exchange_request *request)
{
    auto_strbuf buf = {0};

    pending_encode(&buf, executor->id, request->pool, &request->pending);
    return buf.byte_count != executor->pending.byte_count ||
           (buf.byte_count &&
            memcmp(buf.bytes, executor->pending.bytes, buf.byte_count) != 0);
}

/* Whether a node changes its pool object with a record. */
static bool moves_node(const struct control *c,
                       const struct control_executor *executor,
                       const struct node_record *record)
{
    if (pools_object_count(c->pools) == 0) {
        return false;
    }
    uint32_t at = names_find(&executor->node_names, record->name);
    return at != NAMES_NONE && executor->nodes.items[at].bytes &&
           pools_node_moves(c->pools, executor->nodes.items[at].sched_node,
                            record);
}

/* Add what changed in an inventory; false if nothing did. */
static bool add_inventory(struct control *c, struct control_executor *executor,
                          const struct exchange_request *request)
{
    auto_strbuf buf = {0};
    struct event_scope scope = {0};
    struct event event;
    struct node_record *set =
        arena_alloc_array(&c->batch.arena, request->node_count, sizeof(*set));
    struct str *gone = arena_alloc_array(&c->batch.arena, executor->nodes.count,
                                         sizeof(*gone));

    memset(&event, 0, sizeof(event));
    event.type = EVENT_EXECUTOR_NODES;
    event.created_ms = c->batch.time_ms;
    event.nodes.executor_id = executor->id;
    event.nodes.pool = request->pool;
    for (uint32_t i = 0; i < request->node_count; i++) {
        if (request->nodes[i].name.byte_count &&
            node_differs(c, executor, request->pool, &request->nodes[i],
                         &buf)) {
            set[event.nodes.set_count++] = request->nodes[i];
            c->batch.moves_nodes |= moves_node(c, executor, &request->nodes[i]);
        }
    }
    event.nodes.set = set;
    if (request->is_full && request->has_nodes) {
        event.nodes.removed_count = nodes_gone(c, executor, gone);
    } else {
        event.nodes.removed_count = nodes_said_gone(c, executor, request, gone);
    }
    event.nodes.removed = gone;
    event.nodes.has_pending =
        request->has_pending && pending_differs(executor, request);
    if (event.nodes.has_pending) {
        event.nodes.pending = request->pending;
    }
    event.nodes.has_protected =
        request->has_protected && protected_differs(executor, request);
    if (event.nodes.has_protected) {
        event.nodes.protected_runs = protected_texts(request, &c->batch.arena);
        event.nodes.protected_count = request->protected_count;
    }
    if (executor->is_known && event.nodes.set_count == 0 &&
        event.nodes.removed_count == 0 && !event.nodes.has_pending &&
        !event.nodes.has_protected) {
        return false;
    }
    log_batch_add(&c->batch.log, &scope, &event);
    return true;
}

/* How many of the nodes are not in the table yet. */
static uint32_t count_fresh(const struct control_executor *executor,
                            const struct exchange_request *request)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < request->node_count; i++) {
        count += !executor || names_find(&executor->node_names,
                                         request->nodes[i].name) == NAMES_NONE;
    }
    return count;
}

/* Whether the table has room for all nodes, with those of this batch. */
static bool has_room_for_nodes(struct control *c,
                               const struct control_executor *executor,
                               const struct exchange_request *request)
{
    uint32_t fresh_count = count_fresh(executor, request);
    uint64_t total = (uint64_t)c->metrics.node_count +
                     c->batch.fresh_node_count + fresh_count;

    if (fresh_count > 0 && total > NODES_MAX) {
        return false;
    }
    c->batch.fresh_node_count += fresh_count;
    return true;
}

/* Whether an inventory moves nodes from pool to pool while a plan is being
 * made: that waits for it, as all does that changes pools. */
static bool moves_nodes_of_plans(const struct control *c,
                                 const struct control_executor *executor,
                                 const struct exchange_request *request)
{
    if (!request->has_nodes || !pools_is_any_busy(c->pools)) {
        return false;
    }
    for (uint32_t i = 0; i < request->node_count; i++) {
        if (moves_node(c, executor, &request->nodes[i])) {
            return true;
        }
    }
    return false;
}

bool exchange_must_wait(struct control *c, const struct command *command)
{
    const struct exchange_request *request = &command->exchange.request;
    struct control_executor *executor =
        control_find_executor(c, request->executor_id);

    if (executor && moves_nodes_of_plans(c, executor, request)) {
        executor->heard_ns = control_mono_ns(c);
        c->holds_plans = true;
        return true;
    }
    return executor && executor->is_in_batch;
}

/* Whether another program than the one that holds the executor's stream goes
 * by the same id.  The two would take each other's leases and have each other's
 * nodes forgotten, in turns.  A program that comes again, with a new stream, is
 * the same one, and one that does not say who it is has the benefit of the
 * doubt.  A stream may outlive its machine by minutes, but nothing is heard on
 * it: whoever comes in its stead does not wait for that. */
static bool is_twin(struct control *c, const struct control_executor *executor,
                    const struct exchange_request *request)
{
    uint64_t silent_ns = control_mono_ns(c) - executor->heard_ns;
    bool is_heard = silent_ns < (uint64_t)CONTROL_TWIN_MS * NS_PER_MS;

    return is_heard && executor->session &&
           request->session != executor->session && executor->instance &&
           request->instance && executor->instance != request->instance;
}

static void answer_twin(struct control *c, struct command *command)
{
    struct str id = command->exchange.request.executor_id;
    char text[ERR_TEXT_BYTES_MAX];

    (void)snprintf(text, sizeof(text),
                   "another executor called \"%.*s\" is connected; give each "
                   "an id of its own (--id, executor.id)",
                   STR_ARG(id));
    c->metrics.twin_count++;
    if (c->config.hooks.twin) {
        c->config.hooks.twin(c->config.hooks.ctx, id);
    }
    command_answer(command, COMMAND_EXISTS, text);
}

bool exchange_take(struct control *c, struct command *command)
{
    const struct exchange_request *request = &command->exchange.request;
    bool is_logged = false;

    if (request->executor_id.byte_count == 0) {
        command_answer(command, COMMAND_INVALID, "the executor has no id");
        return false;
    }
    struct control_executor *executor =
        control_find_executor(c, request->executor_id);
    if (!executor && c->executor_names.live_count >= EXECUTORS_MAX) {
        command_answer(command, COMMAND_OVERLOADED,
                       "there are as many executors as this server can hold");
        return false;
    }
    if (executor && is_twin(c, executor, request)) {
        answer_twin(c, command);
        return false;
    }
    if (!has_room_for_nodes(c, executor, request)) {
        command_answer(command, COMMAND_OVERLOADED,
                       "there are as many nodes as this server can hold");
        return false;
    }
    executor = executor_get(c, request->executor_id);
    executor->heard_ns = control_mono_ns(c);
    c->exchange_no++;
    if (!executor->is_known || request->has_nodes || request->has_protected) {
        is_logged = add_inventory(c, executor, request);
    }
    if (executor->state != EXECUTOR_LIVE) {
        batch_add_state(c, executor, EXECUTOR_LIVE);
        is_logged = true;
    }
    if (!is_logged) {
        exchange_answer(c, command);
        return false;
    }
    executor->is_in_batch = true;
    return true;
}

/* Exchanges: leases and cancels. */

static struct str keep(struct arena *arena, struct str s)
{
    return arena_str(arena, s);
}

/* The value of a label on a node as it was last reported. */
static struct str node_label(struct control *c,
                             const struct control_executor *executor,
                             struct str node_name, struct str key,
                             struct arena *arena)
{
    uint32_t index = names_find(&executor->node_names, node_name);
    struct event event;
    struct err err;

    if (index == NAMES_NONE || !executor->nodes.items[index].bytes) {
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
    return label ? keep(arena, label->value) : (struct str){0};
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
            taints[lease->away_taint_count++] = (struct taint){
                keep(arena, type->taints[t].key),
                keep(arena, type->taints[t].value), type->taints[t].effect};
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
    *lease = (struct exchange_lease){
        .job = view.id,
        .run = view.run.id,
        .queue = keep(arena, view.queue),
        .job_set = keep(arena, view.job_set),
        .user = keep(arena, view.user),
        .node_name = keep(arena, view.run.node_name),
        .pool = keep(arena, view.run.pool),
        .is_preemptible = jobs_is_preemptible(c->jobs, job),
    };
    fill_away(c, &view, arena, lease);
    if (digest.gang_uniformity.byte_count) {
        lease->gang_uniformity_label = keep(arena, digest.gang_uniformity);
        lease->gang_uniformity_value =
            node_label(c, executor, view.run.node_name,
                       lease->gang_uniformity_label, arena);
    }
}

/* Note what an executor says that it holds, and collect what it must stop:
 * runs that are not known, or not of this executor. */
static void note_held(struct control *c,
                      const struct control_executor *executor,
                      struct command *command)
{
    const struct exchange_request *request = &command->exchange.request;
    struct exchange_response *response = &command->exchange.response;
    uint32_t index = executor_index(c, executor);

    response->cancels = arena_alloc_array(&command->arena, request->run_count,
                                          sizeof(*response->cancels));
    for (uint32_t i = 0; i < request->run_count; i++) {
        struct job_view view;
        uint32_t job = jobs_find_run(c->jobs, request->runs[i]);
        if (job != JOBS_NONE) {
            jobs_get(c->jobs, job, &view);
        }
        if (job == JOBS_NONE ||
            c->notes.items[view.run.index].executor != index) {
            response->cancels[response->cancel_count++] = request->runs[i];
            continue;
        }
        c->notes.items[view.run.index].exchange_no = c->exchange_no;
        c->notes.items[view.run.index].session_no = executor->session_no;
    }
    for (uint32_t i = 0; i < request->runs_gone_count; i++) {
        struct job_view view;
        uint32_t job = jobs_find_run(c->jobs, request->runs_gone[i]);
        if (job != JOBS_NONE) {
            jobs_get(c->jobs, job, &view);
            c->notes.items[view.run.index].session_no = 0;
        }
    }
}

/* A whole exchange: lease what is not held, oldest first. */
static void lease_full(struct control *c, struct control_executor *executor,
                       struct command *command, bool is_session)
{
    struct exchange_response *response = &command->exchange.response;
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
    if (leases.count > 0) {
        response->leases = arena_alloc_array(&command->arena, leases.count,
                                             sizeof(*response->leases));
        memcpy(response->leases, leases.items,
               leases.count * sizeof(*leases.items));
        response->lease_count = (uint32_t)leases.count;
    }
    if (is_session) {
        executor->credit = lease_max - response->lease_count;
    }
    VEC_FREE(&leases);
}

/* Lease from the list of what the session does not know, within its credit;
 * the number of leases. */
static uint32_t lease_unsent(struct control *c,
                             struct control_executor *executor,
                             struct arena *arena,
                             struct exchange_lease **ret_leases)
{
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
    executor->credit -= count;
    *ret_leases = leases;
    return count;
}

void session_detach(struct control_executor *executor,
                    enum command_result result)
{
    struct exchange_session *session = executor->session;

    executor->session = NULL;
    executor->unsent.count = executor->unsent_first = 0;
    executor->cancels.count = 0;
    if (session) {
        session->released(session, result);
    }
}

static void session_attach(struct control *c, struct control_executor *executor,
                           struct exchange_session *session)
{
    if (executor->session == session) {
        return;
    }
    if (executor->session) {
        c->metrics.session_count--;
    }
    session_detach(executor, COMMAND_INVALID);
    executor->session = session;
    executor->session_no = ++c->session_no;
    c->metrics.session_count++;
}

void exchange_answer(struct control *c, struct command *command)
{
    const struct exchange_request *request = &command->exchange.request;
    struct exchange_response *response = &command->exchange.response;
    struct control_executor *executor = executor_get(c, request->executor_id);

    executor->is_in_batch = false;
    executor->heard_ns = control_mono_ns(c);
    c->exchange_no++;
    if (request->session) {
        session_attach(c, executor, request->session);
        executor->instance = request->instance;
    }
    note_held(c, executor, command);
    if (!request->session || request->is_full) {
        lease_full(c, executor, command, request->session != NULL);
    } else {
        executor->credit = request->lease_max;
        response->lease_count =
            lease_unsent(c, executor, &command->arena, &response->leases);
    }
    command_answer(command, COMMAND_OK, "");
}

void session_end(struct control *c, struct command *command)
{
    for (size_t i = 0; i < c->executors.count; i++) {
        struct control_executor *executor = c->executors.items[i];
        if (executor && executor->session &&
            executor->session == command->session_end.session) {
            c->metrics.session_count--;
            session_detach(executor, COMMAND_OK);
        }
    }
    command_answer(command, COMMAND_OK, "");
}

void sessions_release(struct control *c)
{
    for (size_t i = 0; i < c->executors.count; i++) {
        if (c->executors.items[i]) {
            session_detach(c->executors.items[i], COMMAND_UNAVAILABLE);
        }
    }
    c->metrics.session_count = 0;
}

/* What the fold tells of runs. */

void note_run_began(struct control *c, uint32_t run, struct str executor_id,
                    struct run_id id)
{
    struct control_executor *executor = executor_get(c, executor_id);

    while (c->notes.count <= run) {
        VEC_PUSH(&c->notes, (struct run_note){0});
    }
    c->notes.items[run] =
        (struct run_note){.executor = executor_index(c, executor)};
    executor->unacknowledged_count++;
    executor_sync(c, executor);
    if (executor->session) {
        VEC_PUSH(&executor->unsent, (struct unsent_run){run, id});
    }
}

void note_run_acknowledged(struct control *c, uint32_t run)
{
    struct control_executor *executor =
        c->executors.items[c->notes.items[run].executor];

    ASSERT(executor->unacknowledged_count > 0);
    executor->unacknowledged_count--;
    executor_sync(c, executor);
}

void note_run_unwanted(struct control *c, uint32_t run, struct run_id id)
{
    struct control_executor *executor =
        c->executors.items[c->notes.items[run].executor];

    if (executor->session &&
        c->notes.items[run].session_no == executor->session_no) {
        VEC_PUSH(&executor->cancels, id);
    }
}

static void session_push(struct control *c, struct control_executor *executor)
{
    auto_arena arena = {0};
    struct exchange_response response = {
        .cancels = executor->cancels.items,
        .cancel_count = (uint32_t)executor->cancels.count,
    };

    if (executor->credit > 0 &&
        executor->unsent_first < executor->unsent.count) {
        response.lease_count =
            lease_unsent(c, executor, &arena, &response.leases);
    }
    if (response.lease_count > 0 || response.cancel_count > 0) {
        executor->session->push(executor->session, &response);
    }
    executor->cancels.count = 0;
}

void sessions_push(struct control *c)
{
    if (c->metrics.session_count == 0) {
        return;
    }
    for (size_t i = 0; i < c->executors.count; i++) {
        if (c->executors.items[i] && c->executors.items[i]->session) {
            session_push(c, c->executors.items[i]);
        }
    }
}
