// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cudnn_graph.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace troupe::dnn::cudnn::testing {

/// The state of the fake cuDNN: what its functions return and have recorded. The fake exports `troupe_fake_cudnn()`,
/// which returns a pointer to this state.
struct fake_cudnn {
  cudnnStatus_t heuristics = CUDNN_STATUS_SUCCESS;  ///< status of finalizing a heuristics descriptor
  cudnnStatus_t plans = CUDNN_STATUS_SUCCESS;       ///< status of finalizing an execution plan
  std::int64_t engines = 0;                         ///< number of engines that heuristics recommend
  /// Executes a plan with these operands.
  std::function<cudnnStatus_t(const std::vector<void*>&)> execute = [](const auto&) { return CUDNN_STATUS_SUCCESS; };
  int searches = 0;                         ///< number of heuristics descriptors that were finalized
  std::vector<cudnnDataType_t> types = {};  ///< types of the tensors that were described
};

}  // namespace troupe::dnn::cudnn::testing
