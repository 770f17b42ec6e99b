/*
 * config_failures - the keys of executor.errorCategories.
 *
 * Not for use outside the folder.
 */
#pragma once

#include "main/config/config.h"

/* The keys of a struct config_failures. */
extern const struct settings config_failures_settings;
