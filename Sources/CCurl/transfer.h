#ifndef CCURL_TRANSFER_H
#define CCURL_TRANSFER_H

#include "CCurl.h"
#include "library.h"
#include "memory.h"

struct ccurl_transfer {
    CURL *easy;
    struct curl_slist *fields;
    char *body; /* libcurl sends it from here */
    size_t body_length;
    bool trusts_fewer; /* some certificate authorities may be missing: those of the system's folder, and those that its file has since got */
    bool proxy_trusts_fewer; /* the same for the connection to an https:// proxy */
    bool has_proxy;
    bool has_tunnel_proxy; /* an HTTP proxy, which answers CONNECT with a status */
    bool has_tls_proxy;    /* an HTTP proxy that has a certificate itself */
    /* Whether libcurl reports that it is about to send. */
    bool asks_before_sending;
    bool was_asked;
    bool (*may_send)(void *context);
    void *context;
    ccurl_buffer head;
    ccurl_buffer received;
    size_t head_limit;
    size_t body_limit;
    bool has_long_head;
    bool has_long_body;
    char error[CURL_ERROR_SIZE];
};

/* What the end of a transfer means. */
ccurl_result ccurl_transfer_result(const ccurl_transfer *transfer, CURLcode code);

#endif
