#include "wire/log/log_layout.h"

#define AT(member) offsetof(struct event, member)
#define LAYOUT(slots)             \
    {                             \
        slots, ARRAY_COUNT(slots) \
    }

static const struct slot namespace_slots[] = {
    {2, SLOT_STR, AT(submit.namespace_), 0, NULL},
};
static const struct layout namespace_layout = LAYOUT(namespace_slots);
static const struct slot submit_slots[] = {
    {0, SLOT_WHOLE, AT(submit.encoded), 0, NULL},
    {3, SLOT_U32, AT(submit.priority), 0, NULL},
    {4, SLOT_MESSAGE, 0, 0, &namespace_layout},
    {14, SLOT_JOB, AT(job), 0, NULL},
    {16, SLOT_STR, AT(submit.external_job_uri), 0, NULL},
    {1000, SLOT_STR, AT(submit.digest), 0, NULL},
};

static const struct slot reprioritise_slots[] = {
    {2, SLOT_U32, AT(reprioritise.priority), 0, NULL},
    {3, SLOT_JOB, AT(job), 0, NULL},
};
static const struct slot reprioritise_set_slots[] = {
    {1, SLOT_U32, AT(reprioritise.priority), 0, NULL},
};
static const struct slot reprioritised_slots[] = {
    {2, SLOT_U32, AT(reprioritise.priority), 0, NULL},
    {3, SLOT_JOB, AT(job), 0, NULL},
    {4, SLOT_STR, AT(reprioritise.requestor), 0, NULL},
};

static const struct slot cancel_slots[] = {
    {2, SLOT_STR, AT(cancel.reason), 0, NULL},
    {3, SLOT_JOB, AT(job), 0, NULL},
};
static const struct slot cancel_set_slots[] = {
    {1, SLOT_SET_STATES, AT(cancel.states), 0, NULL},
    {2, SLOT_STR, AT(cancel.reason), 0, NULL},
};
static const struct slot cancelled_slots[] = {
    {2, SLOT_STR, AT(cancel.reason), 0, NULL},
    {3, SLOT_JOB, AT(job), 0, NULL},
    {4, SLOT_STR, AT(cancel.requestor), 0, NULL},
};
static const struct slot run_cancelled_slots[] = {
    {3, SLOT_JOB, AT(job), 0, NULL},
    {4, SLOT_RUN, AT(run), 0, NULL},
    {5, SLOT_STR, AT(cancel.reason), 0, NULL},
    {6, SLOT_STR, AT(cancel.requestor), 0, NULL},
};
static const struct slot preempt_slots[] = {
    {2, SLOT_JOB, AT(job), 0, NULL},
    {3, SLOT_STR, AT(cancel.reason), 0, NULL},
};

static const struct slot job_3_slots[] = {{3, SLOT_JOB, AT(job), 0, NULL}};

static const struct slot leased_slots[] = {
    {3, SLOT_STR, AT(leased.executor_id), 0, NULL},
    {4, SLOT_STR, AT(leased.node_name), 0, NULL},
    /* A run's id is a function of its attempt, so this is that number. */
    {5, SLOT_U32, AT(leased.attempt), 0, NULL},
    {6, SLOT_TRUE, 0, 0, NULL},
    {7, SLOT_I32, AT(leased.priority), 0, NULL},
    {10, SLOT_JOB, AT(job), 0, NULL},
    {11, SLOT_RUN, AT(run), 0, NULL},
    {12, SLOT_STR, AT(leased.pool), 0, NULL},
    {1000, SLOT_BOOL, AT(leased.is_backfilled), 0, NULL},
    {1001, SLOT_JOB_MAYBE, AT(leased.revocable_for), 0, NULL},
    {1002, SLOT_I64, AT(leased.excess_charge), 0, NULL},
    {1003, SLOT_BOOL, AT(leased.is_growth), 0, NULL},
    {1004, SLOT_BOOL, AT(leased.is_by_share), 0, NULL},
    {1005, SLOT_BOOL, AT(leased.yields_at_once), 0, NULL},
    {1006, SLOT_I64, AT(leased.yields_from_ms), 0, NULL},
};

