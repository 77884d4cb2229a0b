#pragma once

/* Reads every row of a store; returns 0, or 1 if there are none. */
int read_rows(const char *path);
