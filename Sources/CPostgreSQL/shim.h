#pragma once
#include <libpq-fe.h>

// Outside of what Swift's Glibc module covers.
#include <sys/eventfd.h>
#include <sys/prctl.h>

static inline int postgres_shim_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

// Variadic, which Swift cannot call; the name shows in `top -H`.
static inline void postgres_shim_name_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

// Macros, which Swift does not see. See PQresultErrorField.
static const int postgres_shim_field_sqlstate = PG_DIAG_SQLSTATE;
static const int postgres_shim_field_message = PG_DIAG_MESSAGE_PRIMARY;
static const int postgres_shim_field_constraint = PG_DIAG_CONSTRAINT_NAME;
