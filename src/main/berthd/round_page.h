/*
 * round_page - metrics of what rounds do, in Prometheus' text format; under
 * the names that kube-scheduler 1.14 has for them, where it has any (model.md
 * 5.8).
 */
#pragma once

#include "base/strbuf.h"
#include "control/control.h"

/* Append them. */
void round_page_put(struct strbuf *out, const struct control_metrics *metrics);
