#define _GNU_SOURCE
#include "CStoreFaults.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

struct store_faults {
    sqlite3_vfs vfs;
    sqlite3_vfs *real;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int kind;
    int64_t after, count, failed;
    int is_holding, is_held;
    int64_t hold_after;
};

typedef struct {
    sqlite3_file base;
    store_faults *faults;
    sqlite3_file *real;
} fault_file;

static sqlite3_file *real_file(sqlite3_file *file) { return ((fault_file *)file)->real; }

/* Whether this operation is one that has to fail. */
static int fails(store_faults *faults, int kind) {
    pthread_mutex_lock(&faults->lock);
    int is_of_writes = faults->kind == store_fault_full || faults->kind == store_fault_corrupt;
    int is_of_reads = faults->kind == store_fault_corrupt_read;
    int is_meant = faults->kind == kind || (is_of_writes && kind == store_fault_write)
        || (is_of_reads && kind == store_fault_read);
    int result = 0;
    if (is_meant && faults->count != 0) {
        if (faults->after > 0) {
            faults->after--;
        } else {
            if (faults->count > 0) faults->count--;
            faults->failed++;
            result = faults->kind;
        }
    }
    pthread_mutex_unlock(&faults->lock);
    return result;
}

static int f_close(sqlite3_file *file) { return real_file(file)->pMethods->xClose(real_file(file)); }

static int f_read(sqlite3_file *file, void *buffer, int count, sqlite3_int64 offset) {
    int kind = fails(((fault_file *)file)->faults, store_fault_read);
    if (kind != 0) return kind == store_fault_corrupt_read ? SQLITE_CORRUPT : SQLITE_IOERR_READ;
    return real_file(file)->pMethods->xRead(real_file(file), buffer, count, offset);
}

static int f_write(sqlite3_file *file, const void *buffer, int count, sqlite3_int64 offset) {
    sqlite3_file *real = real_file(file);
    int kind = fails(((fault_file *)file)->faults, store_fault_write);
    if (kind == 0) return real->pMethods->xWrite(real, buffer, count, offset);
    if (kind == store_fault_corrupt) return SQLITE_CORRUPT;
    if (count > 1) real->pMethods->xWrite(real, buffer, count / 2, offset);
    return kind == store_fault_full ? SQLITE_FULL : SQLITE_IOERR_WRITE;
}

static int f_truncate(sqlite3_file *file, sqlite3_int64 size) {
    if (fails(((fault_file *)file)->faults, store_fault_shrink)) return SQLITE_IOERR_TRUNCATE;
    return real_file(file)->pMethods->xTruncate(real_file(file), size);
}

static int f_sync(sqlite3_file *file, int flags) {
    store_faults *faults = ((fault_file *)file)->faults;
    pthread_mutex_lock(&faults->lock);
    if (faults->is_holding && faults->hold_after > 0) {
        faults->hold_after--;
    } else {
        while (faults->is_holding) {
            faults->is_held = 1;
            pthread_cond_broadcast(&faults->changed);
            pthread_cond_wait(&faults->changed, &faults->lock);
        }
    }
    pthread_mutex_unlock(&faults->lock);
    if (fails(faults, store_fault_sync)) return SQLITE_IOERR_FSYNC;
    return real_file(file)->pMethods->xSync(real_file(file), flags);
}

static int f_size(sqlite3_file *file, sqlite3_int64 *size) {
    return real_file(file)->pMethods->xFileSize(real_file(file), size);
}
static int f_lock(sqlite3_file *file, int level) { return real_file(file)->pMethods->xLock(real_file(file), level); }
static int f_unlock(sqlite3_file *file, int level) {
    return real_file(file)->pMethods->xUnlock(real_file(file), level);
}
static int f_reserved(sqlite3_file *file, int *result) {
    return real_file(file)->pMethods->xCheckReservedLock(real_file(file), result);
}
static int f_control(sqlite3_file *file, int operation, void *argument) {
    return real_file(file)->pMethods->xFileControl(real_file(file), operation, argument);
}
static int f_sector(sqlite3_file *file) { return real_file(file)->pMethods->xSectorSize(real_file(file)); }
static int f_device(sqlite3_file *file) { return real_file(file)->pMethods->xDeviceCharacteristics(real_file(file)); }

