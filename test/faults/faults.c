/*===- faults.c - Makes one call of the system fail -------------*- C -*-===*\
|*                                                                            *|
|* Part of the annudf project, under the Apache License v2.0 with LLVM        *|
|* Exceptions. See LICENSE for license information.                           *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* With LD_PRELOAD: ANNUDF_FAULT=FUNCTION:N makes the Nth call of FUNCTION    *|
|* since the beginning of main fail; ANNUDF_FAULT_COUNTS=FILE is given the    *|
|* numbers of calls. faults.h says what is counted.                           *|
|* ANNUDF_FAULT_SIGNALS=FUNCTION:N:SIGNAL[,SIGNAL...] sends the process these *|
|* signals, by number, when the Nth call of fsync or rename has returned, or  *|
|* main for FUNCTION "main".                                                  *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#define _GNU_SOURCE
#include "faults.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <unwind.h>

enum { MALLOC, THREAD, WRITE, FSYNC, RENAME, MMAP, OPEN, READ, FORK, PIPE, FUNCTIONS };
static const char *const names[FUNCTIONS] = {"malloc", "pthread_create", "write", "fsync", "rename",
                                             "mmap",   "open",           "read",  "fork",  "pipe2"};
static atomic_long calls[FUNCTIONS];
static atomic_int armed;
static int failing = -1;
static long nth;
static char counts[4096];

/* After which call signals come; FUNCTIONS stands for main. */
static int signalling = -1;
static long signallingNth;
static int signals[4], signalCount;

/* Whether this call is the one. */
static int fails(int function) {
  if (!atomic_load(&armed))
    return 0;
  long call = atomic_fetch_add(&calls[function], 1) + 1;
  return function == failing && call == nth;
}

/* To be called when a call of `function` has returned. */
static int after(int function, int result) {
  const int error = errno;
  if (function == signalling && atomic_load(&armed) &&
      (function == FUNCTIONS || atomic_load(&calls[function]) == signallingNth))
    for (int i = 0; i < signalCount; ++i)
      raise(signals[i]);
  errno = error;
  return result;
}

/*===-- Who asks for memory ----------------------------------------------===*/

/* Where code of what was loaded when faults were armed lies. Libraries that come later are
 * not annudf's. */
enum { RUNTIME, ANNUDF, OTHER };
static struct {
  uintptr_t begin, end;
  int owner;
} parts[1024];
static int partCount;

static int ownerOf(const char *path) {
  /* The main program has no name. */
  if (!*path)
    return ANNUDF;
  const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
  static const char *const runtime[] = {
      "libc.so", "libc++", "libstdc++", "libgcc_s", "libm.so", "ld-linux", "libannudf_test_faults"};
  for (size_t i = 0; i < sizeof runtime / sizeof *runtime; ++i)
    if (strncmp(name, runtime[i], strlen(runtime[i])) == 0)
      return RUNTIME;
  return strncmp(name, "libannudf", 9) == 0 ? ANNUDF : OTHER;
}

static int addObject(struct dl_phdr_info *object, size_t size, void *unused) {
  (void)size, (void)unused;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr) *header = &object->dlpi_phdr[i];
    if (header->p_type != PT_LOAD || !(header->p_flags & PF_X))
      continue;
    if (partCount == sizeof parts / sizeof *parts)
      abort();
    parts[partCount].begin = object->dlpi_addr + header->p_vaddr;
    parts[partCount].end = parts[partCount].begin + header->p_memsz;
    parts[partCount++].owner = ownerOf(object->dlpi_name);
  }
  return 0;
}

/* The callers of a call, from the first outside the runtime libraries on. */
enum { DEPTH = 6 };
struct Callers {
  int owner, count;
  uintptr_t places[DEPTH];
};

static _Unwind_Reason_Code lookAt(struct _Unwind_Context *context, void *user) {
  struct Callers *callers = user;
  /* Of a caller this is where it goes on, which may be behind its end. */
  const uintptr_t place = _Unwind_GetIP(context) - 1;
  int owner = RUNTIME; /* Of no object is what lies beyond the last caller. */
  for (int i = 0; i < partCount; ++i)
    if (place >= parts[i].begin && place < parts[i].end)
      owner = parts[i].owner;
  if (owner == RUNTIME)
    return _URC_NO_REASON;
  callers->owner = owner;
  if (callers->count < DEPTH)
    callers->places[callers->count++] = place;
  return owner == ANNUDF ? _URC_NO_REASON : _URC_END_OF_STACK;
}

