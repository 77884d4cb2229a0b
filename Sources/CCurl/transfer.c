#define _GNU_SOURCE
#include "transfer.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Sets close-on-exec when the socket is created, so that a program that another thread starts does not inherit it. */
static curl_socket_t open_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address) {
    (void)context;
    (void)purpose;
#ifdef SOCK_CLOEXEC
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
#else
    int descriptor = socket(address->family, address->socktype, address->protocol);
    if (descriptor >= 0) fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    return descriptor;
#endif
}

/* libcurl retries a request by itself if a connection that was idle turns out to be closed. The second call aborts the retry. No request
   has such a connection to begin with, see `set_connection`. */
static int before_request(void *context, char *address, char *local_address, int port, int local_port) {
    (void)address;
    (void)local_address;
    (void)port;
    (void)local_port;
    ccurl_transfer *transfer = context;
    if (transfer->was_asked) return CCURL_PREREQUEST_ABORT;
    transfer->was_asked = true;
    return transfer->may_send(transfer->context) ? CCURL_PREREQUEST_GO_ON : CCURL_PREREQUEST_ABORT;
}

/* Receives a line of the head of the response. */
static size_t receive_head(char *bytes, size_t size, size_t count, void *context) {
    ccurl_transfer *transfer = context;
    size_t length = size * count;
    /* Discards the head of an interim response (1xx). */
    if (length >= 5 && memcmp(bytes, "HTTP/", 5) == 0) ccurl_buffer_reset(&transfer->head);
    if (length > transfer->head_limit - transfer->head.length) {
        transfer->has_long_head = true;
        return 0;
    }
    return ccurl_buffer_append(&transfer->head, bytes, length) ? length : 0;
}

static size_t receive_body(char *bytes, size_t size, size_t count, void *context) {
    ccurl_transfer *transfer = context;
    size_t length = size * count;
    if (length > transfer->body_limit - transfer->received.length) {
        transfer->has_long_body = true;
        return 0;
    }
    return ccurl_buffer_append(&transfer->received, bytes, length) ? length : 0;
}

/* Options: a transfer is created only if libcurl accepts every option that is required. */

static bool set_number(ccurl_transfer *transfer, CURLoption option, long value) {
    return ccurl.curl_easy_setopt(transfer->easy, option, value) == CURLE_OK;
}

static bool set_pointer(ccurl_transfer *transfer, CURLoption option, const void *value) {
    return ccurl.curl_easy_setopt(transfer->easy, option, value) == CURLE_OK;
}

static bool set_callbacks(ccurl_transfer *transfer, bool emulates_old_library) {
    CURL *easy = transfer->easy;
    if (!emulates_old_library) {
        transfer->asks_before_sending =
            ccurl.curl_easy_setopt(easy, CCURL_OPTION_PREREQUEST_FUNCTION, before_request) == CURLE_OK &&
            set_pointer(transfer, CCURL_OPTION_PREREQUEST_DATA, transfer);
    }
    return set_pointer(transfer, CURLOPT_PRIVATE, transfer) && set_pointer(transfer, CURLOPT_HEADERDATA, transfer) &&
           set_pointer(transfer, CURLOPT_WRITEDATA, transfer) &&
           set_pointer(transfer, CURLOPT_ERRORBUFFER, transfer->error) &&
           ccurl.curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket) == CURLE_OK &&
           ccurl.curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, receive_head) == CURLE_OK &&
           ccurl.curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, receive_body) == CURLE_OK;
}

/* No signals, redirects, cookies or .netrc; only the two protocols; the URL is not normalised. */
static bool set_behaviour(ccurl_transfer *transfer, const ccurl_request *request) {
    /* Without this option, the removal of a transfer waits for the name server, as with a libcurl before 7.87. */
    set_number(transfer, CCURL_OPTION_QUICK_EXIT, 1);
    return set_number(transfer, CURLOPT_NOSIGNAL, 1) && set_number(transfer, CURLOPT_FOLLOWLOCATION, 0) &&
           set_number(transfer, CURLOPT_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS) &&
           set_number(transfer, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1) &&
           set_number(transfer, CURLOPT_NETRC, CURL_NETRC_IGNORED) && set_number(transfer, CURLOPT_PATH_AS_IS, 1) &&
           set_number(transfer, CURLOPT_DNS_CACHE_TIMEOUT, 0) &&
           set_pointer(transfer, CURLOPT_URL, request->url);
}

