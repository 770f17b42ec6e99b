/*
 * kube_mapping - where an API server has the objects of a kind: the word that
 * stands for it in paths.  The usual kinds are known; for others the server is
 * asked what its group has.
 *
 * Pure.  Threads: any; an arena has one owner.
 */
#pragma once

#include "base/arena.h"
#include "base/strbuf.h"

/* "/api/v1" or "/apis/GROUP/VERSION": also where the server says what it has.
 * The version is fit for paths (manifest.h). */
void kube_mapping_group(struct str api_version, struct strbuf *path);

/* The word of a usual kind; "": the server has to be asked. */
struct str kube_mapping_known(struct str api_version,
                              struct str kind) must_check;

/* The word of a kind in the server's answer, in the arena.  -ERR_NOT_FOUND: it
 * has no such kind; -ERR_INVALID: its objects are in no namespace;
 * -ERR_CORRUPT. */
int kube_mapping_read(struct str answer, struct str api_version,
                      struct str kind, struct arena *arena,
                      struct str *ret_plural, struct err *err) must_check;
