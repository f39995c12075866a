/*===- annudf-c/Artifact.h - Compiled metrics and filters ---------*- C -*-===*\
|*                                                                            *|
|* Part of the annudf project, under the Apache License v2.0 with LLVM        *|
|* Exceptions. See LICENSE for license information.                           *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* An artifact is one compiled metric, or filter;                             *|
|* docs/spec/artifact.md describes the file.                                  *|
|* It never changes once made. annudf-c/Support.h has the rules of all calls. *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef ANNUDF_C_ARTIFACT_H
#define ANNUDF_C_ARTIFACT_H

#include "annudf-c/Support.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct annudf_artifact annudf_artifact;

/** Reads the bytes of a file; they are copied.
 * \param origin  what messages call it, a path for example.
 * ANNUDF_INPUT if they are damaged, of a newer ABI, or no artifact. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_artifact_from_bytes(const void *data, size_t size,
                                                              const char *origin,
                                                              annudf_artifact **artifact);

/** Reads a file. ANNUDF_INPUT as above, or if there is none. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_artifact_load(const char *path,
                                                        annudf_artifact **artifact);

/** Writes the file, whole or not at all. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_artifact_save(const annudf_artifact *artifact,
                                                        const char *path);

/** The bytes that annudf_artifact_save writes: those it was read from, if it was. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_artifact_to_bytes(const annudf_artifact *artifact,
                                                            annudf_buffer **bytes);

/** What an artifact is. */
typedef struct annudf_artifact_info {
  size_t size;      /**< Of this struct in the library.                                       */
  const char *name; /**< Of the metric or filter.                                             */
  const char
      *digest; /**< SHA-256 of the bytes of annudf_artifact_to_bytes, 64 hexadecimal digits. */
  /** enum annudf_role: ANNUDF_ROLE_SCAN or ANNUDF_ROLE_PAIRWISE of a metric, which gives distances
   * (the latter on CPUs only), or ANNUDF_ROLE_FILTER of a filter, of which annudf_ivf_flat_filter
   * makes bits. */
  int32_t role;
  int32_t has_host_code; /**< Not 0: it holds code for CPUs.                                    */
  /** Edition of the rules that it was verified by, from 1; 0 if it was not, as of CUDA source,
   * whose code is taken on trust. */
  uint32_t verified_rules;
  int32_t missing_values;  /**< Not 0: a coordinate may be NaN, a missing value.                */
  const char *verified_by; /**< Version of the annudf that verified it; "" if none did.         */
  uint64_t contract;       /**< What annudf1_scan_contract() of its code has to return
                                (docs/spec/artifact.md).                                        */
  size_t payload_count;    /**< Of annudf_artifact_payload.                                     */
  size_t capture_count;    /**< Of annudf_artifact_capture.                                     */
  size_t arch_count;
  const char *const *archs; /**< Architectures that it holds GPU code for: "sm_90".              */
  int32_t sees_query; /**< Not 0: a filter whose rows may differ between queries.               */
} annudf_artifact_info;

ANNUDF_CAPI_EXPORTED const annudf_artifact_info *
annudf_artifact_get(const annudf_artifact *artifact);

/** The manifest as JSON, as `annudf inspect --json` prints it. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_artifact_manifest(const annudf_artifact *artifact,
                                                            annudf_buffer **json);

/** The manifest for people, as `annudf inspect` prints it.
 * \param origin  where it came from, shown in the first line. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_artifact_describe(const annudf_artifact *artifact,
                                                            const char *origin,
                                                            annudf_buffer **text);

typedef enum annudf_payload_kind ANNUDF_ENUM_TYPE {
  ANNUDF_PAYLOAD_LTOIR = 0, /**< For GPUs of `arch` and newer.          */
  ANNUDF_PAYLOAD_HOST = 1,  /**< LLVM bitcode for CPUs.                 */
  ANNUDF_PAYLOAD_MLIR = 2,  /**< The metric in the dialect, as bytecode. */
  /** LTO-IR of somebody else, which the metric calls; of a descriptor (annudf-c/DeviceUDF.h). */
  ANNUDF_PAYLOAD_LINKED = 3,
  ANNUDF_PAYLOAD_PTX = 4 /**< PTX by LLVM, for GPUs of `arch` and newer. */
} annudf_payload_kind;

