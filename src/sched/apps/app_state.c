/* The state machine of applications: events, timers, and the effect of borrowed
 * jobs on a state. */
#include "sched/apps/apps.h"

enum sched_app_state app_state_after(enum sched_app_state state,
                                     enum app_event event, uint32_t ask_count,
                                     uint32_t allocation_count)
{
    bool is_empty = ask_count == 0 && allocation_count == 0;

    switch (state) {
    case SCHED_APP_NEW:
        return event == APP_ASKED ? SCHED_APP_ACCEPTED : state;
    case SCHED_APP_ACCEPTED:
        if (event == APP_ALLOCATED) {
            return SCHED_APP_STARTING;
        }
        return is_empty ? SCHED_APP_COMPLETING : state;
    case SCHED_APP_STARTING:
        if (event == APP_ALLOCATED || event == APP_TIMED_OUT) {
            return SCHED_APP_RUNNING;
        }
        /* What lost its only allocation and asks again starts anew, and
         * keeps nobody from starting. */
        return is_empty                ? SCHED_APP_COMPLETING
               : allocation_count == 0 ? SCHED_APP_ACCEPTED
                                       : state;
    case SCHED_APP_RUNNING:
        return is_empty ? SCHED_APP_COMPLETING : state;
    case SCHED_APP_COMPLETING:
        return event == APP_ASKED       ? SCHED_APP_RUNNING
               : event == APP_TIMED_OUT ? SCHED_APP_COMPLETED
                                        : state;
    case SCHED_APP_COMPLETED:
        return event == APP_ASKED       ? SCHED_APP_ACCEPTED
               : event == APP_TIMED_OUT ? SCHED_APP_EXPIRED
                                        : state;
    case SCHED_APP_EXPIRED:
    case SCHED_APP_STATES:
        break;
    }
    return state;
}

int64_t app_state_lasts_ms(enum sched_app_state state)
{
    return state == SCHED_APP_STARTING     ? APP_STARTING_MS
           : state == SCHED_APP_COMPLETING ? APP_COMPLETING_MS
           : state == SCHED_APP_COMPLETED  ? APP_KEPT_MS
                                           : INT64_MAX;
}

enum sched_app_state app_state_at(const struct app *app, int64_t now_ms,
                                  int64_t *ret_since_ms)
{
    enum sched_app_state state = app->state;
    int64_t since_ms = app->since_ms;

    while (app_state_lasts_ms(state) != INT64_MAX &&
           now_ms - since_ms >= app_state_lasts_ms(state)) {
        since_ms += app_state_lasts_ms(state);
        state = app_state_after(state, APP_TIMED_OUT, app->ask_count,
                                app->allocation_count);
    }
    *ret_since_ms = since_ms;
    return state;
}

enum sched_app_state app_state_shown(const struct app *app,
                                     enum sched_app_state state)
{
    bool is_at_rest = state == SCHED_APP_NEW || state == SCHED_APP_COMPLETING ||
                      state == SCHED_APP_COMPLETED;

    return app->borrowers.count && is_at_rest
               ? app_state_after(state, APP_ASKED, 1, 0)
               : state; /* others do not change as somebody asks */
}
