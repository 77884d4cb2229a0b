/* The functions of libcurl, found by the dynamic loader. */
#ifndef CCURL_LIBRARY_H
#define CCURL_LIBRARY_H

/* The type check does not work with options in variables. Newer headers deprecate options that older libraries need. */
#define CURL_DISABLE_TYPECHECK
#define CURL_DISABLE_DEPRECATION
#include <curl/curl.h>

/* Options that the oldest supported headers do not have; an older library refuses them. */
#define CCURL_OPTION_QUICK_EXIT ((CURLoption)(CURLOPTTYPE_LONG + 322))
#define CCURL_OPTION_PREREQUEST_FUNCTION ((CURLoption)(CURLOPTTYPE_FUNCTIONPOINT + 312))
#define CCURL_OPTION_PREREQUEST_DATA ((CURLoption)(CURLOPTTYPE_OBJECTPOINT + 313))
#define CCURL_OPTION_CA_CACHE_TIMEOUT ((CURLoption)(CURLOPTTYPE_LONG + 321))
#define CCURL_INFO_CAINFO ((CURLINFO)(CURLINFO_STRING + 61))
#define CCURL_INFO_CAPATH ((CURLINFO)(CURLINFO_STRING + 62))
#define CCURL_INFO_PROXY_ERROR ((CURLINFO)(CURLINFO_LONG + 59))
enum { CCURL_PROXY_RESOLVE_HOST = 27 };
enum { CCURL_PREREQUEST_GO_ON = 0, CCURL_PREREQUEST_ABORT = 1 };

#define CCURL_FUNCTIONS(X)                                                                                             \
    X(curl_global_init_mem)                                                                                            \
    X(curl_easy_init)                                                                                                  \
    X(curl_easy_cleanup)                                                                                               \
    X(curl_easy_setopt)                                                                                                \
    X(curl_easy_getinfo)                                                                                               \
    X(curl_easy_strerror)                                                                                              \
    X(curl_share_init)                                                                                                 \
    X(curl_share_setopt)                                                                                               \
    X(curl_share_cleanup)                                                                                              \
    X(curl_slist_append)                                                                                               \
    X(curl_slist_free_all)                                                                                             \
    X(curl_multi_init)                                                                                                 \
    X(curl_multi_cleanup)                                                                                              \
    X(curl_multi_setopt)                                                                                               \
    X(curl_multi_add_handle)                                                                                           \
    X(curl_multi_remove_handle)                                                                                        \
    X(curl_multi_perform)                                                                                              \
    X(curl_multi_info_read)                                                                                            \
    X(curl_multi_poll)                                                                                                 \
    X(curl_multi_wakeup)

struct ccurl_functions {
#define CCURL_MEMBER(name) __typeof__(&name) name;
    CCURL_FUNCTIONS(CCURL_MEMBER)
#undef CCURL_MEMBER
};

/* Valid after `ccurl_load` has returned NULL. */
extern struct ccurl_functions ccurl;

#endif
