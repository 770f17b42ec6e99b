/*
 * url - whether a webhook's URL can be posted to.
 *
 * Pure.
 */
#pragma once

#include "base/str.h"

/* What is wrong with it, as a clause without the URL, which may hold a
 * password; NULL: nothing. */
const char *notify_url_problem(struct str url) must_check;
