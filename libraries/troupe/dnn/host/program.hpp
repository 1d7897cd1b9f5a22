// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <troupe/base/result.hpp>
#include <troupe/base/thread_team.hpp>
#include <troupe/dnn/onednn/vendor.hpp>
#include <troupe/dnn/steps/vendor_kernel.hpp>

namespace troupe::dnn::host {

/// The steps of a graph, and the kernels of its vendor steps, by oneDNN.
struct program : step_list {
  std::vector<std::unique_ptr<vendor_kernel>> vendor_kernels;
};
/// Plans a graph for `run`, with oneDNN unless `vendor` is null, in `workspace` bytes if possible.
result<program> plan(const encoded_graph& g, onednn::vendor* vendor, std::uint64_t workspace);
/// Runs the steps of a graph with this structure, on the memory of `g`. `scratch` is 64-byte aligned.
result<void> run(const program& all, const encoded_graph& g, std::byte* scratch, thread_team& team, const call& c);

}  // namespace troupe::dnn::host
