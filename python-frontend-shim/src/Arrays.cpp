//===- Arrays.cpp - Arrays of other libraries, through DLPack -------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// nanobind's own import of arrays hands the producer no stream and does not tell a
// read-only array from another, so capsules are opened here. Its structs and its
// export are used.
//
//===----------------------------------------------------------------------===//

#include "Support.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <vector>

namespace annudf::python {

namespace {

// As in dlpack.h 1.0, https://dmlc.github.io/dlpack/latest/c_api.html.
struct ManagedTensor {
  nb::dlpack::dltensor tensor;
  void *context;
  void (*deleter)(ManagedTensor *);
};
struct VersionedTensor {
  uint32_t major, minor;
  void *context;
  void (*deleter)(VersionedTensor *);
  uint64_t flags;
  nb::dlpack::dltensor tensor;
};
constexpr uint64_t kReadOnly = 1;
constexpr uint32_t kMajor = 1;

/// A producer's array; the producer keeps it until this object goes.
class ArrayView {
public:
  explicit ArrayView(ManagedTensor *tensor) : plain(tensor) {}
  explicit ArrayView(VersionedTensor *tensor) : versioned(tensor) {}
  ArrayView(const ArrayView &) = delete;
  ArrayView &operator=(const ArrayView &) = delete;
  ~ArrayView() {
    if (plain && plain->deleter)
      plain->deleter(plain);
    if (versioned && versioned->deleter)
      versioned->deleter(versioned);
  }

  const nb::dlpack::dltensor &tensor() const { return plain ? plain->tensor : versioned->tensor; }

  uintptr_t address() const {
    return reinterpret_cast<uintptr_t>(tensor().data) + tensor().byte_offset;
  }
  nb::typed<nb::tuple, int64_t, nb::ellipsis> shape() const {
    nb::list extents;
    for (int32_t i = 0; i < tensor().ndim; ++i)
      extents.append(tensor().shape[i]);
    return nb::tuple(extents);
  }
  /// In bytes, as __cuda_array_interface__ and NumPy count them.
  nb::typed<nb::tuple, int64_t, nb::ellipsis> strides() const {
    const nb::dlpack::dltensor &from = tensor();
    std::vector<int64_t> steps(static_cast<size_t>(from.ndim));
    int64_t step = 1; // Without strides it is compact, in C order.
    for (int32_t i = from.ndim - 1; i >= 0; --i) {
      steps[i] = (from.strides ? from.strides[i] : step) * itemBytes();
      step *= from.shape[i];
    }
    nb::list list;
    for (int64_t one : steps)
      list.append(one);
    return nb::tuple(list);
  }
  std::string dtype() const {
    const nb::dlpack::dtype type = tensor().dtype;
    std::string kind;
    switch (type.code) {
    case 0:
      kind = "i";
      break;
    case 1:
      kind = "u";
      break;
    case 2:
      kind = "f";
      break;
    case 4:
      kind = "bf";
      break;
    case 5:
      kind = "c";
      break;
    case 6:
      kind = "b";
      break;
    default:
      kind = "dlpack" + std::to_string(type.code) + "_";
    }
    // A Boolean is a byte of which one bit counts.
    std::string name = kind + std::to_string(type.code == 6 ? 1 : type.bits);
    return type.lanes == 1 ? name : name + "x" + std::to_string(type.lanes);
  }
  std::string deviceType() const {
    switch (tensor().device.device_type) {
    case 1:
      return "cpu";
    case 2:
      return "cuda";
    case 3:
      return "cuda_host";
    case 13:
      return "cuda_managed";
    default:
      return "dlpack" + std::to_string(tensor().device.device_type);
    }
  }
  int32_t deviceId() const { return tensor().device.device_id; }
  bool readOnly() const { return versioned && (versioned->flags & kReadOnly); }

private:
  int64_t itemBytes() const {
    return (int64_t{tensor().dtype.bits} * tensor().dtype.lanes + 7) / 8;
  }

