// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <troupe/dnn/steps/steps.hpp>
#include <troupe/dnn/steps/vendor_kernel.hpp>
#include <vector>

namespace troupe::dnn {

/// The steps of a graph. Of those that are claimed, first come the ones that cuDNN computes, then the direct ones.
struct cuda_plan : step_list {
  std::vector<std::unique_ptr<vendor_kernel>> vendor_kernels;
  std::vector<operator_step> direct = {};

  /// The step that computes a fusion match of ours.
  const operator_step& direct_of(const vendor_step& s) const noexcept {
    return direct[s.which - vendor_kernels.size()];
  }
};

inline bool is_aligned(const encoded_memory& m) noexcept { return m.address % 16 == 0; }
/// Which memory of a graph begins at a multiple of 16 bytes.
std::vector<bool> aligned_memory_of(const encoded_graph& g);

/// Plans a graph of which these vendor_kernels are claimed, for all others by our kernels.
cuda_plan completed(std::vector<std::unique_ptr<vendor_kernel>> vendor_kernels, const encoded_graph& g);

}  // namespace troupe::dnn
