/*
 * patience - how long a test waits for what should come at once.
 *
 * A test names the milliseconds that a quiet machine would never need;
 * tools/check measures how much slower this one is, and says so in
 * $BERTH_PATIENCE.
 */
#pragma once

/* `ms` times $BERTH_PATIENCE, which is 1 if it is not set or less; at most an
 * hour. */
int patient_ms(int ms);
