// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/fft/callbacks.hpp>
#include <troupe/fft/internal/callback_recipe.hpp>
#include <troupe/fft/placement.hpp>
#include <troupe/jit/host/host_builder.hpp>

namespace troupe::fft {

/// Callbacks on the host: kernels that gather the elements of a layout before a transform, and scatter them after it.
/// Thread-safe.
class host_callbacks {
 public:
  explicit host_callbacks(bool may_compile);

  result<void> make(const kernel::program_root& root) { return programs_.make(root); }
  result<kernel::build_summary> summary(const kernel::program_root& root) {
    return programs_.summary(root, name_of<read_summary>());
  }
  void unload(const kernel::program_root& root) { programs_.unload(root); }
  bool is_known(const kernel::program_root& root) { return programs_.is_known(root); }

  static bool loads(const kernel::program_root& root) noexcept;
  static bool stores(const kernel::program_root& root) noexcept;
  /// Writes what the load function returns for the elements of `places` in `input`, without gaps, to `into`.
  result<void> load(const kernel::program_root& root, const void* input, void* into, const placement& places,
                    const void* data, std::string_view request);
  /// Calls the store function for each of the contiguous elements at `from`, with its position in `output`.
  result<void> store(const kernel::program_root& root, const void* from, void* output, const placement& places,
                     void* data, std::string_view request);

 private:
  result<void> run(const kernel::program_root& root, const char* kernel, const void* from, void* to,
                   const placement& places, const void* data, std::string_view request);

  jit::host_builder builder_;
  kernel::host_programs programs_;
  cuda_on_host::launcher launcher_;
};

}  // namespace troupe::fft
