/*===- annudf-c/Compiler.h - From a metric's source to an artifact -*- C -*-===*\
|*                                                                            *|
|* Part of the annudf project, under the Apache License v2.0 with LLVM        *|
|* Exceptions. See LICENSE for license information.                           *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* annudf-c/Support.h has the rules of all calls. Every function that takes   *|
|* `diagnostics` stores a list there whether it succeeds (warnings, remarks)  *|
|* or fails for what the source says; NULL is taken for "not wanted". Where it *|
|* fails otherwise (ANNUDF_USAGE, ...) the list is empty and only             *|
|* annudf_last_error() speaks.                                                *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef ANNUDF_C_COMPILER_H
#define ANNUDF_C_COMPILER_H

#include "annudf-c/Artifact.h"

#ifdef __cplusplus
extern "C" {
#endif

/*===-- Diagnostics -------------------------------------------------------===*/

typedef enum annudf_severity ANNUDF_ENUM_TYPE {
  ANNUDF_SEVERITY_ERROR = 0,
  ANNUDF_SEVERITY_WARNING = 1,
  ANNUDF_SEVERITY_REMARK = 2
} annudf_severity;

/** One diagnostic. Text lives as long as the list and is never NULL. */
typedef struct annudf_diagnostic {
  size_t size;              /**< Set by the caller: sizeof(annudf_diagnostic).             */
  annudf_severity severity; /**<                                                          */
  int32_t line, column;     /**< From 1; 0 where the place is not known so exactly.        */
  const char *file;         /**< As given as origin or in the source; "" if unknown.       */
  const char *rule;         /**< Label of the rule in docs/spec/rules.md, "L2"; "" if none.     */
  const char *message;      /**< One line, the rule in it as "[L2]"; notes follow after "; ". */
} annudf_diagnostic;

typedef struct annudf_diagnostics annudf_diagnostics;

/** 0 for NULL. */
ANNUDF_CAPI_EXPORTED size_t annudf_diagnostics_count(const annudf_diagnostics *diagnostics);
ANNUDF_CAPI_EXPORTED annudf_status annudf_diagnostics_get(const annudf_diagnostics *diagnostics,
                                                          size_t index,
                                                          annudf_diagnostic *diagnostic);
ANNUDF_CAPI_EXPORTED void annudf_diagnostics_destroy(annudf_diagnostics *diagnostics);

/*===-- The dialect -------------------------------------------------------===*/

typedef struct annudf_compile_options {
  size_t size; /**< sizeof(annudf_compile_options). */
  /** "sm_90", ... Without any: every supported architecture if libNVVM is found, none,
   * with a warning, if it is not. With some, a missing libNVVM is ANNUDF_ENVIRONMENT. */
  const char *const *archs;
  size_t arch_count;
  /** Which of several metrics; NULL or "": the only one. */
  const char *metric_name;
  /** Options of the pass annudf-inline-captures, "dims=128"; NULL or "": it is not run. */
  const char *inline_captures;
  int32_t skip_lto_ir;       /**< Not 0: no code for GPUs, `archs` is ignored.            */
  int32_t skip_host_bitcode; /**< Not 0: no code for CPUs.                                */
  /** Not 0: the source is what a frontend emits; the pass annudf-import-frontend turns
   * it into the dialect before it is verified, and the dialects that it reads are known. */
  int32_t import_frontend;
  /** Not 0: that the distance is a quadratic form is not proved, and not told. */
  int32_t skip_form;
  /** Who makes code for GPUs: "libnvvm" (also for NULL and ""), or "nvptx": LLVM, which needs no
   * CUDA toolkit and makes PTX, for the oldest architecture where `archs` has none. */
  const char *device_backend;
} annudf_compile_options;

/** Compiles text of the dialect; MLIR bytecode is refused.
 * \param origin   what places in diagnostics call the source.
 * \param options  may be NULL.
 * ANNUDF_COMPILE with diagnostics where the source is refused. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_compile(const char *source, size_t size,
                                                  const char *origin,
                                                  const annudf_compile_options *options,
                                                  annudf_artifact **artifact,
                                                  annudf_diagnostics **diagnostics);

/** Text of the dialect of a built-in metric, "l2" for example. It is compiled as any other text,
 * and lives for ever. NULL for another name, and for NULL. */
ANNUDF_CAPI_EXPORTED const char *annudf_builtin_metric(const char *name);
/** Their names in alphabetical order; NULL past the last. */
ANNUDF_CAPI_EXPORTED const char *annudf_builtin_metric_name(size_t index);

