/*
 * traces - recorded workloads, which are not part of the project: their folder
 * is $BERTH_TRACES, or ../shared/traces beside the checkout.
 */
#pragma once

/* The path of a file among them; mem_free() it.  NULL if it is not there, and
 * then why the test is skipped has been printed. */
char *trace_path(const char *name);
