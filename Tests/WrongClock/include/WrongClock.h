// Preloaded into a process (LD_PRELOAD), the library moves the process's time of day by WRONG_CLOCK_OFFSET seconds.
//
// The clocks that count from the machine's start stay right, and so do timers: a machine whose time of day is wrong
// behaves like that. libfaketime is no choice here: with an offset below zero it disarms timers that count from the
// machine's start, so that every sleep of the process is its last.