static const struct slot pod_meta_slots[] = {
    {1, SLOT_STR, AT(pod.executor_id), 0, NULL},
    {2, SLOT_STR, AT(pod.pod_namespace), 0, NULL},
    {3, SLOT_STR, AT(pod.pod_name), 0, NULL},
    {4, SLOT_STR, AT(pod.kubernetes_id), 0, NULL},
};
static const struct layout pod_meta_layout = LAYOUT(pod_meta_slots);
static const struct slot pod_info_slots[] = {
    {1, SLOT_STR, AT(pod.node_name), 0, NULL},
    {2, SLOT_I32, AT(pod.pod_number), 0, NULL},
};
static const struct layout pod_info_layout = LAYOUT(pod_info_slots);
static const struct slot resource_info_slots[] = {
    {1, SLOT_MESSAGE, 0, 0, &pod_meta_layout},
    {2, SLOT_MESSAGE, 0, 0, &pod_info_layout},
};
static const struct layout resource_info_layout = LAYOUT(resource_info_slots);
static const struct slot run_state_slots[] = {
    {3, SLOT_MESSAGE, 0, 0, &resource_info_layout},
    {4, SLOT_JOB, AT(job), 0, NULL},
    {5, SLOT_RUN, AT(run), 0, NULL},
    {6, SLOT_STR, AT(pod.pool), 0, NULL},
};

static const struct slot error_text_slots[] = {
    {1, SLOT_STR, AT(error.message), 0, NULL},
};
static const struct layout error_text_layout = LAYOUT(error_text_slots);
static const struct layout error_empty_layout = {NULL, 0};
static const struct slot container_error_slots[] = {
    {2, SLOT_I32, AT(error.exit_code), 0, NULL},
    {3, SLOT_STR, AT(error.message), 0, NULL},
    {9, SLOT_ENUM, AT(error.cause), CAUSE_DEADLINE_EXCEEDED, NULL},
};
static const struct layout container_error_layout =
    LAYOUT(container_error_slots);
static const struct slot exit_code_slots[] = {
    {2, SLOT_I32, AT(error.exit_code), 0, NULL},
};
static const struct layout exit_code_layout = LAYOUT(exit_code_slots);
static const struct slot pod_error_slots[] = {
    {2, SLOT_STR, AT(error.message), 0, NULL},
    {3, SLOT_STR, AT(error.node_name), 0, NULL},
    {5, SLOT_MESSAGE, 0, 0, &exit_code_layout},
    {6, SLOT_ENUM, AT(error.cause), CAUSE_DEADLINE_EXCEEDED, NULL},
    {7, SLOT_STR, AT(error.debug_message), 0, NULL},
};
static const struct layout pod_error_layout = LAYOUT(pod_error_slots);
static const struct slot lease_returned_slots[] = {
    {2, SLOT_STR, AT(error.message), 0, NULL},
    {4, SLOT_BOOL, AT(error.is_run_attempted), 0, NULL},
    {5, SLOT_STR, AT(error.debug_message), 0, NULL},
};
static const struct layout lease_returned_layout = LAYOUT(lease_returned_slots);

#define CHOICE(number, layout)                          \
    {                                                   \
        number, SLOT_CHOICE, AT(error.kind), 0, &layout \
    }
