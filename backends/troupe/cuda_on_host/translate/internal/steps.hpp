// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <troupe/cuda_on_host/translate/internal/edits.hpp>
#include <troupe/cuda_on_host/translate/internal/functions.hpp>
#include <unordered_set>
#include <utility>
#include <vector>

namespace troupe::cuda_on_host {

/// Where threads of a warp must go on in step. The threads of a GPU's warp read and write shared memory at the same
/// time, so that sources get along without a barrier: `v[t] += v[t + 16]; v[t] += v[t + 8];`. Threads that run one
/// after the other must wait for each other between such accesses.

/// Stores to volatile memory that lies in no buffer, in a function where other threads may read what they write before
/// the next barrier.
struct volatile_steps {
  struct store {
    std::size_t begin, assignment, end;  ///< the statement; `assignment` is the = or its like, or `end` for ++
  };
  std::vector<store> stores;
  std::vector<std::pair<std::size_t, std::size_t>>
      joins;  ///< statements around them in which ways part, outer ones last

  bool empty() const noexcept { return stores.empty(); }
};
volatile_steps find_volatile_steps(const token_list& source, const unit& u, const definition& function);
/// `rank` says how far behind the function's threads are when those of others wait as well: the lowest goes on first.
void write_steps(edited_source& source, const volatile_steps& steps, std::size_t rank);

/// Statements, by their first tokens, before which there should be a step: in a list of statements with a barrier,
/// those that use shared memory in another way than a statement before them, behind the last barrier.
std::unordered_set<std::size_t> find_shared_steps(const token_list& source, const unit& u, const definition& function,
                                                  const std::function<bool(std::string_view)>& waits);
void write_steps(edited_source& source, const std::unordered_set<std::size_t>& before, std::size_t rank);

}  // namespace troupe::cuda_on_host
