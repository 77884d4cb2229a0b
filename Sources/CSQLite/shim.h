#include <sqlite3.h>

/// Whether closing a connection leaves the write-ahead log as it is. Swift cannot call what takes any number of arguments.
static inline int sqlite_keep_log(sqlite3 *database, int keeps) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keeps, (int *)0);
}
