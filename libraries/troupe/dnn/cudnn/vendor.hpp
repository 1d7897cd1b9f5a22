// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <troupe/cuda/gpu_properties.hpp>
#include <troupe/dnn/steps/fusion_matches.hpp>
#include <troupe/dnn/steps/vendor_kernel.hpp>
#include <troupe/worker/engine.hpp>
#include <vector>

/// The search for parts of a graph that cuDNN computes. cuDNN is optional: our own kernels can compute everything.
namespace troupe::dnn::cudnn {

/// Constraints on the plans of vendor kernels.
struct plan_constraints {
  bool exact = true;                            ///< true if factors of f32 must not be rounded to fewer digits
  bool repeatable = true;                       ///< true if results must be the same in every run
  bool measured = false;                        ///< true to measure the engines that cuDNN recommends
  std::uint64_t workspace = ~std::uint64_t{0};  ///< the most bytes of workspace
};

/// The part of the CUDA engine that uses cuDNN.
class vendor {
 public:
  /// Loads cuDNN, for `gpu`, the GPU of the current context. Fails with the reason if cuDNN cannot be used.
  static result<std::unique_ptr<vendor>> open(const engine_context& context, const cuda::gpu_properties& gpu);
  virtual ~vendor() = default;
  virtual const std::string& version() const noexcept = 0;

  struct search_result {
    std::vector<std::unique_ptr<vendor_kernel>> vendor_kernels = {};
    /// False if something failed temporarily, such as an allocation: a later search may find more kernels.
    bool is_final = true;
  };
  /// Finds the parts of a graph that cuDNN computes, and adds them to the analysis. This object must outlive the
  /// kernels.
  virtual search_result find(graph_analysis& g, const plan_constraints& constraints) = 0;
};

}  // namespace troupe::dnn::cudnn
