// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <troupe/base/result.hpp>
#include <troupe/base/threads/thread_team.hpp>
#include <troupe/dnn/onednn/kernel_maker.hpp>
#include <troupe/dnn/steps/steps.hpp>
#include <troupe/dnn/steps/vendor_kernel.hpp>

namespace troupe::dnn::host {

/// The plan of a graph on the host: its steps, and the vendor kernels (oneDNN) of its fused steps.
struct host_plan : step_list {
  std::vector<std::unique_ptr<vendor_kernel>> vendor_kernels;
};
/// Plans a graph. Uses oneDNN unless `onednn` is null or the plan with oneDNN needs more than `workspace` bytes.
result<host_plan> make_host_plan(const encoded_graph& g, onednn::kernel_maker* onednn, std::uint64_t workspace);
/// Runs a plan on the memory of `g`, a graph with the structure that was planned. `workspace` must be a multiple of 64.
result<void> run(const host_plan& plan, const encoded_graph& g, std::byte* workspace, thread_team& team, call& c);

}  // namespace troupe::dnn::host
