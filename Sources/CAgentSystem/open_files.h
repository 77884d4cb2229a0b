/* Open files of processes that go on by themselves; for this target only. */
#ifndef OPEN_FILES_H
#define OPEN_FILES_H

/* Closes every descriptor from `lowest` on, whatever its number; 0, or an errno. */
int agent_close_from(int lowest);

/* Whether this process goes on in the background: its output ends with `agent_leave_output`, and its children may not keep it open. */
int agent_is_detached(void);

#endif
