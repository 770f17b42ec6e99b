#include "wire/text/host.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <strings.h>

/* Where the colon before the port is; the length where there is none. */
static size_t colon_of(struct str address)
{
    size_t at = address.byte_count;

    while (at > 0 && address.p[at - 1] != ':' && address.p[at - 1] != ']') {
        at--;
    }
    return at > 0 && address.p[at - 1] == ':' ? at - 1 : address.byte_count;
}

struct str wire_host(struct str address)
{
    struct str host = str_make(address.p, colon_of(address));

    if (host.byte_count >= 2 && host.p[0] == '[' &&
        host.p[host.byte_count - 1] == ']') {
        host = str_make(host.p + 1, host.byte_count - 2);
    }
    return host;
}

struct str wire_port(struct str address)
{
    size_t colon = colon_of(address);

    return colon == address.byte_count
               ? STR("")
               : str_make(address.p + colon + 1,
                          address.byte_count - colon - 1);
}

bool wire_is_loopback(struct str address)
{
    struct str host = wire_host(address);
    char text[INET6_ADDRSTRLEN];
    struct in6_addr v6;
    struct in_addr v4;

    if (host.byte_count >= sizeof(text)) {
        return false;
    }
    (void)snprintf(text, sizeof(text), "%.*s", STR_ARG(host));
    return strcasecmp(text, "localhost") == 0 ||
           (inet_pton(AF_INET, text, &v4) == 1 &&
            ntohl(v4.s_addr) >> 24 == 127) ||
           (inet_pton(AF_INET6, text, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6));
}
