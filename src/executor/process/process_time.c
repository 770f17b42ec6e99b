/* Whether the age of what is kept can be believed.
 *
 * The file `time` has the time as it was last believed: a clock that is wrong
 * at the start is not believed because somebody starts anew. */
#include "executor/files/file.h"
#include "executor/files/kv.h"
#include "executor/process/process_private.h"

enum { TIME_BYTES_MAX = 256, NOTE_MS = 3600 * 1000 };

static const char time_name[] = "time";

/* What a former life has noted, or 0. */
static int64_t read_time(const struct process *process)
{
    auto_strbuf text = strbuf_make(TIME_BYTES_MAX);
    int64_t time_ms = 0;
    struct err err;

    if (file_read(process->data_fd, time_name, &text, &err) < 0 ||
        kv_check(strbuf_str(&text)) < 0) {
        return 0;
    }
    struct kv_reader reader = {.rest = strbuf_str(&text)};
    while (kv_next(&reader) == 1) {
        if (kv_is(&reader, "time_ms")) {
            time_ms = kv_int(&reader);
        }
    }
    return time_ms;
}

/* When the last of what is kept was done with, or 0. */
static int64_t newest_ms(const struct process *process)
{
    int64_t newest = 0;

    for (size_t i = 0; i < process->kept.count; i++) {
        if (process->kept.items[i].done_ms > newest) {
            newest = process->kept.items[i].done_ms;
        }
    }
    for (size_t i = 0; i < process->outputs.count; i++) {
        if (process->outputs.items[i].done_ms > newest) {
            newest = process->outputs.items[i].done_ms;
        }
    }
    return newest;
}

/* Without the file what is kept is believed: its end was written down. */
void process_time_begin(struct process *process)
{
    int64_t last_ms = read_time(process);

    jump_init(&process->jump, process->clock,
              last_ms > 0 ? last_ms : newest_ms(process));
}

static void note_time(struct process *process, int64_t now_ms)
{
    auto_strbuf text = strbuf_make(TIME_BYTES_MAX);
    struct err err;

    kv_promise_seal(&text);
    kv_add_int(&text, "time_ms", now_ms);
    kv_seal(&text);
    (void)!file_replace(process->data_fd, time_name, strbuf_str(&text), 0600,
                        &err);
    process->time_noted_ms = now_ms;
}

int64_t process_expiry_ms(struct process *process)
{
    int64_t now_ms, ahead_ms;

    if (!jump_is_believed(&process->jump, process->clock, &ahead_ms)) {
        return INT64_MIN;
    }
    now_ms = process->jump.trusted_ms;
    if (now_ms < process->time_noted_ms ||
        now_ms - process->time_noted_ms >= NOTE_MS) {
        note_time(process, now_ms);
    }
    return now_ms;
}
