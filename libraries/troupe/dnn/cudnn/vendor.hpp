// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <troupe/cuda/gpu_properties.hpp>
#include <troupe/dnn/requests/options.hpp>
#include <troupe/dnn/steps/fusion_matches.hpp>
#include <troupe/dnn/steps/vendor_kernel.hpp>
#include <troupe/worker/engine.hpp>
#include <vector>

/// The search for parts of a graph that cuDNN computes. cuDNN is optional: our own kernels can compute everything.
namespace troupe::dnn::cudnn {

/// The part of the CUDA engine that uses cuDNN.
class vendor {
 public:
  /// Loads cuDNN for `gpu`, the GPU of the current context. Fails with the reason if cuDNN cannot be used.
  static result<std::unique_ptr<vendor>> open(const engine_context& context, const cuda::gpu_properties& gpu);
  virtual ~vendor() = default;
  virtual const std::string& version() const noexcept = 0;

  struct search_result {
    std::vector<std::unique_ptr<vendor_kernel>> vendor_kernels = {};
    /// False if something failed that may succeed later, such as an allocation: a later search may find more kernels.
    bool is_final = true;
  };
  /// Finds the parts of a graph that cuDNN computes, and adds them to the analysis. This object must outlive the
  /// kernels.
  virtual search_result find(graph_analysis& g, const computation_options& options) = 0;
};

}  // namespace troupe::dnn::cudnn
