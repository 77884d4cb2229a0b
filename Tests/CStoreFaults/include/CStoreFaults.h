/* A way to the disk for SQLite that fails when it is told to, over the system's own. */
#ifndef C_STORE_FAULTS_H
#define C_STORE_FAULTS_H

#include <stdint.h>

typedef struct store_faults store_faults;

/* What an operation that fails says. */
enum {
    store_fault_full = 1,   /* ENOSPC: a write stops half way */
    store_fault_write = 2,  /* EIO on a write, half of which may have reached the disk */
    store_fault_sync = 3,   /* EIO on a flush: what was written may or may not be there */
    store_fault_read = 4,   /* EIO on a read */
    store_fault_corrupt = 5, /* a write finds, before it is made, that the file is damaged */
    store_fault_corrupt_read = 6, /* a read finds that the file is damaged */
    store_fault_shrink = 7, /* a file cannot be truncated or deleted */
};

/* Registers a VFS under `name`, which has to be unique; NULL when there is no memory. */
store_faults *store_faults_make(const char *name);

/* Takes it back; no file of it may be open. */
void store_faults_free(store_faults *faults);

/* From the `after`th write, flush, read or shrinking from now on (0 is the next), `count` of that kind fail; a negative count has no end. */
void store_faults_arm(store_faults *faults, int kind, int64_t after, int64_t count);

/* All goes well again. */
void store_faults_disarm(store_faults *faults);

/* How many operations have failed since the last arming. */
int64_t store_faults_failed(store_faults *faults);

/* Holds the flush after the next `after` flushes until `store_faults_open`. */
void store_faults_hold(store_faults *faults, int64_t after);

/* Returns when a flush is held. */
void store_faults_wait(store_faults *faults);

/* Lets held flushes go on. */
void store_faults_open(store_faults *faults);

/* Runs statements on a database through a connection without the store's limits; returns SQLite's result code. */
int store_faults_execute(const char *path, const char *sql);

#endif
