// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>
#include <troupe/base/containers/list.hpp>
#include <troupe/base/dtype.hpp>
#include <troupe/base/enumeration.hpp>
#include <troupe/memory/buffer.hpp>
#include <troupe/memory/host_buffer.hpp>
#include <troupe/request/encoding/codec.hpp>
#include <troupe/request/extent.hpp>
#include <vector>

/// Describes tensors for the tensor memory accelerator (TMA) of GPUs from capability 9.0 on, a unit that copies boxes
/// of a tensor between global and shared memory.
namespace troupe::kernel {

/// Type of an element, as the accelerator takes it.   CUtensorMapDataType
enum class tensor_type : std::uint8_t {
  u8,
  u16,
  u32,
  i32,
  u64,
  i64,
  f16,
  f32,
  f64,
  bf16,
  f32_ftz,       ///< f32 with subnormal numbers flushed to 0
  tf32,          ///< f32 rounded to tf32
  tf32_ftz,      ///< f32 rounded to tf32 with subnormal numbers flushed to 0
  u4x16_align8,  ///< 16 numbers of 4 bits in 8 bytes
  /// 16 numbers of 4 bits in 8 bytes of global memory; in shared memory, 8 bytes of padding follow each 8 bytes.
  u4x16_align16,
  /// 16 numbers of 6 bits in 12 bytes of global memory; in shared memory, 4 bytes of padding follow each 12 bytes.
  u6x16_align16,
  of_the_elements,  ///< the type of the buffer's elements
};
TROUPE_ENUM(tensor_type, u8, u16, u32, i32, u64, i64, f16, f32, f64, bf16, f32_ftz, tf32, tf32_ftz, u4x16_align8,
            u4x16_align16, u6x16_align16, of_the_elements)

/// Layout of the channels of tensors such as NC/8HWC8.   CUtensorMapInterleave
enum class tensor_interleave : std::uint8_t { none, bytes_16, bytes_32 };
TROUPE_ENUM(tensor_interleave, none, bytes_16, bytes_32)

/// The order of the pieces of a row in shared memory, which avoids bank conflicts.   CUtensorMapSwizzle
enum class tensor_swizzle : std::uint8_t {
  none,
  bytes_32,
  bytes_64,
  bytes_128,
  bytes_128_atoms_32,
  bytes_128_atoms_32_flip_8,
  bytes_128_atoms_64
};
TROUPE_ENUM(tensor_swizzle, none, bytes_32, bytes_64, bytes_128, bytes_128_atoms_32, bytes_128_atoms_32_flip_8,
            bytes_128_atoms_64)

/// Granularity of fetches into the level-2 cache.   CUtensorMapL2promotion
enum class tensor_promotion : std::uint8_t { none, bytes_64, bytes_128, bytes_256 };
TROUPE_ENUM(tensor_promotion, none, bytes_64, bytes_128, bytes_256)

/// Value of elements outside of the tensor.   CUtensorMapFloatOOBfill
enum class tensor_fill : std::uint8_t { zero, nan_for_zero_fma };
TROUPE_ENUM(tensor_fill, zero, nan_for_zero_fma)

/// A tensor in a buffer, and the boxes in which it is copied. Elements along the first axis are adjacent.
/// cuTensorMapEncodeTiled
struct tiles {
  list<extent> sizes;  ///< elements along each axis; 1 to 5 axes
  list<extent> box;    ///< elements of a box along each axis
  /// Bytes between neighbors along each axis but the first; empty: contiguous.
  list<extent> strides = {};
  list<extent> steps = {};  ///< strides between the elements of a box along each axis; empty: 1
  tensor_type type = tensor_type::of_the_elements;
  tensor_interleave interleave = tensor_interleave::none;
  tensor_swizzle swizzle = tensor_swizzle::none;
  tensor_promotion promotion = tensor_promotion::none;
  tensor_fill fill = tensor_fill::zero;
};

/// The tensor and its boxes, in the form in which they are sent to the worker.
struct tensor_layout {
  static constexpr std::size_t most_rank = 5;
  tensor_type type;
  tensor_interleave interleave;
  tensor_swizzle swizzle;
  tensor_promotion promotion;
  tensor_fill fill;
  std::uint8_t rank;
  std::uint8_t reserved[2];
  std::array<std::uint32_t, most_rank> box, steps;
  std::array<std::uint64_t, most_rank> sizes;
  std::array<std::uint64_t, most_rank - 1> strides;
};
static_assert(sizeof(tensor_layout) == 120);
/// Size and alignment of the descriptor that the driver makes, a CUtensorMap.
inline constexpr std::uint64_t tensor_descriptor_bytes = 128, tensor_descriptor_alignment = 128;

/// What is wrong with the tiles of a buffer, and what is expected, for an error's text: "sizes[0] is 0", "1 to
/// 4294967296".
struct tensor_complaint {
  std::string value, expected;
};
/// Checks everything that the driver requires, and that the tensor is within the `bytes` bytes at `address`. If
/// `address` is 0, the alignment is not checked.
std::optional<tensor_complaint> complaint_about(const tiles& t, dtype element, std::uint64_t address,
                                                std::uint64_t bytes);
/// Returns the tiles for the worker. Precondition: `complaint_about` returns nothing.
tensor_layout layout_of(const tiles& t, dtype element);

/// An argument for a parameter `const __grid_constant__ CUtensorMap`. It has a buffer: `in(x)` if the kernel only loads
/// boxes of it, `out(y)` or `inout(y)` if the kernel stores boxes. The worker makes a new descriptor for each launch,
/// so the map stays valid after a restart.
class tensor_map {
 public:
  template <class T, access_mode M>
  tensor_map(const operand<T, M>& of, tiles t)
      : range_(of.range()), mode_(M), element_(dtype_of<T>), element_bytes_(sizeof(T)), tiles_(std::move(t)) {}
  /// A buffer without `in`, `out` or `inout` is only read.
  template <class T>
  tensor_map(const buffer<T>& of, tiles t) : tensor_map(in<T>(of), std::move(t)) {}

  const memory_range& range() const noexcept { return range_; }
  access_mode mode() const noexcept { return mode_; }
  dtype element() const noexcept { return element_; }
  std::uint32_t element_bytes() const noexcept { return element_bytes_; }
  const kernel::tiles& layout() const noexcept { return tiles_; }

 private:
  memory_range range_;
  access_mode mode_;
  dtype element_;
  std::uint32_t element_bytes_;
  kernel::tiles tiles_;
};

}  // namespace troupe::kernel
