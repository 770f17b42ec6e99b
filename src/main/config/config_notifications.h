/*
 * config_notifications - the keys of notifications.
 *
 * Not for use outside the folder.
 */
#pragma once

#include "main/config/config.h"

/* The keys of a struct config_notifications. */
extern const struct settings config_notifications_settings;
