/*===- faults.h - Makes one call of the system fail -------------*- C -*-===*\
|*                                                                            *|
|* Part of the annudf project, under the Apache License v2.0 with LLVM        *|
|* Exceptions. See LICENSE for license information.                           *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* A library that stands before the C library: loaded with LD_PRELOAD it is   *|
|* told by the environment (faults.c), linked into a test by these functions. *|
|* It counts calls of "malloc" and its kin, "pthread_create", "write",        *|
|* "fsync", "rename", "mmap", "open", "read", "fork" and "pipe2", and makes   *|
|* one of them fail as it does where memory, threads or the disk run out.     *|
|*                                                                            *|
|* Of "malloc" it sees only what annudf can answer for: calls all of whose    *|
|* callers outside the C and C++ runtime libraries are in the main program or *|
|* in libannudf. LLVM and MLIR use many small allocations unchecked, and are  *|
|* built without exceptions: what they ask for, and what annudf's passes ask  *|
|* for when LLVM calls them, is given.                                        *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef ANNUDF_TEST_FAULTS_FAULTS_H
#define ANNUDF_TEST_FAULTS_FAULTS_H

#ifdef __cplusplus
extern "C" {
#endif

/** From now on calls are counted and the `nth` of `function` fails, in any thread; none for 0. */
void annudf_faults_arm(const char *function, long nth);
/** Ends that. \returns how many calls of `function` there were. */
long annudf_faults_disarm(const char *function);
/** Blocks of memory that annudf was given while faults were armed, and has not freed. */
long annudf_faults_live(void);
/** Says on stderr which call of malloc failed, and who asked for those blocks, as places that
 * addr2line takes. */
void annudf_faults_print(void);
/** Forgets those, so that the next count begins with none. */
void annudf_faults_forget(void);

#ifdef __cplusplus
} // extern "C"
#endif

#endif /* ANNUDF_TEST_FAULTS_FAULTS_H */
