/*
 * manifest - an object that a job brings beside its pod, of any kind, as its
 * manifest in JSON.
 *
 * Of the metadata a manifest may have a name, labels and annotations; the
 * namespace is the job's.  What Kubernetes itself writes (status, owners,
 * finalizers) it may not have.  Two kinds that reach beyond the job are bounded
 * further: a secret is none that Kubernetes fills or acts upon, and a claim
 * asks for new room, never for a volume that is there.
 *
 * Pure.  Threads: any; an arena has one owner.
 */
#pragma once

#include "base/arena.h"
#include "model/requirement.h"

enum {
    MANIFESTS_MAX = 32,             /* of a job */
    MANIFEST_BYTES_MAX = 64 << 10,  /* one, as JSON */
    MANIFESTS_BYTES_MAX = 96 << 10, /* all of a job */
    MANIFEST_NAME_BYTES_MAX = 63,   /* the job's name stands before it */
    MANIFEST_LABELS_MAX = 64,       /* and annotations */
    MANIFEST_DEPTH_MAX = 64,        /* objects and lists in one another */
};

#define MANIFEST_SECRET "Secret"
#define MANIFEST_CLAIM "PersistentVolumeClaim"
#define MANIFEST_CONFIG_MAP "ConfigMap"

struct manifest {
    struct str api_version, kind, name;
    struct label *labels, *annotations;
    uint32_t label_count, annotation_count;
    struct str json; /* an object: all but apiVersion, kind and metadata */
};

/* Read one; all of it lives in the arena.  -ERR_INVALID: the text names the
 * field, and never quotes a value of a secret. */
int manifest_read(struct str json, struct arena *arena,
                  struct manifest *ret_manifest, struct err *err) must_check;

/* Whether `json` may be the rest of a manifest of that kind: what
 * manifest_read() would take.  For who got it from elsewhere.  -ERR_INVALID. */
int manifest_check_rest(struct str api_version, struct str kind,
                        struct str json, struct err *err) must_check;

/* Whether the two name a kind, and are fit for paths: "v1" or GROUP/VERSION,
 * and a word of letters and digits. */
bool manifest_is_kind(struct str api_version, struct str kind) must_check;

/* Whether it is a secret: what it says is told to nobody. */
bool manifest_is_secret(struct str api_version, struct str kind) must_check;

/* A manifest as it may be told: of a secret without what it says, in the arena;
 * any other text as it is. */
struct str manifest_withhold(struct str json, struct arena *arena) must_check;