static const struct slot error_slots[] = {
    {0, SLOT_WHOLE, AT(error.encoded), 0, NULL},
    {1, SLOT_BOOL, AT(error.is_terminal), 0, NULL},
    CHOICE(ERROR_KUBERNETES, error_text_layout),
    CHOICE(ERROR_CONTAINER, container_error_layout),
    CHOICE(ERROR_EXECUTOR, error_empty_layout),
    CHOICE(ERROR_LEASE_EXPIRED, error_empty_layout),
    CHOICE(ERROR_MAX_RUNS_EXCEEDED, error_text_layout),
    CHOICE(ERROR_POD, pod_error_layout),
    CHOICE(ERROR_LEASE_RETURNED, lease_returned_layout),
    CHOICE(ERROR_PREEMPTED, error_text_layout),
    CHOICE(ERROR_GANG_UNSCHEDULABLE, error_text_layout),
    CHOICE(ERROR_REJECTED, error_text_layout),
    CHOICE(ERROR_RECONCILIATION, error_text_layout),
    {16, SLOT_STR, AT(error.category), 0, NULL},
    {17, SLOT_STR, AT(error.subcategory), 0, NULL},
    {18, SLOT_STR, AT(error.retry_policy), 0, NULL},
};
static const struct layout error_layout = LAYOUT(error_slots);
static const struct slot failed_slots[] = {
    {2, SLOT_MESSAGE, 0, 0, &error_layout},
    {3, SLOT_JOB, AT(job), 0, NULL},
};
static const struct slot run_errors_slots[] = {
    {3, SLOT_MESSAGE, 0, 0, &error_layout},
    {4, SLOT_JOB, AT(job), 0, NULL},
    {5, SLOT_RUN, AT(run), 0, NULL},
};

static const struct slot run_preempted_slots[] = {
    {5, SLOT_JOB, AT(job), 0, NULL},
    {6, SLOT_RUN, AT(run), 0, NULL},
    {7, SLOT_STR, AT(preempted.reason), 0, NULL},
    {8, SLOT_JOB_MAYBE, AT(preempted.preempting_job), 0, NULL},
    {9, SLOT_STR, AT(preempted.requestor), 0, NULL},
    {1000, SLOT_BOOL, AT(preempted.is_scaling), 0, NULL},
    {1001, SLOT_BOOL, AT(preempted.is_yielding), 0, NULL},
    {1002, SLOT_BOOL, AT(preempted.is_by_share), 0, NULL},
};

static const struct slot scheduling_info_slots[] = {
    {8, SLOT_U32, AT(requeued.priority), 0, NULL},
};
static const struct layout scheduling_info_layout =
    LAYOUT(scheduling_info_slots);
static const struct slot requeued_slots[] = {
    {2, SLOT_MESSAGE, 0, 0, &scheduling_info_layout},
    {4, SLOT_JOB, AT(job), 0, NULL},
    {1000, SLOT_BOOL, AT(requeued.avoids_node), 0, NULL},
};

static const struct slot ingress_info_slots[] = {
    {4, SLOT_LIST, AT(ingress.addresses), AT(ingress.address_count), NULL},
    {9, SLOT_JOB, AT(job), 0, NULL},
    {10, SLOT_RUN, AT(run), 0, NULL},
    {1000, SLOT_LIST, AT(ingress.objects), AT(ingress.object_count), NULL},
};
static const struct slot utilisation_slots[] = {
    {6, SLOT_JOB, AT(job), 0, NULL},
    {7, SLOT_RUN, AT(run), 0, NULL},
};
static const struct slot debug_info_slots[] = {
    {1, SLOT_JOB, AT(job), 0, NULL},
    {2, SLOT_RUN, AT(run), 0, NULL},
    {3, SLOT_STR, AT(error.debug_message), 0, NULL},
};

static const struct slot queue_set_slots[] = {
    {0, SLOT_WHOLE, AT(queue.encoded), 0, NULL},
    {1, SLOT_STR, AT(queue.record.name), 0, NULL},
};
static const struct slot queue_deleted_slots[] = {
    {1, SLOT_STR, AT(queue.record.name), 0, NULL},
};
static const struct slot retry_policy_set_slots[] = {
    {0, SLOT_WHOLE, AT(retry_policy.encoded), 0, NULL},
    {1, SLOT_STR, AT(retry_policy.name), 0, NULL},
};
static const struct slot retry_policy_deleted_slots[] = {
    {1, SLOT_STR, AT(retry_policy.name), 0, NULL},
};
/* The records of nodes, field 3, and what is pending, field 6, have code of
 * their own. */
