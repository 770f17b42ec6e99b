#include "cli/command_table.h"

#include "cli/commands/commands.h"
#include "cli/shared/newest.h"

const struct option_spec command_common_options[] = {
    {"config", 0, OPTION_TEXT, "FILE",
     "configuration file (~/.berthctl.yaml, else ~/.armadactl.yaml)"},
    {"berthUrl", 0, OPTION_TEXT, "HOST:PORT",
     "address of the server (BERTH_SERVER in the environment, else the "
     "configuration file's)"},
    {"armadaUrl", 0, OPTION_TEXT, "HOST:PORT", "the same as --berthUrl"},
    {"context", 'c', OPTION_TEXT, "NAME",
     "context of the configuration file to use"},
    {"output", 'o', OPTION_TEXT, "FORMAT",
     "output format: text, wide (nothing cut), csv (tables), json, yaml, name, "
     "custom-columns=HEADING:.PATH,... or jsonpath=TEMPLATE (text)"},
    {"help", 'h', OPTION_FLAG, NULL, "show this help"},
};
const uint32_t command_common_option_count =
    ARRAY_COUNT(command_common_options);

#define DRY_RUN                                                       \
    {                                                                 \
        "dry-run", 0, OPTION_FLAG, NULL, "check only; change nothing" \
    }
#define QUEUES                                                                 \
    {                                                                          \
        "queues", 'q', OPTION_LIST, "Q,...", "only jobs of these queues (all)" \
    }
#define CLASSES                                         \
    {"priority-classes", 'p', OPTION_LIST, "C,...",     \
     "only jobs of these priority classes"},            \
    {                                                   \
        "all-priority-classes", 'a', OPTION_FLAG, NULL, \
            "jobs of all priority classes"              \
    }
#define POOLS                                                        \
    {                                                                \
        "pools", 0, OPTION_LIST, "P,...", "only jobs in these pools" \
    }
#define INVERSE                                           \
    {                                                     \
        "inverse", 0, OPTION_FLAG, NULL,                  \
            "select the queues that do not match instead" \
    }
#define ONLY_CORDONED                                                 \
    {                                                                 \
        "only-cordoned", 0, OPTION_FLAG, NULL, "only cordoned queues" \
    }
#define FILE_OPTION                                    \
    {                                                  \
        "file", 'f', OPTION_TEXT, "FILE",              \
            "file of the objects; - is standard input" \
    }
#define VERBOSE                                                            \
    {                                                                      \
        "verbose", 'v', OPTION_COUNT, NULL, "more detail; may be repeated" \
    }

