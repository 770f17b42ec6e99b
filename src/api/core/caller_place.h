/*
 * caller_place - where a caller comes from, as limits count it.
 *
 * Whoever calls over loopback is a user of this machine, if the kernel says
 * which; who has one address of an IPv6 network has all 2^64 of them, so the
 * network of 64 bits counts; and of all others the address.
 *
 * Pure.
 */
#pragma once

#include "api/core/auth.h"
#include "base/strbuf.h"

/* Append "uid:N", the first eight bytes of an IPv6 address, or the address. */
void caller_place_put(const struct auth_claim *claim, struct strbuf *out);
