// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/base/float4.hpp>
#include <troupe/base/float8.hpp>
#include <troupe/cuda/embedded.hpp>
#include <troupe/cuda/launch.hpp>
#include <troupe/cutlass/cuda/kernel_pack_arguments.hpp>
#include <troupe/cutlass/cuda/pack.hpp>

// The fatbin compiled from pack.cu.
TROUPE_EMBEDDED(troupe_cutlass_pack_kernels, TROUPE_KERNELS);

namespace troupe::cutlass {
namespace {

// Returns the kernel for a type of packed elements.
cuda::kernel_id kernel_for(dtype packed) noexcept {
  switch (packed) {
    case dtype::i8:
      return cuda::kernel<"pack", std::int8_t>;
    case dtype::f8e4m3:
      return cuda::kernel<"pack", float8_e4m3>;
    case dtype::f8e5m2:
      return cuda::kernel<"pack", float8_e5m2>;
    case dtype::f4e2m1x2:
      return cuda::kernel<"pack", float4_e2m1>;
    default:
      return cuda::kernel<"pack_rounded">;
  }
}

kernel_arguments::packed_lines lines_of(const factor& f) noexcept {
  return {reinterpret_cast<void*>(f.address), static_cast<std::uint64_t>(f.type), f.line, f.term, f.batch};
}

}  // namespace

result<cuda::kernel_set> load_packing() {
  return cuda::kernel_set::load(troupe_cutlass_pack_kernels, "troupe_cutlass_", "the kernels of cutlass");
}

result<void> enqueue(const pack_problem& p, const cuda::kernel_set& kernels, CUstream stream) {
  // Without scales, blocks only divide the work.
  const std::int64_t block = p.by.address != 0 ? p.block : std::min<std::int64_t>(p.terms, 512);
  const kernel_arguments::packing all{lines_of(p.from),
                                      lines_of(p.packed),
                                      {reinterpret_cast<void*>(p.by.address), static_cast<std::uint64_t>(p.by.type),
                                       p.by.line_stride, p.by.k_stride, p.by.batch_stride},
                                      p.lines,
                                      p.terms,
                                      block,
                                      p.batch};
  const cuda::grid blocks{static_cast<unsigned>((p.lines + 31) / 32),
                          cuda::at_most((p.terms + block - 1) / block, 65535), cuda::at_most(p.batch, 65535)};
  return cuda::launch(kernels, kernel_for(p.packed.type), blocks, {32, 8, 1}, stream, "cutlass", all);
}

}  // namespace troupe::cutlass
