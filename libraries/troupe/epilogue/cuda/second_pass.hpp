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

/// A product in the device's memory, and the result of its epilogue. Both are stored column by column: where the result
/// of the request is stored row by row, this is its transpose.
struct stored_product {
  dtype product_type, result_type;
  std::int64_t rows, columns, batch;
  std::int64_t product_ld, product_stride, result_ld, result_stride;  ///< in elements
  std::int64_t right;  ///< from the left half of the product to its right half, in elements
  bool transposed;     ///< whether it is the transpose of what the epilogue's nodes mean
  bool is_zero;        ///< there is no product in memory: it has no terms
};

/// An epilogue as a pass of its own over the product, by the kernels of tail.cuh. An image that has them includes
/// tail_kernels.inc in its list. Made once for all epilogues of the same structure.
class second_pass {
 public:
  second_pass(const tree& t, const stored_product& on);

  /// The device memory that it needs meanwhile.
  std::uint64_t memory_bytes() const noexcept { return memory_bytes_; }

  /// Where it reads and writes, beside the operands of the epilogue.
  struct places {
    std::uint64_t product, result, memory;
  };
  /// The arguments of its kernel, for one that computes a product and its epilogue together.
  kernel_arguments::tail tail_of(const tree& t, const places& at) const noexcept;
  /// Whether kernels for ordinary epilogues, with few slots, have enough.
  bool is_ordinary() const noexcept { return ordinary_; }
  /// Enqueues it, by `launch(kernel, blocks, threads, arguments)`. `t` has the structure that it was made for.
  template <class Launch>
  result<void> enqueue(const tree& t, const places& at, Launch&& launch) const {
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
    std::uint64_t offset;  // of its partial results
    std::uint8_t operand;
    bool of_all;
  };
  // Without elements, reductions are those of no parts.
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