/* Version 1: without shared memory, which a store that has its file to itself does not need. */
static const sqlite3_io_methods methods = {
    .iVersion = 1, .xClose = f_close, .xRead = f_read, .xWrite = f_write, .xTruncate = f_truncate, .xSync = f_sync,
    .xFileSize = f_size, .xLock = f_lock, .xUnlock = f_unlock, .xCheckReservedLock = f_reserved,
    .xFileControl = f_control, .xSectorSize = f_sector, .xDeviceCharacteristics = f_device,
};

static store_faults *of(sqlite3_vfs *vfs) { return (store_faults *)vfs->pAppData; }

static int f_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *given) {
    store_faults *faults = of(vfs);
    fault_file *ours = (fault_file *)file;
    ours->faults = faults;
    ours->real = (sqlite3_file *)(ours + 1);
    memset(ours->real, 0, (size_t)faults->real->szOsFile);
    int code = faults->real->xOpen(faults->real, name, ours->real, flags, given);
    ours->base.pMethods = ours->real->pMethods ? &methods : NULL;
    return code;
}
static int f_delete(sqlite3_vfs *vfs, const char *name, int sync) {
    if (fails(of(vfs), store_fault_shrink)) return SQLITE_IOERR_DELETE;
    return of(vfs)->real->xDelete(of(vfs)->real, name, sync);
}
static int f_access(sqlite3_vfs *vfs, const char *name, int flags, int *result) {
    return of(vfs)->real->xAccess(of(vfs)->real, name, flags, result);
}
static int f_path(sqlite3_vfs *vfs, const char *name, int count, char *out) {
    return of(vfs)->real->xFullPathname(of(vfs)->real, name, count, out);
}

store_faults *store_faults_make(const char *name) {
    store_faults *faults = calloc(1, sizeof *faults);
    if (faults == NULL) return NULL;
    faults->real = sqlite3_vfs_find(NULL);
    faults->vfs = *faults->real;
    faults->vfs.pNext = NULL;
    faults->vfs.zName = strdup(name);
    faults->vfs.pAppData = faults;
    faults->vfs.szOsFile = (int)sizeof(fault_file) + faults->real->szOsFile;
    faults->vfs.xOpen = f_open;
    faults->vfs.xDelete = f_delete;
    faults->vfs.xAccess = f_access;
    faults->vfs.xFullPathname = f_path;
    pthread_mutex_init(&faults->lock, NULL);
    pthread_cond_init(&faults->changed, NULL);
    sqlite3_vfs_register(&faults->vfs, 0);
    return faults;
}

void store_faults_free(store_faults *faults) {
    sqlite3_vfs_unregister(&faults->vfs);
    free((void *)faults->vfs.zName);
    pthread_cond_destroy(&faults->changed);
    pthread_mutex_destroy(&faults->lock);
    free(faults);
}

void store_faults_arm(store_faults *faults, int kind, int64_t after, int64_t count) {
    pthread_mutex_lock(&faults->lock);
    faults->kind = kind;
    faults->after = after;
    faults->count = count;
    faults->failed = 0;
    pthread_mutex_unlock(&faults->lock);
}

void store_faults_disarm(store_faults *faults) {
    pthread_mutex_lock(&faults->lock);
    faults->count = 0;
    pthread_mutex_unlock(&faults->lock);
}

int64_t store_faults_failed(store_faults *faults) {
    pthread_mutex_lock(&faults->lock);
    int64_t failed = faults->failed;
    pthread_mutex_unlock(&faults->lock);
    return failed;
}

void store_faults_hold(store_faults *faults, int64_t after) {
    pthread_mutex_lock(&faults->lock);
    faults->is_holding = 1;
    faults->is_held = 0;
    faults->hold_after = after;
    pthread_mutex_unlock(&faults->lock);
}

void store_faults_wait(store_faults *faults) {
    pthread_mutex_lock(&faults->lock);
    while (!faults->is_held) pthread_cond_wait(&faults->changed, &faults->lock);
    pthread_mutex_unlock(&faults->lock);
}

void store_faults_open(store_faults *faults) {
    pthread_mutex_lock(&faults->lock);
    faults->is_holding = 0;
    faults->is_held = 0;
    pthread_cond_broadcast(&faults->changed);
    pthread_mutex_unlock(&faults->lock);
}

int store_faults_execute(const char *path, const char *sql) {
    sqlite3 *database = NULL;
    int code = sqlite3_open(path, &database);
    if (code == SQLITE_OK) code = sqlite3_exec(database, sql, NULL, NULL, NULL);
    sqlite3_close(database);
    return code;
}