/* The unwinder may ask for memory itself. */
static __thread int looking __attribute__((tls_model("initial-exec")));

static int askedByAnnudf(struct Callers *callers) {
  callers->owner = OTHER, callers->count = 0;
  if (!atomic_load(&armed) || looking)
    return 0;
  looking = 1;
  _Unwind_Backtrace(lookAt, callers);
  looking = 0;
  return callers->owner == ANNUDF;
}

/*===-- What has not been freed ------------------------------------------===*/

/* Open addressing; a freed block leaves a mark, because others may lie behind it. */
enum { SLOTS = 1 << 20 };
static void *const freed = (void *)1;
static void *live[SLOTS];
static struct Callers makers[SLOTS];
static long liveCount;
static atomic_flag liveLock = ATOMIC_FLAG_INIT;

static void lockLive(void) {
  while (atomic_flag_test_and_set_explicit(&liveLock, memory_order_acquire)) {
  }
}
static void unlockLive(void) { atomic_flag_clear_explicit(&liveLock, memory_order_release); }

static size_t slotOf(void *block) { return ((uintptr_t)block >> 4) * 0x9e3779b97f4a7c15u >> 44; }

static void *keep(void *block, const struct Callers *maker) {
  if (!block)
    return block;
  lockLive();
  size_t slot = slotOf(block), tries = 0;
  for (; live[slot] && live[slot] != freed; slot = (slot + 1) % SLOTS)
    if (++tries == SLOTS)
      abort();
  live[slot] = block, makers[slot] = *maker;
  ++liveCount;
  unlockLive();
  return block;
}

static void drop(void *block) {
  if (!block || !liveCount)
    return;
  lockLive();
  for (size_t slot = slotOf(block); live[slot]; slot = (slot + 1) % SLOTS)
    if (live[slot] == block) {
      live[slot] = freed;
      --liveCount;
      break;
    }
  unlockLive();
}

long annudf_faults_live(void) { return liveCount; }

static struct Callers failed; /* Of the call that failed last. */

static void print(const char *what, const struct Callers *callers) {
  fprintf(stderr, "%s", what);
  for (int i = 0; i < callers->count; ++i) {
    Dl_info object;
    const int known = dladdr((void *)callers->places[i], &object);
    fprintf(stderr, " %s+0x%lx", known ? object.dli_fname : "?",
            (unsigned long)(callers->places[i] - (known ? (uintptr_t)object.dli_fbase : 0)));
  }
  fprintf(stderr, "\n");
}

void annudf_faults_print(void) {
  print("failed:", &failed);
  for (size_t slot = 0; slot < SLOTS; ++slot)
    if (live[slot] && live[slot] != freed)
      print("not freed:", &makers[slot]);
}

void annudf_faults_forget(void) {
  lockLive();
  memset(live, 0, sizeof live);
  liveCount = 0;
  unlockLive();
}

/*===-- The functions ----------------------------------------------------===*/

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t),
    *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

static void *noMemory(const struct Callers *callers) {
  failed = *callers;
  errno = ENOMEM;
  return NULL;
}

