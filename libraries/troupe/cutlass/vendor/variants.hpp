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

/// The kernels of a plug-in, which is built if CUTLASS's headers are found. The plug-in stays loaded.
class kernel_variants {
 public:
  /// Loads a plug-in; fails with `unsupported` if the file is missing or was built with another version of the
  /// interface.
  static result<kernel_variants> load(const std::string& file);
  /// Checks that a table has the interface of this code. Public for tables that are not in a plug-in.
  static result<kernel_variants> make(const table* t);

  std::span<const kernel_variant* const> all() const noexcept {
    return {table_->variants, static_cast<std::size_t>(table_->count)};
  }
  /// Returns the kernel with this name, or null.
  const kernel_variant* find(std::string_view name) const noexcept;
  const table& contents() const noexcept { return *table_; }

  /// Returns the notes that `troupe doctor` shows: the version, the kernels that were tested on a GPU, and the kernels
  /// that were only compiled.
  std::vector<std::string> notes() const;

 private:
  explicit kernel_variants(const table* t) noexcept : table_(t) {}
  const table* table_;
};

/// Returns true if a kernel has machine code that a GPU of this capability (90 for 9.0) executes.
bool runs_on(const kernel_variant& c, int capability);
/// The capability of the GPUs on which results were tested; kernels for other GPUs were only compiled.
inline constexpr int tested_capability = 90;

/// Fails if the kernel's parameters have another size in its device code than in the plug-in's host code. Call this
/// before the first launch: two compilers have disagreed on the alignment of a CUtensorMap.
result<void> compare_parameters(const kernel_variant& c);

/// Enqueues a launch that `check` has accepted.
result<void> enqueue(const kernel_variant& c, const launch& l, void* workspace, long long bytes, void* stream);

/// The input of NVRTC for a kernel that has a `source`.
struct run_time_source {
  /// The definitions of the kernel `troupe_vendor_variant` and of the size of its parameters, `troupe_parameter_bytes`.
  std::string text;
  std::string header_name;  ///< name of `header`, for nvrtcCreateProgram
  std::string header;
  std::vector<std::string> options;
};
/// Makes the source for an architecture ("sm_90"). `headers` and `cuda_headers` are the folders of CUTLASS's and CUDA's
/// headers. The text does not compile if its parameters have another size than parameter_bytes.
result<run_time_source> source_for_nvrtc(const kernel_variants& from, const kernel_variant& c,
                                         std::string_view architecture, std::string_view headers,
                                         std::string_view cuda_headers);

}  // namespace troupe::cutlass::vendor
