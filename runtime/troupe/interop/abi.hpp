// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

/// The structures that DLPack 1 defines (https://dmlc.github.io/dlpack), declared here so that DLPack's own header is
/// not needed, and so that programs which include any version of that header have no second definition of the
/// structures.
namespace troupe::dlpack::abi {

enum device_type : std::int32_t { cpu = 1, cuda = 2, cuda_host = 3, cuda_managed = 13 };

enum type_code : std::uint8_t {
  signed_integer = 0,
  unsigned_integer = 1,
  floating = 2,
  bfloat = 4,
  complex = 5,
  boolean = 6,
  float8_e4m3fn = 10,
  float8_e5m2 = 12,
  float8_e8m0fnu = 14,
  float4_e2m1fn = 17,
};

struct version {
  std::uint32_t major, minor;
};
struct device {
  std::int32_t type;
  std::int32_t id;
};
struct data_type {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
};
struct tensor {
  void* data;
  struct device device;
  std::int32_t dimensions;
  data_type type;
  std::int64_t* shape;
  std::int64_t* strides;  ///< in elements; null: row-major, without gaps
  std::uint64_t byte_offset;
};
struct managed_tensor {
  struct tensor tensor;
  void* manager;
  void (*deleter)(managed_tensor* self);
};
struct managed_tensor_versioned {
  struct version version;
  void* manager;
  void (*deleter)(managed_tensor_versioned* self);
  std::uint64_t flags;
  struct tensor tensor;
};

inline constexpr std::uint32_t major = 1, minor = 1;
inline constexpr std::uint64_t read_only = 1;

static_assert(sizeof(data_type) == 4 && sizeof(device) == 8 && sizeof(tensor) == 48);
static_assert(offsetof(tensor, shape) == 24 && offsetof(tensor, byte_offset) == 40);
static_assert(sizeof(managed_tensor) == 64 && offsetof(managed_tensor, deleter) == 56);
static_assert(sizeof(managed_tensor_versioned) == 80 && offsetof(managed_tensor_versioned, tensor) == 32);

}  // namespace troupe::dlpack::abi
