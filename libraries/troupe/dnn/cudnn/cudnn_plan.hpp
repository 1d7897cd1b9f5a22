// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <troupe/dnn/cudnn/backend.hpp>

namespace troupe::dnn::cudnn {

/// cuDNN's execution plan for an operation graph.
struct cudnn_plan {
  descriptor plan;
  std::uint64_t workspace = 0;  ///< bytes of workspace
  /// True if a better engine failed in a way that may not occur again.
  bool is_provisional = false;

  /// Returns the plan as text; "" if cuDNN cannot write it as text.
  std::string text() const;
  /// Returns true if the plan's kernel may read an operand of a fused function before the previous kernel in the stream
  /// has ended. cuDNN lets launches overlap. Kernels that cuDNN 9.19 compiles at run time for an H200 wait for the
  /// previous kernel only before they read images and filters: their instructions and wrong results show it.
  bool reads_early() const;
  /// Makes a plan from the text that an earlier process stored. Returns nullopt if cuDNN does not accept it.
  static std::optional<cudnn_plan> from(cudnnHandle_t on, const std::string& text);
};

}  // namespace troupe::dnn::cudnn
