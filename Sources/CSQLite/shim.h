#include <sqlite3.h>

/// Whether closing a connection leaves the write-ahead log as it is. Swift cannot call what takes any number of arguments.
static inline int sqlite_keep_log(sqlite3 *database, int keeps) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keeps, (int *)0);
}

static inline int sqlite_switch(sqlite3 *database, int option, int value) {
    return sqlite3_db_config(database, option, value, (int *)0);
}

/// Disables what a store does not need and a hostile file could use: writing to the schema, functions in it, views, triggers,
/// texts in place of names, and extensions.
static inline int sqlite_defend(sqlite3 *database) {
    int code = sqlite_switch(database, SQLITE_DBCONFIG_DEFENSIVE, 1);
    if (code == SQLITE_OK) code = sqlite_switch(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0);
    if (code == SQLITE_OK) code = sqlite_switch(database, SQLITE_DBCONFIG_ENABLE_VIEW, 0);
    if (code == SQLITE_OK) code = sqlite_switch(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0);
    if (code == SQLITE_OK) code = sqlite_switch(database, SQLITE_DBCONFIG_DQS_DDL, 0);
    if (code == SQLITE_OK) code = sqlite_switch(database, SQLITE_DBCONFIG_DQS_DML, 0);
    if (code == SQLITE_OK) code = sqlite_switch(database, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0);
    return code;
}

/// Waits until the write-ahead log of a connection has reached the disk.
static inline int sqlite_synchronize_log(sqlite3 *database) {
    sqlite3_file *log = (sqlite3_file *)0;
    int code = sqlite3_file_control(database, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
    if (code != SQLITE_OK || !log || !log->pMethods) return code;
    return log->pMethods->xSync(log, SQLITE_SYNC_NORMAL);
}
