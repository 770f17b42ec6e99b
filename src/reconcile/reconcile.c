#include "reconcile/reconcile.h"

int reconcile_rank(enum reconcile_phase phase)
{
    switch (phase) {
    case RECONCILE_NEVER:
        return 0;
    case RECONCILE_PENDING:
        return 1;
    case RECONCILE_RUNNING:
        return 2;
    case RECONCILE_SUCCEEDED:
    case RECONCILE_FAILED:
    case RECONCILE_LOST:
    case RECONCILE_FORGOTTEN:
        break;
    }
    return 3;
}

bool reconcile_is_ended(enum reconcile_phase phase)
{
    return reconcile_rank(phase) == 3;
}

static unsigned bit(enum reconcile_action_kind kind)
{
    return 1u << kind;
}

static unsigned report_if_due(const struct reconcile_row *row)
{
    int rank = reconcile_rank(row->phase);

    return rank > reconcile_rank(row->acked) && rank > reconcile_rank(row->sent)
               ? bit(RECONCILE_REPORT)
               : 0;
}

static unsigned actions_alive(const struct reconcile_row *row)
{
    unsigned actions = 0;

    if (row->want == RECONCILE_WANT_STOP ||
        row->want == RECONCILE_WANT_PREEMPT) {
        actions |= row->is_stopping ? 0 : bit(RECONCILE_STOP);
    }
    if (row->want != RECONCILE_WANT_STOP) {
        actions |= report_if_due(row);
    }
    return actions;
}

static unsigned actions_ended(const struct reconcile_row *row)
{
    if (row->want == RECONCILE_WANT_STOP || reconcile_is_ended(row->acked)) {
        return bit(RECONCILE_FORGET);
    }
    return report_if_due(row);
}

unsigned reconcile_row_actions(const struct reconcile_row *row)
{
    if (row->is_foreign || row->is_creating || row->is_forgetting) {
        return 0;
    }
    switch (row->phase) {
    case RECONCILE_NEVER:
        return row->want == RECONCILE_WANT_NONE  ? 0
               : row->want == RECONCILE_WANT_RUN ? bit(RECONCILE_CREATE)
                                                 : bit(RECONCILE_FORGET);
    case RECONCILE_PENDING:
    case RECONCILE_RUNNING:
        return actions_alive(row);
    case RECONCILE_SUCCEEDED:
    case RECONCILE_FAILED:
    case RECONCILE_LOST:
        return actions_ended(row);
    case RECONCILE_FORGOTTEN:
        /* Only a lease that came again wants anything of it. */
        return row->want == RECONCILE_WANT_RUN ? report_if_due(row) : 0;
    }
    ASSERT(false);
    return 0;
}

uint32_t reconcile_plan(const struct reconcile_row *rows, uint32_t row_count,
                        uint32_t create_max,
                        struct reconcile_action *ret_actions)
{
    ASSERT(row_count <= RECONCILE_ROWS_MAX);

    uint32_t count = 0;
    for (int kind = 0; kind < RECONCILE_ACTION_KINDS; kind++) {
        uint32_t left = kind == RECONCILE_CREATE ? create_max : UINT32_MAX;

        for (uint32_t i = 0; i < row_count && left > 0; i++) {
            if (reconcile_row_actions(&rows[i]) & (1u << kind)) {
                ret_actions[count++] = (struct reconcile_action){
                    .kind = (enum reconcile_action_kind)kind,
                    .row_index = i,
                    .phase = kind == RECONCILE_REPORT ? rows[i].phase
                                                      : RECONCILE_NEVER,
                };
                left--;
            }
        }
    }
    return count;
}