static const struct option_spec submit_options[] = {
    {"queue", 'q', OPTION_TEXT, "NAME",
     "submit to this queue instead of the file's"},
    {"job-set", 'j', OPTION_TEXT, "NAME",
     "use this job set instead of the file's"},
    {"set", 0, OPTION_LIST, "NAME=VALUE,...",
     "values of the file's `parameters`"},
    {"values", 0, OPTION_TEXT, "FILE",
     "the same from a file: a mapping, or a list of mappings, for each of "
     "which "
     "all jobs are submitted"},
    {"dry-run", 0, OPTION_FLAG, NULL,
     "only read the file; ask no server.  With -o it writes the documents that "
     "would be sent"},
    {"check", 0, OPTION_FLAG, NULL,
     "let the server check the jobs; submit nothing"},
    {"when", 0, OPTION_FLAG, NULL,
     "the same, and say when the jobs would start, and why not at once; needs "
     "the permission watch_all_events"},
};
static const struct option_spec training_jobs_options[] = {
    {"queue", 'q', OPTION_TEXT, "NAME", "only those of this queue"},
};
static const struct option_spec update_training_job_options[] = {
    {"queue", 'q', OPTION_TEXT, "NAME",
     "its queue, needed if several queues have that name"},
    {"priority-class", 'p', OPTION_TEXT, "CLASS",
     "experiment, offline, normal, production, or another class (required)"},
};
static const struct option_spec delete_training_job_options[] = {
    {"queue", 'q', OPTION_TEXT, "NAME",
     "its queue, needed if several queues have that name"},
};
static const struct option_spec usage_options[] = {
    {"queue", 'q', OPTION_TEXT, "NAME", "only of this queue"},
    {"user", 'u', OPTION_TEXT, "NAME", "only of jobs of this user"},
    {"me", 0, OPTION_FLAG, NULL, "only of your own jobs"},
    {"from", 0, OPTION_TEXT, "DAY", "from this day (UTC, 2026-01-31) on"},
    {"to", 0, OPTION_TEXT, "DAY", "up to this day, included"},
    {"by", 0, OPTION_LIST, "WHAT,...",
     "a row for each queue, user and day, as named (queue); an empty list "
     "gives one row"},
};
static const struct option_spec what_if_options[] = {
    {"set", 0, OPTION_LIST, "PATH=VALUE,...",
     "queue.NAME.weight=2, class.NAME.priority=500 or "
     "class.NAME.limit.RESOURCE=0.5"},
    {"add-nodes", 0, OPTION_LIST, "COUNT[=NODE],...",
     "add COUNT nodes like NODE (the first by name)"},
    {"drain", 0, OPTION_LIST, "NODE,...",
     "these nodes get no more jobs, and those that may be preempted are"},
    {"submit", 0, OPTION_TEXT, "FILE", "the jobs of this file are submitted"},
    {"queue", 'q', OPTION_TEXT, "NAME", "to this queue instead of the file's"},
    {"job-set", 'j', OPTION_TEXT, "NAME",
     "in this job set instead of the file's"},
    {"scheduling", 0, OPTION_TEXT, "FILE",
     "the server's section `scheduling` is this file"},
    {"for", 0, OPTION_TEXT, "TIME", "how far to look, such as 90s or 1h (1m)"},
    {"limit", 0, OPTION_TEXT, "N", "show so many jobs at most (1000)"},
};
static const struct option_spec periodic_options[] = {
    {"queue", 'q', OPTION_TEXT, "NAME",
     "their queue; needed if several queues have that name"},
};
static const struct option_spec get_periodic_options[] = {
    {"queue", 'q', OPTION_TEXT, "NAME", "only those of this queue"},
};
static const struct option_spec put_periodic_options[] = {
    FILE_OPTION,
    {"queue", 'q', OPTION_TEXT, "NAME", "in this queue instead of the file's"},
    {"job-set", 'j', OPTION_TEXT, "NAME",
     "in this job set instead of the file's"},
};
static const struct option_spec job_sets_options[] = {
    {"queue", 'q', OPTION_TEXT, "NAME", "only those of this queue"},
};
static const struct option_spec watch_options[] = {
    {"raw", 0, OPTION_FLAG, NULL,
     "write events as JSON; without it a terminal shows a table"},
    {"exit-if-inactive", 0, OPTION_FLAG, NULL,
     "exit with code 0 when all jobs have ended"},
    {"exit-code", 0, OPTION_FLAG, NULL,
     "the same, but with code 7 unless all have succeeded"},
    {"force-new-events", 0, OPTION_FLAG, NULL,
     "accepted for armadactl; no effect"},
    {"force-legacy-events", 0, OPTION_FLAG, NULL,
     "accepted for armadactl; no effect"},
};
static const struct option_spec wait_options[] = {
    SELECTION_FILTER_OPTIONS,
    {"for", 0, OPTION_TEXT, "WHAT",
     "until all have ended (ended), until one has (any), or until all have "
     "succeeded or one has not (succeeded)"},
    {"timeout", 0, OPTION_TEXT, "TIME",
     "stop waiting after this time (90s, 1h30m)"},
};
#define YES                                     \
    {                                           \
        "yes", 'y', OPTION_FLAG, NULL,          \
            "do not ask for confirmation when " \
            "options select the jobs"           \
    }
static const struct option_spec job_act_options[] = {SELECTION_FILTER_OPTIONS,
                                                     YES};
