// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <troupe/dnn/steps/vendor_kernel.hpp>
#include <troupe/worker/engine.hpp>
#include <vector>

/// What cuDNN computes of a graph. It is optional: our own kernels compute everything.
namespace troupe::dnn::cudnn {

/// How vendor_kernels have to be computed.
struct wishes {
  bool exact = true;       ///< factors of f32 are not rounded to fewer digits
  bool repeatable = true;  ///< with the same result each time
  bool measured = false;   ///< by the fastest of what cuDNN recommends
  std::uint64_t workspace = ~std::uint64_t{0};
};

class vendor {
 public:
  /// Loads cuDNN, for the GPU of the current context. Fails with the reason if it is not there.
  static result<std::unique_ptr<vendor>> open(const engine_context& context);
  virtual ~vendor() = default;
  virtual const std::string& version() const noexcept = 0;

  struct found {
    std::vector<std::unique_ptr<vendor_kernel>> vendor_kernels = {};
    /// False if something failed that may be over later, such as a shortage of memory: cuDNN may take more then.
    bool is_final = true;
  };
  /// Finds what cuDNN takes of a graph, whose addresses in memory with a bit of `aligned` are at multiples of 16. The
  /// vendor_kernels are used before the vendor is gone.
  virtual found find(const encoded_graph& g, const std::vector<bool>& aligned, const wishes& w) = 0;
};

}  // namespace troupe::dnn::cudnn