void *malloc(size_t size) {
  struct Callers callers;
  if (!askedByAnnudf(&callers))
    return __libc_malloc(size);
  return fails(MALLOC) ? noMemory(&callers) : keep(__libc_malloc(size), &callers);
}
void *calloc(size_t count, size_t size) {
  struct Callers callers;
  if (!askedByAnnudf(&callers))
    return __libc_calloc(count, size);
  return fails(MALLOC) ? noMemory(&callers) : keep(__libc_calloc(count, size), &callers);
}
void *realloc(void *memory, size_t size) {
  struct Callers callers;
  const int annudf = askedByAnnudf(&callers);
  if (annudf && fails(MALLOC))
    return noMemory(&callers);
  drop(memory);
  void *moved = __libc_realloc(memory, size);
  return annudf ? keep(moved, &callers) : moved;
}
void *memalign(size_t alignment, size_t size) {
  struct Callers callers;
  if (!askedByAnnudf(&callers))
    return __libc_memalign(alignment, size);
  return fails(MALLOC) ? noMemory(&callers) : keep(__libc_memalign(alignment, size), &callers);
}
void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
int posix_memalign(void **memory, size_t alignment, size_t size) {
  void *block = memalign(alignment, size);
  if (!block)
    return ENOMEM;
  *memory = block;
  return 0;
}
void free(void *memory) {
  drop(memory);
  __libc_free(memory);
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
ssize_t read(int file, void *bytes, size_t size) {
  NEXT(read);
  return file > 2 && fails(READ) ? (errno = EIO, -1) : next(file, bytes, size);
}
int fsync(int file) {
  NEXT(fsync);
  return fails(FSYNC) ? (errno = EIO, -1) : after(FSYNC, next(file));
}
int rename(const char *from, const char *to) {
  NEXT(rename);
  return fails(RENAME) ? (errno = EIO, -1) : after(RENAME, next(from, to));
}
void *mmap(void *address, size_t size, int protection, int flags, int file, off_t offset) {
  NEXT(mmap);
  return fails(MMAP) ? (errno = ENOMEM, MAP_FAILED)
                     : next(address, size, protection, flags, file, offset);
}
void *mmap64(void *address, size_t size, int protection, int flags, int file, off_t offset) {
  return mmap(address, size, protection, flags, file, offset);
}
int open(const char *path, int flags, ...) {
  NEXT(open);
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return fails(OPEN) ? (errno = EMFILE, -1) : next(path, flags, mode);
}
int open64(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return open(path, flags, mode);
}
pid_t fork(void) {
  NEXT(fork);
  return fails(FORK) ? (errno = EAGAIN, -1) : next();
}
int pipe2(int ends[2], int flags) {
  NEXT(pipe2);
  return fails(PIPE) ? (errno = EMFILE, -1) : next(ends, flags);
}

/*===-- Control ----------------------------------------------------------===*/

static int numberOf(const char *function, size_t size) {
  for (int i = 0; i < FUNCTIONS; ++i)
    if (strlen(names[i]) == size && strncmp(names[i], function, size) == 0)
      return i;
  fprintf(stderr, "faults: nobody counts %s\n", function);
  abort();
}

static void arm(int function, long number) {
  if (!partCount)
    dl_iterate_phdr(addObject, NULL);
  for (int i = 0; i < FUNCTIONS; ++i)
    atomic_store(&calls[i], 0);
  failing = function, nth = number;
  atomic_store(&armed, 1);
}

void annudf_faults_arm(const char *function, long number) {
  arm(numberOf(function, strlen(function)), number);
}

long annudf_faults_disarm(const char *function) {
  atomic_store(&armed, 0);
  return atomic_load(&calls[numberOf(function, strlen(function))]);
}

static int (*theMain)(int, char **, char **);
static int armedMain(int argc, char **argv, char **environment) {
  arm(failing, nth);
  int result = after(FUNCTIONS, theMain(argc, argv, environment));
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
  if (fault && *fault) {
    const char *colon = strchr(fault, ':');
    failing = numberOf(fault, colon ? (size_t)(colon - fault) : strlen(fault));
    nth = colon ? atol(colon + 1) : 0;
  }
  if (file)
    snprintf(counts, sizeof counts, "%s", file);
  char *wanted = getenv("ANNUDF_FAULT_SIGNALS");
  if (wanted && *wanted) {
    const size_t size = strcspn(wanted, ":");
    signalling = strncmp(wanted, "main", size) == 0 ? FUNCTIONS : numberOf(wanted, size);
    if (signalling != FSYNC && signalling != RENAME && signalling != FUNCTIONS)
      abort();
    wanted += size;
    signallingNth = *wanted ? strtol(wanted + 1, &wanted, 10) : 0;
    while (*wanted && signalCount < (int)(sizeof signals / sizeof *signals))
      signals[signalCount++] = (int)strtol(wanted + 1, &wanted, 10);
  }
  /* A test that arms faults by itself asks for none here. */
  if (!fault)
    return next(begin, argc, argv, init, fini, loaderFini, stackEnd);
  theMain = begin;
  return next(armedMain, argc, argv, init, fini, loaderFini, stackEnd);
}
