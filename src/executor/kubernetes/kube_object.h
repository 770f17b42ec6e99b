/*
 * kube_object - decodes an object that an API server has sent.
 *
 * Private to executor/kubernetes.  Threads: any; an arena has one owner.
 */
#pragma once

#include <protobuf-c/protobuf-c.h>

#include "base/arena.h"
#include "k8s/meta.pb-c.h"

enum {
    KUBE_OBJECT_BYTES_MAX = 16 << 20,
    KUBE_TEXT_BYTES_MAX = 4096, /* what the kubelet keeps of a message */
};

/* Decode it into the arena; what is no text in its texts becomes '?'.
 * -ERR_CORRUPT, -ERR_LIMIT. */
int kube_object_decode(const ProtobufCMessageDescriptor *type,
                       struct str object, struct arena *arena,
                       ProtobufCMessage **ret_message,
                       struct err *err) must_check;

/* A moment in ms since the epoch; 0: none, or none of the years to 9999. */
int64_t
kube_time_ms(const K8s__Io__Apimachinery__Pkg__Apis__Meta__V1__Time *time);

/* A text for people, not beyond KUBE_TEXT_BYTES_MAX: cut between characters. */
struct str kube_text(const char *text);
