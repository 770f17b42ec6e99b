#include "api/core/caller_place.h"

#include <arpa/inet.h>
#include <string.h>

enum { NETWORK_BYTES = 8 };

/* Read "ipv6:[ADDRESS]"; false: it is none, or one whose network says nothing
 * of who has it. */
static bool read_network(struct str text, struct in6_addr *ret_address)
{
    static const char prefix[] = "ipv6:[";
    char address[INET6_ADDRSTRLEN];
    size_t prefix_bytes = sizeof(prefix) - 1;

    if (text.byte_count <= prefix_bytes + 1 ||
        text.byte_count - prefix_bytes > sizeof(address) ||
        memcmp(text.p, prefix, prefix_bytes) != 0) {
        return false;
    }
    size_t byte_count = text.byte_count - prefix_bytes - 1;
    memcpy(address, text.p + prefix_bytes, byte_count);
    address[byte_count] = '\0';
    return inet_pton(AF_INET6, address, ret_address) == 1 &&
           !IN6_IS_ADDR_LOOPBACK(ret_address) &&
           !IN6_IS_ADDR_V4MAPPED(ret_address);
}

void caller_place_put(const struct auth_claim *claim, struct strbuf *out)
{
    struct in6_addr address;

    if (claim->has_user) {
        strbuf_addf(out, "uid:%u", claim->user_id);
    } else if (read_network(claim->address, &address)) {
        strbuf_add(out, &address, NETWORK_BYTES);
    } else {
        strbuf_add_str(out, claim->address);
    }
}
