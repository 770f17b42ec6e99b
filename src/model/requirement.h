/*
 * requirement - what a job requires of a node: amounts, labels, tolerations and
 * priority class.  Jobs with equal requirements are one *scheduling class*.
 *
 * The packed form is canonical (everything in it is sorted), so that equal
 * requirements are equal bytes: interning the bytes interns the class.  It is
 * logged: the first number is a format version, which only grows.
 *
 * Pure.  Strings are borrowed from whatever the requirement was made from.
 */
#pragma once

#include "model/pack.h"
#include "model/resource.h"

enum {
    REQUIREMENT_VERSION = 5, /* only of what needs it; else 2, 3 or 4 */
    SELECTOR_PAIRS_MAX = 256,
    TOLERATIONS_MAX = 256,
    AFFINITY_TERMS_MAX = 64,
    AFFINITY_EXPRESSIONS_MAX = 64, /* of a term */
    AFFINITY_TOTAL_MAX = 512,      /* expressions of all terms */
    AFFINITY_VALUES_MAX = 1024,
    PREFERENCES_MAX = 64, /* their expressions count to AFFINITY_TOTAL_MAX */
    PREFERENCE_WEIGHT_MAX = 100,
    HOST_PORTS_MAX = 64,
    HOST_PORT_MAX = 65535,
    TAINTS_MAX = 256,
    LABELS_MAX = 1024,
};

/* How long a job may not be preempted, beside its number of ms (0: it is
 * preemptible at once). */
#define LIFETIME_BY_CLASS INT64_C(-1) /* as its priority class says */
#define LIFETIME_INFINITE INT64_MAX   /* never, but for more urgent work */

/* A node label, or a pair of a node selector. */
struct label {
    struct str key, value;
};

/* Append, never renumber: these are logged. */
enum taint_effect {
    TAINT_ANY = 0, /* in a toleration: every effect */
    TAINT_NO_SCHEDULE = 1,
    TAINT_PREFER_NO_SCHEDULE = 2,
    TAINT_NO_EXECUTE = 3,
};

/* What keeps pods off a node unless they tolerate it. */
struct taint {
    struct str key, value;
    enum taint_effect effect;
};

/* `is_exists`: any value; then an empty key tolerates every taint. */
struct toleration {
    struct str key, value;
    enum taint_effect effect;
    bool is_exists;
};

/* Append, never renumber: these are logged. */
enum affinity_operator {
    AFFINITY_IN = 1,
    AFFINITY_NOT_IN = 2,
    AFFINITY_EXISTS = 3,
    AFFINITY_DOES_NOT_EXIST = 4,
    AFFINITY_GT = 5,
    AFFINITY_LT = 6,
};

/* One expression over a label, or over a field (`is_field`: the key is
 * metadata.name, the only one that Kubernetes knows). */
struct affinity_expression {
    struct str key;
    enum affinity_operator op;
    bool is_field;
    struct str *values; /* sorted */
    uint32_t value_count;
};

/* All expressions must hold; a term without any matches nothing. */
struct affinity_term {
    struct affinity_expression *expressions;
    uint32_t expression_count;
};

/* A wish for nodes that the term matches; one without expressions counts
 * nowhere. */
struct preference {
    uint32_t weight; /* 1..PREFERENCE_WEIGHT_MAX */
    struct affinity_term term;
};

/* Append, never renumber: these are logged. */
enum host_protocol {
    HOST_TCP = 1,
    HOST_UDP = 2,
    HOST_SCTP = 3,
};

/* A port of the node's own addresses, which one pod at a time can have. */
struct host_port {
    enum host_protocol protocol;
    uint32_t port; /* 1..HOST_PORT_MAX */
    struct str ip; /* "": all addresses of the node */
};

struct requirement {
    struct str priority_class;
    struct resource_list requests;
    struct label *selector; /* all must be on the node; sorted by key */
    uint32_t selector_count;
    struct toleration *tolerations; /* sorted, each once */
    uint32_t toleration_count;
    bool has_affinity;           /* then at least one term must match */
    struct affinity_term *terms; /* as the job lists them */
    uint32_t term_count;
    struct preference *preferences; /* as the job lists them */
    uint32_t preference_count;
    struct host_port *ports; /* sorted, each once */
    uint32_t port_count;
    bool never_preempts; /* nobody loses a place for it */
    int64_t lifetime_ms; /* since its containers started, or a LIFETIME_ */
    int64_t deadline_ms; /* it ends by then at the latest; 0: unknown */
};

/* Sort all parts in place and drop repeated tolerations, so that equal
 * requirements pack to equal bytes. */
void requirement_canonicalise(struct requirement *requirement);

/* Append the packed form of a canonical requirement. */
void requirement_pack(struct strbuf *buf,
                      const struct requirement *requirement);

/* Read a packed form; strings point into `bytes`, arrays live in `arena`.
 * -ERR_CORRUPT: not one; -ERR_VERSION: of a newer release. */
int requirement_unpack(struct str bytes, struct arena *arena,
                       struct requirement *ret_requirement) must_check;

/* "TCP" and the like. */
const char *host_protocol_text(enum host_protocol protocol);

/* Whether `toleration` tolerates `taint`. */
bool toleration_matches(const struct toleration *toleration,
                        const struct taint *taint);

/* Whether one expression (its values sorted, as in a canonical requirement)
 * holds for a node with these labels (sorted by key) and this name;
 * Kubernetes' rules (a NotIn holds for an absent label). */
bool affinity_expression_matches(const struct affinity_expression *expression,
                                 const struct label *labels,
                                 uint32_t label_count, struct str node_name);

/* Whether all of a term holds for it; one without expressions does not. */
bool affinity_term_matches(const struct affinity_term *term,
                           const struct label *labels, uint32_t label_count,
                           struct str node_name);

/* The label with this key in `labels` (sorted by key), or NULL. */
const struct label *label_find(const struct label *labels, uint32_t label_count,
                               struct str key);
