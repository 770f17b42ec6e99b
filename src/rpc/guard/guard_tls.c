/* TLS of the guard's connections. */
#include <errno.h>
#include <openssl/err.h>
#include <stdio.h>

#include "rpc/guard/guard_private.h"

enum { LATER = -1, OVER = -2 };

/* gRPC's clients ask for HTTP/2 by name, and so must be answered. */
static int choose_protocol(SSL *ssl, const unsigned char **ret_name,
                           unsigned char *ret_bytes,
                           const unsigned char *offered, unsigned offered_bytes,
                           void *ctx)
{
    static const unsigned char h2[] = {2, 'h', '2'};

    (void)ssl;
    (void)ctx;
    return SSL_select_next_proto((unsigned char **)(uintptr_t)ret_name,
                                 ret_bytes, h2, sizeof(h2), offered,
                                 offered_bytes) == OPENSSL_NPN_NEGOTIATED
               ? SSL_TLSEXT_ERR_OK
               : SSL_TLSEXT_ERR_ALERT_FATAL;
}

/* The library's reason for a file that is not there is "system lib". */
static int fail(struct err *err, const char *what, const char *file)
{
    const char *reason = ERR_reason_error_string(ERR_peek_last_error());
    FILE *opened = fopen(file, "re");

    if (!opened) {
        reason = strerror(errno);
    } else {
        (void)fclose(opened);
    }
    ERR_clear_error();
    return err_set(err, -ERR_IO, "cannot use the TLS %s %s: %s", what, file,
                   reason ? reason : "not PEM");
}

static int load_own(SSL_CTX *context, const struct guard_tls *tls,
                    struct err *err)
{
    if (SSL_CTX_use_certificate_chain_file(context, tls->certificate_file) !=
        1) {
        return fail(err, "certificate", tls->certificate_file);
    }
    if (SSL_CTX_use_PrivateKey_file(context, tls->key_file, SSL_FILETYPE_PEM) !=
        1) {
        return fail(err, "key", tls->key_file);
    }
    return 0;
}

static int load_ca(SSL_CTX *context, const struct guard_tls *tls,
                   struct err *err)
{
    if (SSL_CTX_load_verify_locations(context, tls->client_ca_file, NULL) !=
        1) {
        return fail(err, "CA", tls->client_ca_file);
    }
    SSL_CTX_set_client_CA_list(context,
                               SSL_load_client_CA_file(tls->client_ca_file));
    SSL_CTX_set_verify(context,
                       SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    return 0;
}

/* Of a client either may be missing. */
static int load(SSL_CTX *context, const struct guard_tls *tls, struct err *err)
{
    int rc = tls->certificate_file ? load_own(context, tls, err) : 0;

    return rc == 0 && tls->client_ca_file ? load_ca(context, tls, err) : rc;
}

int guard_tls_check(const struct guard_tls *tls, struct err *err)
{
    SSL_CTX *context = SSL_CTX_new(TLS_method());

    ASSERT(context);
    int rc = load(context, tls, err);
    SSL_CTX_free(context);
    return rc;
}

SSL_CTX *guard_tls_create(const struct guard_tls *tls, struct err *err)
{
    static const unsigned char id[] = "berth";
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());

    ASSERT(context);
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION |
                                     SSL_OP_NO_COMPRESSION |
                                     SSL_OP_IGNORE_UNEXPECTED_EOF);
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE |
                                  SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                  SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_session_id_context(context, id, sizeof(id));
    SSL_CTX_set_alpn_select_cb(context, choose_protocol, NULL);
    if (load(context, tls, err) < 0) {
        SSL_CTX_free(context);
        return NULL;
    }
    return context;
}

SSL_CTX *guard_tls_create_client(void)
{
    static const unsigned char h2[] = {2, 'h', '2'};
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());

    ASSERT(context);
    SSL_CTX_set_verify(context, SSL_VERIFY_NONE, NULL);
    int rc = SSL_CTX_set_alpn_protos(context, h2, sizeof(h2));
    ASSERT(rc == 0);
    return context;
}

/* What a result of the library that is no count means. */
static ssize_t meaning(SSL *ssl, int rc)
{
    int error = SSL_get_error(ssl, rc);

    ERR_clear_error();
    return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE ? LATER
                                                                         : OVER;
}

int guard_tls_greet(SSL *ssl)
{
    ERR_clear_error();
    int rc = SSL_do_handshake(ssl);

    return rc == 1 ? 1 : meaning(ssl, rc) == LATER ? 0 : -1;
}

ssize_t guard_tls_read(SSL *ssl, void *bytes, size_t byte_count)
{
    ERR_clear_error();
    int rc = SSL_read(ssl, bytes, (int)byte_count);

    return rc > 0 ? rc : meaning(ssl, rc);
}

ssize_t guard_tls_write(SSL *ssl, const void *bytes, size_t byte_count)
{
    ERR_clear_error();
    int rc = SSL_write(ssl, bytes, (int)byte_count);

    return rc > 0 ? rc : meaning(ssl, rc);
}
