// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <troupe/cuda_on_host/launcher.hpp>
#include <troupe/kernel/engine/program_store.hpp>
#include <troupe/worker/engine.hpp>

namespace troupe::cuda_on_host {

/// Returns the attributes of a kernel. program_store finds this through argument-dependent lookup.
kernel::attributes attributes_of(const loaded_kernel& k);

}  // namespace troupe::cuda_on_host

namespace troupe::kernel {

struct host_image : cuda_on_host::loaded_image {
  host_image(cuda_on_host::loaded_image image, bool ftz) noexcept
      : cuda_on_host::loaded_image(std::move(image)), flush_to_zero(ftz) {}
  bool flush_to_zero;
};

/// The programs of a worker of the host engine, which runs kernels on its threads.
class host_programs : public program_store<host_image> {
 public:
  using program_store::program_store;

  result<void> run(const program_root& root, const launch_order& l, call& c);
  result<occupancy> occupancy_of(const program_root& root, const occupancy_question& q);

  static result<void> copy(void* to, const void* from, std::uint64_t bytes, std::string_view, call&) {
    std::memcpy(to, from, bytes);
    return {};
  }
  /// Copies from the worker's memory to a request's memory.
  static result<void> put(std::byte* to, std::string_view what, std::string_view request, call& c) {
    return copy(to, what.data(), what.size(), request, c);
  }

 private:
  cuda_on_host::launcher launcher_;
};

}  // namespace troupe::kernel
