/*
 * envelope - objects as API servers send and take them in protobuf: a magic
 * number, the kind, and the encoded object.
 *
 * Threads: everything here may be called from any thread.
 */
#pragma once

#include "base/strbuf.h"

#define ENVELOPE_MEDIA_TYPE "application/vnd.kubernetes.protobuf"
/* The same of an object's metadata alone, which servers have of any kind. */
#define ENVELOPE_METADATA_MEDIA_TYPE \
    ENVELOPE_MEDIA_TYPE ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1"

/* An object in its envelope; texts point into the bytes. */
struct envelope {
    struct str api_version, kind;
    struct str object; /* encoded */
};

/* What every object has of its metadata; texts point into the object. */
struct object_head {
    struct str name, namespace_, uid, resource_version;
};

/* A page of a list; texts point into it. */
struct list_head {
    struct str resource_version, continue_;
};

/* What a Status says; texts point into it. */
struct status_head {
    struct str message, reason;
    int32_t code;
    int64_t retry_after_s; /* 0: it says nothing */
};

/* Read the envelope; -ERR_CORRUPT. */
int envelope_read(struct str bytes, struct envelope *ret_envelope) must_check;
/* Append an object in its envelope. */
void envelope_write(struct str api_version, struct str kind, struct str object,
                    struct strbuf *buf);
/* Read an object's metadata; -ERR_CORRUPT. */
int object_head_read(struct str object,
                     struct object_head *ret_head) must_check;
/* Read a list's metadata and call `each` for its items; -ERR_CORRUPT, perhaps
 * after some calls. */
int list_read(struct str list, struct list_head *ret_head,
              void (*each)(void *ctx, struct str object), void *ctx) must_check;
/* Read a Status; -ERR_CORRUPT. */
int status_read(struct str status, struct status_head *ret_head) must_check;
/* The last field of bytes with this number in a message, "" if there is none;
 * -ERR_CORRUPT. */
int envelope_field(struct str message, uint32_t number,
                   struct str *ret_bytes) must_check;
