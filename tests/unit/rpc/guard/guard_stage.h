/*
 * guard_stage - a guard without a library behind it, for tests: what it hands
 * over is kept, and what the library would say is said by the test.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "rpc/guard/guard.h"

enum { HANDED_MAX = 16 };

/* What a client says first: preface and settings. */
extern const char guard_hello[];
enum { GUARD_HELLO_BYTES = 33 };
/* What the library says first: its settings. */
extern const char guard_settings[];
enum { GUARD_SETTINGS_BYTES = 9 };

/* A guard, and what it hands over. */
struct stage {
    struct guard *guard;
    uint16_t port;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int handed[HANDED_MAX];
    int handed_count;
    /* What is handed over is answered, and ended, for which it is not kept with
     * the others. */
    atomic_bool is_answering;
    int answered[HANDED_MAX]; /* the newest */
    unsigned answered_count;
};

/* Guard a port of loopback, with `most` connections, and `most_each` of one
 * user. */
void stage_begin(struct stage *stage, uint32_t most, uint32_t most_each);
/* Guard a port of loopback with these; what they lack is filled in. */
void stage_begin_with(struct stage *stage, struct guard_options options);
/* End it, and close what it handed over. */
void stage_end(struct stage *stage);

/* Connect to it. */
int stage_dial(const struct stage *stage);
/* The connection that the guard hands over as its `index`th; waits for it. */
int stage_handed(struct stage *stage, int index);

/* Send all. */
void stage_say(int fd, const char *bytes, size_t byte_count);
/* Read until so many bytes are there. */
void stage_hear(int fd, char *bytes, size_t byte_count);
/* Read to the end of the connection. */
void stage_hear_end(int fd);

/* Wait until it says that it does not serve, for a time of `ms` at most. */
void stage_await_dead(struct guard *guard, uint32_t ms);
/* The opposite. */
void stage_await_alive(struct guard *guard, uint32_t ms);
