/*===- annudf_tables.h - What the ABI knows, one row a fact -------*- C -*-===*\
|*                                                                            *|
|* Part of the annudf project, under the Apache License v2.0 with LLVM        *|
|* Exceptions. See LICENSE for license information.                           *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* The one home of elements, accumulators, compute types, extents, policies,  *|
|* capture types, hooks, roles, features and limits. Everything else (C enums,  *|
|* dialect enums, spellings, manifests, Python, doc tables) is made from these *|
|* rows or tested against them. X-macros, so that g++, clang, nvcc and NVRTC  *|
|* all read the same text, and so that what computes with a row can be made   *|
|* to fail to compile where a new row was forgotten.                          *|
|*                                                                            *|
|* SINCE is the ABI minor in which a row appeared. An artifact's minor is the *|
|* largest SINCE of the rows that it uses, never that of its compiler.        *|
|*                                                                            *|
|* A reserved row has a number and a spelling that nothing else may take; it  *|
|* is refused by name until it moves to its table                             *|
|* (docs/develop/adding-an-op.md).                                            *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef ANNUDF_ABI_ANNUDF_TABLES_H
#define ANNUDF_ABI_ANNUDF_TABLES_H

/** Element types of stored vectors and queries.
 * X(NAME, VALUE, SPELLING, BITS of a coordinate, KIND, SINCE); KIND is FLOAT, SIGNED or
 * UNSIGNED. 32 / BITS coordinates fill a word, lower dimensions in lower bits: coordinate i of
 * `bits` is bit i % 8 of byte i / 8. A row fills whole bytes, so its dims are a multiple of 8. */
#define ANNUDF_ELEMENTS(X)                                                                         \
  X(F32, 0, "f32", 32, FLOAT, 0)                                                                   \
  X(F16, 1, "f16", 16, FLOAT, 0)                                                                   \
  X(I8, 2, "i8", 8, SIGNED, 0)                                                                     \
  X(U8, 3, "u8", 8, UNSIGNED, 0)                                                                   \
  X(BF16, 4, "bf16", 16, FLOAT, 0)                                                                 \
  X(BITS, 5, "bits", 1, UNSIGNED, 0)

/** Types in which a hook sees a coordinate: X(NAME, VALUE, SPELLING, BITS, KIND, SINCE).
 * The kernel converts elements to it, once for all queries of a tile. A type of KIND
 * SIGNED takes no element of KIND FLOAT: the conversion would lose values. */
#define ANNUDF_COMPUTE_TYPES(X)                                                                    \
  X(F32, 0, "f32", 32, FLOAT, 0)                                                                   \
  X(F64, 1, "f64", 64, FLOAT, 0)                                                                   \
  X(I32, 2, "i32", 32, SIGNED, 0)

/** Accumulators inside a body, and fields of a STRUCT: X(NAME, VALUE, SPELLING, BITS, KIND,
 * SINCE). Hooks see the bits only; BITS is part of their names. */
#define ANNUDF_ACCUMULATORS(X)                                                                     \
  X(F32, 0, "f32", 32, FLOAT, 0)                                                                   \
  X(F64, 1, "f64", 64, FLOAT, 0)                                                                   \
  X(I32, 2, "i32", 32, SIGNED, 0)                                                                  \
  X(U32, 3, "u32", 32, UNSIGNED, 0)                                                                \
  X(I64, 4, "i64", 64, SIGNED, 0)
/** Several fields of the types above, 2 to MAX_FIELDS: X(NAME, VALUE, SPELLING, SINCE). */
#define ANNUDF_ACCUMULATORS_STRUCT(X) X(STRUCT, 5, "struct", 0)

/** Which end of the distances is best: X(NAME, VALUE, SPELLING, SINCE). */
#define ANNUDF_ORDERS(X)                                                                           \
  X(MIN, 0, "min", 0)                                                                              \
  X(MAX, 1, "max", 0)

/** What ranks the lists before the scan: X(NAME, VALUE, SPELLING, natural ORDER, SINCE).
 *   L2 sum (q - c)^2, INNER_PRODUCT sum q c, COSINE 1 - sum q c / (|q| |c|) */
#define ANNUDF_COARSES(X)                                                                          \
  X(L2, 0, "l2", MIN, 0)                                                                           \
  X(INNER_PRODUCT, 1, "inner_product", MAX, 0)                                                     \
  X(COSINE, 2, "cosine", MIN, 0)
#define ANNUDF_COARSES_RESERVED(X) X(METRIC, 3, "metric")

/** Whether partial sums over dimensions may be combined: X(NAME, VALUE, SPELLING, SINCE). */
#define ANNUDF_NUMERICS(X)                                                                         \
  X(STRICT, 0, "strict", 0)                                                                        \
  X(REASSOCIATE, 1, "reassociate", 0)

/** Symbolic extents of a capture: X(NAME, VALUE, SPELLING, SINCE). A constant extent is
 * spelled as its number. */
#define ANNUDF_EXTENTS(X)                                                                          \
  X(CONSTANT, 0, "constant", 0)                                                                    \
  X(DIM, 1, "dim", 0)                                                                              \
  X(ROW, 2, "row", 0)                                                                              \
  X(QUERY, 3, "query", 0)

/** Element types of captures: X(NAME, VALUE, SPELLING, BITS, KIND, SINCE). An I1 lies in memory as
 * a byte; of a byte that is not 0 it is 1. */
