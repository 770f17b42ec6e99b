#include "wire/kube/pod_ports.h"

#include "base/str.h"

typedef K8s__Io__Api__Core__V1__Container container_message;
typedef K8s__Io__Api__Core__V1__ContainerPort port_message;

static int protocol_parse(const char *text)
{
    struct str protocol = str_of(text);

    for (int i = HOST_TCP; i <= HOST_SCTP; i++) {
        if (str_equal(protocol,
                      str_of(host_protocol_text((enum host_protocol)i)))) {
            return i;
        }
    }
    return protocol.byte_count == 0 ? HOST_TCP : -ERR_INVALID;
}

/* All addresses are told in several ways. */
static struct str address_of(const port_message *port)
{
    struct str ip = str_of(port->hostip);

    return str_equal(ip, STR("0.0.0.0")) || str_equal(ip, STR("::")) ? STR("")
                                                                     : ip;
}

static int add_port(const port_message *from, bool is_host_network,
                    struct requirement *requirement, struct err *err)
{
    int32_t number = from->has_hostport ? from->hostport : 0;
    int protocol = protocol_parse(from->protocol);

    if (number == 0 && is_host_network && from->has_containerport) {
        number = from->containerport;
    }
    if (number == 0) {
        return 0;
    }
    if (number < 0 || number > HOST_PORT_MAX) {
        return err_set(err, -ERR_INVALID, "hostPort %d is not in 1..%d",
                       (int)number, HOST_PORT_MAX);
    }
    if (protocol < 0) {
        return err_set(err, -ERR_INVALID,
                       "hostPort %d: protocol %s is not one of TCP, UDP, SCTP",
                       (int)number, from->protocol);
    }
    if (requirement->port_count == HOST_PORTS_MAX) {
        return err_set(err, -ERR_LIMIT, "more than %d host ports",
                       HOST_PORTS_MAX);
    }
    requirement->ports[requirement->port_count++] = (struct host_port){
        (enum host_protocol)protocol, (uint32_t)number, address_of(from)};
    return 0;
}

static int add_container(const container_message *container,
                         bool is_host_network, struct requirement *requirement,
                         struct err *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < container->n_ports; i++) {
        rc = add_port(container->ports[i], is_host_network, requirement, err);
    }
    return rc;
}

int pod_add_ports(const K8s__Io__Api__Core__V1__PodSpec *spec,
                  struct arena *arena, struct requirement *requirement,
                  struct err *err)
{
    bool is_host_network = spec->has_hostnetwork && spec->hostnetwork;
    int rc = 0;

    requirement->ports =
        arena_alloc_array(arena, HOST_PORTS_MAX, sizeof(struct host_port));
    for (size_t i = 0; rc == 0 && i < spec->n_containers; i++) {
        rc = add_container(spec->containers[i], is_host_network, requirement,
                           err);
    }
    for (size_t i = 0; rc == 0 && i < spec->n_initcontainers; i++) {
        const container_message *container = spec->initcontainers[i];
        bool keeps_on =
            str_equal(str_of(container->restartpolicy), STR("Always"));
        rc = keeps_on
                 ? add_container(container, is_host_network, requirement, err)
                 : 0;
    }
    return rc;
}
