/* The server's side of TLS by the system's OpenSSL, between bytes in memory: it opens no socket. For the emulator and the
   tests only. A context may be used on several threads, a session on one thread at a time. */
#ifndef C_SERVER_TLS_H
#define C_SERVER_TLS_H

#include <stdbool.h>
#include <stddef.h>

/* A certificate chain and its key. */
typedef struct server_tls_context server_tls_context;

/* NULL when a PEM file cannot be used; `reason` then gets a text that ends with a null character. */
server_tls_context *server_tls_context_create(
    const char *chain_file, const char *key_file, char *reason, size_t reason_size);

/* Its sessions may outlive it. */
void server_tls_context_destroy(server_tls_context *context);

/* The TLS of one connection. */
typedef struct server_tls server_tls;

/* NULL when there is no memory left. */
server_tls *server_tls_create(server_tls_context *context);
void server_tls_destroy(server_tls *session);

/* Takes encrypted bytes of the peer; false when there is no memory left. */
bool server_tls_receive(server_tls *session, const void *bytes, size_t count);

typedef enum {
    SERVER_TLS_BYTES,
    SERVER_TLS_NEEDS_MORE,
    SERVER_TLS_CLOSED, /* by the peer */
    SERVER_TLS_FAILED, /* an alert for the peer may be pending */
} server_tls_outcome;

/* Decrypts up to `size` bytes; goes on with the handshake before that. */
server_tls_outcome server_tls_read(server_tls *session, void *buffer, size_t size, size_t *count);

/* Encrypts bytes; false before the end of the handshake and after a failure. */
bool server_tls_write(server_tls *session, const void *bytes, size_t count);

/* Encrypts the notice that nothing follows. */
void server_tls_end(server_tls *session);

/* The number of encrypted bytes to send, and up to `size` of them. */
size_t server_tls_pending(server_tls *session);
size_t server_tls_take(server_tls *session, void *buffer, size_t size);

#endif
