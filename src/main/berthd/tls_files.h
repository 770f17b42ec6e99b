/*
 * tls_files - the PEM files that the configuration names, as the libraries take
 * them, and whether they can be used.
 *
 * Threads: main's, at the start.
 */
#pragma once

#include "main/config/config.h"
#include "rpc/rpc_server.h"

/* Those of the gRPC port; false: it has no TLS. */
bool tls_files_server(const struct config_tls *tls,
                      struct rpc_server_tls *ret_files);

/* Note each file that cannot be used, with the reason: the server's, and those
 * of the executor inside if there is one. */
void tls_files_check(const struct config *config,
                     struct config_findings *findings);
