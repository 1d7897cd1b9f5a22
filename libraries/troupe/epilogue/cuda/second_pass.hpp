// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <troupe/base/complex.hpp>
#include <troupe/base/try.hpp>
#include <troupe/cuda/kernels.hpp>
#include <troupe/cuda/launch.hpp>
#include <troupe/epilogue/cuda/epilogue_arguments.hpp>
#include <troupe/epilogue/tree.hpp>
#include <vector>

namespace troupe::epilogue {

/// A product in device memory and the result of its epilogue, both stored column by column. If the request's result is
/// stored row by row, these are the transposes.
struct stored_product {
  dtype product_type, result_type;
  std::int64_t rows, columns, batch;
  std::int64_t product_ld, product_stride, result_ld, result_stride;  ///< in elements
  std::int64_t right;  ///< elements from the left half of the product to its right half
  bool transposed;     ///< true if the rows here are the columns of the request's result
  bool is_zero;        ///< true if k is 0: the product is 0, and not in memory
};

/// An epilogue as a second pass over the product, by the kernels of epilogue_pass.cuh. An engine that uses it includes
/// epilogue_kernels.inc in its list of kernels. One object serves all epilogues of the same structure.
class second_pass {
 public:
  second_pass(const tree& t, const stored_product& on);

  /// Returns the bytes of device memory for partial reductions, needed while the pass runs.
  std::uint64_t memory_bytes() const noexcept { return memory_bytes_; }

  /// The addresses that the pass uses, other than those of the epilogue's operands.
  struct addresses {
    std::uint64_t product, result, memory;  ///< `memory` has `memory_bytes()`
  };
  /// Returns the arguments of the pass's kernel. Also used by kernels that compute a product and its epilogue together.
  kernel_arguments::epilogue_pass arguments_for(const tree& t, const addresses& at) const noexcept;
  /// Returns true if at most `ordinary_slots` intermediate values are live at once, so that the smaller kernels
  /// suffice.
  bool is_ordinary() const noexcept { return ordinary_; }
  /// Enqueues the pass by calling `launch(kernel, blocks, threads, arguments)`. Precondition: `t` has the structure of
  /// the tree that the pass was made for.
  template <class Launch>
  result<void> enqueue(const tree& t, const addresses& at, Launch&& launch) const {
    if (!is_empty()) TROUPE_TRY(launch(kernel_, blocks_, threads(), arguments_for(t, at)));
    for (const reduction_pass& r : reductions_) {
      kernel_arguments::combine_arguments c = r.arguments;
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
    kernel_arguments::combine_arguments arguments;
    std::uint64_t offset;  // where its partial results begin in `addresses::memory`, in bytes
    std::uint8_t operand;
    bool of_all;
  };
  // Returns true if the result has no elements. Reductions then combine no partial results.
  bool is_empty() const noexcept { return arguments_.rows == 0 || arguments_.columns == 0 || arguments_.batch == 0; }
  static cuda::grid threads() noexcept { return {kernel_arguments::lanes, kernel_arguments::warps, 1}; }
  unsigned choose_kernel(unsigned slots, dtype product);
  void add_reduction(const node& n, const memory_operand& to);

  kernel_arguments::epilogue_pass arguments_;
  bool transposed_, ordinary_ = false;
  cuda::kernel_id kernel_{};
  cuda::grid blocks_;
  std::vector<reduction_pass> reductions_;
  std::uint64_t memory_bytes_ = 0;
};

}  // namespace troupe::epilogue
