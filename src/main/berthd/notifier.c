#include "main/berthd/notifier.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "main/berthd/notify_source.h"
#include "main/common/say.h"
#include "main/common/stopper.h"
#include "notify/positions.h"
#include "notify/webhooks.h"

enum {
    WAIT_MS = 500,
    BEHIND_MS = 20,  /* while the projector has not got what the log has */
    FLYING_MS = 50,  /* news may come while answers are waited for */
    RETRY_MS = 1000, /* log or store cannot be read */
    SAY_PERIOD_MS = 60000,
};

struct notifier {
    struct notifier_options options;
    struct elog_reader *log;    /* owned; the thread's, as all below */
    struct store_reader *store; /* owned */
    struct outbox *outbox;      /* owned */
    struct webhooks *webhooks;  /* owned */
    struct notify_source source;
    struct stopper stopper;
    int64_t saved_ms;
    struct strbuf saved; /* what the file holds */
    bool is_failing;
    int64_t said_ms[NOTIFY_TARGETS_MAX];
    uint64_t said_count[NOTIFY_TARGETS_MAX]; /* dropped when it was said last */
    pthread_mutex_t lock;
    struct outbox_counts counts[NOTIFY_TARGETS_MAX]; /* under the lock */
    pthread_t thread;
};

static int64_t now_ms(const struct notifier *notifier)
{
    const struct clock *clock = notifier->options.clock;

    return (int64_t)(clock->mono_ns(clock) / 1000000u);
}

/* The file of positions. */

/* 1: there is none. */
static int read_file(const char *path, struct strbuf *out, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    char *bytes = strbuf_reserve(out, POSITIONS_BYTES_MAX);
    ssize_t count = fd < 0 ? -1 : read(fd, bytes, POSITIONS_BYTES_MAX);
    bool is_missing = fd < 0 && errno == ENOENT;

    out->byte_count = count < 0 ? 0 : (size_t)count;
    if (fd >= 0) {
        close(fd);
    }
    if (count < 0) {
        return is_missing
                   ? 1
                   : err_set(err, -ERR_IO, "%s: %s", path, strerror(errno));
    }
    return positions_is_whole(strbuf_str(out))
               ? 0
               : err_set(err, -ERR_CORRUPT,
                         "%s is damaged, so it is not known of which ends the "
                         "targets of notifications have been told; if you move "
                         "that file away, they are told of ends from now on",
                         path);
}

/* Replace a file whole. */
static int write_file(const char *path, struct str text, struct err *err)
{
    auto_strbuf next = {0};

    strbuf_addf(&next, "%s-next", path);
    int fd = open(strbuf_text(&next),
                  O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool is_written =
        fd >= 0 &&
        write(fd, text.p, text.byte_count) == (ssize_t)text.byte_count &&
        fdatasync(fd) == 0;
    if (fd >= 0) {
        is_written = close(fd) == 0 && is_written;
    }
    return is_written && rename(strbuf_text(&next), path) == 0
               ? 0
               : err_set(err, -ERR_IO, "%s: %s", path, strerror(errno));
}

/* Write how far each target has been told, if that has changed. */
static void save(struct notifier *notifier)
{
    const struct notifier_options *options = &notifier->options;
    auto_strbuf lines = {0}, text = {0};
    struct err err;

    for (uint32_t i = 0; i < options->target_count; i++) {
        uint64_t told = notifier->source.told_seqs[i];
        uint64_t seq = notify_source_position(&notifier->source, i);
        positions_put(options->targets[i].name, seq > told ? seq : told,
                      &lines);
    }
    positions_seal(strbuf_str(&lines), &text);
    notifier->saved_ms = now_ms(notifier);
    if (str_equal(strbuf_str(&text), strbuf_str(&notifier->saved))) {
        return;
    }
    if (write_file(options->path, strbuf_str(&text), &err) < 0) {
        say(SAY_WARN, "notification.unsaved", say_text("error", err.text));
        return;
    }
    strbuf_clear(&notifier->saved);
    strbuf_add_str(&notifier->saved, strbuf_str(&text));
}

/* A target begins at the end of the log: it is new, or its position is lost. */
static void say_begun(struct str target, uint64_t seq)
{
    say(SAY_INFO, "notification.begun", say_str("target", target),
        say_int("after_record", (int64_t)seq));
}

/* Go on where the file says, but not beyond the log's end, which has lost
 * records then. */
static int load(struct notifier *notifier, struct err *err)
{
    const struct notifier_options *options = &notifier->options;
    struct notify_source *source = &notifier->source;
    struct elog_bounds bounds;

    int rc = elog_bounds(notifier->log, &bounds, err);
    rc = rc < 0 ? rc : read_file(options->path, &notifier->saved, err);
    if (rc < 0) {
        return rc;
    }
    source->seq = bounds.head_seq;
    for (uint32_t i = 0; i < options->target_count; i++) {
        uint64_t seq;
        bool is_known = positions_find(strbuf_str(&notifier->saved),
                                       options->targets[i].name, &seq);
        source->told_seqs[i] =
            is_known && seq < bounds.head_seq ? seq : bounds.head_seq;
        source->seq = source->told_seqs[i] < source->seq ? source->told_seqs[i]
                                                         : source->seq;
        if (!is_known) {
            say_begun(options->targets[i].name, bounds.head_seq);
        }
    }
    return 0;
}

/* What people hear of. */

/* Say that notes were dropped, but not for each. */
static void say_dropped(struct notifier *notifier, uint32_t target,
                        const char *why)
{
    struct outbox_counts counts = outbox_counts(notifier->outbox, target);
    uint64_t count =
        counts.full_count + counts.refused_count + counts.expired_count;
    int64_t now = now_ms(notifier);

    if (notifier->said_ms[target] > 0 &&
        now - notifier->said_ms[target] < SAY_PERIOD_MS) {
        return;
    }
    say(SAY_WARN, "notification.dropped",
        say_str("target", notifier->options.targets[target].name),
        say_int("count", (int64_t)(count - notifier->said_count[target])),
        say_text("reason", why));
    notifier->said_ms[target] = now;
    notifier->said_count[target] = count;
}

static void say_full(struct notifier *notifier)
{
    for (uint32_t i = 0; i < notifier->options.target_count; i++) {
        struct outbox_counts counts = outbox_counts(notifier->outbox, i);
        if (counts.full_count > notifier->counts[i].full_count) {
            say_dropped(notifier, i, "notifications.maxQueued wait already");
        }
    }
}

static void publish(struct notifier *notifier)
{
    say_full(notifier);
    (void)pthread_mutex_lock(&notifier->lock);
    for (uint32_t i = 0; i < notifier->options.target_count; i++) {
        notifier->counts[i] = outbox_counts(notifier->outbox, i);
    }
    (void)pthread_mutex_unlock(&notifier->lock);
}

bool notifier_metrics(struct notifier *notifier, uint32_t target,
                      struct str *ret_name, struct outbox_counts *ret_counts)
{
    if (!notifier || target >= notifier->options.target_count) {
        return false;
    }
    *ret_name = notifier->options.targets[target].name;
    (void)pthread_mutex_lock(&notifier->lock);
    *ret_counts = notifier->counts[target];
    (void)pthread_mutex_unlock(&notifier->lock);
    return true;
}

/* The thread. */

static void on_end(void *ctx, struct outbox_item *item, enum outbox_end end,
                   const char *why)
{
    struct notifier *notifier = ctx;
    uint32_t target = item->target;

    say(SAY_DEBUG, "notification.attempt",
        say_str("target", notifier->options.targets[target].name),
        say_str("id", item->id),
        say_int("attempt", (int64_t)item->attempt_count),
        say_text("error", why));
    if (outbox_end(notifier->outbox, item, end, now_ms(notifier))) {
        say_dropped(notifier, target, why);
    }
}

static void on_line(void *ctx, const struct outbox_item *item, struct str line)
{
    const struct notifier *notifier = ctx;

    say(SAY_INFO, "notification.output",
        say_str("target", notifier->options.targets[item->target].name),
        say_str("id", item->id), say_str("text", line));
}

static void on_gone(void *ctx, const char *why)
{
    (void)ctx;
    say(SAY_ERROR, "notification.stopped",
        say_text("error", *why ? why : "berth-notify has ended"),
        say_text("advice", "no command of notifications runs until berthd is "
                           "started again"));
}

/* Read on: whether there may be more at once, or a code. */
static int read_news(struct notifier *notifier, struct err *err)
{
    struct notify_source *source = &notifier->source;
    struct elog_bounds bounds;

    int count =
        notify_source_go_on(source, projector_seq(notifier->options.projector),
                            now_ms(notifier), err);
    if (count != -ERR_NOT_FOUND) {
        return count;
    }
    int rc = elog_bounds(notifier->log, &bounds, err);
    if (rc == 0) {
        say(SAY_WARN, "notification.skipped",
            say_int("from", (int64_t)source->seq + 1),
            say_int("to", (int64_t)bounds.first_seq - 1),
            say_text("reason", "these records of the log are older than "
                               "log.retention"));
        source->seq = source->read_seq = bounds.first_seq - 1;
    }
    return rc;
}

/* Begin an attempt. */
static void deliver(struct notifier *notifier, struct outbox_item *item)
{
    if (notifier->options.targets[item->target].command_count > 0) {
        runner_send(notifier->options.runner, item);
    } else {
        webhooks_send(notifier->webhooks, item);
    }
}

static uint32_t flying_count(const struct notifier *notifier)
{
    const struct runner *runner = notifier->options.runner;

    return webhooks_flying_count(notifier->webhooks) +
           (runner ? runner_flying_count(runner) : 0);
}

/* Go on with what is under way, for up to `timeout_ms` while nothing comes. */
static void drive(struct notifier *notifier, int timeout_ms)
{
    webhooks_drive(notifier->webhooks, timeout_ms);
    if (notifier->options.runner) {
        runner_drive(notifier->options.runner);
    }
}

/* Wait until there may be something to do. */
static void rest(struct notifier *notifier)
{
    int64_t wait_ms = outbox_due_ms(notifier->outbox) - now_ms(notifier);
    struct err err;

    wait_ms = wait_ms < 0 ? 0 : wait_ms < WAIT_MS ? wait_ms : WAIT_MS;
    if (flying_count(notifier) > 0) {
        drive(notifier, (int)(wait_ms < FLYING_MS ? wait_ms : FLYING_MS));
    } else if (elog_wait(notifier->log, notifier->source.seq, (int)wait_ms,
                         &err) != 0 &&
               projector_seq(notifier->options.projector) <=
                   notifier->source.seq) {
        (void)stopper_wait(&notifier->stopper, BEHIND_MS);
    }
}

static void step(struct notifier *notifier)
{
    struct outbox_item *item;
    struct err err;

    int count = read_news(notifier, &err);
    if (count < 0 && !notifier->is_failing) {
        say(SAY_WARN, "notification.retrying", say_text("error", err.text));
    }
    notifier->is_failing = count < 0;
    while ((item = outbox_next(notifier->outbox, now_ms(notifier)))) {
        deliver(notifier, item);
    }
    if (notifier->options.runner) {
        runner_drive(notifier->options.runner); /* it may have ended */
    }
    publish(notifier);
    if (count < 0) {
        (void)stopper_wait(&notifier->stopper, RETRY_MS);
    } else if (count == 0) {
        rest(notifier);
    } else {
        drive(notifier, 0);
    }
    if (now_ms(notifier) - notifier->saved_ms >= NOTIFIER_SAVE_MS) {
        save(notifier);
    }
}

static void *run(void *ctx)
{
    struct notifier *notifier = ctx;

    while (!stopper_is_stopped(&notifier->stopper)) {
        step(notifier);
    }
    save(notifier);
    return NULL;
}

static void release(struct notifier *notifier)
{
    webhooks_destroy(notifier->webhooks);
    outbox_destroy(notifier->outbox);
    notify_source_fini(&notifier->source);
    store_reader_close(notifier->store);
    elog_reader_close(notifier->log);
    stopper_close(&notifier->stopper);
    strbuf_fini(&notifier->saved);
    (void)pthread_mutex_destroy(&notifier->lock);
    mem_free(notifier);
}

static int open_all(struct notifier *notifier, struct err *err)
{
    const struct notifier_options *options = &notifier->options;

    int rc = elog_reader_open(options->log, &notifier->log, err);
    rc = rc < 0 ? rc : store_reader_open(options->store, &notifier->store, err);
    rc = rc < 0 ? rc : stopper_open(&notifier->stopper, err);
    if (rc < 0) {
        return rc;
    }
    notifier->webhooks = webhooks_create(options->targets, options->clock,
                                         on_end, notifier, err);
    if (options->runner) {
        runner_set_events(
            options->runner,
            &(struct runner_events){on_end, on_line, on_gone, notifier});
    }
    notifier->source.log = notifier->log;
    notifier->source.store = notifier->store;
    return notifier->webhooks ? load(notifier, err) : -ERR_IO;
}

struct notifier *notifier_start(const struct notifier_options *options,
                                struct err *err)
{
    struct notifier *notifier = mem_alloc(sizeof(*notifier));

    notifier->options = *options;
    notifier->stopper.fd = -1;
    (void)pthread_mutex_init(&notifier->lock, NULL);
    notifier->outbox = outbox_create(
        options->target_count, options->queued_count_max, options->keep_ms);
    notifier->source.targets = options->targets;
    notifier->source.target_count = options->target_count;
    notifier->source.outbox = notifier->outbox;
    int rc = open_all(notifier, err);
    if (rc == 0) {
        save(notifier); /* a new target begins here, whatever comes */
    }
    if (rc == 0 &&
        pthread_create(&notifier->thread, NULL, run, notifier) != 0) {
        rc = err_set(err, -ERR_IO, "cannot start a thread");
    }
    if (rc < 0) {
        release(notifier);
        return NULL;
    }
    return notifier;
}

void notifier_stop(struct notifier *notifier)
{
    if (!notifier) {
        return;
    }
    stopper_stop(&notifier->stopper);
    elog_reader_interrupt(notifier->log);
    webhooks_wake(notifier->webhooks);
    (void)pthread_join(notifier->thread, NULL);
    release(notifier);
}
