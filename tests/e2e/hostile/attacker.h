/*
 * attacker - a job that does what it should not be able to do.
 *
 * Each attack is a function.  It answers NULL when it was held back, or says
 * what it got; one that stays until it is ended says so by stay().  All are
 * bounded in processes, bytes and seconds.
 *
 * From its environment: ATTACK_PIDS, numbers of processes outside; ATTACK_DATA,
 * the server's data directory; ATTACK_SECRET, a file of the server's user;
 * ATTACK_MARK, a name for what is left behind.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct attack {
    const char *name;
    const char *(*run)(void);
};

extern const struct attack attacks_on_files[];
extern const struct attack attacks_by_trees[];
extern const struct attack attacks_on_kernel[];
extern const struct attack attacks_on_processes[];

/* A variable that must be there. */
const char *attack_text(const char *name);
/* What was got, with a detail, in static memory. */
const char *attack_got(const char *what, const char *detail);
/* Tell that the attack is under way, and stay until the end. */
_Noreturn void attack_stay(void);
/* Whether a file opens with these flags, and then closes. */
bool attack_opens(const char *path, int flags);
