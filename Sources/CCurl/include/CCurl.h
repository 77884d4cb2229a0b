/* HTTP over the system's libcurl. The library is loaded for the first transfer, since linking it costs milliseconds and
   dozens of shared libraries at each start of the program. This header has no type and no variadic function of libcurl.

   Threads: `ccurl_load` and `ccurl_multi_wake` may be called from any thread; every other function that takes a
   `ccurl_multi` or one of its transfers, from one thread at a time. */
#ifndef CCURL_H
#define CCURL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Loads libcurl, once for the process; after a failure the next call tries again. Returns NULL, or a message that says
   what is missing and what to install. */
const char *ccurl_load(void);

/* Whether the file `name` is a libcurl that `ccurl_load` would take; for tests. The same result, and nothing stays. */
const char *ccurl_check(const char *name);

/* One request and its answer. */
typedef struct ccurl_transfer ccurl_transfer;

/* The transfers that one thread drives, and their connections. */
typedef struct ccurl_multi ccurl_multi;

/* Texts end with a null character. All of it is copied, and the copies are wiped when the transfer is destroyed. */
typedef struct {
    const char *url;           /* http or https */
    const char *const *fields; /* "Name: value"; ends with NULL */
    const void *body;          /* posted as it is, once at most, on a new connection; NULL for a GET */
    size_t body_length;
    /* "SCHEME://host:port" with http, https, socks4, socks4a, socks5 or socks5h; NULL for none. The environment is not read. */
    const char *proxy;
    const char *proxy_user;    /* NULL for none: an HTTP proxy that asks for Negotiate then gets a Kerberos ticket */
    const void *proxy_password;
    size_t proxy_password_length;
    const char *ca_file;       /* PEM, in place of the system's certificate authorities; NULL for those */
    long connect_timeout;      /* milliseconds: for a connection, TLS included */
    long idle_limit;           /* seconds after which an idle connection is not used again */
    size_t head_limit;         /* bytes of all header fields of the answer */
    size_t body_limit;         /* bytes of the answer's body */
    /* Whether the request may be sent. Called once at most, on the thread that drives the transfer, when there is a
       connection. A libcurl older than 7.80 does not report that: there it is called when the transfer is added. */
    bool (*may_send)(void *context);
    void *context;
    bool emulates_old_library; /* behave as with such a libcurl; for tests */
} ccurl_request;

/* How a transfer ended. */
typedef enum {
    CCURL_ANSWERED,
    CCURL_TIMED_OUT,
    CCURL_HOST_NOT_FOUND,
    CCURL_PROXY_NOT_FOUND,
    CCURL_CANNOT_CONNECT,  /* `system_error` says why */
    CCURL_CONNECTION_LOST,
    CCURL_PROXY_REFUSED,   /* `status` is the proxy's, 0 where it gave none */
    CCURL_UNTRUSTED,       /* the certificate */
    CCURL_OTHER_HOST,      /* the certificate is for another host */
    CCURL_TLS_FAILED,
    CCURL_CA_FILE_UNUSABLE,
    CCURL_HEAD_TOO_LONG,
    CCURL_BODY_TOO_LONG,
    CCURL_NOT_HTTP,
    CCURL_FAILED,          /* for another reason: `text` */
} ccurl_outcome;

typedef struct {
    ccurl_outcome outcome;
    int status;            /* of the answer */
    int system_error;      /* an errno, or 0 */
    const char *text;      /* libcurl's name of the failure, which holds nothing of the request */
    /* The status line and the header fields of the answer, and its body: good until the transfer is destroyed. */
    const void *head;
    size_t head_length;
    const void *body;
    size_t body_length;
    /* `may_send` was called, and there was no connection after all. Only with a libcurl older than 7.80. */
    bool was_never_sent;
} ccurl_result;

/* NULL when there is no memory left, or libcurl refuses an option that it has to have. */
ccurl_transfer *ccurl_transfer_create(const ccurl_request *request);

/* For a transfer that is part of no multi. Wipes what was sent and received. */
void ccurl_transfer_destroy(ccurl_transfer *transfer);

/* NULL when there is no memory left. */
ccurl_multi *ccurl_multi_create(long connections_per_host);

/* Closes all connections. Its transfers have to be removed before. */
void ccurl_multi_destroy(ccurl_multi *multi);

/* Starts a transfer; false when that cannot be done. */
bool ccurl_multi_add(ccurl_multi *multi, ccurl_transfer *transfer);

/* Takes a transfer out, and aborts it when it has not ended. */
void ccurl_multi_remove(ccurl_multi *multi, ccurl_transfer *transfer);

/* Does what can be done without waiting. */
void ccurl_multi_advance(ccurl_multi *multi);

/* A transfer that has ended since the last call, and how; NULL for none. It stays part of the multi. */
ccurl_transfer *ccurl_multi_next_ended(ccurl_multi *multi, ccurl_result *result);

/* Waits until something can be done, until `ccurl_multi_wake`, or for so many milliseconds. */
void ccurl_multi_wait(ccurl_multi *multi, int milliseconds);

/* Ends the wait that is going on, or else the next one. */
void ccurl_multi_wake(ccurl_multi *multi);

/* Runs `body` on a new thread, named `http`, on which every signal is blocked; 0, or an errno. The thread has to be
   joined. */
int ccurl_thread_start(void (*body)(void *), void *context, uintptr_t *thread);
void ccurl_thread_join(uintptr_t thread);

#endif
