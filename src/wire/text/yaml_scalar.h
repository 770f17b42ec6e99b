/*
 * yaml_scalar - what an unquoted YAML scalar means.
 *
 * Reader and writer share this, so that what is written plain reads back as
 * the text that it was.
 *
 * Internal to yaml.  Threads: everything here may be called from any thread.
 */
#pragma once

#include <jansson.h>

#include "base/str.h"

/* The value of a plain scalar: null, a boolean, a number or a text.  NULL
 * when it is a text that JSON cannot hold. */
json_t *yaml_scalar_value(struct str text) must_check;

/* Whether it means a text. */
bool yaml_scalar_is_text(struct str text);
