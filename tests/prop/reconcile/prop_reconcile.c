/*
 * reconcile: what holds for every history of leases, pods and crashes.
 *
 * Method: a small world of a server (which runs it has leased, which it has
 * ended), a runtime (pods) and an executor that keeps only what survives a
 * crash: the pods and the acknowledged phases.  Each step draws an event; a
 * crash may cut a plan after any action.  At the end the draws stop, reports
 * arrive, pods finish, and the world must come to rest as wanted.
 */
#include <stdlib.h>
#include <string.h>

#include "prop.h"
#include "reconcile/reconcile.h"

enum { RUNS_MAX = 5, STEPS_MAX = 24, SETTLE_ROUNDS = 40 };

struct world {
    struct reconcile_row rows[RUNS_MAX];
    uint32_t run_count;
    bool is_leased[RUNS_MAX];    /* the server waits for its end */
    bool is_cancelled[RUNS_MAX]; /* the server has ended it */
    uint32_t create_count[RUNS_MAX];
    uint32_t foreign_touch_count;
    bool is_ever_acked[RUNS_MAX];
};

/* What a server that leases, and cancels what it has ended, sends. */
static void exchange(struct world *w)
{
    for (uint32_t i = 0; i < w->run_count; i++) {
        struct reconcile_row *row = &w->rows[i];
        bool is_known =
            row->phase != RECONCILE_NEVER && row->phase != RECONCILE_FORGOTTEN;
        if (w->is_cancelled[i] && is_known) {
            row->want = RECONCILE_WANT_STOP;
        } else if (w->is_leased[i] && !w->is_cancelled[i] && !is_known) {
            row->want = RECONCILE_WANT_RUN;
        }
    }
}

static void server_takes_report(struct world *w, uint32_t i,
                                enum reconcile_phase phase)
{
    if (reconcile_is_ended(phase)) {
        w->is_leased[i] = false;
        w->is_cancelled[i] = true;
    }
}

static void do_action(struct world *w, const struct reconcile_action *action,
                      bool report_arrives)
{
    uint32_t i = action->row_index;
    struct reconcile_row *row = &w->rows[i];

    w->foreign_touch_count += row->is_foreign;
    switch (action->kind) {
    case RECONCILE_CREATE:
        w->create_count[i]++;
        row->phase = RECONCILE_PENDING;
        break;
    case RECONCILE_STOP:
        row->is_stopping = true;
        break;
    case RECONCILE_REPORT:
        row->sent = action->phase;
        if (report_arrives) {
            server_takes_report(w, i, action->phase);
            row->acked = action->phase;
            w->is_ever_acked[i] |= reconcile_is_ended(action->phase);
            if (row->phase == RECONCILE_FORGOTTEN) {
                row->want = RECONCILE_WANT_NONE;
            }
        }
        break;
    case RECONCILE_FORGET:
        if (row->phase == RECONCILE_NEVER) {
            row->want = RECONCILE_WANT_NONE;
        } else {
            row->phase = RECONCILE_FORGOTTEN;
            row->want = RECONCILE_WANT_NONE;
            row->sent = row->acked = RECONCILE_NEVER;
        }
        break;
    case RECONCILE_ACTION_KINDS:
        abort();
    }
}

/* The executor dies: what it wanted and what it had sent is gone; pods, their
 * phases and the acknowledged phases are kept by the runtime. */
static void crash(struct world *w)
{
    for (uint32_t i = 0; i < w->run_count; i++) {
        w->rows[i].want = RECONCILE_WANT_NONE;
        w->rows[i].sent = RECONCILE_NEVER;
        w->rows[i].is_stopping = false;
    }
}

static void run_plan(struct world *w, struct tape *tape, bool has_faults)
{
    struct reconcile_action plan[2 * RUNS_MAX];
    uint32_t create_max =
        has_faults ? (uint32_t)draw(tape, 0, RUNS_MAX) : RUNS_MAX;
    uint32_t count = reconcile_plan(w->rows, w->run_count, create_max, plan);
    uint32_t done = has_faults && draw(tape, 0, 3) == 1
                        ? (uint32_t)draw(tape, 0, count)
                        : count;

    for (uint32_t a = 0; a < done; a++) {
        do_action(w, &plan[a], !has_faults || draw(tape, 0, 1));
    }
    if (done < count) {
        crash(w);
    }
}

static void pod_moves(struct world *w, uint32_t i, uint64_t how)
{
    struct reconcile_row *row = &w->rows[i];

    if (row->phase != RECONCILE_PENDING && row->phase != RECONCILE_RUNNING) {
        return;
    }
    switch (how) {
    case 0:
        row->phase = RECONCILE_SUCCEEDED;
        break;
    case 1:
        row->phase = RECONCILE_RUNNING;
        break;
    case 2:
        row->phase = RECONCILE_FAILED;
        break;
    default:
        row->phase = RECONCILE_LOST;
    }
}

