// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/kernel/engine/cuda/image.hpp>
#include <troupe/kernel/engine/program_store.hpp>
#include <troupe/worker/engine.hpp>

namespace troupe::kernel {

/// The programs of a worker on a GPU. Work is enqueued on the stream of the request's lane.
class gpu_programs : public program_store<gpu_image> {
 public:
  gpu_programs(const gpu_limits& limits, maker make) : program_store(std::move(make)), limits_(limits) {}

  result<void> run(const program_root& root, const launch_order& l, call& c);
  result<occupancy> occupancy_of(const program_root& root, const occupancy_question& q);

  static result<void> copy(void* to, const void* from, std::uint64_t bytes, std::string_view request, call& c);
  /// Copies from the worker's memory to a request's memory, and waits: for helper threads.
  static result<void> put(std::byte* to, std::string_view what, std::string_view request, call& c);

 private:
  result<void> check_cooperative(const gpu_kernel& k, const launch_order& l, const CUlaunchConfig& how) const;
  result<void> check_maps(const launch_order& l) const;
  result<void> check_cluster(const dimensions& cluster, std::string_view request) const;

  gpu_limits limits_;
};

}  // namespace troupe::kernel
