#include "executor/kubernetes/kube_answer.h"

#include <stdio.h>

#include "base/strbuf.h"
#include "kube/api/envelope.h"
#include "wire/text/printable.h"

enum {
    STATUS_OK = 200,
    STATUS_CREATED = 201,
    STATUS_ACCEPTED = 202,
    STATUS_INVALID = 400,
    STATUS_FORBIDDEN = 403,
    STATUS_NOT_FOUND = 404,
    STATUS_NO_METHOD = 405,
    STATUS_CONFLICT = 409,
    STATUS_TOO_LARGE = 413,
    STATUS_UNSUPPORTED = 415,
    STATUS_UNPROCESSABLE = 422,
    MESSAGE_BYTES_MAX = 400,
};

/* What is said with 403 and may be said no more tomorrow, or by another
 * cluster. */
static const char *const passing[] = {
    "exceeded quota",
    "cannot create resource", /* the executor lacks the right */
    "status unknown for quota",
};

/* The message and the reason of the answer's Status, or its text. */
static struct status_head status_of(const struct http_result *result)
{
    struct status_head status = {.message = str_of(result->text)};
    struct envelope envelope;

    if (envelope_read(result->body, &envelope) < 0) {
        if (result->body.byte_count > 0) {
            status.message = result->body;
        }
        return status;
    }
    if (status_read(envelope.object, &status) < 0) {
        status = (struct status_head){.message = STR("")};
    }
    return status;
}

static bool has_text(struct str text, const char *part)
{
    return text.byte_count > 0 &&
           memmem(text.p, text.byte_count, part, strlen(part)) != NULL;
}

static bool is_passing(struct str message)
{
    for (size_t i = 0; i < ARRAY_COUNT(passing); i++) {
        if (has_text(message, passing[i])) {
            return true;
        }
    }
    return false;
}

static enum kube_answer answer_of(const struct http_result *result,
                                  const struct status_head *status)
{
    /* A webhook chooses its own status. */
    if (result->status / 100 != 2 &&
        has_text(status->message, "denied the request")) {
        return KUBE_REFUSED;
    }
    switch (result->status) {
    case STATUS_OK:
    case STATUS_CREATED:
    case STATUS_ACCEPTED:
        return KUBE_MADE;
    case STATUS_CONFLICT:
        return str_equal(status->reason, STR("AlreadyExists")) ? KUBE_EXISTS
                                                               : KUBE_AGAIN;
    case STATUS_FORBIDDEN:
        return is_passing(status->message) ? KUBE_RETURNED : KUBE_REFUSED;
    case STATUS_INVALID:
    case STATUS_NOT_FOUND:
    case STATUS_NO_METHOD:
    case STATUS_TOO_LARGE:
    case STATUS_UNSUPPORTED:
    case STATUS_UNPROCESSABLE:
        return KUBE_REFUSED;
    default:
        return KUBE_AGAIN;
    }
}

static void set_why(const struct http_result *result, struct str message,
                    struct err *why)
{
    auto_strbuf shown = strbuf_make(0);

    if (message.byte_count > MESSAGE_BYTES_MAX) {
        message.byte_count = MESSAGE_BYTES_MAX;
    }
    wire_printable(message, PRINTABLE_LINE, &shown);
    if (result->status == 0) {
        (void)err_set(why, -ERR_UNAVAILABLE,
                      "the API server did not answer: %s", strbuf_text(&shown));
    } else {
        (void)err_set(why, -ERR_UNAVAILABLE, "the API server answered %d: %s",
                      result->status, strbuf_text(&shown));
    }
}

struct kube_verdict kube_answer_read(const struct http_result *result)
{
    struct status_head status = status_of(result);
    struct kube_verdict verdict = {
        .answer = answer_of(result, &status),
        .after_ms = result->retry_after_ms,
    };

    if (verdict.after_ms < 0 && status.retry_after_s > 0) {
        verdict.after_ms = status.retry_after_s * 1000;
    }
    if (verdict.answer != KUBE_MADE) {
        set_why(result, status.message, &verdict.why);
    }
    return verdict;
}
