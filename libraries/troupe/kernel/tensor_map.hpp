// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>
#include <troupe/base/dtype.hpp>
#include <troupe/base/list.hpp>
#include <troupe/memory/buffer.hpp>
#include <troupe/memory/host_buffer.hpp>
#include <troupe/request/codec.hpp>
#include <troupe/request/extent.hpp>
#include <vector>

/// Tensors as the tensor memory accelerator (TMA) of GPUs from capability 9.0 on sees them: it copies boxes of them
/// between global and shared memory, by itself.
namespace troupe::kernel {

/// What the elements are to the accelerator.   CUtensorMapDataType
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
  f32_ftz,          ///< f32 whose subnormal numbers become 0
  tf32,             ///< f32 rounded to tf32
  tf32_ftz,         ///< both
  u4x16_align8,     ///< 16 numbers of 4 bits in 8 bytes
  u4x16_align16,    ///< the same, each 8 bytes followed by 8 of nothing in shared memory
  u6x16_align16,    ///< 16 numbers of 6 bits in 12 bytes, followed by 4 of nothing in shared memory
  of_the_elements,  ///< as the buffer's elements are
};
/// How tensors like NC/8HWC8 have their channels.   CUtensorMapInterleave
enum class tensor_interleave : std::uint8_t { none, bytes_16, bytes_32 };
/// Where in shared memory the parts of a row lie, so that threads meet in no bank.   CUtensorMapSwizzle
enum class tensor_swizzle : std::uint8_t {
  none,
  bytes_32,
  bytes_64,
  bytes_128,
  bytes_128_atoms_32,
  bytes_128_atoms_32_flip_8,
  bytes_128_atoms_64
};
/// How much the level-2 cache fetches at a time.   CUtensorMapL2promotion
enum class tensor_promotion : std::uint8_t { none, bytes_64, bytes_128, bytes_256 };
/// What is read where the tensor has nothing.   CUtensorMapFloatOOBfill
enum class tensor_fill : std::uint8_t { zero, nan_for_zero_fma };

std::string_view to_string(tensor_type t) noexcept;

/// A tensor in a buffer, and the boxes it is copied in. Dimensions are counted from the one whose elements lie side by
/// side.   cuTensorMapEncodeTiled
struct tiles {
  list<extent> sizes;         ///< elements in each of 1 to 5 dimensions
  list<extent> box;           ///< elements that one copy spans, in each
  list<extent> strides = {};  ///< bytes from one to the next, in each dimension but the first; none: tight
  list<extent> steps = {};    ///< each how-many-th element of the box is copied; none: each
  tensor_type type = tensor_type::of_the_elements;
  tensor_interleave interleave = tensor_interleave::none;
  tensor_swizzle swizzle = tensor_swizzle::none;
  tensor_promotion promotion = tensor_promotion::none;
  tensor_fill fill = tensor_fill::zero;
};

/// The same as it travels to the worker.
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
/// What becomes of it: CUtensorMap.
inline constexpr std::uint64_t tensor_descriptor_bytes = 128, tensor_descriptor_alignment = 128;

/// What is wrong with tiles of a buffer, for the text of an error: "sizes[0] is 0" and "1 to 4294967296".
struct tensor_complaint {
  std::string value, expected;
};
/// All that the driver asks for, and that the tensor lies in the buffer's `bytes` at `address`. 0 as the address is
/// any.
std::optional<tensor_complaint> complaint_about(const tiles& t, dtype element, std::uint64_t address,
                                                std::uint64_t bytes);
/// Of tiles that nobody complains about.
tensor_layout layout_of(const tiles& t, dtype element);

/// An argument of a launch for a parameter `const __grid_constant__ CUtensorMap`. It holds a buffer: `in(x)` of which
/// the kernel only loads boxes, `out(y)` and `inout(y)` to which it stores some. The descriptor itself is made by the
/// worker that launches, each time: it is right after a restart, too.
///   .arguments = {kernel::tensor_map(in(a), {.sizes = {k, m}, .box = {64, 128}}), …}
class tensor_map {
 public:
  template <class T, access_mode M>
  tensor_map(const operand<T, M>& of, tiles t)
      : range_(of.range()), mode_(M), element_(dtype_of<T>), element_bytes_(sizeof(T)), tiles_(std::move(t)) {}
  /// A buffer alone is read.
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
