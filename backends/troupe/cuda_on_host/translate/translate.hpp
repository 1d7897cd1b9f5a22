// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <troupe/cuda_on_host/execution.hpp>
#include <vector>

namespace troupe::cuda_on_host {

/// The text of a file that the preprocessor has read, by the name that it gives it.
using source_reader = std::function<std::optional<std::string>(const std::string& file)>;

struct translate_options {
  /// Name expressions of the kernels the image shall have: "scale", "ns::reduce<float, 256>". Empty: every kernel that
  /// is no template.
  std::vector<std::string> kernels;
  /// Names of the __device__ and __constant__ variables it shall have.
  std::vector<std::string> globals;
  /// compiler_settings::cuda_folder: what comes from there is copied, and not looked at.
  std::string own_folder = {};
  /// For the columns of the compiler's messages. Without it they are those of the preprocessed text.
  source_reader read_source = {};
  /// Every kernel as fibers. For tests, and to check the splitting.
  bool only_fibers = false;
  /// Goes on where a bracket has no partner, as if that did not matter. For tests that give it any text.
  bool any_brackets = false;
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
  /// Of kernels that were not asked for by name and cannot run on a processor. They are in the image, to say so.
  std::vector<finding> left_out;
};

/// Rewrites preprocessed CUDA C++ (the output of `preprocessor_arguments`) as C++ whose kernels run whole blocks. See
/// translate.cpp for how. Never fails otherwise than by findings, whatever the text; takes time linear in its length.
translation translate(std::string_view preprocessed, const translate_options& options);

}  // namespace troupe::cuda_on_host
