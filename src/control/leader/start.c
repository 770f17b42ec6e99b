/* Becomes the leader: becomes the writer, then reads the checkpoint, then the
 * log. */
#include "control/checkpoint/checkpoint.h"
#include "control/fold/fold.h"
#include "control/leader/leader.h"
#include "control/state/state.h"
#include "wire/policy/policy_codec.h"

/* Read at one step, so that commands are answered meanwhile. */
enum { REPLAY_RECORDS = 1024, REPLAY_BYTES = 16 << 20 };

static int add_piece(void *ctx, const struct elog_checkpoint *about,
                     struct str piece)
{
    struct strbuf *buf = ctx;

    (void)about;
    strbuf_add_str(buf, piece);
    return buf->is_over ? -ERR_LIMIT : 0;
}

int start_from_checkpoint(struct control *c, struct err *err)
{
    auto_strbuf bytes = strbuf_make(SIZE_MAX / 2);
    struct elog_checkpoint about;
    int rc = elog_checkpoint_get(c->reader, &about, add_piece, &bytes, err);

    if (rc <= 0) {
        return rc;
    }
    if (about.format_version > CONTROL_CHECKPOINT_VERSION) {
        return err_set(err, -ERR_VERSION,
                       "the checkpoint was written by a newer release");
    }
    rc = checkpoint_decode(c, strbuf_str(&bytes), err);
    if (rc == 0) {
        ASSERT(c->seq == 0); /* it is read before any record */
        c->seq = c->checkpoint_seq = about.seq;
    }
    return rc;
}

int start_acquire(struct control *c, struct err *err)
{
    auto_strbuf text = {0};

    int rc = elog_acquire(c->config.log, &c->epoch, err);
    if (rc < 0) {
        return rc;
    }
    rc = elog_reader_open(c->config.log, &c->reader, err);
    if (rc < 0) {
        return rc;
    }
    policy_print(&c->policy->policy, &text);
    c->wanted_policy = strbuf_steal(&text);
    c->replay_began_ns = control_mono_ns(c);
    rc = start_from_checkpoint(c, err);
    if (rc == 0) {
        c->state = CONTROL_REPLAYING;
    }
    return rc;
}

int start_from_state(struct control *c, struct str bytes, struct err *err)
{
    int rc = elog_acquire(c->config.log, &c->epoch, err);

    if (rc == 0) {
        rc = checkpoint_decode(c, bytes, err);
    }
    if (rc == 0) {
        c->marks.count = 0; /* they are of another log */
        c->state = CONTROL_REPLAYING;
    }
    return rc;
}

struct replaying {
    struct control *c;
    struct err *err;
};

static int replay_record(void *ctx, const struct elog_record *record)
{
    struct replaying *replaying = ctx;
    struct control *c = replaying->c;

    if (record->format_version > CONTROL_FORMAT_VERSION) {
        return err_set(replaying->err, -ERR_VERSION,
                       "record %llu of the log was written by a newer "
                       "release",
                       (unsigned long long)record->seq);
    }
    ASSERT(record->seq == c->seq + 1);
    c->metrics.replayed_record_count++;
    return fold_payload(c, record->payload, record->seq, record->time_ms,
                        replaying->err);
}

/* The policy that the configuration asks for is logged if it is another. */
static void compare_policies(struct control *c)
{
    auto_strbuf text = {0};

    policy_print(&c->policy->policy, &text);
    if (c->is_policy_logged &&
        str_equal(strbuf_str(&text), str_of(c->wanted_policy))) {
        mem_free(c->wanted_policy);
        c->wanted_policy = NULL;
    }
}

int start_replay(struct control *c, struct err *err)
{
    ASSERT(c->state == CONTROL_REPLAYING && !c->batch.is_in_flight);
    struct replaying replaying = {c, err};
    struct elog_range range = {
        .from_seq = c->seq + 1,
        .record_count_max = REPLAY_RECORDS,
        .byte_count_max = REPLAY_BYTES,
    };

    int count = elog_read(c->reader, &range, replay_record, &replaying, err);
    if (count != 0) {
        return count < 0 ? count : 0;
    }
    compare_policies(c);
    elog_reader_close(c->reader);
    c->reader = NULL;
    c->metrics.replay_ms =
        (int64_t)((control_mono_ns(c) - c->replay_began_ns) / NS_PER_MS);
    return 1;
}