static void random_step(struct world *w, struct tape *tape)
{
    uint32_t i = (uint32_t)draw(tape, 0, w->run_count - 1);

    switch (draw(tape, 0, 6)) {
    case 0:
        w->is_leased[i] |= !w->is_cancelled[i] && !w->rows[i].is_foreign;
        break;
    case 1:
        w->is_cancelled[i] |= w->is_leased[i];
        break;
    case 2:
        exchange(w);
        break;
    case 3:
        run_plan(w, tape, true);
        break;
    case 4:
        pod_moves(w, i, draw(tape, 0, 3));
        break;
    case 5:
        w->rows[i].sent = RECONCILE_NEVER; /* a report timed out */
        break;
    default:
        crash(w);
    }
}

static struct world draw_world(struct tape *tape)
{
    struct world w = {.run_count = (uint32_t)draw(tape, 1, RUNS_MAX)};

    for (uint32_t i = 0; i < w.run_count; i++) {
        w.rows[i].id.v = (struct key128){1, i + 1};
        if (draw(tape, 0, 4) == 1) {
            w.rows[i].is_foreign = true;
            w.rows[i].phase = RECONCILE_RUNNING;
        }
    }
    return w;
}

/* No more faults: exchanges, plans and pods that end, until rest. */
static void settle(struct world *w, struct tape *tape)
{
    for (int round = 0; round < SETTLE_ROUNDS; round++) {
        for (uint32_t i = 0; i < w->run_count; i++) {
            w->rows[i].sent = RECONCILE_NEVER;
            if (!w->rows[i].is_foreign) {
                pod_moves(w, i, round % 2);
            }
        }
        exchange(w);
        run_plan(w, tape, false);
    }
}

/* Whatever happened before, once faults end each leased run comes to its end
 * at the server, nothing of ours is left behind, no id was created twice, and
 * what is not ours was never touched. */
static bool every_history_settles(struct tape *tape)
{
    struct world w = draw_world(tape);

    for (uint64_t steps = draw(tape, 0, STEPS_MAX); steps > 0; steps--) {
        random_step(&w, tape);
    }
    settle(&w, tape);
    for (uint32_t i = 0; i < w.run_count; i++) {
        const struct reconcile_row *row = &w.rows[i];
        if (row->is_foreign) {
            if (row->phase == RECONCILE_FORGOTTEN || w.create_count[i] > 0) {
                return false;
            }
        } else if (w.is_leased[i] && !w.is_cancelled[i]) {
            return false; /* the server still waits */
        } else if (row->phase != RECONCILE_NEVER &&
                   row->phase != RECONCILE_FORGOTTEN) {
            return false; /* left behind */
        }
        if (w.create_count[i] > 1) {
            return false;
        }
    }
    return w.foreign_touch_count == 0;
}

/* At rest there is nothing to do: plan(x, x) is empty. */
static bool rest_is_quiet(struct tape *tape)
{
    struct world w = draw_world(tape);
    struct reconcile_action plan[2 * RUNS_MAX];

    for (uint32_t i = 0; i < w.run_count; i++) {
        struct reconcile_row *row = &w.rows[i];
        enum reconcile_phase phase =
            (enum reconcile_phase)draw(tape, 1, RECONCILE_RUNNING);
        row->phase = phase;
        row->want = (enum reconcile_want)draw(tape, 0, RECONCILE_WANT_RUN);
        row->acked = phase;
    }
    return reconcile_plan(w.rows, w.run_count, RUNS_MAX, plan) == 0;
}

/* Once what a plan asks for is done, reports included, there is nothing left
 * to ask for until the world moves. */
static bool plan_is_idempotent(struct tape *tape)
{
    struct world w = draw_world(tape);

    for (uint64_t steps = draw(tape, 0, STEPS_MAX); steps > 0; steps--) {
        random_step(&w, tape);
    }
    for (int round = 0; round < 4; round++) {
        run_plan(&w, tape, false);
    }
    struct reconcile_action plan[2 * RUNS_MAX];
    return reconcile_plan(w.rows, w.run_count, RUNS_MAX, plan) == 0;
}

int main(void)
{
    bool is_ok =
        prop_check("every_history_settles", every_history_settles, 20000, 0) &&
        prop_check("rest_is_quiet", rest_is_quiet, 2000, 0) &&
        prop_check("plan_is_idempotent", plan_is_idempotent, 5000, 0);

    return is_ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
