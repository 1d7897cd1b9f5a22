// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <troupe/kernel/host/execution.hpp>
#include <vector>

namespace troupe::kernel {

struct translate_options {
  /// Name expressions of the kernels the image shall have: "scale", "ns::reduce<float, 256>". Empty: every kernel that
  /// is no template.
  std::vector<std::string> kernels;
  /// Names of the __device__ and __constant__ variables it shall have.
  std::vector<std::string> globals;
  /// Every kernel as fibers. For tests, and for whoever doubts the splitting.
  bool only_fibers = false;
};

/// Something in the user's source that cannot be translated. Looks like a compiler's: "file.cu:12: error: ...".
struct finding {
  std::string file;
  std::uint32_t line = 0;
  std::string text;
};
std::string to_string(const finding& f);

/// A kernel that was found, and how its threads will run.
struct translated_kernel {
  std::string name;  ///< qualified, without template arguments
  std::uint32_t line = 0;
  execution how = execution::loop;
  std::string reason;  ///< why it is not a loop: "line 12: __shfl_down_sync needs all threads of a warp at once"
};

struct translation {
  std::string text;  ///< C++ for the system's compiler; only when there are no findings
  std::vector<translated_kernel> kernels;
  std::vector<finding> findings;
};

/// Rewrites preprocessed CUDA C++ (the output of `preprocessor_arguments`) as C++ whose kernels run whole blocks. See
/// translate.cpp for how. Never fails otherwise than by findings, whatever the text; takes time linear in its length.
translation translate(std::string_view preprocessed, const translate_options& options);

}  // namespace troupe::kernel
