/*
 * go_size - how long a Kubernetes message is when Go encodes it.
 *
 * Kubernetes' Go code writes fields that are no pointers even when they are
 * empty, so its encoding is longer than ours, and Armada's limit on pod specs
 * is on its own (armada-api.md 3.2, rule I3, and trap 15).
 */
#pragma once

#include <protobuf-c/protobuf-c.h>
#include <stddef.h>

/* Go's encoding takes at most this many times the bytes of ours. */
enum { GO_SIZE_RATIO_MAX = 16 };

/* The bytes of `message` as Go writes it; the messages of a pod spec that are
 * often met are counted exactly, the rest as we write it. */
size_t go_size(const ProtobufCMessage *message);
