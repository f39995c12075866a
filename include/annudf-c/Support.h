/*===- annudf-c/Support.h - What every part of the C API shares ---*- C -*-===*\
|*                                                                            *|
|* Part of the annudf project, under the Apache License v2.0 with LLVM        *|
|* Exceptions. See LICENSE for license information.                           *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* The rules of the whole C API:                                              *|
|*                                                                            *|
|*  - A function that can fail returns an annudf_status, and what went wrong  *|
|*    is annudf_last_error() of the calling thread. No exception leaves it.   *|
|*  - Outputs come last and are left as they were when the call fails, but for *|
|*    lists of diagnostics. Objects are opaque, belong to the caller and have  *|
|*    one destroy function each, which takes NULL.                             *|
|*  - NULL where nothing says that it may be is refused as ANNUDF_USAGE.      *|
|*  - Text is UTF-8. Text that is handed in ends with NUL unless its size     *|
|*    stands beside it.                                                       *|
|*  - What an object is stands in one struct, which annudf_X_get returns: it    *|
|*    and what it points to live as long as the object, and are NULL for NULL. *|
|*  - A struct of options starts with its size, set by the caller, and 0 or   *|
|*    NULL in a field means its default. So `annudf_x_options o = {sizeof o}`  *|
|*    is complete, and fields may be added: who was compiled against an older  *|
|*    header gets the defaults of newer fields; who was compiled against a     *|
|*    newer one is refused only if he sets a field that is not known here.     *|
|*  - Threads may call anything at once. One object may be read by several    *|
|*    threads; none may use it while another destroys it.                     *|
|*  - A process may fork: fork() waits until no other thread compiles or      *|
|*    links for a CPU, a minute at most, and the child may call everything     *|
|*    but what needs a GPU.                                                    *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef ANNUDF_C_SUPPORT_H
#define ANNUDF_C_SUPPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "annudf/ABI/annudf_abi.h"    /* enum annudf_element, annudf_coarse, annudf_order */
#include "annudf/ABI/annudf_limits.h" /* ANNUDF_DEFAULT_N_PROBES, ANNUDF_MAX_LISTS */

#if defined(__GNUC__)
#define ANNUDF_CAPI_EXPORTED __attribute__((visibility("default")))
#else
#define ANNUDF_CAPI_EXPORTED
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** Version of the C API. Until 1.0 every minor may change anything, and libannudf's soname has
 * it in its name (libannudf.so.0.2); from 1.0 on functions and fields are only ever added to
 * one major. */
#define ANNUDF_CAPI_MAJOR 0
#define ANNUDF_CAPI_MINOR 2

/** How a call ended. */
typedef enum annudf_status ANNUDF_ENUM_TYPE {
  ANNUDF_OK = 0,
  ANNUDF_USAGE = 1,       /**< The caller asked for something that makes no sense. */
  ANNUDF_INPUT = 2,       /**< A file or an array is not what it claims to be.     */
  ANNUDF_ENVIRONMENT = 3, /**< A library, a device, memory or disk is missing.     */
  ANNUDF_INTERRUPTED = 4, /**< The user stopped it.                                */
  ANNUDF_COMPILE = 5,     /**< A metric was refused; diagnostics say where and why. */
  ANNUDF_INTERNAL = 6     /**< A mistake of annudf.                                */
} annudf_status;

/** "ok", "usage", ... ; "unknown" for any other number. */
ANNUDF_CAPI_EXPORTED const char *annudf_status_name(annudf_status status);

/** What the last failed call of this thread had to say; "" if none has failed.
 * Never NULL, valid until the thread's next failing call. */
ANNUDF_CAPI_EXPORTED const char *annudf_last_error(void);

/** What that error says of an argument, so that a binding can call it as its own callers do. Texts
 * are "" where the error does not say so, and all are where no argument is at fault. */
typedef struct annudf_argument_fault {
  const char *argument; /**< What the error begins with: "k", "queries".         */
  const char *value;    /**< "0"                                                 */
  const char *allowed;  /**< "an integer from 1 to 1073741824"                   */
} annudf_argument_fault;

/** Never NULL, valid as annudf_last_error() is. */
ANNUDF_CAPI_EXPORTED const annudf_argument_fault *annudf_last_argument_fault(void);

