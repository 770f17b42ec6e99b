/*
 * notify_page - metrics of notifications.
 */
#pragma once

#include "base/strbuf.h"
#include "main/berthd/notifier.h"

/* Append them; NULL: there are no targets. */
void notify_page_put(struct strbuf *out, struct notifier *notifier);
