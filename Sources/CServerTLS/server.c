#include "CServerTLS.h"

#include <limits.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

struct server_tls_context {
    SSL_CTX *context;
};

struct server_tls {
    SSL *ssl;
    BIO *input;  /* both belong to `ssl` */
    BIO *output;
};

/* Whether there is something else than a regular file, such as a pipe, whose opening could wait without end. */
static int is_no_file(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

server_tls_context *server_tls_context_create(
    const char *chain_file, const char *key_file, char *reason, size_t reason_size) {
    if (is_no_file(chain_file) || is_no_file(key_file)) {
        snprintf(reason, reason_size, "%s is not a regular file; name a PEM file", is_no_file(chain_file) ? chain_file : key_file);
        return NULL;
    }
    ERR_clear_error();
    server_tls_context *result = calloc(1, sizeof *result);
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    if (result != NULL && context != NULL && SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1 &&
        SSL_CTX_use_certificate_chain_file(context, chain_file) == 1 &&
        SSL_CTX_use_PrivateKey_file(context, key_file, SSL_FILETYPE_PEM) == 1 &&
        SSL_CTX_check_private_key(context) == 1) {
        result->context = context;
        return result;
    }
    const char *text = ERR_reason_error_string(ERR_peek_last_error());
    snprintf(reason, reason_size, "%s", text != NULL ? text : "the files cannot be read");
    ERR_clear_error();
    SSL_CTX_free(context);
    free(result);
    return NULL;
}

void server_tls_context_destroy(server_tls_context *context) {
    SSL_CTX_free(context->context);
    free(context);
}

server_tls *server_tls_create(server_tls_context *context) {
    server_tls *session = calloc(1, sizeof *session);
    if (session == NULL) return NULL;
    session->ssl = SSL_new(context->context);
    session->input = BIO_new(BIO_s_mem());
    session->output = BIO_new(BIO_s_mem());
    if (session->ssl == NULL || session->input == NULL || session->output == NULL) {
        BIO_free(session->input);
        BIO_free(session->output);
        SSL_free(session->ssl);
        free(session);
        return NULL;
    }
    /* An empty buffer is "no bytes yet", not the end. */
    BIO_set_mem_eof_return(session->input, -1);
    BIO_set_mem_eof_return(session->output, -1);
    SSL_set_bio(session->ssl, session->input, session->output);
    SSL_set_accept_state(session->ssl);
    return session;
}

void server_tls_destroy(server_tls *session) {
    SSL_free(session->ssl);
    free(session);
}

bool server_tls_receive(server_tls *session, const void *bytes, size_t count) {
    size_t written = 0;
    return count == 0 || (BIO_write_ex(session->input, bytes, count, &written) == 1 && written == count);
}

server_tls_outcome server_tls_read(server_tls *session, void *buffer, size_t size, size_t *count) {
    /* SSL_get_error looks at the errors of the whole thread. */
    ERR_clear_error();
    *count = 0;
    int result = SSL_read_ex(session->ssl, buffer, size, count);
    if (result == 1) return SERVER_TLS_BYTES;
    switch (SSL_get_error(session->ssl, result)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE: return SERVER_TLS_NEEDS_MORE;
    case SSL_ERROR_ZERO_RETURN: return SERVER_TLS_CLOSED;
    default: return SERVER_TLS_FAILED;
    }
}

bool server_tls_write(server_tls *session, const void *bytes, size_t count) {
    ERR_clear_error();
    size_t written = 0;
    return count == 0 || (SSL_write_ex(session->ssl, bytes, count, &written) == 1 && written == count);
}

void server_tls_end(server_tls *session) {
    ERR_clear_error();
    if (SSL_is_init_finished(session->ssl)) SSL_shutdown(session->ssl);
    ERR_clear_error();
}

size_t server_tls_pending(server_tls *session) { return BIO_ctrl_pending(session->output); }

size_t server_tls_take(server_tls *session, void *buffer, size_t size) {
    int taken = BIO_read(session->output, buffer, size > INT_MAX ? INT_MAX : (int)size);
    return taken > 0 ? (size_t)taken : 0;
}