  ManagedTensor *plain = nullptr;
  VersionedTensor *versioned = nullptr;
};

/// Asks for a versioned capsule first; who does not know of versions gives the old one.
nb::object requestCapsule(nb::object object, std::optional<int64_t> stream) {
  nb::object method = nb::getattr(object, "__dlpack__", nb::none());
  if (method.is_none())
    raise("DtypeError", "an object of type " + std::string(nb::type_name(object.type()).c_str()) +
                            " is no array: it has no __dlpack__");
  nb::kwargs arguments = nb::steal<nb::kwargs>(nb::dict().release());
  if (stream)
    arguments["stream"] = *stream;
  try {
    nb::kwargs modern = nb::steal<nb::kwargs>(nb::dict(arguments).attr("copy")().release());
    modern["max_version"] = nb::make_tuple(kMajor, 0);
    return method(**modern);
  } catch (nb::python_error &error) {
    if (!error.matches(PyExc_TypeError))
      throw;
  }
  return method(**arguments);
}

template <class Tensor>
std::unique_ptr<ArrayView> take(PyObject *capsule, const char *name, const char *usedName) {
  auto *tensor = static_cast<Tensor *>(PyCapsule_GetPointer(capsule, name));
  if (!tensor || PyCapsule_SetName(capsule, usedName) != 0)
    throw nb::python_error();
  return std::make_unique<ArrayView>(tensor); // From here on the tensor is ours.
}

std::unique_ptr<ArrayView> fromDlpack(nb::object object, std::optional<int64_t> stream) {
  const nb::object capsule = requestCapsule(std::move(object), stream);
  std::unique_ptr<ArrayView> view;
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned")) {
    const auto *tensor = static_cast<const VersionedTensor *>(
        PyCapsule_GetPointer(capsule.ptr(), "dltensor_versioned"));
    if (tensor->major != kMajor)
      raise("ArgumentError", "an array comes as DLPack " + std::to_string(tensor->major) +
                                 ", annudf reads version 1");
    view = take<VersionedTensor>(capsule.ptr(), "dltensor_versioned", "used_dltensor_versioned");
  } else if (PyCapsule_IsValid(capsule.ptr(), "dltensor")) {
    view = take<ManagedTensor>(capsule.ptr(), "dltensor", "used_dltensor");
  } else {
    raise("ArgumentError", "__dlpack__ gave no DLPack capsule that is still unused");
  }
  return view;
}

nb::dlpack::dtype parseDtype(const std::string &name) {
  const auto bits = static_cast<uint8_t>(std::strtoul(name.c_str() + 1, nullptr, 10));
  const bool whole = bits == 8 || bits == 16 || bits == 32 || bits == 64;
  if (whole && name == "i" + std::to_string(bits))
    return {0, bits, 1};
  if (whole && name == "u" + std::to_string(bits))
    return {1, bits, 1};
  if (name == "bf16")
    return {4, 16, 1};
  if (whole && bits > 8 && name == "f" + std::to_string(bits))
    return {2, bits, 1};
  raise("DtypeError",
        "no element type '" + name + "'; there are i8 to i64, u8 to u64, f16 to f64, bf16");
}

/// An object with __dlpack__ and __dlpack_device__ over memory that `owner` keeps.
nb::object makeExporter(nb::object owner, uintptr_t address, const std::vector<int64_t> &shape,
                        const std::string &dtype, const std::string &deviceType, int32_t deviceId) {
  int type = 0;
  if (deviceType == "cpu")
    type = 1;
  else if (deviceType == "cuda")
    type = 2;
  else
    raise("DeviceError", "no device '" + deviceType + "'; there are cpu and cuda");
  const std::vector<size_t> extents(shape.begin(), shape.end());
  return nb::cast(nb::ndarray<nb::array_api>(reinterpret_cast<void *>(address), extents.size(),
                                             extents.data(), owner, nullptr, parseDtype(dtype),
                                             type, deviceId));
}

} // namespace

void addArrays(nb::module_ &module) {
  using namespace nb::literals;
  nb::class_<ArrayView>(module, "ArrayView", "An array of another library, kept alive.")
      .def_prop_ro("address", &ArrayView::address, "Address of the first element.")
      .def_prop_ro("shape", &ArrayView::shape, "Extents.")
      .def_prop_ro("strides", &ArrayView::strides, "Steps in bytes.")
      .def_prop_ro("dtype", &ArrayView::dtype,
                   "\"f32\", \"f16\", \"i8\", \"u8\", \"i64\", \"b1\", ...")
      .def_prop_ro("device_type", &ArrayView::deviceType,
                   "\"cpu\", \"cuda\", \"cuda_host\", \"cuda_managed\" or \"dlpackN\".")
      .def_prop_ro("device_id", &ArrayView::deviceId, "Which of the devices of that type.")
      .def_prop_ro("read_only", &ArrayView::readOnly,
                   "Whether the producer forbids to write; only versioned DLPack tells.");
  module.def("from_dlpack", &fromDlpack, "obj"_a, "stream"_a.none() = nb::none(),
             "Opens an array. `stream`: where it will be used; the producer makes its work visible "
             "there.");
  module.def(
      "to_dlpack", &makeExporter, "owner"_a, "address"_a, "shape"_a, "dtype"_a, "device_type"_a,
      "device_id"_a,
      nb::sig("def to_dlpack(owner: object, address: int, shape: collections.abc.Sequence[int], "
              "dtype: str, device_type: str, device_id: int) -> typing.Any"),
      "An object with __dlpack__ and __dlpack_device__ over a C-contiguous array that "
      "`owner` keeps alive.");
}

} // namespace annudf::python
