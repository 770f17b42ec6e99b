#include "executor/kubernetes/kube_check.h"

#include "wire/text/printable.h"

enum { MS_PER_S = 1000, TEXT_BYTES_MAX = 400 };

static const struct {
    int64_t patience_ms;
    enum runtime_cause cause;
    const char *text; /* how it is said */
} rules[] = {
    [KUBE_WAIT_NAME] = {0, RUNTIME_CAUSE_IMAGE,
                        "the name of an image is invalid"},
    [KUBE_WAIT_BROKEN] = {90 * MS_PER_S, RUNTIME_CAUSE_IMAGE,
                          "an image cannot be used"},
    [KUBE_WAIT_IMAGE] = {900 * MS_PER_S, RUNTIME_CAUSE_REJECTED,
                         "an image could not be pulled for 15 minutes"},
    [KUBE_WAIT_START] = {300 * MS_PER_S, RUNTIME_CAUSE_REJECTED,
                         "the pod did not start for 5 minutes"},
    [KUBE_WAIT_END] = {30 * MS_PER_S, RUNTIME_CAUSE_STUCK,
                       "the pod has not ended 30 seconds after its grace "
                       "period"},
};

static bool has_text(struct str text, const char *part)
{
    return text.byte_count > 0 &&
           memmem(text.p, text.byte_count, part, strlen(part)) != NULL;
}

static enum kube_wait wait_of(const struct kube_pod *pod)
{
    if (pod->is_ending) {
        return KUBE_WAIT_END;
    }
    if (pod->pod.phase != RECONCILE_PENDING) {
        return KUBE_WAIT_NONE;
    }
    if (str_equal(pod->waiting, STR("InvalidImageName"))) {
        return KUBE_WAIT_NAME;
    }
    if (pod->has_no_image &&
        (has_text(pod->waiting_text, "failed to extract layer") ||
         has_text(pod->waiting_text, "Error response from daemon"))) {
        return KUBE_WAIT_BROKEN;
    }
    if (str_equal(pod->waiting, STR("ErrImagePull")) ||
        str_equal(pod->waiting, STR("ImagePullBackOff"))) {
        return KUBE_WAIT_IMAGE;
    }
    return pod->is_initializing &&
                   str_equal(pod->waiting, STR("PodInitializing"))
               ? KUBE_WAIT_NONE
               : KUBE_WAIT_START;
}

/* The rule's words, and those of the kubelet. */
static struct str text_of(enum kube_wait wait, const struct kube_pod *pod,
                          struct arena *arena)
{
    auto_strbuf text = strbuf_make(0);
    struct str message = pod->waiting_text;

    strbuf_add_text(&text, rules[wait].text);
    if (wait != KUBE_WAIT_END && pod->waiting.byte_count > 0) {
        strbuf_addf(&text, ": %.*s", STR_ARG(pod->waiting));
        strbuf_add_text(&text, message.byte_count > 0 ? ": " : "");
        if (message.byte_count > TEXT_BYTES_MAX) {
            message.byte_count = TEXT_BYTES_MAX;
        }
        wire_printable(message, PRINTABLE_LINE, &text);
    }
    return arena_str(arena, strbuf_str(&text));
}

struct kube_check kube_check_pod(const struct kube_pod *pod,
                                 struct arena *arena)
{
    enum kube_wait wait = wait_of(pod);

    if (wait == KUBE_WAIT_NONE) {
        return (struct kube_check){.wait = wait};
    }
    return (struct kube_check){
        .wait = wait,
        .patience_ms = rules[wait].patience_ms +
                       (wait == KUBE_WAIT_END ? pod->grace_ms : 0),
        .cause = rules[wait].cause,
        .text = text_of(wait, pod, arena),
    };
}
