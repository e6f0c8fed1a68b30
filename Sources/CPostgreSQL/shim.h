#pragma once
#include <libpq-fe.h>

// Macros, which Swift does not see. See PQresultErrorField.
static const int postgres_shim_field_sqlstate = PG_DIAG_SQLSTATE;
static const int postgres_shim_field_message = PG_DIAG_MESSAGE_PRIMARY;
static const int postgres_shim_field_constraint = PG_DIAG_CONSTRAINT_NAME;
