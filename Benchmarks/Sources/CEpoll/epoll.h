// Swift's Glibc module leaves these headers out.
#include <sys/epoll.h>
#include <sys/timerfd.h>