static const struct option_spec preempt_job_options[] = {
    SELECTION_FILTER_OPTIONS,
    YES,
    {"reason", 0, OPTION_TEXT, "TEXT", "reason, shown in the jobs' events"},
};
static const struct option_spec run_options[] = {
    {"queue", 'q', OPTION_TEXT, "NAME", "queue of the job (required)"},
    {"job-set", 'j', OPTION_TEXT, "NAME",
     "job set of the job (its name, or else run)"},
    {"name", 0, OPTION_TEXT, "NAME",
     "name of the job: its label " SELECTION_NAME_LABEL},
    {"label", 'l', OPTION_LIST, "K=V,...", "labels of the job"},
    {"cpu", 0, OPTION_TEXT, "N", "processors (1)"},
    {"memory", 'm', OPTION_TEXT, "M", "memory (1Gi)"},
    {"gpu", 0, OPTION_TEXT, "N", "number of GPUs, nvidia.com/gpu (0)"},
    {"storage", 0, OPTION_TEXT, "M", "ephemeral storage (1Gi)"},
    {"image", 0, OPTION_TEXT, "IMAGE", "image of the container (none)"},
    {"env", 'e', OPTION_LIST, "K=V,...", "variables of its environment"},
    {"namespace", 0, OPTION_TEXT, "NAME", "namespace of the pod (default)"},
    {"priority", 0, OPTION_TEXT, "N",
     "priority in the queue; smaller goes first (0)"},
    {"priority-class", 'p', OPTION_TEXT, "CLASS",
     "priority class (the server's default)"},
    {"script", 0, OPTION_TEXT, "FILE",
     "run this script, whose present text is sent with the job; the "
     "arguments follow"},
    {"array", 0, OPTION_TEXT, "INDEXES",
     "submit a job for each index (0-99 or 1,4,7-9; 0-99%20: at most 20 of "
     "them run at once); the job finds its index in BERTH_ARRAY_INDEX"},
    {"after", 0, OPTION_LIST, "JOB,...",
     "start it after these jobs: ids or client/CLIENT_ID, followed by "
     ":succeeded (the default), :ended or :failed"},
    {"hold", 0, OPTION_FLAG, NULL, "hold the job until release job"},
    {"schedule", 0, OPTION_TEXT, "CRON",
     "make a periodic job instead: submit it whenever this says, such as "
     "\"0 3 * * *\" or @daily; needs --name"},
    {"time-zone", 0, OPTION_TEXT, "ZONE",
     "the schedule's, such as Europe/Berlin (UTC)"},
    {"concurrency", 0, OPTION_TEXT, "POLICY",
     "if a run has not ended when the next is due: Allow, Forbid or Replace "
     "(Allow)"},
    {"begin", 0, OPTION_TEXT, "TIME",
     "do not start it before this time (RFC 3339)"},
    {"max-wait", 0, OPTION_TEXT, "TIME",
     "fail the job if it has not started after this time (90s, 1h30m)"},
    {"file", 0, OPTION_LIST, "LOCAL[=PATH],...",
     "send these files with the job, at most 64 with 64 KiB together; it finds "
     "them in the folder in which it starts"},
    {"output-path", 0, OPTION_TEXT, "PATH",
     "keep the files that the job leaves at this path of its container, for "
     "get files and cp"},
    {"follow", 'f', OPTION_FLAG, NULL,
     "show the output until the job has ended, and exit with its code"},
    {"timestamps", 0, OPTION_FLAG, NULL,
     "with --follow: write the time before each line"},
};
static const struct option_spec exec_options[] = {
    {"stdin", 'i', OPTION_FLAG, NULL,
     "let the program read what berthctl reads; else it reads nothing"},
    {"tty", 't', OPTION_FLAG, NULL,
     "give the program a terminal, and show what it writes as it is; without "
     "it what a terminal would obey is shown instead of obeyed"},
    {"container", 0, OPTION_TEXT, "NAME", "in this container (the first)"},
    {"timeout", 0, OPTION_TEXT, "TIME",
     "end the program after this time, such as 90s or 1h (24h)"},
};
static const struct option_spec on_executor_options[] = {QUEUES, CLASSES,
                                                         POOLS};
static const struct option_spec on_node_options[] = {
    {"executor", 'e', OPTION_TEXT, "NAME", "executor of the node (required)"},
    QUEUES,
    CLASSES,
};
static const struct option_spec cancel_queues_options[] = {
    {"job-states", 's', OPTION_LIST, "S,...",
     "only jobs in these states: queued, leased, pending, running (required)"},
    CLASSES,
    POOLS,
    {"selector", 'l', OPTION_LIST, "K=V,...", "only queues with these labels"},
    INVERSE,
    ONLY_CORDONED,
    DRY_RUN,
};
static const struct option_spec preempt_queues_options[] = {
    CLASSES,
    POOLS,
    {"selector", 'l', OPTION_LIST, "K=V,...", "only queues with these labels"},
    INVERSE,
    ONLY_CORDONED,
    DRY_RUN,
};
static const struct option_spec create_options[] = {FILE_OPTION, DRY_RUN};
static const struct option_spec queue_options[] = {
    {"priority-factor", 0, OPTION_TEXT, "F",
     "1 or more; the queue's weight is its inverse (1)"},
    {"owners", 0, OPTION_LIST, "U,...",
     "users with all permissions on the queue"},
    {"group-owners", 0, OPTION_LIST, "G,...",
     "groups with all permissions on the queue"},
    {"cordon", 0, OPTION_SWITCH, NULL, "start no jobs of the queue"},
    {"labels", 'l', OPTION_LIST, "K=V,...", "labels of the queue"},
    {"retry-policies", 0, OPTION_LIST, "P,...", "retry policies of its jobs"},
    {"default-pool", 0, OPTION_TEXT, "POOL",
     "home pool of its jobs that name no pool"},
    {"ordering", 0, OPTION_TEXT, "O",
     "order of its jobs: priority, fifo, fair, stateaware or cfs (priority)"},
    {"ignore-class-priority", 0, OPTION_SWITCH, NULL,
     "in orderings other than priority, urgent classes do not go first"},
    {"allow-stateaware-disable", 0, OPTION_SWITCH, NULL,
     "let jobs request that their application skips Starting"},
    {"max-running-apps", 0, OPTION_TEXT, "N",
     "limit of applications that are Starting or Running"},
    {"over-share-factor", 0, OPTION_TEXT, "F",
     "replaces the pool's overShareFactor; -1: no limit"},
    {"excess-budget", 0, OPTION_TEXT, "M",
     "resource-minutes, replaces the pool's excess budget; -1: no limit"},
    {"quota", 0, OPTION_LIST, "R=Q,...",
     "limits over all pools together (cpu=40,nvidia.com/gpu=2); \"\": no "
     "limit"},
};
static const struct option_spec apps_options[] = {
    {"states", 's', OPTION_LIST, "S,...",
     "only applications in these states: Accepted, Starting, Running, "
     "Completing, Completed"},
    {"all", 'a', OPTION_FLAG, NULL, "include applications that are Completed"},
};
static const struct option_spec get_queues_options[] = {
    {"match-labels", 'l', OPTION_LIST, "K=V,...",
     "only queues with these labels"},
    INVERSE,
    ONLY_CORDONED,
};
static const struct option_spec cordon_options[] = {
    {"match-labels", 'l', OPTION_LIST, "K=V,...",
     "only queues with these labels"},
    INVERSE,
    DRY_RUN,
};
static const struct option_spec pool_options[] = {
    FILE_OPTION,
    {"selector", 'l', OPTION_LIST, "T,...",
     "nodes of the pool match all of: K=V, K!=V, K or !K"},
    {"disable-preemption", 0, OPTION_SWITCH, NULL,
     "its own jobs may not preempt in it"},
    {"disable-borrowing", 0, OPTION_SWITCH, NULL,
     "its own jobs may not borrow from other pools"},
    {"disable-sharing", 0, OPTION_SWITCH, NULL,
     "jobs of other pools may not borrow from it"},
    {"borrowing-pools", 0, OPTION_LIST, "POOL,...",
     "pools from which its own jobs may borrow; none: all that share"},
    {"preemption-order", 0, OPTION_TEXT, "ORDER",
     "what its own jobs try first when it is full: preempt-first or "
     "borrow-first"},
};
static const struct option_spec window_options[] = {
    {"begin", 0, OPTION_TEXT, "TIME", "when it begins (RFC 3339)"},
    {"end", 0, OPTION_TEXT, "TIME", "when it ends"},
    {"duration", 0, OPTION_TEXT, "D", "the same, from its beginning: 90m, 4h"},
    {"repeat", 0, OPTION_TEXT, "D",
     "move it on by so long whenever it is over: 24h, 168h; at least 1h"},
    {"lead", 0, OPTION_TEXT, "D",
     "how long before it jobs without a time limit start no more (24h)"},
    {"executors", 0, OPTION_LIST, "E,...", "only nodes of these executors"},
    {"nodes", 0, OPTION_LIST, "N,...", "only nodes of these names"},
    {"pools", 0, OPTION_LIST, "POOL,...", "only nodes in these pools"},
    {"selector", 'l', OPTION_LIST, "K=V,...",
     "only nodes that have all these labels"},
    {"all-nodes", 0, OPTION_SWITCH, NULL, "all nodes"},
    {"reason", 0, OPTION_TEXT, "TEXT", "what it is for; explain shows it"},
};
static const struct option_spec get_pools_options[] = {
    {"statistics", 0, OPTION_FLAG, NULL,
     "resources of each pool: total, used, lent and pending"},
    {"rules", 0, OPTION_FLAG, NULL,
     "rules by which each pool is scheduled: profile, window, limits"},
};
static const struct option_spec retry_policy_options[] = {FILE_OPTION};
static const struct option_spec report_options[] = {
    VERBOSE,
    {"queue", 0, OPTION_TEXT, "NAME", "report on this queue"},
    {"job-id", 0, OPTION_TEXT, "ID", "report on this job"},
};
static const struct option_spec queue_report_options[] = {VERBOSE};
static const struct option_spec jobs_options[] = {
    SELECTION_FILTER_OPTIONS,
    {"states", 's', OPTION_LIST, "S,...", "only jobs in these states"},
    {"limit", 'n', OPTION_TEXT, "N",
     "largest number of jobs to list (100); 0: all"},
    {"gang", 0, OPTION_TEXT, "ID",
     "all jobs of this gang or group of pods that have not ended"},
    {"members", 0, OPTION_FLAG, NULL,
     "list each job of an array, instead of one row with its counts"},
};
static const struct option_spec job_report_options[] = {
    SELECTION_FILTER_OPTIONS,
    {"user", 'u', OPTION_TEXT, "NAME", "only jobs of this user"},
    {"states", 's', OPTION_LIST, "S,...", "only jobs in these states"},
    {"from", 0, OPTION_TEXT, "DAY",
     "submitted on this day (UTC, 2026-01-31) or later"},
    {"to", 0, OPTION_TEXT, "DAY", "submitted on this day or earlier"},
    {"by", 0, OPTION_LIST, "WHAT,...",
     "a row for each queue, user, jobset, name, day, label:KEY, as named, "
     "instead of one for each job"},
};
static const struct option_spec groups_options[] = {
    {"queue", 'q', OPTION_TEXT, "NAME", "only those of this queue"},
};
static const struct option_spec shares_options[] = {
    {"pool", 0, OPTION_TEXT, "NAME", "only this pool"},
};
static const struct option_spec nodes_options[] = {
    {"pool", 0, OPTION_TEXT, "NAME", "only nodes of this pool"},
    {"executor", 'e', OPTION_TEXT, "NAME", "only nodes of this executor"},
};
static const struct option_spec node_options[] = {
    {"executor", 'e', OPTION_TEXT, "NAME",
     "executor of the node (any that has the node)"},
};
static const struct option_spec explain_options[] = {NEWEST_OPTIONS};
static const struct option_spec files_options[] = {NEWEST_OPTIONS};

