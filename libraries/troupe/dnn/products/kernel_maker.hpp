// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <troupe/dnn/requests/options.hpp>
#include <troupe/dnn/steps/graph_analysis.hpp>
#include <troupe/dnn/steps/steps.hpp>
#include <troupe/dnn/steps/vendor_kernel.hpp>
#include <troupe/worker/engine.hpp>
#include <vector>

/// Products of a graph, computed by the engine of the library matmul in the same worker. The engine is optional: our
/// own kernels can compute all products.
namespace troupe::dnn::products {

/// Makes the kernels for products. Thread-safe.
class kernel_maker {
 public:
  explicit kernel_maker(const engine_context& context);

  struct made_kernels {
    std::vector<std::unique_ptr<vendor_kernel>> vendor_kernels = {};
    /// False if something failed that may succeed later, such as an allocation: a later call may make more kernels.
    bool is_final = true;
  };
  /// Makes a kernel for each product that matmul's engine computes, with the functions that it computes together with
  /// the product, and marks their nodes as matched in the analysis. `compute` is the type in which the graph is
  /// computed, `c` the call for which it is planned.
  made_kernels make_kernels(graph_analysis& g, const computation_options& o, dtype compute, const call& c);
  /// Returns why no product is computed by matmul's engine; empty if they are, or if none was planned yet.
  std::string why_none() const;

 private:
  result<std::unique_ptr<vendor_kernel>> make_kernel(const graph_analysis& g, std::size_t node,
                                                     const computation_options& o, dtype compute, const call& c);
  void report(const error& why);

  const engine_context context_;
  mutable std::mutex lock_;  // guards why_none_
  std::string why_none_;
};

}  // namespace troupe::dnn::products
