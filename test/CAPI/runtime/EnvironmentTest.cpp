//===- EnvironmentTest.cpp - Backends and what there is of them -----------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RuntimeApi.h"

using namespace annudf;
using namespace annudf::test;

namespace {

TEST(CApiBackend, NullAndWrongNumbers) {
  annudf_place place = {ANNUDF_MEMORY_CUDA, 4711, 0};
  EXPECT_EQ(annudf_backend_create(nullptr, 0, nullptr), ANNUDF_USAGE);
  EXPECT_EQ(annudf_backend_create(&place, 0, nullptr), ANNUDF_USAGE);
  OwnedBackend backend;
  EXPECT_NE(annudf_backend_create(nullptr, -5, &backend), ANNUDF_OK);
  // No such device, no driver, or no CUDA in this build: said in words each time.
  EXPECT_EQ(annudf_backend_create(&place, 0, &backend), ANNUDF_ENVIRONMENT);
  EXPECT_STRNE(annudf_last_error(), "");
  EXPECT_EQ(outcome(annudf_backend_create(&place, 2, &backend)),
            "usage: annudf_backend_create: threads is 2, but place is memory of a CUDA device; set "
            "it to 0");
  place.memory = 7;
  EXPECT_EQ(outcome(annudf_backend_create(&place, 0, &backend)),
            "usage: annudf_backend_create: place.memory is 7; use a value of enum annudf_memory");
  place.memory = ANNUDF_MEMORY_HOST;
  EXPECT_EQ(outcome(annudf_backend_create(&place, 0, &backend)),
            "usage: annudf_backend_create: place.device is 4711, but memory is ANNUDF_MEMORY_HOST; "
            "set it to 0, or memory to ANNUDF_MEMORY_CUDA");
  EXPECT_EQ(backend, nullptr);
  EXPECT_EQ(annudf_backend_get(nullptr), nullptr);
  annudf_backend_destroy(nullptr);
  annudf_device_buffer_destroy(nullptr);
  EXPECT_EQ(annudf_device_buffer_address(nullptr), 0u);
  annudf_event_destroy(nullptr);
  bool done = false;
  EXPECT_EQ(annudf_event_done(nullptr, &done), ANNUDF_USAGE);
  EXPECT_EQ(annudf_event_wait(nullptr), ANNUDF_USAGE);
  EXPECT_EQ(annudf_device_synchronize(nullptr, 0), ANNUDF_USAGE);
}

TEST(CApiBackend, SeveralDevices) {
  OwnedBackend backend;
  const int32_t devices[] = {4711, 4712};
  EXPECT_EQ(annudf_backend_create_multi_device(devices, 2, 0, nullptr), ANNUDF_USAGE);
  EXPECT_EQ(outcome(annudf_backend_create_multi_device(nullptr, 2, 0, &backend)),
            "usage: annudf_backend_create_multi_device: devices is NULL");
  EXPECT_EQ(outcome(annudf_backend_create_multi_device(devices, 2, 2, &backend)),
            "usage: annudf_backend_create_multi_device: mode is 2; use a value of enum "
            "annudf_devices_mode");
  EXPECT_EQ(annudf_backend_create_multi_device(devices, 2, ANNUDF_DEVICES_SHARDED, &backend),
            ANNUDF_ENVIRONMENT);
  EXPECT_STRNE(annudf_last_error(), "");
#ifdef ANNUDF_TEST_HAS_CUDA
  EXPECT_EQ(outcome(annudf_backend_create_multi_device(devices, 0, 0, &backend)),
            "usage: devices: there are 0; give at least one");
#endif
  EXPECT_EQ(backend, nullptr);
}

TEST(CApiEnvironment, SaysWhatThereIs) {
  OwnedEnvironment environment;
  ASSERT_EQ(outcome(annudf_environment_describe(&environment)), "ok");
#ifdef ANNUDF_TEST_HAS_CPU
  EXPECT_TRUE(annudf_environment_get(environment)->has_cpu);
  EXPECT_EQ(std::string(annudf_environment_get(environment)->cpu).find("CPU, "), 0u);
#else
  EXPECT_FALSE(annudf_environment_get(environment)->has_cpu);
#endif
#ifdef ANNUDF_TEST_HAS_CUDA
  EXPECT_TRUE(annudf_environment_get(environment)->has_cuda);
#else
  EXPECT_FALSE(annudf_environment_get(environment)->has_cuda);
#endif
  EXPECT_STRNE(annudf_environment_get(environment)->cpu, "");
  EXPECT_STRNE(annudf_environment_get(environment)->driver, "");
  EXPECT_STRNE(annudf_environment_get(environment)->linker, "");
  const size_t devices = annudf_environment_get(environment)->device_count;
  EXPECT_TRUE(devices != 0 || !annudf_environment_get(environment)->driver_found);
  for (size_t i = 0; i < devices; ++i)
    EXPECT_NE(annudf_environment_get(environment)->devices[i], nullptr);
  EXPECT_EQ(annudf_environment_describe(nullptr), ANNUDF_USAGE);
  EXPECT_EQ(annudf_environment_get(nullptr), nullptr);
  annudf_environment_destroy(nullptr);
}

} // namespace
