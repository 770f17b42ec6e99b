/*
 * kube_name - the names that Kubernetes accepts: of objects, and keys and
 * values of labels.
 *
 * Pure.
 */
#pragma once

#include "base/str.h"

enum {
    KUBE_LABEL_BYTES_MAX = 63,
    KUBE_SUBDOMAIN_BYTES_MAX = 253,
};

/* A DNS label: 1 to 63 small letters, digits and, inside, dashes. */
bool kube_is_dns_label(struct str name) must_check;
/* A DNS subdomain: such words joined by dots, of any length, 253 in all. */
bool kube_is_subdomain(struct str name) must_check;
/* The key of a label: a name of 1 to 63 letters, digits and, inside, any of
 * "-_.", that a subdomain and a slash may stand before. */
bool kube_is_label_key(struct str key) must_check;
/* The value of a label: such a name, or nothing. */
bool kube_is_label_value(struct str value) must_check;
