// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <troupe/base/result.hpp>
#include <troupe/cutlass/vendor/interface.hpp>
#include <vector>

namespace troupe::cutlass::vendor {

/// CUTLASS's kernels, from the plug-in that is built where its headers are found. The plug-in stays loaded.
class cells {
 public:
  /// Loads a plug-in; fails with `unsupported` if the file is missing or was built with another version of the
  /// interface.
  static result<cells> load(const std::string& file);
  /// Checks that a table fits this code; for tables that are not in a plug-in.
  static result<cells> make(const table* t);

  std::span<const cell* const> all() const noexcept { return {table_->cells, static_cast<std::size_t>(table_->count)}; }
  /// Null if there is none of this name.
  const cell* find(std::string_view name) const noexcept;
  const table& contents() const noexcept { return *table_; }

  /// What `troupe doctor` shows: the version, which cells ran, and which compile but were never run.
  std::vector<std::string> notes() const;

 private:
  explicit cells(const table* t) noexcept : table_(t) {}
  const table* table_;
};

/// Whether a cell has machine code that a GPU of this capability (90 for 9.0) executes.
bool runs_on(const cell& c, int capability);
/// Whether any of us has such a chip: a cell's numbers are tested if so, otherwise it only compiles.
inline constexpr int tested_capability = 90;

/// Fails if the kernel on the current device has parameters of another size than the plug-in's host code fills. Compare
/// before the first launch: two compilers have disagreed on the alignment of a CUtensorMap.
result<void> compare_parameters(const cell& c);

/// Enqueues a launch that `check` let pass.
result<void> enqueue(const cell& c, const launch& l, void* workspace, long long bytes, void* stream);

/// What NVRTC needs to compile the kernel of a cell that has `source`.
struct run_time_source {
  std::string text;         ///< has a kernel `troupe_cell` and the size of its parameters, `troupe_parameter_bytes`
  std::string header_name;  ///< that of `header`, for nvrtcCreateProgram
  std::string header;
  std::vector<std::string> options;
};
/// Makes the source for a chip ("sm_90"). `headers` is CUTLASS's folder of headers, `cuda_headers` CUDA's. The text
/// does not compile if its parameters have another size than parameter_bytes.
result<run_time_source> source_for_nvrtc(const cells& from, const cell& c, std::string_view chip,
                                         std::string_view headers, std::string_view cuda_headers);

}  // namespace troupe::cutlass::vendor
