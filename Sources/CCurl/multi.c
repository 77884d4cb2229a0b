#include "transfer.h"

struct ccurl_multi {
    CURLM *handle;
    CURLSH *sessions; /* the TLS sessions, which connections of all transfers resume */
};

ccurl_multi *ccurl_multi_create(long connections_per_host, long connections) {
    ccurl_multi *multi = ccurl_allocate_zeroed(1, sizeof *multi);
    if (multi == NULL) return NULL;
    multi->handle = ccurl.curl_multi_init();
    multi->sessions = ccurl.curl_share_init();
    /* Without file descriptors for the waking, libcurl makes a handle too, which begins each request only when a wait has timed out.
       One thread drives all transfers, so that the sessions need no lock. */
    if (multi->handle != NULL && multi->sessions != NULL && ccurl.curl_multi_wakeup(multi->handle) == CURLM_OK &&
        ccurl.curl_share_setopt(multi->sessions, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION) == CURLSHE_OK &&
        ccurl.curl_multi_setopt(multi->handle, CURLMOPT_MAX_HOST_CONNECTIONS, connections_per_host) == CURLM_OK &&
        ccurl.curl_multi_setopt(multi->handle, CURLMOPT_MAX_TOTAL_CONNECTIONS, connections) == CURLM_OK) {
        return multi;
    }
    ccurl_multi_destroy(multi);
    return NULL;
}

void ccurl_multi_destroy(ccurl_multi *multi) {
    if (multi->handle != NULL) ccurl.curl_multi_cleanup(multi->handle);
    if (multi->sessions != NULL) ccurl.curl_share_cleanup(multi->sessions);
    ccurl_free_wiped(multi);
}

bool ccurl_multi_add(ccurl_multi *multi, ccurl_transfer *transfer) {
    if (!transfer->asks_before_sending && !transfer->may_send(transfer->context)) return false;
    return ccurl.curl_easy_setopt(transfer->easy, CURLOPT_SHARE, multi->sessions) == CURLE_OK &&
           ccurl.curl_multi_add_handle(multi->handle, transfer->easy) == CURLM_OK;
}

void ccurl_multi_remove(ccurl_multi *multi, ccurl_transfer *transfer) {
    ccurl.curl_multi_remove_handle(multi->handle, transfer->easy);
}

void ccurl_multi_advance(ccurl_multi *multi) {
    int running = 0;
    ccurl.curl_multi_perform(multi->handle, &running);
}

ccurl_transfer *ccurl_multi_next_ended(ccurl_multi *multi, ccurl_result *result) {
    int left = 0;
    for (;;) {
        const CURLMsg *message = ccurl.curl_multi_info_read(multi->handle, &left);
        if (message == NULL) return NULL;
        if (message->msg != CURLMSG_DONE) continue;
        char *transfer = NULL;
        CURLcode code = message->data.result;
        ccurl.curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
        if (transfer == NULL) continue;
        *result = ccurl_transfer_result((const ccurl_transfer *)(void *)transfer, code);
        return (ccurl_transfer *)(void *)transfer;
    }
}

void ccurl_multi_wait(ccurl_multi *multi, int milliseconds) {
    ccurl.curl_multi_poll(multi->handle, NULL, 0, milliseconds, NULL);
}

void ccurl_multi_wake(ccurl_multi *multi) { ccurl.curl_multi_wakeup(multi->handle); }
