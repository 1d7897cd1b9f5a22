// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <troupe/base/result.hpp>
#include <troupe/base/thread_team.hpp>
#include <troupe/dnn/steps/steps.hpp>

namespace troupe::dnn::host {

/// How a graph is computed: made once for each structure, and used for all graphs that have it. Thread-safe.
class program {
 public:
  static result<std::shared_ptr<program>> make(const seen_graph& g);
  /// Memory beside the operands. It must be 64-byte aligned.
  std::uint64_t scratch_bytes() const noexcept { return all_.bytes; }
  /// `g` has the structure that this was made for; its addresses are used.
  void run(const seen_graph& g, std::byte* scratch, thread_team& team) const;

 private:
  step_list all_;
};

}  // namespace troupe::dnn::host
