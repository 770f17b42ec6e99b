/*
 * loopback - connections over loopback.
 */
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

/* Two ends of a TCP connection over an address of loopback. */
struct pair {
    int client, server;
};

static inline struct pair connect_over(const char *host)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t byte_count = sizeof(address);
    struct pair pair = {.client = socket(AF_INET, SOCK_STREAM, 0)};
    int listener = socket(AF_INET, SOCK_STREAM, 0);

    assert_int_equal(inet_pton(AF_INET, host, &address.sin_addr), 1);
    assert_int_equal(
        bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(
        getsockname(listener, (struct sockaddr *)&address, &byte_count), 0);
    assert_int_equal(
        connect(pair.client, (struct sockaddr *)&address, sizeof(address)), 0);
    pair.server = accept(listener, NULL, NULL);
    assert_true(pair.server >= 0);
    close(listener);
    return pair;
}

static inline uint32_t inode_of(int fd)
{
    struct stat about;

    assert_int_equal(fstat(fd, &about), 0);
    return (uint32_t)about.st_ino;
}