static const struct slot nodes_slots[] = {
    {1, SLOT_STR, AT(nodes.executor_id), 0, NULL},
    {2, SLOT_STR, AT(nodes.pool), 0, NULL},
    {4, SLOT_LIST, AT(nodes.removed), AT(nodes.removed_count), NULL},
    {5, SLOT_BOOL, AT(nodes.is_full), 0, NULL},
    {7, SLOT_BOOL, AT(nodes.has_pending), 0, NULL},
    {8, SLOT_LIST, AT(nodes.protected_runs), AT(nodes.protected_count), NULL},
    {9, SLOT_BOOL, AT(nodes.has_protected), 0, NULL},
};
static const struct slot settings_slots[] = {
    {1, SLOT_STR, AT(settings.name), 0, NULL},
    {2, SLOT_BOOL, AT(settings.is_cordoned), 0, NULL},
    {3, SLOT_STR, AT(settings.reason), 0, NULL},
    {4, SLOT_BOOL, AT(settings.is_deleted), 0, NULL},
    {5, SLOT_STR, AT(settings.node_name), 0, NULL},
};
static const struct slot executor_deleted_slots[] = {
    {1, SLOT_STR, AT(settings.name), 0, NULL},
};
static const struct slot executor_state_slots[] = {
    {1, SLOT_STR, AT(executor.name), 0, NULL},
    {2, SLOT_ENUM, AT(executor.state), EXECUTOR_LOST, NULL},
};
static const struct slot round_slots[] = {
    {1, SLOT_ENUM, AT(round.kind), ROUND_BALANCE, NULL},
    {2, SLOT_I64, AT(round.started_ms), 0, NULL},
    {3, SLOT_STR, AT(round.pool), 0, NULL},
    {4, SLOT_I64, AT(round.seen_seq), 0, NULL},
};
static const struct slot policy_slots[] = {
    {1, SLOT_STR, AT(policy.text), 0, NULL},
};
static const struct slot admitted_slots[] = {
    {1, SLOT_JOB, AT(job), 0, NULL},
    {2, SLOT_STR, AT(admitted.pool), 0, NULL},
    {3, SLOT_I64, AT(admitted.start_ms), 0, NULL},
    {4, SLOT_I64, AT(admitted.excess_charge), 0, NULL},
};
static const struct slot dismissed_slots[] = {
    {1, SLOT_JOB, AT(job), 0, NULL},
    {2, SLOT_STR, AT(admitted.pool), 0, NULL},
};
static const struct slot pool_set_slots[] = {
    {1, SLOT_STR, AT(pool.encoded), 0, NULL},
};
static const struct slot pool_deleted_slots[] = {
    {1, SLOT_STR, AT(pool.record.name), 0, NULL},
};
static const struct slot window_set_slots[] = {
    {1, SLOT_STR, AT(window.encoded), 0, NULL},
};
static const struct slot window_deleted_slots[] = {
    {1, SLOT_STR, AT(window.record.name), 0, NULL},
};
static const struct slot periodic_set_slots[] = {
    {1, SLOT_STR, AT(periodic.name), 0, NULL},
    {2, SLOT_STR, AT(periodic.encoded), 0, NULL},
    {3, SLOT_I64, AT(periodic.next_ms), 0, NULL},
    {4, SLOT_STR, AT(periodic.owner.name), 0, NULL},
    {5, SLOT_LIST, AT(periodic.owner.groups), AT(periodic.owner.group_count),
     NULL},
    {6, SLOT_BOOL, AT(periodic.owner.is_administrator), 0, NULL},
    {7, SLOT_BOOL, AT(periodic.owner.is_anonymous), 0, NULL},
};
static const struct slot periodic_deleted_slots[] = {
    {1, SLOT_STR, AT(periodic.name), 0, NULL},
};
static const struct slot periodic_run_slots[] = {
    {1, SLOT_STR, AT(periodic.name), 0, NULL},
    {2, SLOT_I64, AT(periodic.due_ms), 0, NULL},
    {3, SLOT_I64, AT(periodic.run.moment_ms), 0, NULL},
    {4, SLOT_I64, AT(periodic.next_ms), 0, NULL},
    {5, SLOT_ENUM, AT(periodic.run.outcome), PERIODIC_REFUSED, NULL},
    {6, SLOT_JOB_MAYBE, AT(periodic.run.first), 0, NULL},
    {7, SLOT_U32, AT(periodic.run.job_count), 0, NULL},
    {8, SLOT_STR, AT(periodic.run.text), 0, NULL},
};
static const struct slot training_job_set_slots[] = {
    {1, SLOT_STR, AT(training_job.name), 0, NULL},
    {2, SLOT_STR, AT(training_job.gang_id), 0, NULL},
    {3, SLOT_STR, AT(training_job.encoded), 0, NULL},
};
static const struct slot training_job_deleted_slots[] = {
    {1, SLOT_STR, AT(training_job.name), 0, NULL},
};
static const struct slot reclassified_slots[] = {
    {1, SLOT_JOB, AT(job), 0, NULL},
    {2, SLOT_STR, AT(reclassified.class_key), 0, NULL},
};
static const struct slot hold_slots[] = {
    {1, SLOT_JOB, AT(job), 0, NULL},
    {2, SLOT_U32, AT(hold.set), 0, NULL},
    {3, SLOT_U32, AT(hold.cleared), 0, NULL},
    {4, SLOT_I64, AT(hold.begin_ms), 0, NULL},
    {5, SLOT_STR, AT(hold.user), 0, NULL},
};
static const struct slot health_slots[] = {
    {1, SLOT_STR, AT(health.executor_id), 0, NULL},
    {2, SLOT_STR, AT(health.node_name), 0, NULL},
    {3, SLOT_ENUM, AT(health.health), NODE_TRIAL, NULL},
    {4, SLOT_BOOL, AT(health.is_pinned), 0, NULL},
    {5, SLOT_I64, AT(health.until_ms), 0, NULL},
    {6, SLOT_I64, AT(health.probation_ms), 0, NULL},
    {7, SLOT_STR, AT(health.reason), 0, NULL},
};
static const struct slot selection_slots[] = {
    {1, SLOT_ENUM, AT(selection.action), SELECTION_PREEMPT, NULL},
    {2, SLOT_STR, AT(selection.executor_id), 0, NULL},
    {3, SLOT_STR, AT(selection.node_name), 0, NULL},
    {4, SLOT_LIST, AT(selection.queues), AT(selection.queue_count), NULL},
    {5, SLOT_LIST, AT(selection.priority_classes),
     AT(selection.priority_class_count), NULL},
    {6, SLOT_LIST, AT(selection.pools), AT(selection.pool_count), NULL},
    {7, SLOT_API_STATES, AT(selection.states), 0, NULL},
    {8, SLOT_STR, AT(selection.reason), 0, NULL},
};

