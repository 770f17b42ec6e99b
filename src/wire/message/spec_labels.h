/*
 * spec_labels - the labels and annotations of an encoded
 * armadaevents.SubmitJob, without decoding it.
 *
 * Threads: no state.
 */
#pragma once

#include "base/strbuf.h"

/* Called for a label; both texts are borrowed from the spec.  False: enough. */
typedef bool spec_label_fn(void *ctx, struct str key, struct str value);

/* Call `each` for the labels of a job, as long as it answers true; for none
 * from where the bytes are no message. */
void spec_labels(struct str spec, spec_label_fn *each, void *ctx);

/* The same for its annotations. */
void spec_annotations(struct str spec, spec_label_fn *each, void *ctx);
