// The least that reading a store can take: every row of its table read with SQLite, decrypted with AES-256-GCM and hashed with
// HMAC-SHA256, on one thread. Prints the nanoseconds.
//
// The key is not the store's, which no benchmark needs to know: the work is the same.

#include "rows.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { head_length = 34, nonce_length = 12, tag_length = 16, name_length = 24 };

static unsigned long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (unsigned long long)time.tv_sec * 1000000000u + (unsigned long long)time.tv_nsec;
}

int read_rows(const char *path) {
    static const unsigned char key[32] = {1};
    sqlite3 *database = NULL;
    sqlite3_stmt *rows = NULL;
    unsigned long long start = now();
    if (sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK
        || sqlite3_prepare_v2(database, "SELECT sequence, body FROM sealed ORDER BY sequence", -1, &rows, NULL) != SQLITE_OK) {
        fprintf(stderr, "%s: %s\n", path, sqlite3_errmsg(database));
        return 1;
    }
    EVP_CIPHER_CTX *cipher = EVP_CIPHER_CTX_new();
    EVP_DecryptInit_ex(cipher, EVP_aes_256_gcm(), NULL, key, NULL);
    unsigned long count = 0;
    while (sqlite3_step(rows) == SQLITE_ROW) {
        const unsigned char *body = sqlite3_column_blob(rows, 1);
        int length = sqlite3_column_bytes(rows, 1), written = 0;
        if (length < head_length + nonce_length + tag_length) continue;
        unsigned char *plain = malloc((size_t)length), hash[EVP_MAX_MD_SIZE];
        EVP_DecryptInit_ex(cipher, NULL, NULL, NULL, body + head_length);
        EVP_DecryptUpdate(cipher, NULL, &written, body, head_length);
        EVP_DecryptUpdate(
            cipher, plain, &written, body + head_length + nonce_length, length - head_length - nonce_length - tag_length);
        EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_GCM_SET_TAG, tag_length, (void *)(body + length - tag_length));
        EVP_DecryptFinal_ex(cipher, plain, &written);
        unsigned int hashed = 0;
        HMAC(EVP_sha256(), key, sizeof key, body + 8, name_length, hash, &hashed);
        free(plain);
        count++;
    }
    printf("%llu\n", now() - start);
    EVP_CIPHER_CTX_free(cipher);
    sqlite3_finalize(rows);
    sqlite3_close(database);
    return count > 0 ? 0 : 1;
}
