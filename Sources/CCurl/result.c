#include "transfer.h"

#include <string.h>

/* CURLE_TOO_LARGE, which older headers do not have. */
enum { TOO_LARGE = 100 };

static long number(const ccurl_transfer *transfer, CURLINFO info) {
    long value = 0;
    return ccurl.curl_easy_getinfo(transfer->easy, info, &value) == CURLE_OK ? value : 0;
}

/* Whether a failure can only happen before there is a connection. */
static bool precedes_sending(CURLcode code) {
    switch (code) {
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_URL_MALFORMAT: return true;
    default: return false;
    }
}

/* Why a certificate is refused, by the messages of libcurl's TLS libraries. */
static ccurl_outcome certificate_outcome(const char *error) {
    /* "certificate subject name … does not match …", of every library. The name comes from the certificate. */
    if (strstr(error, "subject name") != NULL) return CCURL_OTHER_HOST;
    /* "certificate has expired", of OpenSSL and GnuTLS; "certificate is not yet valid", "certificate not yet activated". */
    if (strstr(error, "has expired") != NULL || strstr(error, "not yet") != NULL) return CCURL_OUT_OF_DATE;
    return CCURL_UNTRUSTED;
}

/* The failures whose cause is the same with and without a proxy. */
static ccurl_outcome clear_outcome(const ccurl_transfer *transfer, CURLcode code) {
    switch (code) {
    case CURLE_OK: return CCURL_ANSWERED;
    case CURLE_OPERATION_TIMEDOUT: return CCURL_TIMED_OUT;
    case CURLE_COULDNT_RESOLVE_HOST: return CCURL_HOST_NOT_FOUND;
    case CURLE_COULDNT_RESOLVE_PROXY: return CCURL_PROXY_NOT_FOUND;
    case CURLE_COULDNT_CONNECT: return CCURL_CANNOT_CONNECT;
    case CURLE_PEER_FAILED_VERIFICATION: return certificate_outcome(transfer->error);
    case CURLE_SSL_CACERT_BADFILE: return CCURL_CA_FILE_UNUSABLE;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_ENGINE_NOTFOUND:
    case CURLE_SSL_ENGINE_SETFAILED:
    case CURLE_SSL_ENGINE_INITFAILED:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_USE_SSL_FAILED:
    case CURLE_SSL_CRL_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
    case CURLE_SSL_INVALIDCERTSTATUS: return CCURL_TLS_FAILED;
    default: return CCURL_FAILED;
    }
}

/* The failures after the connection was established. */
static ccurl_outcome connection_outcome(CURLcode code) {
    switch ((int)code) { /* TOO_LARGE is not in the enumeration of older headers. */
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_SSL_SHUTDOWN_FAILED:
    case CURLE_SEND_FAIL_REWIND:
    /* The connection was closed, and `before_request` prevented a retry. */
    case CURLE_ABORTED_BY_CALLBACK: return CCURL_CONNECTION_LOST;
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_UNSUPPORTED_PROTOCOL: /* HTTP/0.9, for which libcurl takes any other protocol */
    case CURLE_BAD_CONTENT_ENCODING: return CCURL_NOT_HTTP;
    case CURLE_PROXY: return CCURL_PROXY_REFUSED;
    case CURLE_OUT_OF_MEMORY: /* of a libcurl before 8.6, for a long line of the head */
    case TOO_LARGE: return CCURL_HEAD_TOO_LONG;
    default: return CCURL_FAILED;
    }
}

static ccurl_outcome outcome_of(const ccurl_transfer *transfer, CURLcode code) {
    if (transfer->has_long_head) return CCURL_HEAD_TOO_LONG;
    if (transfer->has_long_body) return CCURL_BODY_TOO_LONG;
    ccurl_outcome outcome = clear_outcome(transfer, code);
    if (outcome != CCURL_FAILED) return outcome;
    /* A SOCKS proxy that does not resolve names itself. */
    if (code == CURLE_PROXY && number(transfer, CCURL_INFO_PROXY_ERROR) == CCURL_PROXY_RESOLVE_HOST) {
        return CCURL_HOST_NOT_FOUND;
    }
    outcome = connection_outcome(code);
    if (outcome == CCURL_FAILED || !transfer->has_proxy) return outcome;
    bool reached_server = transfer->asks_before_sending
                              ? transfer->was_asked
                              : !transfer->has_tunnel_proxy || number(transfer, CURLINFO_HTTP_CONNECTCODE) / 100 == 2;
    return reached_server ? outcome : CCURL_PROXY_REFUSED;
}

/* Whether a TLS connection is the one to the proxy itself: the proxy has opened no tunnel. */
static bool is_of_proxy(const ccurl_transfer *transfer) {
    return transfer->has_tls_proxy && number(transfer, CURLINFO_HTTP_CONNECTCODE) / 100 != 2;
}

/* Whether a certificate is not trusted, and may be by more certificate authorities. */
static bool may_be_trusted(const ccurl_transfer *transfer, ccurl_outcome outcome) {
    if (transfer->was_asked) return false;
    bool is_proxys = is_of_proxy(transfer);
    /* Behind a proxy with TLS, libcurl with OpenSSL reports a certificate that is not trusted as a handshake that failed. */
    bool may_be_untrusted = outcome == CCURL_TLS_FAILED && transfer->has_tls_proxy && !is_proxys;
    /* There may be a newer certificate of an authority whose certificate has expired. */
    if (outcome != CCURL_UNTRUSTED && outcome != CCURL_OUT_OF_DATE && !may_be_untrusted) return false;
    return is_proxys ? transfer->proxy_trusts_fewer : transfer->trusts_fewer;
}

ccurl_result ccurl_transfer_result(const ccurl_transfer *transfer, CURLcode code) {
    ccurl_result result = {
        .outcome = outcome_of(transfer, code),
        .status = (int)number(transfer, CURLINFO_RESPONSE_CODE),
        .system_error = (int)number(transfer, CURLINFO_OS_ERRNO),
        .text = ccurl.curl_easy_strerror(code),
        .head = transfer->head.bytes,
        .head_length = transfer->head.length,
        .body = transfer->received.bytes,
        .body_length = transfer->received.length,
        .was_never_sent = !transfer->asks_before_sending && precedes_sending(code),
    };
    bool lacks_address = result.outcome == CCURL_HOST_NOT_FOUND || result.outcome == CCURL_PROXY_NOT_FOUND;
    result.is_offline = lacks_address && ccurl_is_offline();
    result.is_of_proxy = is_of_proxy(transfer);
    result.may_be_trusted = may_be_trusted(transfer, result.outcome);
    if (result.outcome == CCURL_PROXY_REFUSED) result.status = (int)number(transfer, CURLINFO_HTTP_CONNECTCODE);
    return result;
}

ccurl_result ccurl_transfer_part(const ccurl_transfer *transfer) {
    ccurl_result result = ccurl_transfer_result(transfer, CURLE_ABORTED_BY_CALLBACK);
    result.outcome = CCURL_CANCELLED;
    return result;
}
