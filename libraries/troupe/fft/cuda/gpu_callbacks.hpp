// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <troupe/fft/callbacks.hpp>
#include <troupe/fft/internal/callback_recipe.hpp>
#include <troupe/jit/cuda/nvrtc/nvrtc_builder.hpp>
#include <troupe/kernel/engine/program_store.hpp>
#include <vector>

namespace troupe::fft {

/// Callbacks in the form that cuFFT takes: link-time code that becomes part of the plans that use it.
class link_time_code {
 public:
  struct symbol {
    std::string name;
    void* address = nullptr;
    std::uint64_t bytes = 0;
  };
  link_time_code() = default;
  link_time_code(callback_recipe what, std::shared_ptr<const std::string> image,
                 std::shared_ptr<const std::string> forwarder) noexcept;

  bool loads() const noexcept { return loads_; }
  bool stores() const noexcept { return stores_; }
  std::string_view code() const noexcept { return code_; }
  /// Returns code whose `forwarding_function` calls the store function of `code`; empty unless there are both
  /// functions.
  std::string_view forwarder() const noexcept { return forwarding_code_; }

  // Required of every program; this one has no kernels and globals.
  const std::vector<symbol>& kernels() const noexcept { return none_; }
  const std::vector<symbol>& globals() const noexcept { return none_; }
  const symbol* find_kernel(std::string_view) const noexcept { return nullptr; }
  const symbol* find_global(std::string_view) const noexcept { return nullptr; }

 private:
  bool loads_ = false, stores_ = false;
  std::shared_ptr<const std::string> image_, forwarder_;
  std::string_view code_, forwarding_code_;  // parts of the images
  std::vector<symbol> none_;
};

/// The callbacks of a worker, compiled by NVRTC on first use. Thread-safe.
class gpu_callbacks {
 public:
  /// Makes the callbacks of a worker. If NVRTC is not available, only compiling callbacks fails.
  explicit gpu_callbacks(jit::capability gpu, bool may_compile = true);

  result<void> make(const kernel::program_root& root) { return programs_.make(root); }
  result<kernel::build_summary> summary(const kernel::program_root& root) {
    return programs_.summary(root, name_of<read_summary>());
  }
  void unload(const kernel::program_root& root) { programs_.unload(root); }
  bool is_known(const kernel::program_root& root) { return programs_.is_known(root); }
  using ref = std::shared_ptr<const kernel::loaded_program<link_time_code>>;
  result<ref> find(const kernel::program_root& root, std::string_view request) { return programs_.find(root, request); }

 private:
  using store = kernel::program_store<link_time_code>;
  store::made make_program(const kernel::program_root& root);
  result<std::shared_ptr<const std::string>> forwarder_for(const callback_recipe& what);

  std::optional<error> missing_;
  std::unique_ptr<jit::nvrtc_builder> builder_;
  store programs_;
};

}  // namespace troupe::fft
