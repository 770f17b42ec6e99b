/*
 * cancel and preempt for the jobs on an executor, on a node, of queues; and
 * other commands on executors.
 */
#include "armada/binoculars.pb-c.h"
#include "berth/api.pb-c.h"
#include "cli/commands/commands.h"
#include "cli/shared/check.h"
#include "cli/shared/placed_jobs.h"
#include "cli/shared/queues.h"
#include "cli/shared/states.h"

/* Which jobs are meant. */
struct selection {
    struct cli_names queues, classes, pools;
};

/* -p is required unless -a says that all are meant.  The server takes classes
 * and pools that there are not, and finds no jobs of them. */
static enum cli_exit take_classes(struct cli *cli, struct selection *selection)
{
    selection->classes = cli_list(cli, "priority-classes");
    if (cli_has(cli, "all-priority-classes")) {
        selection->classes.count = 0;
    } else if (selection->classes.count == 0) {
        return cli_fail(cli, CLI_USAGE,
                        "%s needs -p CLASS, or -a for all classes",
                        cli->command->path);
    }
    check_pools(cli, selection->pools.items, selection->pools.count,
                "no job is selected");
    return check_classes(cli, selection->classes.items,
                         selection->classes.count);
}

/* The queues of -q, or every queue: the server takes none for none. */
static enum cli_exit take_queues(struct cli *cli, struct selection *selection)
{
    struct queue_filter any = {0};
    struct queue_list list;

    selection->queues = cli_list(cli, "queues");
    if (selection->queues.count > 0) {
        return CLI_OK;
    }
    enum cli_exit rc = queues_get(cli, &any, &list);
    if (rc != CLI_OK) {
        return rc;
    }
    selection->queues.items =
        arena_alloc_array(&cli->arena, list.count, sizeof(char *));
    for (size_t i = 0; i < list.count; i++) {
        selection->queues.items[selection->queues.count++] =
            list.items[i]->name;
    }
    return CLI_OK;
}

/* What -p, -a and -q select; the options are checked. */
static enum cli_exit take_selection(struct cli *cli,
                                    struct selection *selection)
{
    enum cli_exit rc = take_classes(cli, selection);

    return rc == CLI_OK ? take_queues(cli, selection) : rc;
}

/* Send a request about the jobs on something, unless `method` is NULL, and say
 * what it does; `done` is "cancellation" or "preemption".  That jobs may not be
 * preempted is said, and stands in `jobs`: it is no failure here. */
static enum cli_exit send_on(struct cli *cli, const char *method,
                             const ProtobufCMessage *request, const char *done,
                             struct placed_jobs *jobs, const char *where)
{
    const char *name = jobs->node       ? jobs->node
                       : jobs->executor ? jobs->executor
                                        : jobs->queues.items[0];
    bool is_counted =
        strcmp(done, "preemption") == 0 && placed_jobs_count(cli, jobs);
    enum cli_exit rc = method ? cli_call_empty(cli, method, request) : CLI_OK;

    if (rc == CLI_OK && is_counted) {
        placed_jobs_report(cli, jobs, where, name);
    } else if (rc == CLI_OK) {
        cli_note(cli, "Requested %s of jobs %s %s", done, where, name);
    }
    return rc;
}

/* What a command returns that has done what can be done. */
static enum cli_exit outcome(enum cli_exit rc, uint32_t kept_count)
{
    return rc == CLI_OK && kept_count > 0 ? CLI_FAILED : rc;
}

static enum cli_exit on_executor(struct cli *cli, const char *method,
                                 const char *done)
{
    /* Cancelling and preempting take the same message. */
    Api__ExecutorCancelRequest request = API__EXECUTOR_CANCEL_REQUEST__INIT;
    struct selection selection = {.pools = cli_list(cli, "pools")};

    enum cli_exit rc = take_selection(cli, &selection);
    if (rc != CLI_OK) {
        return rc;
    }
    request.name = cli_argument(cli, 0);
    request.queues = selection.queues.items;
    request.n_queues = selection.queues.count;
    request.priorityclasses = selection.classes.items;
    request.n_priorityclasses = selection.classes.count;
    request.pools = selection.pools.items;
    request.n_pools = selection.pools.count;
    struct placed_jobs jobs = {
        .executor = request.name,
        .queues = selection.queues,
        .classes = selection.classes,
        .pools = selection.pools,
    };
    rc = send_on(cli, method, &request.base, done, &jobs, "on executor");
    rc = rc == CLI_OK ? check_executor(cli, request.name) : rc;
    return outcome(rc, jobs.kept_count);
}