static const struct layout armada_layouts[] = {
    [EVENT_SUBMIT] = LAYOUT(submit_slots),
    [EVENT_REPRIORITISE] = LAYOUT(reprioritise_slots),
    [EVENT_REPRIORITISE_SET] = LAYOUT(reprioritise_set_slots),
    [EVENT_REPRIORITISED] = LAYOUT(reprioritised_slots),
    [EVENT_CANCEL] = LAYOUT(cancel_slots),
    [EVENT_CANCEL_SET] = LAYOUT(cancel_set_slots),
    [EVENT_CANCELLED] = LAYOUT(cancelled_slots),
    [EVENT_SUCCEEDED] = LAYOUT(job_3_slots),
    [EVENT_FAILED] = LAYOUT(failed_slots),
    [EVENT_LEASED] = LAYOUT(leased_slots),
    [EVENT_RUN_ASSIGNED] = LAYOUT(run_state_slots),
    [EVENT_RUN_RUNNING] = LAYOUT(run_state_slots),
    [EVENT_RUN_SUCCEEDED] = LAYOUT(run_state_slots),
    [EVENT_RUN_ERRORS] = LAYOUT(run_errors_slots),
    [EVENT_INGRESS_INFO] = LAYOUT(ingress_info_slots),
    [EVENT_UTILISATION] = LAYOUT(utilisation_slots),
    [EVENT_RUN_PREEMPTED] = LAYOUT(run_preempted_slots),
    [EVENT_REQUEUED] = LAYOUT(requeued_slots),
    [EVENT_PREEMPT] = LAYOUT(preempt_slots),
    [EVENT_RUN_CANCELLED] = LAYOUT(run_cancelled_slots),
    [EVENT_VALIDATED] = LAYOUT(job_3_slots),
    [EVENT_DEBUG_INFO] = LAYOUT(debug_info_slots),
};