static const char *text(const ccurl_transfer *transfer, CURLINFO info) {
    char *value = NULL;
    return ccurl.curl_easy_getinfo(transfer->easy, info, &value) == CURLE_OK ? value : NULL;
}

/* Leaves out the system's folder of certificates if the system has a file with them too. libcurl keeps what it has read of a file for the
   next connections, and otherwise reads all of it for each: some 30 milliseconds, for which every other transfer waits. A libcurl older than
   7.84 does not say which file it uses; one older than 7.87 keeps nothing. */
static void leave_out_folder(ccurl_transfer *transfer) {
    const char *file = text(transfer, CCURL_INFO_CAINFO), *folder = text(transfer, CCURL_INFO_CAPATH);
    if (file == NULL || folder == NULL || access(file, R_OK) != 0) return;
    if (set_pointer(transfer, CURLOPT_CAPATH, NULL)) transfer->trusts_fewer = true;
}

static bool set_trust(ccurl_transfer *transfer, const ccurl_request *request) {
    if (!set_number(transfer, CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2) ||
        !set_number(transfer, CURLOPT_SSL_VERIFYPEER, 1) || !set_number(transfer, CURLOPT_SSL_VERIFYHOST, 2)) {
        return false;
    }
    /* In seconds: what libcurl has read of the file is used for five minutes. A certificate authority that is removed from the file stays
       trusted for that time; for one that is added, `may_be_trusted` has the file read again. */
    bool keeps_authorities =
        set_number(transfer, CCURL_OPTION_CA_CACHE_TIMEOUT, request->reads_all_authorities ? 0 : 300);
    transfer->trusts_fewer = keeps_authorities && !request->reads_all_authorities;
    if (request->ca_file == NULL) {
        if (!request->reads_all_authorities) leave_out_folder(transfer);
        return true;
    }
    /* Without this, the certificates in the system's directory would be trusted too. A TLS library without such a directory
       refuses the option. */
    set_pointer(transfer, CURLOPT_CAPATH, NULL);
    return set_pointer(transfer, CURLOPT_CAINFO, request->ca_file);
}

/* The same for the connection to an https:// proxy. */
static bool set_proxy_trust(ccurl_transfer *transfer, const ccurl_request *request) {
    if (!set_number(transfer, CURLOPT_PROXY_SSLVERSION, CURL_SSLVERSION_TLSv1_2) ||
        !set_number(transfer, CURLOPT_PROXY_SSL_VERIFYPEER, 1) || !set_number(transfer, CURLOPT_PROXY_SSL_VERIFYHOST, 2)) {
        return false;
    }
    /* The system's folder of certificates is not left out here, so that libcurl reads all of them for each connection. */
    if (request->ca_file == NULL) return true;
    transfer->proxy_trusts_fewer = transfer->trusts_fewer;
    set_pointer(transfer, CURLOPT_PROXY_CAPATH, NULL);
    return set_pointer(transfer, CURLOPT_PROXY_CAINFO, request->ca_file);
}

static bool set_proxy_credentials(ccurl_transfer *transfer, const ccurl_request *request) {
    if (request->proxy_user == NULL) {
        if (!transfer->has_tunnel_proxy) return true;
        /* CURLAUTH_ONLY: the ticket is fetched only if the proxy requests it. The empty user name stands for the owner of
           the ticket. A libcurl without GSS-API refuses the option, and the request is sent without it. */
        return set_number(transfer, CURLOPT_PROXYAUTH, (long)(CURLAUTH_NEGOTIATE | CURLAUTH_ONLY))
                   ? set_pointer(transfer, CURLOPT_PROXYUSERNAME, "")
                   : true;
    }
    if (transfer->has_tunnel_proxy && !set_number(transfer, CURLOPT_PROXYAUTH, (long)CURLAUTH_BASIC)) return false;
    char *password = ccurl_copy(request->proxy_password, request->proxy_password_length);
    if (password == NULL) return false;
    bool is_set = set_pointer(transfer, CURLOPT_PROXYUSERNAME, request->proxy_user) &&
                  set_pointer(transfer, CURLOPT_PROXYPASSWORD, password);
    ccurl_free_wiped(password);
    return is_set;
}

