#define _GNU_SOURCE
#include "library.h"

#include "CCurl.h"
#include "memory.h"

#include <dlfcn.h>
#include <pthread.h>

struct ccurl_functions ccurl;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_loaded;

#ifdef __APPLE__
/* The whole path: a name alone would be looked for in the current folder first, see dlopen(3). */
static const char *const names[] = {"/usr/lib/libcurl.4.dylib"};
static const char missing[] = "libcurl cannot be loaded: there is no /usr/lib/libcurl.4.dylib";
#else
static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};
static const char missing[] = "libcurl cannot be loaded: there is neither libcurl.so.4 nor libcurl-gnutls.so.4; "
                              "install libcurl4 (Debian, Ubuntu) or libcurl (Fedora, RHEL)";
#endif
static const char outdated[] = "the system's libcurl is too old; install libcurl 7.68 or later";
static const char broken[] = "the system's libcurl cannot be initialized; reinstall it";

static bool find_functions(void *library, struct ccurl_functions *functions) {
#define CCURL_FIND(name)                                                                                               \
    *(void **)&functions->name = dlsym(library, #name);                                                                \
    if (functions->name == NULL) return false;
    CCURL_FUNCTIONS(CCURL_FIND)
#undef CCURL_FIND
    return true;
}

static const char *load(void) {
    void *library = NULL;
    for (size_t index = 0; library == NULL && index < sizeof names / sizeof *names; index++) {
        library = dlopen(names[index], RTLD_NOW | RTLD_LOCAL);
    }
    if (library == NULL) return missing;
    /* The library is never unloaded: TLS libraries register functions that run when a thread or the process ends. */
    if (!find_functions(library, &ccurl)) return outdated;
    CURLcode code = ccurl.curl_global_init_mem(
        CURL_GLOBAL_DEFAULT, ccurl_allocate, ccurl_free_wiped, ccurl_reallocate_wiped, ccurl_duplicate,
        ccurl_allocate_zeroed);
    return code == CURLE_OK ? NULL : broken;
}

const char *ccurl_check(const char *name) {
    void *library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    if (library == NULL) return missing;
    struct ccurl_functions functions;
    const char *failure = find_functions(library, &functions) ? NULL : outdated;
    dlclose(library);
    return failure;
}

const char *ccurl_load(void) {
    pthread_mutex_lock(&lock);
    const char *failure = is_loaded ? NULL : load();
    is_loaded = failure == NULL;
    pthread_mutex_unlock(&lock);
    return failure;
}