static const struct option_spec logs_options[] = {
    NEWEST_OPTIONS,
    {"container", 0, OPTION_TEXT, "NAME", "only this container of the pod"},
    {"tail", 'n', OPTION_TEXT, "N", "only the last N lines"},
    {"since", 0, OPTION_TEXT, "TIME", "only lines after this time (RFC 3339)"},
    {"timestamps", 0, OPTION_FLAG, NULL, "write the time before each line"},
    {"follow", 'f', OPTION_FLAG, NULL,
     "keep following the output until the job has ended, and exit with its "
     "code"},
    {"namespace", 0, OPTION_TEXT, "NAME", "the pod's namespace (default)"},
};

/* A row of the table: path, alias, arguments, least, most, function, about. */
#define ROW(path, alias, arguments, least, most, run, about)            \
    {                                                                   \
        path, alias, arguments, least, most, about, run, NULL, 0, false \
    }
#define ROW_WITH(path, alias, arguments, least, most, run, options, about) \
    {                                                                      \
        path, alias, arguments, least, most, about, run, options,          \
            ARRAY_COUNT(options), false                                    \
    }

const struct command_spec command_table[] = {
    ROW_WITH("submit", NULL, "FILE", 1, 1, cmd_submit, submit_options,
             "submit the jobs or TrainingJobs of a file"),
    ROW_WITH("watch", NULL, "QUEUE JOBSET", 2, 2, cmd_watch, watch_options,
             "follow the events of a job set"),
    ROW_WITH("wait", NULL, "[ID...]", 0, -1, cmd_wait, wait_options,
             "wait until jobs have ended"),
    {"run", NULL, "[COMMAND...]", 0, -1, "run a command as a job", cmd_run,
     run_options, ARRAY_COUNT(run_options), .takes_command_line = true},
    ROW_WITH("get jobs", "get job", "[ID...]", 0, -1, cmd_get_jobs,
             jobs_options, "list jobs; ARRAY, ARRAY_7: members of an array"),
    ROW_WITH("get jobsets", "get jobset", "", 0, 0, cmd_get_job_sets,
             job_sets_options, "list job sets, and the states of their jobs"),
    ROW_WITH("report usage", NULL, "", 0, 0, cmd_report_usage, usage_options,
             "report what queues and users have used"),
    ROW_WITH("report jobs", NULL, "", 0, 0, cmd_report_jobs, job_report_options,
             "report what each job has used, or sums"),
    ROW_WITH("get podgroups", "get podgroup", "[ID]", 0, 1, cmd_get_pod_groups,
             groups_options, "show gangs and groups of pods by sub-group"),
    ROW_WITH("what-if", NULL, "", 0, 0, cmd_what_if, what_if_options,
             "say what changes would do: which jobs would start, move or be "
             "preempted, and when"),
    ROW_WITH("explain", NULL, "[ID]", 0, 1, cmd_explain, explain_options,
             "explain why a job waits, or how it ended: ID, or the newest that "
             "the options select"),
    ROW_WITH("logs", NULL, "[ID]", 0, 1, cmd_logs, logs_options,
             "show the output of a job: of ID, or of the newest that the "
             "options select"),
    ROW_WITH("get files", "get file", "[ID] [PATH]", 0, 2, cmd_get_files,
             files_options,
             "list the files in a job's folder: of ID, or of the newest that "
             "the options select"),
    ROW("get objects", "get object", "ID", 1, 1, cmd_get_objects,
        "list the pod, secrets, services and other objects of a job"),
    ROW_WITH("cp", NULL, "[ID]:PATH LOCAL", 2, 2, cmd_cp, files_options,
             "copy files from a job's folder: of ID, or of the newest that the "
             "options select; ID: or : alone copies all of it"),
    ROW_WITH("exec", NULL, "ID -- COMMAND...", 2, -1, cmd_exec, exec_options,
             "run a program in a running job, as the job's user and within its "
             "limits; the exit code is the program's"),
    ROW_WITH("cancel job", "cancel jobs", "[ID...]", 0, -1, cmd_cancel_job,
             job_act_options, "cancel jobs; also QUEUE JOBSET ID"),
    ROW("cancel job-set", NULL, "QUEUE JOBSET", 2, 2, cmd_cancel_job_set,
        "cancel the jobs of a job set"),
    ROW_WITH("cancel executor", NULL, "NAME", 1, 1, cmd_cancel_executor,
             on_executor_options, "cancel jobs on an executor"),
    ROW_WITH("cancel node", NULL, "NAME", 1, 1, cmd_cancel_node,
             on_node_options, "cancel jobs on a node"),
    ROW_WITH("cancel queues", "cancel queue", "[QUEUE...]", 0, -1,
             cmd_cancel_queues, cancel_queues_options, "cancel jobs of queues"),
    ROW_WITH("hold job", "hold jobs", "[ID...]", 0, -1, cmd_hold_job,
             job_act_options, "hold waiting jobs, so that they do not start"),
    ROW_WITH("release job", "release jobs", "[ID...]", 0, -1, cmd_release_job,
             job_act_options, "release held jobs"),
    ROW_WITH("preempt job", "preempt jobs", "[ID...]", 0, -1, cmd_preempt_job,
             preempt_job_options, "preempt jobs; also QUEUE JOBSET ID REASON"),
    ROW_WITH("preempt executor", NULL, "NAME", 1, 1, cmd_preempt_executor,
             on_executor_options, "preempt jobs on an executor"),
    ROW_WITH("preempt node", NULL, "NAME", 1, 1, cmd_preempt_node,
             on_node_options, "preempt jobs on a node"),
    ROW_WITH("preempt queues", "preempt queue", "[QUEUE...]", 0, -1,
             cmd_preempt_queues, preempt_queues_options,
             "preempt jobs of queues"),
    ROW_WITH("reprioritize job", "reprioritize jobs", "[ID...] PRIORITY", 1, -1,
             cmd_reprioritize_job, job_act_options,
             "change the priority of jobs; also QUEUE JOBSET ID PRIORITY"),
    ROW("reprioritize job-set", NULL, "QUEUE JOBSET PRIORITY", 3, 3,
        cmd_reprioritize_job_set, "change the priority of a job set"),
    ROW_WITH("create", NULL, "", 0, 0, cmd_create, create_options,
             "create the queue, retry policy or pools of a file"),
    ROW_WITH("apply", NULL, "", 0, 0, cmd_apply, create_options,
             "create or update the objects of a file"),
    ROW_WITH("create queue", NULL, "NAME", 1, 1, cmd_create_queue,
             queue_options, "create a queue"),
    ROW_WITH("update queue", NULL, "NAME", 1, 1, cmd_update_queue,
             queue_options,
             "change the given settings of a queue and keep the others"),
    ROW("delete queue", NULL, "NAME", 1, 1, cmd_delete_queue, "delete a queue"),
    ROW("get queue", NULL, "NAME", 1, 1, cmd_get_queue, "show a queue"),
    ROW_WITH("get queues", NULL, "[QUEUE...]", 0, -1, cmd_get_queues,
             get_queues_options, "show queues"),
    ROW_WITH("get shares", NULL, "", 0, 0, cmd_get_shares, shares_options,
             "show the share that each queue is due, and what it holds"),
    ROW("hash-password", NULL, "", 0, 0, cmd_hash_password,
        "print the hash of the password on standard input, for the "
        "configuration of berthd"),
    ROW("get permissions", "get permission", "", 0, 0, cmd_get_permissions,
        "list the methods, and who may call them"),
    ROW("whoami", NULL, "", 0, 0, cmd_whoami,
        "show your user name, groups and permissions on the server"),
    ROW("auth can-i", NULL, "VERB [QUEUE]", 1, 2, cmd_can_i,
        "say whether you may do something (a queue's verb, a permission or a "
        "method), and if not, who can grant it"),
    ROW_WITH("get apps", NULL, "[QUEUE]", 0, 1, cmd_get_apps, apps_options,
             "show the applications of queues and their states"),
    ROW_WITH("get trainingjobs", "get trainingjob", "[NAME]", 0, 1,
             cmd_get_training_jobs, training_jobs_options,
             "show TrainingJobs and their progress"),
    ROW_WITH("update trainingjob", NULL, "NAME", 1, 1, cmd_update_training_job,
             update_training_job_options,
             "change the priority class of a TrainingJob"),
    ROW_WITH("delete trainingjob", NULL, "NAME", 1, 1, cmd_delete_training_job,
             delete_training_job_options,
             "delete a TrainingJob and cancel its pods"),
    ROW_WITH("cordon queues", "cordon queue", "[QUEUE...]", 0, -1,
             cmd_cordon_queues, cordon_options, "start no more jobs of queues"),
    ROW_WITH("uncordon queues", "uncordon queue", "[QUEUE...]", 0, -1,
             cmd_uncordon_queues, cordon_options, "start jobs of queues again"),
    ROW("cordon executor", NULL, "NAME REASON", 2, 2, cmd_cordon_executor,
        "start no more jobs on an executor"),
    ROW("uncordon executor", NULL, "NAME", 1, 1, cmd_uncordon_executor,
        "start jobs on an executor again"),
    ROW("cordon node", NULL, "NAME", 1, 1, cmd_cordon_node,
        "start no more jobs on a node"),
    ROW("uncordon node", NULL, "NAME", 1, 1, cmd_uncordon_node,
        "start jobs on a node again"),
    ROW("get executors", "get executor", "", 0, 0, cmd_get_executors,
        "show executors, their capacity and free resources"),
    ROW_WITH("get nodes", "get node", "[NAME]", 0, 1, cmd_get_nodes,
             nodes_options, "show nodes, their state and free resources"),
    ROW_WITH("quarantine node", NULL, "NAME REASON", 2, 2, cmd_quarantine_node,
             node_options, "start no more jobs on a node until it is released"),
    ROW_WITH("release node", NULL, "NAME", 1, 1, cmd_release_node, node_options,
             "end a node's quarantine and forget its failures"),
    ROW_WITH("create pool", "create pools", "[NAME]", 0, 1, cmd_create_pool,
             pool_options,
             "create the pools of a file, or one pool from options"),
    ROW_WITH("edit pool", "edit pools", "[NAME]", 0, 1, cmd_edit_pool,
             pool_options,
             "change the given settings of pools and keep the others"),
    ROW("delete pool", "delete pools", "NAME...", 1, -1, cmd_delete_pool,
        "delete pools; their nodes and waiting jobs move to the default pool"),
    ROW_WITH("get pools", "get pool", "[NAME...]", 0, -1, cmd_get_pools,
             get_pools_options, "show pools, and whose jobs they run"),
    ROW_WITH("create periodic-job", NULL, "", 0, 0, cmd_create_periodic,
             put_periodic_options,
             "create the periodic job of a file, as submit does"),
    ROW_WITH("update periodic-job", NULL, "", 0, 0, cmd_update_periodic,
             put_periodic_options,
             "replace a periodic job by that of a file, and own it"),
    ROW_WITH("suspend periodic-job", "suspend periodic-jobs", "NAME...", 1, -1,
             cmd_suspend_periodic, periodic_options,
             "submit no more runs of periodic jobs"),
    ROW_WITH("resume periodic-job", "resume periodic-jobs", "NAME...", 1, -1,
             cmd_resume_periodic, periodic_options,
             "submit runs again, from the next moment on"),
    ROW_WITH("delete periodic-job", "delete periodic-jobs", "NAME...", 1, -1,
             cmd_delete_periodic, periodic_options,
             "delete periodic jobs; their runs stay"),
    ROW_WITH("get periodic-jobs", "get periodic-job", "[NAME]", 0, 1,
             cmd_get_periodic, get_periodic_options,
             "show periodic jobs, their next and their last run"),
    ROW_WITH("create maintenance-window", NULL, "NAME", 1, 1, cmd_create_window,
             window_options,
             "start no jobs on nodes from a time on that might not end before "
             "it, and none until it is over"),
    ROW_WITH("update maintenance-window", NULL, "NAME", 1, 1, cmd_update_window,
             window_options,
             "change the given settings of a maintenance window and keep the "
             "others"),
    ROW("delete maintenance-window", "delete maintenance-windows", "NAME...", 1,
        -1, cmd_delete_window, "delete maintenance windows"),
    ROW("get maintenance-windows", "get maintenance-window", "[NAME]", 0, 1,
        cmd_get_windows, "show maintenance windows that are not over"),
    ROW("delete executor", NULL, "NAME", 1, 1, cmd_delete_executor,
        "delete an executor from the server's memory"),
    ROW_WITH("create retry-policy", NULL, "", 0, 0, cmd_create_retry_policy,
             retry_policy_options, "create the retry policy of a file"),
    ROW_WITH("update retry-policy", NULL, "", 0, 0, cmd_update_retry_policy,
             retry_policy_options, "replace the retry policy of a file"),
    ROW("delete retry-policy", NULL, "NAME", 1, 1, cmd_delete_retry_policy,
        "delete a retry policy"),
    ROW("get retry-policy", NULL, "NAME", 1, 1, cmd_get_retry_policy,
        "show a retry policy"),
    ROW("get retry-policies", NULL, "", 0, 0, cmd_get_retry_policies,
        "show all retry policies"),
    ROW_WITH("get scheduling-report", NULL, "", 0, 0, cmd_get_scheduling_report,
             report_options, "show what the scheduler decided and why"),
    ROW_WITH("get queue-report", NULL, "NAME", 1, 1, cmd_get_queue_report,
             queue_report_options, "show the scheduler's report on one queue"),
    ROW("get job-report", NULL, "ID", 1, 1, cmd_get_job_report,
        "show the scheduler's report on one job"),
    ROW("backup", NULL, "DIRECTORY", 1, 1, cmd_backup,
        "copy the log and store of the running server to a new directory"),
    ROW("config use-context", NULL, "NAME", 1, 1, cmd_config_use_context,
        "set the context that later commands use"),
    ROW("config get-contexts", NULL, "", 0, 0, cmd_config_get_contexts,
        "list the contexts"),
    ROW("config current-context", NULL, "", 0, 0, cmd_config_current_context,
        "show the context in use"),
    {"completion", NULL, "bash|zsh|fish", 1, -1,
     "print a script that completes command lines", cmd_completion, NULL, 0,
     true},
    ROW("schema", NULL, "[COMMAND...]", 0, -1, cmd_schema,
        "print the JSON Schema of what a command prints with -o json; without "
        "COMMAND, the commands that have one"),
    ROW("version", NULL, "", 0, 0, cmd_version, "show the version"),
};
const uint32_t command_count = ARRAY_COUNT(command_table);