enum cli_exit cmd_cancel_executor(struct cli *cli)
{
    return on_executor(cli, "/api.Executor/CancelOnExecutor", "cancellation");
}

enum cli_exit cmd_preempt_executor(struct cli *cli)
{
    return on_executor(cli, "/api.Executor/PreemptOnExecutor", "preemption");
}

static enum cli_exit on_node(struct cli *cli, const char *method,
                             const char *done)
{
    Api__NodeCancelRequest request = API__NODE_CANCEL_REQUEST__INIT;
    struct selection selection = {.pools = {0}};

    if (!cli_has(cli, "executor")) {
        return cli_fail(cli, CLI_USAGE, "%s needs -e EXECUTOR",
                        cli->command->path);
    }
    enum cli_exit rc = take_selection(cli, &selection);
    if (rc != CLI_OK) {
        return rc;
    }
    request.name = cli_argument(cli, 0);
    request.executor = cli_format(cli, "%s", cli_text(cli, "executor", ""));
    request.queues = selection.queues.items;
    request.n_queues = selection.queues.count;
    request.priorityclasses = selection.classes.items;
    request.n_priorityclasses = selection.classes.count;
    struct placed_jobs jobs = {
        .executor = request.executor,
        .node = request.name,
        .queues = selection.queues,
        .classes = selection.classes,
    };
    rc = send_on(cli, method, &request.base, done, &jobs, "on node");
    rc = rc == CLI_OK ? check_node(cli, request.name, request.executor) : rc;
    return outcome(rc, jobs.kept_count);
}

enum cli_exit cmd_cancel_node(struct cli *cli)
{
    return on_node(cli, "/api.Node/CancelOnNode", "cancellation");
}

enum cli_exit cmd_preempt_node(struct cli *cli)
{
    return on_node(cli, "/api.Node/PreemptOnNode", "preemption");
}

/* What is done to each queue of a list. */
struct queue_action {
    const char *method;
    const char *done;
    bool is_cancel;
    Api__JobState *states; /* of a cancellation */
    size_t state_count;
    uint32_t kept_count; /* jobs that may not be preempted, so far */
};

static enum cli_exit on_one_queue(struct cli *cli, struct queue_action *action,
                                  const struct selection *selection, char *name)
{
    Api__QueueCancelRequest cancel = API__QUEUE_CANCEL_REQUEST__INIT;
    Api__QueuePreemptRequest preempt = API__QUEUE_PREEMPT_REQUEST__INIT;

    cancel.name = preempt.name = name;
    cancel.priorityclasses = preempt.priorityclasses = selection->classes.items;
    cancel.n_priorityclasses = preempt.n_priorityclasses =
        selection->classes.count;
    cancel.pools = preempt.pools = selection->pools.items;
    cancel.n_pools = preempt.n_pools = selection->pools.count;
    cancel.jobstates = action->states;
    cancel.n_jobstates = action->state_count;
    struct placed_jobs jobs = {
        .queues = {&name, 1},
        .classes = selection->classes,
        .pools = selection->pools,
    };
    enum cli_exit rc =
        send_on(cli, cli_has(cli, "dry-run") ? NULL : action->method,
                action->is_cancel ? &cancel.base : &preempt.base, action->done,
                &jobs, "of queue");
    action->kept_count += jobs.kept_count;
    return rc;
}

static enum cli_exit on_queues(struct cli *cli, struct queue_action *action)
{
    struct selection selection = {.pools = cli_list(cli, "pools")};
    struct queue_filter filter;
    struct queue_list list;