static bool set_proxy(ccurl_transfer *transfer, const ccurl_request *request) {
    transfer->has_proxy = request->proxy != NULL;
    /* An empty text means none; with NULL, libcurl would read the environment. */
    if (!set_pointer(transfer, CURLOPT_NOPROXY, "") ||
        !set_pointer(transfer, CURLOPT_PROXY, transfer->has_proxy ? request->proxy : "")) {
        return false;
    }
    if (!transfer->has_proxy) return true;
    transfer->has_tunnel_proxy = strncmp(request->proxy, "http", 4) == 0;
    if (!set_number(transfer, CURLOPT_HTTPPROXYTUNNEL, transfer->has_tunnel_proxy) ||
        !set_number(transfer, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1) ||
        !set_number(transfer, CURLOPT_HEADEROPT, CURLHEADER_SEPARATE)) {
        return false;
    }
    transfer->has_tls_proxy = strncmp(request->proxy, "https", 5) == 0;
    if (transfer->has_tls_proxy && !set_proxy_trust(transfer, request)) return false;
    return set_proxy_credentials(transfer, request);
}

/* Every request has a new connection, which is closed after the response. One that has been idle may be dead without a sign, as after a
   change of the network or a sleep of the machine: a request on it would wait in vain, and one that is answered on it says nothing of those
   on new ones. On one that the server closes after it has read the request, libcurl would send the request again, and one that the server
   closes just before would cost the grant. libcurl may take an idle connection in spite of CURLOPT_FRESH_CONNECT after a proxy has asked
   for credentials; with CURLOPT_FORBID_REUSE, there is none. */
static bool set_connection(ccurl_transfer *transfer, const ccurl_request *request) {
    return set_number(transfer, CURLOPT_FRESH_CONNECT, 1) && set_number(transfer, CURLOPT_FORBID_REUSE, 1) &&
           set_number(transfer, CURLOPT_CONNECTTIMEOUT_MS, request->connect_timeout);
}

static bool add_field(ccurl_transfer *transfer, const char *field) {
    struct curl_slist *fields = ccurl.curl_slist_append(transfer->fields, field);
    if (fields == NULL) return false;
    transfer->fields = fields;
    return true;
}

static bool set_content(ccurl_transfer *transfer, const ccurl_request *request) {
    for (const char *const *field = request->fields; *field != NULL; field++) {
        if (!add_field(transfer, *field)) return false;
    }
    if (request->body != NULL) {
        transfer->body = ccurl_copy(request->body, request->body_length);
        /* The body is sent without waiting for a 100 (Continue) response. */
        if (transfer->body == NULL || !add_field(transfer, "Expect:")) return false;
        transfer->body_length = request->body_length;
        if (ccurl.curl_easy_setopt(
                transfer->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)transfer->body_length) != CURLE_OK ||
            !set_pointer(transfer, CURLOPT_POSTFIELDS, transfer->body)) {
            return false;
        }
    }
    return set_pointer(transfer, CURLOPT_HTTPHEADER, transfer->fields);
}

ccurl_transfer *ccurl_transfer_create(const ccurl_request *request) {
    ccurl_transfer *transfer = ccurl_allocate_zeroed(1, sizeof *transfer);
    if (transfer == NULL) return NULL;
    transfer->may_send = request->may_send;
    transfer->context = request->context;
    transfer->head_limit = request->head_limit;
    transfer->body_limit = request->body_limit;
    transfer->easy = ccurl.curl_easy_init();
    if (transfer->easy != NULL && set_callbacks(transfer, request->emulates_old_library) && set_behaviour(transfer, request) &&
        set_trust(transfer, request) && set_proxy(transfer, request) && set_connection(transfer, request) &&
        set_content(transfer, request)) {
        return transfer;
    }
    ccurl_transfer_destroy(transfer);
    return NULL;
}

void ccurl_transfer_destroy(ccurl_transfer *transfer) {
    if (transfer->easy != NULL) ccurl.curl_easy_cleanup(transfer->easy);
    ccurl.curl_slist_free_all(transfer->fields);
    ccurl_free_wiped(transfer->body);
    ccurl_buffer_free(&transfer->head);
    ccurl_buffer_free(&transfer->received);
    ccurl_free_wiped(transfer);
}