#define ANNUDF_CAPTURE_ELEMENTS(X)                                                                 \
  X(F32, 0, "f32", 32, FLOAT, 0)                                                                   \
  X(F64, 1, "f64", 64, FLOAT, 0)                                                                   \
  X(I32, 2, "i32", 32, SIGNED, 0)                                                                  \
  X(U32, 3, "u32", 32, UNSIGNED, 0)                                                                \
  X(F16, 4, "f16", 16, FLOAT, 0)                                                                   \
  X(BF16, 5, "bf16", 16, FLOAT, 0)                                                                 \
  X(I8, 6, "i8", 8, SIGNED, 0)                                                                     \
  X(U8, 7, "u8", 8, UNSIGNED, 0)                                                                   \
  X(I16, 8, "i16", 16, SIGNED, 0)                                                                  \
  X(U16, 9, "u16", 16, UNSIGNED, 0)                                                                \
  X(I64, 10, "i64", 64, SIGNED, 0)                                                                 \
  X(U64, 11, "u64", 64, UNSIGNED, 0)                                                               \
  X(I1, 12, "i1", 1, UNSIGNED, 0)

/** Roles a UDF can have in one kernel; part of every symbol: X(NAME, VALUE, SPELLING, SINCE). */
#define ANNUDF_ROLES(X)                                                                            \
  X(SCAN, 0, "scan", 0)                                                                            \
  X(FILTER, 2, "filter", 0)                                                                        \
  X(PAIRWISE, 3, "pairwise", 0)
#define ANNUDF_ROLES_RESERVED(X) X(COARSE, 1, "coarse")

/** Hooks of the role scan: X(NAME, VALUE, SPELLING, PRESENCE, SINCE). A hook that is OPTIONAL
 * and that a metric lacks is linked from a stub, which the manifest's list of hooks chooses. Its
 * prototype is a row of ANNUDF_SCAN_HOOKS in annudf_abi.h. */
#define ANNUDF_HOOKS(X)                                                                            \
  X(INIT, 0, "init", REQUIRED, 0)                                                                  \
  X(UPDATE, 1, "update", REQUIRED, 0)                                                              \
  X(FINALIZE, 2, "finalize", OPTIONAL, 0)                                                          \
  X(COMBINE, 3, "combine", OPTIONAL, 0)
#define ANNUDF_HOOKS_RESERVED(X)                                                                   \
  X(FILTER, 4, "filter")                                                                           \
  X(UPDATE_PACKED, 5, "update_packed")

/** What the coordinates of a row are proved to add to a sum of integers, in which a kernel may take
 * several of them, packed in a word, at a time: X(NAME, VALUE, SPELLING, SINCE). Each is 0 of two
 * zeros, so that padding counts for nothing.
 *   |x - y|   (x - y)^2   x y   1 where x != y, else 0   set bits of x ^ y, as they are stored */
#define ANNUDF_PACKED_TERMS(X)                                                                     \
  X(ABSOLUTE_DIFFERENCE, 0, "absolute_difference", 0)                                              \
  X(SQUARED_DIFFERENCE, 1, "squared_difference", 0)                                                \
  X(PRODUCT, 2, "product", 0)                                                                      \
  X(DIFFERENT, 3, "different", 0)                                                                  \
  X(DIFFERENT_BITS, 4, "different_bits", 0)

/** What an artifact may require of its consumer: X(NAME, BIT, SPELLING, SINCE). A bit that
 * the consumer does not know is refused. ACC64: accumulators have words of 64 bits; STRUCT: they
 * have several, by pointer. FILTER: no metric, but a filter. PAIRWISE: a distance of two
 * whole vectors in one hook. */
#define ANNUDF_FEATURES(X)                                                                         \
  X(FINALIZE, 0, "finalize", 0)                                                                    \
  X(CAPTURES, 1, "captures", 0)                                                                    \
  X(ACC64, 2, "acc64", 0)                                                                          \
  X(COMBINE, 4, "combine", 0)                                                                      \
  X(FILTER, 5, "filter", 0)                                                                        \
  X(STRUCT, 6, "struct", 0)                                                                        \
  X(PAIRWISE, 7, "pairwise", 0)
#define ANNUDF_FEATURES_RESERVED(X) X(ACC128, 3, "acc128")

/** Limits: X(NAME, VALUE, WHAT). */
#define ANNUDF_LIMITS(X)                                                                           \
  X(MAX_CAPTURES, 64, "captures bound by one metric")                                              \
  X(MAX_TRIP_COUNT, 4096, "iterations of one loop")                                                \
  X(MAX_UNROLLED_OPS, 4096, "weighted operations of one hook, loops unrolled and helpers inlined") \
  X(MAX_MODULE_OPS, 65536, "operations of a module")                                               \
  X(MAX_DIMS, 1048576, "dimensions of a vector")                                                   \
  X(MAX_EXTENTS, 8, "extents of one capture")                                                      \
  X(MAX_NAME, 255, "bytes of the name of a metric or a capture")                                   \
  X(MAX_K, 1073741824, "rows that a search gives for a query")                                     \
  X(MAX_FIELDS, 6, "fields of an accumulator")                                                     \
  X(MAX_SCRATCH, 65536, "bytes of scratch of a pair, without those for each dimension")            \
  X(MAX_SCRATCH_DIM, 64, "bytes of scratch of a pair for each dimension")

#endif /* ANNUDF_ABI_ANNUDF_TABLES_H */
