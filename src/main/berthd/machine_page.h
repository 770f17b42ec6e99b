/*
 * machine_page - metrics of what berthd uses of its machine: memory, processor
 * time, descriptors, and the disk under the data directory.
 */
#pragma once

#include "base/strbuf.h"
#include "main/berthd/data_dir.h"

/* Append them; what the system does not tell is left out. */
void machine_page_put(struct strbuf *out, const struct data_dir *dir);
