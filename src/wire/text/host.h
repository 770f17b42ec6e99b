/*
 * host - the host of an address as people write it: "name:port",
 * "127.0.0.1:50051", "[::1]:50051".
 *
 * Pure.
 */
#pragma once

#include "base/str.h"

/* The part before the port, without the brackets of an IPv6 address; all of it
 * where there is no port. */
struct str wire_host(struct str address) must_check;

/* The port as it is written; "" where there is none. */
struct str wire_port(struct str address) must_check;

/* Whether the host is this machine's own, whoever resolves it: "localhost",
 * 127.0.0.0/8 or ::1.  Not by its first letters: 127.example.org is a name like
 * any other. */
bool wire_is_loopback(struct str address) must_check;
