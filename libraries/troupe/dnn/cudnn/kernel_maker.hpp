// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <troupe/cuda/gpu_properties.hpp>
#include <troupe/dnn/requests/options.hpp>
#include <troupe/dnn/steps/graph_analysis.hpp>
#include <troupe/dnn/steps/vendor_kernel.hpp>
#include <troupe/worker/engine.hpp>
#include <vector>

/// Vendor kernels of cuDNN for parts of a graph. cuDNN is optional: our own kernels can compute everything.
namespace troupe::dnn::cudnn {

/// Makes the kernels of cuDNN for the CUDA engine.
class kernel_maker {
 public:
  /// Loads cuDNN for `gpu`, the GPU of the current context. Fails with the reason if cuDNN cannot be used.
  static result<std::unique_ptr<kernel_maker>> open(const engine_context& context, const cuda::gpu_properties& gpu);
  virtual ~kernel_maker() = default;
  virtual const std::string& version() const noexcept = 0;

  struct made_kernels {
    std::vector<std::unique_ptr<vendor_kernel>> vendor_kernels = {};
    /// False if something failed that may succeed later, such as an allocation: a later call may make more kernels.
    bool is_final = true;
  };
  /// Makes a kernel for each part of a graph that cuDNN computes, and marks its nodes as matched in the analysis. Reads
  /// and stores plans on disk, and tries them on the GPU: that can take seconds. This object must outlive the kernels.
  virtual made_kernels make_kernels(graph_analysis& g, const computation_options& options) = 0;
};

}  // namespace troupe::dnn::cudnn
