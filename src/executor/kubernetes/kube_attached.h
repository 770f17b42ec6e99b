/*
 * kube_attached - what belongs to a job beside its pod: services, ingresses,
 * config maps, and whatever it brings itself (manifest.h).  They are made after
 * the pod and owned by it: when the pod is deleted, the cluster deletes them.
 *
 * The pod carries them in an annotation (KUBE_OBJECTS_ANNOTATION), so that an
 * executor that is killed between the two finds what is left to make.  Secrets
 * are withheld there: anybody who sees pods would see them.
 *
 * What the job itself brings gets the pod's name before its own (kube_refs.h),
 * and a claim the node of the pod, for no scheduler of the cluster chooses it.
 *
 * As Armada's executor does it, a service selects the job's pod by the labels
 * armada_job_id, armada_queue_id and armada_pod_number, and the hosts and TLS
 * secrets of ingresses get the executor's suffixes where they end in '.' or '-'
 * (armada-api.md 3.5, 6.5).
 *
 * Pure.  Threads: any; an arena has one owner.
 */
#pragma once

#include "base/strbuf.h"
#include "executor/kubernetes/kube_allowed.h"
#include "executor/runtime.h"

/* The annotation: base64 of a SubmitJob with nothing but objects. */
#define KUBE_OBJECTS_ANNOTATION "berth.dev/objects"

enum {
    KUBE_ATTACHED_MAX = 64,
    KUBE_ATTACHED_BYTES_MAX = 160 << 10, /* of the text; all annotations of a
                                          * pod may have 256 KiB */
    KUBE_EXPOSED_MAX = 256,
};

/* What is appended to names in ingresses, and what there may be. */
struct kube_attached_rules {
    struct str hostname_suffix, certificate_suffix;
    struct kube_allowed allowed;
};

/* Whose they are. */
struct kube_attached_owner {
    struct str pod_name, namespace_, uid, node_name;
    struct str job, queue; /* as its labels say */
};

/* An object to be made. */
struct kube_attached {
    uint32_t index; /* among the objects of the job */
    struct str api_version, kind, name;
    struct str namespace_;
    struct str plural; /* "": the server has to be asked (kube_mapping.h) */
    struct str body;
    bool is_json;     /* the body; answers hold but metadata */
    bool is_secret;   /* nobody may read the body, or what is said of it */
    bool is_withheld; /* a secret whose body is not here: it can be found, but
                       * not made */
    /* What became of it. */
    struct str uid;     /* "": it was not made */
    struct str refusal; /* "": it was not refused */
    int64_t generation;
    int64_t changed_ms;
};

/* A port of a pod that can be reached from outside. */
struct kube_exposed {
    int32_t port;
    int32_t node_port;  /* on the address of the pod's node; 0: of an ingress,
                         * and reached at `address` */
    struct str address; /* HOST/PATH of an ingress; "" with a node_port */
};

/* The text of the annotation, in the arena; "": the job has no objects.
 * -ERR_INVALID: there are too many, or they are too large. */
int kube_attached_pack(const Armadaevents__SubmitJob *submit,
                       bool withholds_secrets, struct arena *arena,
                       struct str *ret_text, struct err *err) must_check;

/* The objects of such a text, which anybody may have written, in the arena:
 * secrets first, since only this executor can make them.
 * -ERR_INVALID (also: one is not allowed), -ERR_CORRUPT,
 * -ERR_LIMIT. */
int kube_attached_unpack(struct str text,
                         const struct kube_attached_owner *owner,
                         const struct kube_attached_rules *rules,
                         struct arena *arena, struct kube_attached **ret_items,
                         uint32_t *ret_count, struct err *err) must_check;

/* Append the path to POST to; with its name that of the object.  It has a
 * plural. */
void kube_attached_path(const struct kube_attached *item, bool has_name,
                        struct strbuf *path);

/* What the API server sent of an object: whether it is owned by this pod. */
bool kube_attached_is_of(struct str answer, struct str uid) must_check;

/* Note what the API server sent of an item that was made; in the arena. */
void kube_attached_note(struct str answer, struct arena *arena,
                        struct kube_attached *item);

/* Add the ports that it exposes to the `items`, which have room for
 * KUBE_EXPOSED_MAX: sorted by port, each once, the last counts.  New ports are
 * dropped when all are taken.  Texts are in the arena. */
void kube_attached_expose(struct str answer, struct arena *arena,
                          struct kube_exposed *items, uint32_t *count);
