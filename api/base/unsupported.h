#ifndef API_UNSUPPORTED_H
#define API_UNSUPPORTED_H

/* Sets and returns hipErrorNotSupported as the thread's last error. */
int hip_unsupported(const char *name);

#endif