/** One of the codes of an artifact. Text lives as long as the artifact and is never NULL. */
typedef struct annudf_payload {
  size_t size;            /**< Set by the caller: sizeof(annudf_payload).                   */
  int32_t kind;           /**< enum annudf_payload_kind.                                    */
  int32_t arch;           /**< 90 for "sm_90a"; 0 where `kind` has none.                    */
  const char *suffix;     /**< "a" or "f" of code for that architecture alone, else "".     */
  const char *target;     /**< "sm_90a", the target triple of code for CPUs, "" for MLIR.   */
  const char *producer;   /**< "libnvvm", "nvrtc", "llvm".                                  */
  const char *version;    /**< Of the producer: "13.0".                                     */
  int32_t producer_major; /**< Its first number.                                            */
  int32_t producer_minor; /**< Its second, 0 if it has none.                                */
  uint64_t bytes;         /**< Of code.                                                     */
} annudf_payload;

/** ANNUDF_USAGE where there is no such index. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_artifact_payload(const annudf_artifact *artifact,
                                                           size_t index, annudf_payload *payload);

/** The LTO-IR that a device of `arch` ("sm_90") would link: of the newest
 * architecture that is not newer. ANNUDF_ENVIRONMENT, listing what there is, if none. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_artifact_ltoir(const annudf_artifact *artifact,
                                                         const char *arch, annudf_buffer **bytes);

/** A capture that a metric or filter declares: a value that is bound before a search. */
typedef struct annudf_capture_declaration {
  size_t size;      /**< Set by the caller: sizeof(annudf_capture_declaration). */
  const char *name; /**< Lives as long as the artifact.                         */
  int32_t element;  /**< enum annudf_capture_element.                           */
  int32_t rank;     /**< Its axes; 0: a scalar.                                 */
  /** enum annudf_extent of each axis, 0 past the last. */
  int32_t extents[ANNUDF_MAX_EXTENTS];
  /** Entries of an axis of ANNUDF_EXTENT_CONSTANT; 0 of others. */
  int64_t constants[ANNUDF_MAX_EXTENTS];
} annudf_capture_declaration;

/** ANNUDF_USAGE where there is no such index. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_artifact_capture(const annudf_artifact *artifact,
                                                           size_t index,
                                                           annudf_capture_declaration *capture);

ANNUDF_CAPI_EXPORTED void annudf_artifact_destroy(annudf_artifact *artifact);

/*===-- What the ABI knows ------------------------------------------------===*/

/** A row of a table of the ABI (docs/spec/tables.md). Texts live for ever; what a table does not
 * have is 0 or "". */
typedef struct annudf_table_row {
  size_t size;          /**< sizeof(annudf_table_row), set by the caller. */
  const char *name;     /**< "INNER_PRODUCT" */
  const char *spelling; /**< "inner_product"; of a limit what it bounds. */
  int64_t value;        /**< Of the C enum; of a feature its mask; of a limit the limit. */
  int32_t bits;
  const char *kind;   /**< "float", "signed" or "unsigned". */
  const char *detail; /**< Order of a coarse metric, presence of a hook. */
  int32_t since;      /**< ABI minor that it came with; -1: reserved for a later one. */
} annudf_table_row;

/** "elements", "compute_types", ...; NULL where there is no such index. */
ANNUDF_CAPI_EXPORTED const char *annudf_table_name(size_t index);
/** Rows of a table, 0 for a name that no table has. */
ANNUDF_CAPI_EXPORTED size_t annudf_table_size(const char *table);
/** ANNUDF_USAGE where there is no such table or row. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_table_read(const char *table, size_t index,
                                                     annudf_table_row *row);

#ifdef __cplusplus
} // extern "C"
#endif

#endif /* ANNUDF_C_ARTIFACT_H */
