// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <troupe/base/complex.hpp>
#include <troupe/base/try.hpp>
#include <troupe/cuda/kernels.hpp>
#include <troupe/cuda/launch.hpp>
#include <troupe/epilogue/cuda/tail_arguments.hpp>
#include <troupe/epilogue/tree.hpp>
#include <vector>

namespace troupe::epilogue {

/// A product in device memory, and the result of its epilogue. Both are stored column by column: if the result of the
/// request is stored row by row, this is its transpose.
struct stored_product {
  dtype product_type, result_type;
  std::int64_t rows, columns, batch;
  std::int64_t product_ld, product_stride, result_ld, result_stride;  ///< in elements
  std::int64_t right;  ///< elements from the left half of the product to its right half
  bool transposed;     ///< true if rows here are columns of the epilogue's nodes
  bool is_zero;        ///< true if the product is 0 and not in memory: k is 0
};

/// An epilogue as a second pass over the product, by the kernels of tail.cuh. The kernel list of an engine that uses it
/// includes tail_kernels.inc. Made once for all epilogues of the same structure.
class second_pass {
 public:
  second_pass(const tree& t, const stored_product& on);

  /// Returns the bytes of device memory that it needs while it runs.
  std::uint64_t memory_bytes() const noexcept { return memory_bytes_; }

  /// Addresses that it reads and writes, beside the operands of the epilogue.
  struct addresses {
    std::uint64_t product, result, memory;
  };
  /// Returns the arguments of its kernel, for a kernel that computes a product and its epilogue together.
  kernel_arguments::tail tail_of(const tree& t, const addresses& at) const noexcept;
  /// Returns true if the few slots of the kernels for ordinary epilogues suffice.
  bool is_ordinary() const noexcept { return ordinary_; }
  /// Enqueues the pass by `launch(kernel, blocks, threads, arguments)`. `t` has the structure that it was made for.
  template <class Launch>
  result<void> enqueue(const tree& t, const addresses& at, Launch&& launch) const {
    if (!is_empty()) TROUPE_TRY(launch(kernel_, blocks_, threads(), tail_of(t, at)));
    for (const reduction_pass& r : reductions_) {
      kernel_arguments::combining c = r.arguments;
      if (c.count == 0 || c.batch == 0) continue;
      c.partial = reinterpret_cast<const double*>(at.memory + r.offset);
      c.to.address = t.memory()[r.operand].address;
      const cuda::grid blocks{r.of_all ? 1 : cuda::at_most((c.count + 255) / 256, 4096), 1,
                              cuda::at_most(c.batch, 65535)};
      TROUPE_TRY(launch(r.of_all ? cuda::kernel<"combine_all"> : cuda::kernel<"combine_each">, blocks,
                        r.of_all ? threads() : cuda::grid{256, 1, 1}, c));
    }
    return {};
  }

 private:
  struct reduction_pass {
    kernel_arguments::combining arguments;
    std::uint64_t offset;  // of its partial results, in bytes
    std::uint8_t operand;
    bool of_all;
  };
  // Returns true without elements: the reductions then have no parts.
  bool is_empty() const noexcept { return tail_.rows == 0 || tail_.columns == 0 || tail_.batch == 0; }
  static cuda::grid threads() noexcept { return {kernel_arguments::lanes, kernel_arguments::warps, 1}; }
  unsigned choose_kernel(unsigned slots, dtype product);
  void add_reduction(const node& n, const tree_memory& to);

  kernel_arguments::tail tail_;
  bool transposed_, ordinary_ = false;
  cuda::kernel_id kernel_{};
  cuda::grid blocks_;
  std::vector<reduction_pass> reductions_;
  std::uint64_t memory_bytes_ = 0;
};

}  // namespace troupe::epilogue
