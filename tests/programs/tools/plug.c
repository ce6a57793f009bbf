/* Loaded late by ways.c. */
#include <shmem.h>

void plug(void);
void plug(void) { shmem_barrier_all(); }
