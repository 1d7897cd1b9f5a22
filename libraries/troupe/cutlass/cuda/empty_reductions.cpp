// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <troupe/base/try.hpp>
#include <troupe/cuda/stream_status.hpp>
#include <troupe/cutlass/cuda/empty_reductions.hpp>
#include <troupe/epilogue/op_definitions.hpp>

namespace troupe::cutlass {
namespace {

// Sets `count` elements, `stride` bytes apart, to `value`: each 4-byte word of an element by one memset.
result<void> fill(CUdeviceptr to, std::size_t stride, std::size_t count, dtype type, double value, CUstream stream) {
  const auto bits = type == dtype::f64 ? std::bit_cast<std::uint64_t>(value)
                                       : std::uint64_t{std::bit_cast<std::uint32_t>(static_cast<float>(value))};
  for (std::size_t word = 0; word < bytes_of(type) / sizeof(std::uint32_t); ++word)
    TROUPE_TRY(cuda::done_on(stream, "cutlass", "cuMemsetD2D32Async",
                             ::cuMemsetD2D32Async(to + word * sizeof(std::uint32_t), stride,
                                                  static_cast<std::uint32_t>(bits >> 32 * word), 1, count, stream)));
  return {};
}

}  // namespace

result<void> write_empty_reductions(const problem& p, CUstream stream) {
  for (const epilogue::node& n : p.tree.nodes()) {
    if (n.what != epilogue::op::reduce) continue;
    const placed_matrix to = p.memory(n.operand, n);
    const std::int64_t count = n.over == epilogue::reduction_scope::row      ? p.m
                               : n.over == epilogue::reduction_scope::column ? p.n
                                                                             : 1,
                       stride = n.over == epilogue::reduction_scope::row ? to.row : to.column,
                       bytes = static_cast<std::int64_t>(bytes_of(to.type));
    for (std::int64_t w = 0; count != 0 && w < p.batch; ++w)
      TROUPE_TRY(fill(to.address + static_cast<std::uint64_t>(w * to.batch * bytes),
                      static_cast<std::size_t>(count == 1 ? bytes : stride * bytes), static_cast<std::size_t>(count),
                      to.type, epilogue::start_of(n.combine), stream));
  }
  return {};
}

}  // namespace troupe::cutlass