enum { OWN_FIRST = EVENT_QUEUE_SET };

#define OWN(type, slots) [type - OWN_FIRST] = LAYOUT(slots)
static const struct layout own_layouts[] = {
    OWN(EVENT_QUEUE_SET, queue_set_slots),
    OWN(EVENT_QUEUE_DELETED, queue_deleted_slots),
    OWN(EVENT_RETRY_POLICY_SET, retry_policy_set_slots),
    OWN(EVENT_RETRY_POLICY_DELETED, retry_policy_deleted_slots),
    OWN(EVENT_EXECUTOR_NODES, nodes_slots),
    OWN(EVENT_EXECUTOR_SETTINGS, settings_slots),
    OWN(EVENT_EXECUTOR_DELETED, executor_deleted_slots),
    OWN(EVENT_EXECUTOR_STATE, executor_state_slots),
    OWN(EVENT_ROUND_DONE, round_slots),
    OWN(EVENT_POLICY_SET, policy_slots),
    [EVENT_LEADER_STARTED - OWN_FIRST] = {round_slots, 0},
    OWN(EVENT_SELECTION, selection_slots),
    OWN(EVENT_ADMITTED, admitted_slots),
    OWN(EVENT_DISMISSED, dismissed_slots),
    OWN(EVENT_NODE_HEALTH, health_slots),
    OWN(EVENT_POOL_SET, pool_set_slots),
    OWN(EVENT_POOL_DELETED, pool_deleted_slots),
    OWN(EVENT_WINDOW_SET, window_set_slots),
    OWN(EVENT_WINDOW_DELETED, window_deleted_slots),
    OWN(EVENT_PERIODIC_SET, periodic_set_slots),
    OWN(EVENT_PERIODIC_DELETED, periodic_deleted_slots),
    OWN(EVENT_PERIODIC_RUN, periodic_run_slots),
    OWN(EVENT_TRAINING_JOB_SET, training_job_set_slots),
    OWN(EVENT_TRAINING_JOB_DELETED, training_job_deleted_slots),
    OWN(EVENT_RECLASSIFIED, reclassified_slots),
    OWN(EVENT_HOLD_CHANGED, hold_slots),
    OWN(EVENT_ROUND_BEGUN, round_slots),
    OWN(EVENT_ROUND_BACK, round_slots),
    OWN(EVENT_ROUND_DROPPED, round_slots),
};

const struct layout *layout_of(uint32_t event_type)
{
    const struct layout *layout = NULL;

    if (event_type < ARRAY_COUNT(armada_layouts)) {
        layout = &armada_layouts[event_type];
    } else if (event_type >= OWN_FIRST &&
               event_type - OWN_FIRST < ARRAY_COUNT(own_layouts)) {
        layout = &own_layouts[event_type - OWN_FIRST];
    }
    return layout && layout->slots ? layout : NULL;
}