/** Version of the library, "0.1.0". */
ANNUDF_CAPI_EXPORTED const char *annudf_version(void);

/** ANNUDF_CAPI_MAJOR << 16 | ANNUDF_CAPI_MINOR of the library: a caller needs the
 * same major and at least the minor that it was compiled with; below 1.0, the same minor. */
ANNUDF_CAPI_EXPORTED uint32_t annudf_capi_version(void);

/** Bytes or text that the library made. */
typedef struct annudf_buffer annudf_buffer;

/** First byte; a NUL follows the last. NULL for NULL. */
ANNUDF_CAPI_EXPORTED const char *annudf_buffer_data(const annudf_buffer *buffer);
/** Bytes without that NUL; 0 for NULL. */
ANNUDF_CAPI_EXPORTED size_t annudf_buffer_size(const annudf_buffer *buffer);
ANNUDF_CAPI_EXPORTED void annudf_buffer_destroy(annudf_buffer *buffer);

/*===-- Names of types ----------------------------------------------------===*/

/** "f32", "f16", "i8", "u8", "bf16" or "bits" as an enum annudf_element. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_element_parse(const char *name, int32_t *element);
/** The other way round; NULL for any other number. */
ANNUDF_CAPI_EXPORTED const char *annudf_element_name(int32_t element);

/** "l2", "inner_product" or "cosine" as an enum annudf_coarse. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_coarse_parse(const char *name, int32_t *coarse);
/** The other way round; NULL for any other number. */
ANNUDF_CAPI_EXPORTED const char *annudf_coarse_name(int32_t coarse);

/*===-- Places, vectors and progress --------------------------------------===*/

typedef enum annudf_memory ANNUDF_ENUM_TYPE {
  ANNUDF_MEMORY_HOST = 0,
  ANNUDF_MEMORY_CUDA = 1 /**< Memory of a CUDA device. */
} annudf_memory;

/** Where an array is. {0} is host memory, which has no device and no stream. */
typedef struct annudf_place {
  int32_t memory; /**< enum annudf_memory.                                                     */
  int32_t device; /**< Which CUDA device.                                                      */
  /** A CUstream or cudaStream_t of the device's primary context that the call's work is enqueued
   * on, after whatever wrote the array. As in __cuda_array_interface__, 0 and 1 are the legacy
   * default stream and 2 the default stream of this thread. */
  uint64_t stream;
} annudf_place;

/** A row-major, contiguous matrix that stays the caller's. For packed bits (ANNUDF_ELEMENT_BITS)
 * dims counts bits, a multiple of 8: a row is dims / 8 bytes, coordinate i bit i % 8 of byte i / 8,
 * as FAISS and numpy.packbits(bitorder="little") have it. */
typedef struct annudf_vectors {
  size_t size;      /**< sizeof(annudf_vectors).                     */
  const void *data; /**< Aligned to its element.                     */
  int64_t rows, dims;
  int32_t element; /**< enum annudf_element of one coordinate.       */
  /** Where data is. A call that takes memory of a device as well names the backend of that device;
   * its results are in the same place. Others refuse it. */
  annudf_place place;
} annudf_vectors;

/** Ids of rows, which stay the caller's. */
typedef struct annudf_ids {
  size_t size;         /**< sizeof(annudf_ids).                                                */
  const int64_t *data; /**< Aligned; each 0 or above.                                          */
  int64_t count;
  /** Where data is. A call that takes memory of a device as well names the backend of that device,
   * waits for the stream and copies the ids to the host, which has their rules. */
  annudf_place place;
} annudf_ids;

/** Called by the thread that made the call, now and then while it works.
 * \param stage  "train", "add", "remove", "save", "upload" (of an index to a GPU) or "search".
 * \param done   part of the stage that is done, 0 to 1.
 * \returns 0 to go on. Anything else stops the work: the call returns
 * ANNUDF_INTERRUPTED, and an index or a file is as it was before. `done` is 1 once a
 * stage, before the step that cannot be undone: it is the last chance to stop, and after
 * that of the last stage the call returns what it has done. It may ask an index for its properties,
 * but neither search nor change the one at work. It must not throw. */
typedef int (*annudf_progress)(void *user, const char *stage, double done);

#ifdef __cplusplus
} // extern "C"
#endif

#endif /* ANNUDF_C_SUPPORT_H */