    enum cli_exit rc = take_classes(cli, &selection);
    if (rc == CLI_OK) {
        rc = queues_filter(cli, "selector", &filter);
    }
    if (rc != CLI_OK) {
        return rc;
    }
    filter.is_only_cordoned = cli_has(cli, "only-cordoned");
    if (filter.name_count == 0 && filter.labels.count == 0 &&
        !filter.is_only_cordoned) {
        return cli_fail(cli, CLI_USAGE, "%s needs queues or -l LABELS",
                        cli->command->path);
    }
    rc = queues_get(cli, &filter, &list);
    for (size_t i = 0; rc == CLI_OK && i < list.count; i++) {
        rc = on_one_queue(cli, action, &selection, list.items[i]->name);
    }
    return outcome(rc, action->kept_count);
}

enum cli_exit cmd_cancel_queues(struct cli *cli)
{
    struct queue_action action = {
        .method = "/api.QueueService/CancelOnQueue",
        .done = "cancellation",
        .is_cancel = true,
    };

    enum cli_exit rc = states_of_option(cli, "job-states", &action.states,
                                        &action.state_count);
    if (rc == CLI_OK && action.state_count == 0) {
        return cli_fail(cli, CLI_USAGE,
                        "%s needs -s STATES: which jobs, some of queued, "
                        "leased, pending, running",
                        cli->command->path);
    }
    return rc == CLI_OK ? on_queues(cli, &action) : rc;
}

enum cli_exit cmd_preempt_queues(struct cli *cli)
{
    struct queue_action action = {
        .method = "/api.QueueService/PreemptOnQueue",
        .done = "preemption",
    };

    return on_queues(cli, &action);
}

static enum cli_exit set_executor(struct cli *cli, bool is_cordoned,
                                  char *reason)
{
    Api__ExecutorSettingsUpsertRequest request =
        API__EXECUTOR_SETTINGS_UPSERT_REQUEST__INIT;

    request.name = cli_argument(cli, 0);
    request.cordoned = is_cordoned;
    request.cordonreason = reason;
    enum cli_exit rc = cli_call_empty(
        cli, "/api.Executor/UpsertExecutorSettings", &request.base);
    if (rc != CLI_OK) {
        return rc;
    }
    cli_note(cli, "%s executor %s", is_cordoned ? "Cordoned" : "Uncordoned",
             request.name);
    return check_executor(cli, request.name);
}

enum cli_exit cmd_cordon_executor(struct cli *cli)
{
    return set_executor(cli, true, cli_argument(cli, 1));
}

enum cli_exit cmd_uncordon_executor(struct cli *cli)
{
    char none[] = "";

    return set_executor(cli, false, none);
}

enum cli_exit cmd_cordon_node(struct cli *cli)
{
    Binoculars__CordonRequest request = BINOCULARS__CORDON_REQUEST__INIT;

    request.node_name = cli_argument(cli, 0);
    return check_node_call(cli, "", "/binoculars.Binoculars/Cordon",
                           &request.base, "Cordoned");
}

enum cli_exit cmd_uncordon_node(struct cli *cli)
{
    Berth__Api__UncordonNodeRequest request =
        BERTH__API__UNCORDON_NODE_REQUEST__INIT;

    request.node_name = cli_argument(cli, 0);
    return check_node_call(cli, "", "/berth.api.Berth/UncordonNode",
                           &request.base, "Uncordoned");
}

enum cli_exit cmd_delete_executor(struct cli *cli)
{
    Api__ExecutorDeleteRequest request = API__EXECUTOR_DELETE_REQUEST__INIT;

    request.name = cli_argument(cli, 0);
    enum cli_exit is_there = check_executor(cli, request.name);
    enum cli_exit rc =
        cli_call_empty(cli, "/api.Executor/DeleteExecutor", &request.base);
    if (rc == CLI_OK && is_there == CLI_OK) {
        cli_note(cli, "Deleted executor %s", request.name);
    }
    return rc == CLI_OK ? is_there : rc;
}
