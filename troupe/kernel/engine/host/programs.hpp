// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <troupe/kernel/engine/program_store.hpp>
#include <troupe/kernel/host/launcher.hpp>
#include <troupe/worker/engine.hpp>

namespace troupe::kernel {

struct host_image : loaded_image {
  host_image(loaded_image image, bool ftz) noexcept : loaded_image(std::move(image)), flush_to_zero(ftz) {}
  bool flush_to_zero;
};

attributes attributes_of(const loaded_kernel& k);

/// The programs of a worker of the host engine, which runs them on its threads.
class host_programs : public program_store<host_image> {
 public:
  using program_store::program_store;

  result<void> run(const program_root& root, const launch_order& l, call& c);
  result<occupancy> occupancy_of(const program_root& root, const occupancy_question& q);

  static result<void> copy(void* to, const void* from, std::uint64_t bytes, std::string_view, call&) {
    std::memcpy(to, from, bytes);
    return {};
  }
  /// Puts what the worker knows into memory of a request.
  static result<void> put(std::byte* to, std::string_view what, std::string_view request, call& c) {
    return copy(to, what.data(), what.size(), request, c);
  }

 private:
  launcher launcher_;
};

}  // namespace troupe::kernel
