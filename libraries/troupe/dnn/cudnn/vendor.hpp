// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <troupe/dnn/steps/vendor_kernel.hpp>
#include <troupe/worker/engine.hpp>
#include <vector>

/// Finds the parts of a graph that cuDNN computes. cuDNN is optional: our own kernels compute everything.
namespace troupe::dnn::cudnn {

/// Constraints on the plans of vendor kernels.
struct plan_constraints {
  bool exact = true;                            ///< factors of f32 must not be rounded to fewer digits
  bool repeatable = true;                       ///< results must be the same each time
  bool measured = false;                        ///< measure what cuDNN recommends and take the fastest
  std::uint64_t workspace = ~std::uint64_t{0};  ///< maximum number of bytes
};

class vendor {
 public:
  /// Loads cuDNN, for the GPU of the current context. Fails with the reason if cuDNN cannot be used.
  static result<std::unique_ptr<vendor>> open(const engine_context& context);
  virtual ~vendor() = default;
  virtual const std::string& version() const noexcept = 0;

  struct search_result {
    std::vector<std::unique_ptr<vendor_kernel>> vendor_kernels = {};
    /// False if something failed temporarily, such as an allocation: a later search may find more.
    bool is_final = true;
  };
  /// Finds the parts of a graph that cuDNN computes. `aligned` has a bit for each memory of the graph: true if its
  /// address is a multiple of 16. The vendor must outlive the kernels.
  virtual search_result find(const encoded_graph& g, const std::vector<bool>& aligned,
                             const plan_constraints& constraints) = 0;
};

}  // namespace troupe::dnn::cudnn
