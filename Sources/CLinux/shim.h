// Outside of what Swift's Glibc module covers.
#include <sys/eventfd.h>
#include <sys/prctl.h>

static inline int linux_shim_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

// Variadic, which Swift cannot call; the name shows in `top -H`.
static inline void linux_shim_name_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }
