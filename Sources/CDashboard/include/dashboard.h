// The files of the dashboard, embedded in the binary.
#ifndef SLUICE_DASHBOARD_H
#define SLUICE_DASHBOARD_H

#include <stddef.h>

typedef struct {
    // As in the folder `pages`.
    const char *name;
    const unsigned char *bytes;
    size_t count;
} sluice_dashboard_entry;

// The file with a number from 0 on; NULL beyond the last.
const sluice_dashboard_entry *sluice_dashboard_file(size_t index);

#endif
