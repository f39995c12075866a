/*===- faults.c - Makes one call of the system fail -------------*- C -*-===*\
|*                                                                            *|
|* Part of the annudf project, under the Apache License v2.0 with LLVM        *|
|* Exceptions. See LICENSE for license information.                           *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* For LD_PRELOAD. ANNUDF_FAULT=FUNCTION:N makes the Nth call of FUNCTION     *|
|* since the beginning of main fail, as it does where memory, threads or the  *|
|* disk run out; ANNUDF_FAULT_COUNTS=FILE is given the numbers of calls.      *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MALLOC, THREAD, WRITE, FSYNC, RENAME, MMAP, FUNCTIONS };
static const char *const names[FUNCTIONS] = {"malloc", "pthread_create", "write",
                                             "fsync",  "rename",         "mmap"};
static atomic_long calls[FUNCTIONS];
static atomic_int armed;
static int failing = -1;
static long nth;
static char counts[4096];

/* Whether this call is the one. */
static int fails(int function) {
  if (!atomic_load(&armed))
    return 0;
  long call = atomic_fetch_add(&calls[function], 1) + 1;
  return function == failing && call == nth;
}

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t),
    *__libc_memalign(size_t, size_t);

void *malloc(size_t size) { return fails(MALLOC) ? (errno = ENOMEM, NULL) : __libc_malloc(size); }
void *calloc(size_t count, size_t size) {
  return fails(MALLOC) ? (errno = ENOMEM, NULL) : __libc_calloc(count, size);
}
void *realloc(void *memory, size_t size) {
  return fails(MALLOC) ? (errno = ENOMEM, NULL) : __libc_realloc(memory, size);
}
void *aligned_alloc(size_t alignment, size_t size) {
  return fails(MALLOC) ? (errno = ENOMEM, NULL) : __libc_memalign(alignment, size);
}
int posix_memalign(void **memory, size_t alignment, size_t size) {
  if (fails(MALLOC))
    return ENOMEM;
  *memory = __libc_memalign(alignment, size);
  return *memory ? 0 : ENOMEM;
}

#define NEXT(function)                                                                             \
  static __typeof__(&function) next;                                                               \
  if (!next)                                                                                       \
  next = (__typeof__(&function))dlsym(RTLD_NEXT, #function)

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                   void *argument) {
  NEXT(pthread_create);
  return fails(THREAD) ? EAGAIN : next(thread, attributes, start, argument);
}
ssize_t write(int file, const void *bytes, size_t size) {
  NEXT(write);
  /* Where the terminal fails, nobody can be told. */
  return file > 2 && fails(WRITE) ? (errno = ENOSPC, -1) : next(file, bytes, size);
}
int fsync(int file) {
  NEXT(fsync);
  return fails(FSYNC) ? (errno = EIO, -1) : next(file);
}
int rename(const char *from, const char *to) {
  NEXT(rename);
  return fails(RENAME) ? (errno = EIO, -1) : next(from, to);
}
void *mmap(void *address, size_t size, int protection, int flags, int file, off_t offset) {
  NEXT(mmap);
  return fails(MMAP) ? (errno = ENOMEM, MAP_FAILED)
                     : next(address, size, protection, flags, file, offset);
}
void *mmap64(void *address, size_t size, int protection, int flags, int file, off_t offset) {
  return mmap(address, size, protection, flags, file, offset);
}

static int (*theMain)(int, char **, char **);
static int armedMain(int argc, char **argv, char **environment) {
  atomic_store(&armed, 1);
  int result = theMain(argc, argv, environment);
  atomic_store(&armed, 0);
  if (counts[0]) {
    FILE *file = fopen(counts, "w");
    for (int i = 0; file && i < FUNCTIONS; ++i)
      fprintf(file, "%s %ld\n", names[i], atomic_load(&calls[i]));
    if (file)
      fclose(file);
  }
  return result;
}

int __libc_start_main(int (*begin)(int, char **, char **), int argc, char **argv,
                      void (*init)(void), void (*fini)(void), void (*loaderFini)(void),
                      void *stackEnd) {
  __typeof__(&__libc_start_main) next =
      (__typeof__(&__libc_start_main))dlsym(RTLD_NEXT, "__libc_start_main");
  const char *fault = getenv("ANNUDF_FAULT"), *file = getenv("ANNUDF_FAULT_COUNTS");
  for (int i = 0; fault && i < FUNCTIONS; ++i)
    if (strncmp(fault, names[i], strlen(names[i])) == 0 && fault[strlen(names[i])] == ':') {
      failing = i;
      nth = atol(fault + strlen(names[i]) + 1);
    }
  if (file)
    snprintf(counts, sizeof counts, "%s", file);
  theMain = begin;
  return next(armedMain, argc, argv, init, fini, loaderFini, stackEnd);
}
