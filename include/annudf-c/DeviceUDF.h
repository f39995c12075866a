/*===- annudf-c/DeviceUDF.h - Metrics as descriptors of device UDFs -*- C -*-===*\
|*                                                                            *|
|* Part of the annudf project, under the Apache License v2.0 with LLVM        *|
|* Exceptions. See LICENSE for license information.                           *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* The fields of the descriptor that the proof of concept of Python metrics   *|
|* in cuVS passes between its languages; docs/use/device-udf.md. Code in a    *|
|* descriptor is trusted, as CUDA source is: nobody verifies what it does.    *|
|* annudf-c/Support.h has the rules of all calls.                             *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef ANNUDF_C_DEVICEUDF_H
#define ANNUDF_C_DEVICEUDF_H

#include "annudf-c/Captures.h"
#include "annudf-c/Compiler.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum annudf_device_udf_kind ANNUDF_ENUM_TYPE {
  ANNUDF_DEVICE_UDF_LTOIR = 1,
  ANNUDF_DEVICE_UDF_CUDA_SOURCE = 2
} annudf_device_udf_kind;

typedef enum annudf_udf_capture_flags ANNUDF_ENUM_TYPE {
  ANNUDF_UDF_CAPTURE_READONLY = 1 /**< Whoever owns the array forbids to write it. */
} annudf_udf_capture_flags;

/** An array on a CUDA device. It is borrowed: it stays where it is as long as searches read it. */
typedef struct annudf_udf_capture {
  size_t size;            /**< sizeof(annudf_udf_capture).                                     */
  const char *name;       /**< "weights"                                                       */
  const char *dtype;      /**< "float32"; there is no other yet.                               */
  const int64_t *shape;   /**< `ndim` extents.                                                 */
  const int64_t *strides; /**< `ndim` steps in bytes; NULL: C order, no gaps.                  */
  int32_t ndim;           /**< 1, an entry a dimension; there is no other yet.                 */
  int32_t device_id;      /**< Ordinal of the device.                                          */
  uint64_t pointer;       /**< Address of the first entry on it.                               */
  uint32_t flags;         /**< Of enum annudf_udf_capture_flags.                               */
  uint32_t reserved;      /**< 0.                                                              */
} annudf_udf_capture;

typedef struct annudf_device_udf {
  size_t size;             /**< sizeof(annudf_device_udf).                                     */
  const char *abi;         /**< "rapids.cuvs.ivf_flat.metric.v1"                               */
  int32_t payload_kind;    /**< enum annudf_device_udf_kind.                                   */
  uint32_t flags;          /**< 0.                                                             */
  const void *payload;     /**< LTO-IR, or CUDA C++ without a NUL at its end.                  */
  size_t payload_size;     /**< In bytes.                                                      */
  const char *symbol_name; /**< The function, extern "C".                                      */
  const annudf_udf_capture *captures; /**< At most one.                                        */
  size_t n_captures;
  const char *cache_key; /**< Names the code; NULL or "" if nobody made one.                   */
  const char *target;    /**< "sm_90", what LTO-IR is for; NULL or "": what its header says.   */
} annudf_device_udf;

/** Whether it can be a descriptor of that ABI. ANNUDF_USAGE for a struct that is none, ANNUDF_INPUT
 * for what it describes: each names the field, its value and what it has to be. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_device_udf_check(const annudf_device_udf *udf);

/** A key that is the same in every process: a text and a SHA-256 of ABI, kind, payload, symbol,
 * target, options, and of the captures' names, types, shapes, strides, devices and flags, but not
 * of where they lie.
 * \param options  what else the code was made with, in order; NULL for none. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_device_udf_cache_key(const annudf_device_udf *udf,
                                                               const char *const *options,
                                                               size_t option_count,
                                                               annudf_buffer **key);

/** A value for annudf_captures_bind, of capture `index`: device memory that is borrowed. `value`
 * points into `udf`. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_device_udf_capture_value(const annudf_device_udf *udf,
                                                                   size_t index,
                                                                   annudf_capture_value *value);

/*===-- From an artifact --------------------------------------------------===*/

typedef struct annudf_device_udf_options {
  size_t size;                 /**< sizeof(annudf_device_udf_options).                         */
  const char *arch;            /**< "sm_90": LTO-IR is of one architecture, and serves newer.  */
  const char *symbol_name;     /**< NULL or "": "annudf_metric_NAME".                          */
  const char *inline_captures; /**< As annudf_compile_options: for what has no place in it.    */
  const annudf_udf_capture *captures; /**< The one that is left, if there is one.              */
  size_t n_captures;
  int64_t dims; /**< Of the index; needed with a capture, which has as many entries.           */
} annudf_device_udf_options;

/** Keeps a descriptor and what it points at; not the captures' arrays. */
typedef struct annudf_device_udf_owner annudf_device_udf_owner;

/** Lowers the metric of an artifact to the descriptor's ABI.
 * \param diagnostics  may be NULL.
 * ANNUDF_COMPILE, with the rule (R1 to R14), for a metric that needs more than that ABI has;
 * ANNUDF_USAGE for captures that are not the metric's or not as long as vectors; ANNUDF_INPUT for
 * an artifact that holds no module. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_device_udf_from_artifact(
    const annudf_artifact *artifact, const annudf_device_udf_options *options,
    annudf_device_udf_owner **owner, annudf_diagnostics **diagnostics);

/** The descriptor; lives as long as `owner`. NULL for NULL. */
ANNUDF_CAPI_EXPORTED const annudf_device_udf *
annudf_device_udf_get(const annudf_device_udf_owner *owner);
ANNUDF_CAPI_EXPORTED void annudf_device_udf_destroy(annudf_device_udf_owner *owner);

/*===-- To an artifact ----------------------------------------------------===*/

typedef struct annudf_device_udf_import {
  size_t size;      /**< sizeof(annudf_device_udf_import).                             */
  const char *name; /**< Of the metric; NULL or "": "device_udf".                      */
  const char *const
      *archs; /**< None: that of the LTO-IR, which serves newer ones; of source all. */
  size_t arch_count;
} annudf_device_udf_import;

/** An artifact that searches by the code of a descriptor, whoever made it. Bind its capture by
 * annudf_device_udf_capture_value. It runs on GPUs only, and is not marked as verified: of LTO-IR
 * the prototype is checked, or a warning says that no nvJitLink was there to do it.
 * \param options  may be NULL. */
ANNUDF_CAPI_EXPORTED annudf_status
annudf_device_udf_to_artifact(const annudf_device_udf *udf, const annudf_device_udf_import *options,
                              annudf_artifact **artifact, annudf_diagnostics **diagnostics);

#ifdef __cplusplus
} // extern "C"
#endif

#endif /* ANNUDF_C_DEVICEUDF_H */
