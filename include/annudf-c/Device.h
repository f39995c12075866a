/*===- annudf-c/Device.h - Where searches run ---------------------*- C -*-===*\
|*                                                                            *|
|* Part of the annudf project, under the Apache License v2.0 with LLVM        *|
|* Exceptions. See LICENSE for license information.                           *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* Backends (the CPU, a GPU), memory and streams of a device, and what this   *|
|* machine has. annudf-c/Support.h has the rules of all calls. A backend does *|
|* not change once made; the caches that it keeps are its own business.       *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef ANNUDF_C_DEVICE_H
#define ANNUDF_C_DEVICE_H

#include "annudf-c/Support.h"

#ifdef __cplusplus
extern "C" {
#endif

/*===-- Backends ----------------------------------------------------------===*/

typedef struct annudf_backend annudf_backend;

/** Searches on the host, or on a GPU in its primary context.
 * \param place    its memory and device say where; its stream is not read. NULL: the host.
 * \param threads  of searches on the host, 0: all cores. 0 for a GPU.
 * ANNUDF_ENVIRONMENT naming what is missing: LLVM in this build for the host; driver, device,
 * nvJitLink, or CUDA in this build for a GPU. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_backend_create(const annudf_place *place, int32_t threads,
                                                         annudf_backend **backend);
/** What each of several devices has. */
enum annudf_devices_mode {
  ANNUDF_DEVICES_REPLICATED = 0, /**< All rows; the queries of a batch are split. */
  ANNUDF_DEVICES_SHARDED = 1 /**< A part of every list; results are merged.                    */
};

/** Several GPUs as one backend, the results of one to the bit. Arrays in device memory are on the
 * first, which also builds. Prepared searches are refused.
 * \param devices  CUDA devices; one may be named twice.
 * \param mode     of enum annudf_devices_mode.
 * ANNUDF_USAGE for no devices and another mode; else as annudf_backend_create. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_backend_create_multi_device(const int32_t *devices,
                                                                      size_t count, int32_t mode,
                                                                      annudf_backend **backend);
/** What a backend is. */
typedef struct annudf_backend_info {
  size_t size;             /**< Of this struct in the library.                                  */
  const char *description; /**< "CPU, 8 threads, ..." or "CUDA device 0: NVIDIA H200, sm_90".   */
  int32_t device;          /**< The CUDA device, the first of several, or -1 for the CPU.       */
  int32_t arch;            /**< The oldest, 90 for compute capability 9.0; 0 for the CPU.       */
} annudf_backend_info;

ANNUDF_CAPI_EXPORTED const annudf_backend_info *annudf_backend_get(const annudf_backend *backend);
ANNUDF_CAPI_EXPORTED void annudf_backend_destroy(annudf_backend *backend);

/*===-- Device memory and streams -----------------------------------------===*|
|* For callers that bring no CUDA library of their own. ANNUDF_USAGE for the   *|
|* CPU backend. `stream`: a CUstream or cudaStream_t of the device's primary   *|
|* context; as in __cuda_array_interface__, 0 and 1 are the legacy default    *|
|* stream and 2 the default stream of this thread.                            *|
\*===----------------------------------------------------------------------===*/

typedef struct annudf_device_buffer annudf_device_buffer;

/** Memory of the device that may be used on `stream` from now on.
 * ANNUDF_ENVIRONMENT if there is not enough. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_device_allocate(annudf_backend *backend, uint64_t bytes,
                                                          uint64_t stream,
                                                          annudf_device_buffer **buffer);
/** Device address; 0 for NULL. */
ANNUDF_CAPI_EXPORTED uint64_t annudf_device_buffer_address(const annudf_device_buffer *buffer);
/** Frees it once the work that was enqueued before is done: in stream order on the legacy
 * default stream, by waiting for the device on others, as those may be gone by now. */
ANNUDF_CAPI_EXPORTED void annudf_device_buffer_destroy(annudf_device_buffer *buffer);

/** Enqueues a copy between any two of host and device memory. Pageable host memory may
 * be used again at once; pinned and device memory only when the stream has got there. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_device_copy(annudf_backend *backend, uint64_t destination,
                                                      uint64_t source, uint64_t bytes,
                                                      uint64_t stream);

/** Waits until all work enqueued on `stream` is done. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_device_synchronize(annudf_backend *backend,
                                                             uint64_t stream);

/** A point in a stream's work. */
typedef struct annudf_event annudf_event;

/** All work enqueued on `stream` until now. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_event_record(annudf_backend *backend, uint64_t stream,
                                                       annudf_event **event);
/** Whether it is done. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_event_done(const annudf_event *event, bool *done);
/** Waits until it is done. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_event_wait(const annudf_event *event);
ANNUDF_CAPI_EXPORTED void annudf_event_destroy(annudf_event *event);

/*===-- This machine ------------------------------------------------------===*/

typedef struct annudf_environment annudf_environment;

/** What this build and this machine offer. */
typedef struct annudf_environment_info {
  size_t size; /**< Of this struct in the library. */
  /** Not 0: the library was built with the CPU backend, with the CUDA backend. */
  int32_t has_cpu, has_cuda;
  /** The CPU backend as annudf_backend_get describes it, or why there is none. */
  const char *cpu;
  const char *driver; /**< Version of the CUDA driver, "13.0", or why there is none.            */
  const char *linker; /**< Version and path of nvJitLink, or why there is none.                 */
  /** Not 0: they are there; and their versions as CUDA counts them, 13000 for 13.0. */
  int32_t driver_found, linker_found, driver_version, linker_version;
  size_t device_count;
  const char *const *devices; /**< "0: NVIDIA H200, sm_90, 132 multiprocessors".                */
  /** 90 for compute capability 9.0; 0 where it could not be asked. */
  const int32_t *device_archs;
} annudf_environment_info;

/** Looks; what is missing is no failure but told in words. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_environment_describe(annudf_environment **environment);
ANNUDF_CAPI_EXPORTED const annudf_environment_info *
annudf_environment_get(const annudf_environment *environment);
ANNUDF_CAPI_EXPORTED void annudf_environment_destroy(annudf_environment *environment);

#ifdef __cplusplus
} // extern "C"
#endif

#endif /* ANNUDF_C_DEVICE_H */
