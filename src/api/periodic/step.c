/* One look at what is due. */
#include "api/core/state.h"
#include "api/periodic/message.h"
#include "api/periodic/run.h"
#include "wire/message/message.h"

enum {
    DUE_MAX = 64,            /* runs in one step */
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

void api_periodic_step(struct api *api)
{
    const struct clock *clock = api->ports.clock;
    int64_t now_ms = clock->wall_ms(clock);
    struct command *command = command_create(COMMAND_QUERY_PERIODIC);

    command->periodic.due_ms = now_ms;
    command->periodic.count_max = DUE_MAX;
    auto_ptr(command) answer = periodic_ask(api, command);
    if (!answer || answer->result != COMMAND_OK) {
        return;
    }
    for (uint32_t i = 0; i < answer->periodic.row_count; i++) {
        look_at(api, &answer->periodic.rows[i], now_ms);
    }
}
