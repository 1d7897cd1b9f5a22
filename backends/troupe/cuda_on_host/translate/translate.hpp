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

/// Returns the text of a file that the preprocessor has read, by its name in line markers.
using source_reader = std::function<std::optional<std::string>(const std::string& file)>;

struct translate_options {
  /// Name expressions of the image's kernels: "scale", "ns::reduce<float, 256>". If empty, the image has every kernel
  /// that is not a template.
  std::vector<std::string> kernels;
  /// Names of the image's __device__ and __constant__ variables.
  std::vector<std::string> globals;
  /// compiler_settings::cuda_folder: text from this folder is copied without being translated.
  std::string own_folder = {};
  /// Reads the user's files, to find the columns for the compiler's messages. If it is not set, the columns are those
  /// of the preprocessed text.
  source_reader read_source = {};
  /// Runs every kernel as fibers, even if it could run as a loop or be split at its barriers: for tests that compare
  /// both.
  bool only_fibers = false;
  /// Continues at an unmatched bracket. For tests with arbitrary text.
  bool any_brackets = false;
};

/// A part of the user's source that cannot be translated, printed like a compiler's message: "file.cu:12: error: ...".
struct finding {
  std::string file;
  std::uint32_t line = 0;
  std::string text;
};
std::string to_string(const finding& f);

/// A kernel of the source, and how its threads run.
struct translated_kernel {
  std::string name;  ///< qualified, without template arguments
  std::uint32_t line = 0;
  execution how = execution::loop;
  std::string reason;  ///< why the kernel is not a loop: "line 12: __shfl_down_sync waits for other threads"
};

struct translation {
  std::string text;  ///< C++ for the system's compiler; empty if there are findings
  std::vector<translated_kernel> kernels;
  std::vector<finding> findings;
  /// Findings in kernels that need a GPU and were not requested by name. The image contains these kernels only to
  /// report the finding when they are launched.
  std::vector<finding> left_out;
};

/// Rewrites preprocessed CUDA C++ (the output of `preprocessor_arguments`) as C++ whose kernels run whole blocks;
/// translate.cpp explains how. Never fails other than by findings, whatever the text. Takes time linear in the length
/// of the text.
///
/// The part that splits kernels at barriers is frozen: mend its defects, but add no language features. Base a larger
/// step on libclang.
translation translate(std::string_view preprocessed, const translate_options& options);

}  // namespace troupe::cuda_on_host
