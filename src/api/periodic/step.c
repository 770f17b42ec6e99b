/* One look at what is due. */
#include "api/core/state.h"
#include "api/periodic/message.h"
#include "api/periodic/run.h"
#include "wire/message/message.h"

/* A second. */
#define NS_PER_S UINT64_C(1000000000)

enum {
    HEAL_S = 60,  /* clocks that were set back are looked for so often */
    DUE_MAX = 64, /* runs in one step */
    UNREADABLE_MS = 3600000, /* a zone that is gone is looked for so often */
};

/* Note why a run is refused. */
static void refuse(struct api *api, const struct periodic_row *row,
                   struct periodic_step step, const struct err *err)
{
    step.what = PERIODIC_PASS;
    step.outcome = PERIODIC_REFUSED;
    step.text = err->text;
    periodic_pass(api, row, &step);
}

static void submit(struct api *api, const struct periodic_row *row,
                   const Berth__Api__PeriodicJob *message,
                   const struct periodic_step *step)
{
    struct err err;

    if (step->is_replacing) {
        periodic_cancel(api, row, message);
    }
    if (!periodic_submit(api, row, message, step, &err)) {
        refuse(api, row, *step, &err);
    }
}

static void look_at(struct api *api, const struct periodic_row *row,
                    int64_t now_ms)
{
    auto_arena arena = {0};
    struct periodic_times times = {0};
    ProtobufCMessage *decoded;
    struct err err;

    int rc = wire_decode(&berth__api__periodic_job__descriptor, row->encoded,
                         &wire_request_limits, &arena, &decoded, &err);
    const Berth__Api__PeriodicJob *message = (void *)decoded;
    rc = rc < 0 ? rc
                : periodic_times_open(message, &api->zones_lock, &times, &err);
    if (rc < 0) {
        const struct periodic_step later = {.moment_ms = row->next_ms,
                                            .next_ms = now_ms + UNREADABLE_MS};
        refuse(api, row, later, &err);
        periodic_times_close(&times);
        return;
    }
    const struct periodic_step step =
        periodic_decide(&times.terms, row->next_ms, now_ms, row->run_count);
    switch (step.what) {
    case PERIODIC_WAIT:
        break;
    case PERIODIC_PASS:
        periodic_pass(api, row, &step);
        break;
    case PERIODIC_SUBMIT:
        submit(api, row, message, &step);
        break;
    }
    periodic_times_close(&times);
}

/* Let one go on that waits for what a clock that was ahead has found. */
static void heal(struct api *api, const struct periodic_row *row,
                 int64_t now_ms)
{
    auto_arena arena = {0};
    struct periodic_times times = {0};
    ProtobufCMessage *decoded;
    struct err err;

    if (row->last.moment_ms <= now_ms + PERIODIC_AHEAD_MS) {
        return; /* as always */
    }
    int rc = wire_decode(&berth__api__periodic_job__descriptor, row->encoded,
                         &wire_request_limits, &arena, &decoded, &err);
    rc = rc < 0 ? rc
                : periodic_times_open((void *)decoded, &api->zones_lock, &times,
                                      &err);
    int64_t next_ms = rc < 0 ? 0
                             : periodic_heal_ms(&times.terms, row->next_ms,
                                                row->last.moment_ms, now_ms);
    if (next_ms > 0) {
        const struct periodic_step step = {.moment_ms = row->next_ms,
                                           .next_ms = next_ms};
        periodic_pass(api, row, &step);
    }
    periodic_times_close(&times);
}

/* The answer to a question for all that is due by then; 0: for all. */
static struct command *ask_for(struct api *api, int64_t due_ms)
{
    struct command *command = command_create(COMMAND_QUERY_PERIODIC);

    command->periodic.due_ms = due_ms;
    command->periodic.count_max = due_ms ? DUE_MAX : 0;
    struct command *answer = periodic_ask(api, command);
    if (answer && answer->result != COMMAND_OK) {
        command_destroy(answer);
        return NULL;
    }
    return answer;
}

static void heal_all(struct api *api, int64_t now_ms)
{
    const struct clock *clock = api->ports.clock;
    uint64_t now_ns = clock->mono_ns(clock);

    if (now_ns - api->periodic_healed_ns < HEAL_S * NS_PER_S) {
        return;
    }
    api->periodic_healed_ns = now_ns;
    auto_ptr(command) answer = ask_for(api, 0);
    for (uint32_t i = 0; answer && i < answer->periodic.row_count; i++) {
        heal(api, &answer->periodic.rows[i], now_ms);
    }
}

void api_periodic_step(struct api *api)
{
    const struct clock *clock = api->ports.clock;
    int64_t now_ms = clock->wall_ms(clock);

    auto_ptr(command) answer = ask_for(api, now_ms);
    for (uint32_t i = 0; answer && i < answer->periodic.row_count; i++) {
        look_at(api, &answer->periodic.rows[i], now_ms);
    }
    heal_all(api, now_ms);
}
