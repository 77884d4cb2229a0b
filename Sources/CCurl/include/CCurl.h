/* HTTP over the system's libcurl. The library is loaded for the first transfer, since linking it costs milliseconds and
   dozens of shared libraries at each start of the program. This header has no type and no variadic function of libcurl.

   Threads: `ccurl_load`, `ccurl_is_offline` and `ccurl_multi_wake` may be called from any thread; every other function that takes a
   `ccurl_multi` or one of its transfers, from one thread at a time. */
#ifndef CCURL_H
#define CCURL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Loads libcurl once for the process; after a failure, the next call tries again. Returns NULL, or a message with what is
   missing and what to install. */
const char *ccurl_load(void);

/* Checks whether `ccurl_load` would accept the library `name`, without keeping it loaded; for tests. Returns as above. */
const char *ccurl_check(const char *name);

/* Whether the system has no route to the internet. Nothing is sent. */
bool ccurl_is_offline(void);

/* A request and its response. */
typedef struct ccurl_transfer ccurl_transfer;

/* The transfers that one thread drives, and their connections. */
typedef struct ccurl_multi ccurl_multi;

/* A request, which is sent on a new connection. Texts end with a null character. Everything is copied, and the copies are wiped when the
   transfer is destroyed. */
typedef struct {
    const char *url;           /* http or https */
    const char *const *fields; /* "Name: value"; ends with NULL */
    const void *body;          /* sent unchanged, once at most; NULL for a GET */
    size_t body_length;
    /* "SCHEME://host:port" with http, https, socks4, socks4a, socks5 or socks5h; NULL for none. The environment is not read. */
    const char *proxy;
    const char *proxy_user;    /* NULL for none: an HTTP proxy that requests Negotiate gets a Kerberos ticket */
    const void *proxy_password;
    size_t proxy_password_length;
    const char *ca_file;       /* the PEM file of the trusted certificate authorities; NULL for the system's */
    /* Whether to read the file of them again, and to use the system's folder of them too if there is a file with them, which is slow. */
    bool reads_all_authorities;
    long connect_timeout;      /* in milliseconds; for connecting, TLS included */
    size_t head_limit;         /* in bytes; for all header fields of the response */
    size_t body_limit;         /* in bytes; for the body of the response */
    /* Whether the request may be sent. Called once at most, on the thread that drives the transfer, when there is a
       connection. A libcurl older than 7.80 does not report that: with it, the call is made when the transfer is added. */
    bool (*may_send)(void *context);
    void *context;
    bool emulates_old_library; /* whether to behave as with such a libcurl; for tests */
} ccurl_request;

/* The outcome of a transfer. */
typedef enum {
    CCURL_ANSWERED,
    CCURL_TIMED_OUT,
    CCURL_HOST_NOT_FOUND,
    CCURL_PROXY_NOT_FOUND,
    CCURL_CANNOT_CONNECT,  /* `system_error` is the reason */
    CCURL_CONNECTION_LOST,
    CCURL_PROXY_REFUSED,   /* `status` is that of the proxy, 0 for none */
    CCURL_UNTRUSTED,       /* the certificate is not trusted */
    CCURL_OTHER_HOST,      /* the certificate is for another host */
    CCURL_OUT_OF_DATE,     /* the certificate has expired, or is not valid yet */
    CCURL_TLS_FAILED,
    CCURL_CA_FILE_UNUSABLE,
    CCURL_HEAD_TOO_LONG,
    CCURL_BODY_TOO_LONG,
    CCURL_NOT_HTTP,
    CCURL_FAILED,          /* another reason, in `text` */
    CCURL_CANCELLED,       /* of `ccurl_transfer_part` */
} ccurl_outcome;

typedef struct {
    ccurl_outcome outcome;
    int status;            /* of the response */
    int system_error;      /* an errno, or 0 */
    const char *text;      /* libcurl's description of the failure, without anything of the request */
    /* The status line with the header fields of the response, and its body; valid until the transfer is destroyed. */
    const void *head;
    size_t head_length;
    const void *body;
    size_t body_length;
    /* There was no address, and the system has no route to the internet. */
    bool is_offline;
    /* The TLS connection that could not be made is the one to the proxy itself. */
    bool is_of_proxy;
    /* The certificate is not trusted, nothing was sent, and another transfer with `reads_all_authorities` may find it trusted. */
    bool may_be_trusted;
    /* `may_send` was called, and there was no connection after all. Only with a libcurl older than 7.80. */
    bool was_never_sent;
} ccurl_result;

/* Returns NULL if there is no memory left, or libcurl refuses a required option. */
ccurl_transfer *ccurl_transfer_create(const ccurl_request *request);

/* What has arrived of the response of a transfer that has not ended. */
ccurl_result ccurl_transfer_part(const ccurl_transfer *transfer);

/* Wipes the request and the response, and frees the transfer, which must not be in a multi. */
void ccurl_transfer_destroy(ccurl_transfer *transfer);

/* Returns NULL if there is no memory or no file descriptor left.

   `connections_per_host` and `connections` are the largest numbers of open connections to one host and in all; 0 is no limit. Further
   transfers wait. */
ccurl_multi *ccurl_multi_create(long connections_per_host, long connections);

/* Closes all connections. The transfers have to be removed before. */
void ccurl_multi_destroy(ccurl_multi *multi);

/* Starts a transfer; returns false if libcurl refuses it. */
bool ccurl_multi_add(ccurl_multi *multi, ccurl_transfer *transfer);

/* Removes a transfer, and aborts it if it has not ended. */
void ccurl_multi_remove(ccurl_multi *multi, ccurl_transfer *transfer);

/* Advances all transfers without waiting. */
void ccurl_multi_advance(ccurl_multi *multi);

/* Returns a transfer that has ended since the last call, with its result; NULL for none. It remains in the multi. */
ccurl_transfer *ccurl_multi_next_ended(ccurl_multi *multi, ccurl_result *result);

/* Waits until a transfer can be advanced, until `ccurl_multi_wake`, or for `milliseconds`. */
void ccurl_multi_wait(ccurl_multi *multi, int milliseconds);

/* Ends the current call of `ccurl_multi_wait`, or else the next one. */
void ccurl_multi_wake(ccurl_multi *multi);

/* Runs `body` on a new thread with the name `http`, on which every signal is blocked. Returns 0 or an errno. The thread has
   to be joined. */
int ccurl_thread_start(void (*body)(void *), void *context, uintptr_t *thread);
void ccurl_thread_join(uintptr_t thread);

#endif