typedef struct annudf_lower_options {
  size_t size; /**< sizeof(annudf_lower_options). */
  /** "sm_90", ...; NULL or "": the oldest that is supported. Only for ptx and ltoir. */
  const char *arch;
  const char *metric_name;     /**< As annudf_compile_options. */
  const char *inline_captures; /**< As annudf_compile_options. */
  int32_t import_frontend;     /**< As annudf_compile_options. */
  /** ABI whose functions the metric becomes: "annudf.accumulator.v1" (also for NULL), or
   * "rapids.cuvs.ivf_flat.metric.v1", of which docs/use/device-udf.md says what a metric may need.
   */
  const char *target_abi;
  const char *symbol; /**< Name of the function of the latter; NULL or "": "annudf_metric_NAME". */
  const char *device_backend; /**< As annudf_compile_options; "nvptx" makes ptx only. */
} annudf_lower_options;

/** Verifies text of the dialect and stops at one stage of its way to a GPU, to look at.
 * \param target   "mlir": the dialect after import and inlining, as text; "nvvm-ir": what
 *                 libNVVM reads, for every architecture; "ptx": text; "ltoir": bytes;
 *                 "device-bitcode" and "host-bitcode": LLVM's, of NVPTX and of this machine;
 *                 "functions": each hook as a private func.func NAME_HOOK of arith, math, scf and
 *                 memref, for kernels (docs/develop/mlir-pipeline.md);
 *                 "properties": what is proved of a metric's formula, and why the rest is not,
 *                 as JSON (docs/spec/numerics.md, "As data").
 * \param options  may be NULL. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_lower(const char *source, size_t size, const char *origin,
                                                const char *target,
                                                const annudf_lower_options *options,
                                                annudf_buffer **code,
                                                annudf_diagnostics **diagnostics);

/*===-- CUDA C++ source ---------------------------------------------------===*/

/** A value that a metric in CUDA source reads: a member of its context. */
typedef struct annudf_cuda_capture {
  const char *name;    /**< A C identifier. */
  const char *element; /**< "f32", "f64", "i32" or "u32". */
  /** None: a scalar; or one "dim". Others are refused. */
  const char *const *extents;
  size_t extent_count;
} annudf_cuda_capture;

typedef struct annudf_cuda_source_options {
  size_t size;              /**< sizeof(annudf_cuda_source_options). */
  const char *const *archs; /**< "sm_90", ...; without any: every supported architecture. */
  size_t arch_count;
  const char *name;         /**< Name of the metric, a C identifier; NULL or "": "cuda_source". */
  const char *order;        /**< "min" (also for NULL) or "max". */
  const char *coarse;       /**< "l2" (also for NULL), "inner_product" or "cosine". */
  const char *coarse_order; /**< NULL: what suits `coarse`. */
  /** "f32", "f16", "i8", "u8", "bf16", "bits"; without any: all that `compute_type` can hold. */
  const char *const *elements;
  size_t element_count;
  const char *accumulator;  /**< "f32" (also for NULL), "f64", "i32", "u32" or "i64". */
  const char *compute_type; /**< Type of x and y: "f32", "f64", "i32"; NULL: what suits. */
  double initial;           /**< The accumulator before the first dimension. */
  /** At most 16; not for sources in the form of cuVS. */
  const annudf_cuda_capture *captures;
  size_t capture_count;
  int32_t missing_values; /**< Not 0: the source knows what to do with a NaN.             */
} annudf_cuda_source_options;

/** Compiles CUDA C++ with NVRTC. docs/develop/cuda-source.md has the two forms that it takes. The
 * artifact is not marked as verified: its prototypes are checked, what it does is not; it
 * holds code for GPUs only.
 * \param options  may be NULL.
 * ANNUDF_COMPILE with NVRTC's diagnostics at the source's lines;
 * ANNUDF_ENVIRONMENT where there is no NVRTC of CUDA 13. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_compile_cuda_source(
    const char *source, size_t size, const char *origin, const annudf_cuda_source_options *options,
    annudf_artifact **artifact, annudf_diagnostics **diagnostics);

/*===-- What there is -----------------------------------------------------===*/

/** Architectures that LTO-IR can be made for, as numbers (90 for sm_90), oldest first.
 * Writes at most `capacity`, returns how many there are; `archs` may be NULL if it is 0. */
ANNUDF_CAPI_EXPORTED size_t annudf_supported_archs(int32_t *archs, size_t capacity);

/** What compiles for GPUs. */
typedef enum annudf_cuda_compiler ANNUDF_ENUM_TYPE {
  ANNUDF_CUDA_LIBNVVM = 0,
  ANNUDF_CUDA_NVRTC = 1, /**< Only CUDA source needs it. */
  ANNUDF_CUDA_NVPTX = 2  /**< Of LLVM, with the libdevice that its functions of math come from. */
} annudf_cuda_compiler;

/** Version and path of the compiler that is used; ANNUDF_ENVIRONMENT, naming the
 * places that were looked at, if there is none.
 * \param which  enum annudf_cuda_compiler. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_describe_cuda_compiler(int32_t which,
                                                                 annudf_buffer **text);

/** Version of the LLVM inside, "22.1.8". */
ANNUDF_CAPI_EXPORTED const char *annudf_llvm_version(void);

#ifdef __cplusplus
} // extern "C"
#endif

#endif /* ANNUDF_C_COMPILER_H */
