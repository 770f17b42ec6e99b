#include "api/core/auth_attempts.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/hash.h"

void attempts_init(struct attempts *attempts, uint64_t seed)
{
    *attempts = (struct attempts){.seed = seed};
    pthread_mutex_init(&attempts->lock, NULL);
}

void attempts_fini(struct attempts *attempts)
{
    pthread_mutex_destroy(&attempts->lock);
}

/* Who has one IPv6 address of a network has 2^64: the network counts, of which
 * `text` is made. */
static struct str counted_part(struct str address, struct in6_addr *network)
{
    static const char prefix[] = "ipv6:[";
    char text[INET6_ADDRSTRLEN];
    size_t prefix_bytes = sizeof(prefix) - 1;

    if (address.byte_count <= prefix_bytes + 1 ||
        address.byte_count - prefix_bytes > sizeof(text) ||
        memcmp(address.p, prefix, prefix_bytes) != 0) {
        return address;
    }
    size_t byte_count = address.byte_count - prefix_bytes - 1;
    memcpy(text, address.p + prefix_bytes, byte_count);
    text[byte_count] = '\0';
    if (inet_pton(AF_INET6, text, network) != 1 ||
        IN6_IS_ADDR_LOOPBACK(network)) {
        return address;
    }
    return IN6_IS_ADDR_V4MAPPED(network) ? address : str_make(network, 8);
}

static int64_t *bucket_of(struct attempts *attempts, struct str address)
{
    struct in6_addr network;
    struct str part = counted_part(address, &network);
    uint64_t hash = hash_bytes(part.p, part.byte_count, attempts->seed);

    return &attempts->until_ms[hash % ATTEMPT_BUCKETS];
}

int64_t attempts_wait_ms(struct attempts *attempts, struct str address,
                         int64_t now_ms)
{
    pthread_mutex_lock(&attempts->lock);
    int64_t left_ms = *bucket_of(attempts, address) - now_ms;
    pthread_mutex_unlock(&attempts->lock);
    int64_t wait_ms = left_ms - (ATTEMPTS_BURST - 1) * (int64_t)ATTEMPT_MS;
    return wait_ms > 0 ? wait_ms : 0;
}

void attempts_failed(struct attempts *attempts, struct str address,
                     int64_t now_ms)
{
    pthread_mutex_lock(&attempts->lock);
    int64_t *until_ms = bucket_of(attempts, address);
    *until_ms = (*until_ms > now_ms ? *until_ms : now_ms) + ATTEMPT_MS;
    pthread_mutex_unlock(&attempts->lock);
}
