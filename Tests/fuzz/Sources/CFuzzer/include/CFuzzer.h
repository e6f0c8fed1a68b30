#pragma once
#include <stddef.h>
#include <stdint.h>

// libFuzzer as a library: the program keeps its own main.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*callback)(const uint8_t *data, size_t size));
