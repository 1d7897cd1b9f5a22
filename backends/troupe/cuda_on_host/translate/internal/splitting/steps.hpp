// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <troupe/cuda_on_host/translate/internal/edits.hpp>
#include <troupe/cuda_on_host/translate/internal/parsing/functions.hpp>
#include <unordered_set>
#include <utility>
#include <vector>

namespace troupe::cuda_on_host {

/// Finds where the threads of a warp must run in lockstep. The threads of a GPU's warp access shared memory at the same
/// time, so some sources omit barriers: `v[t] += v[t + 16]; v[t] += v[t + 8];`. Threads that run one after the other
/// must wait for each other between such accesses.

/// A function's stores to volatile memory that is not in a buffer, if other threads may read the values before the next
/// barrier.
struct volatile_steps {
  struct store {
    /// of the statement; `assignment` is the position of its assignment operator, or `end` for ++
    std::size_t begin, assignment, end;
  };
  std::vector<store> stores;
  /// Statements around these stores in which control flow may diverge, outer ones last.
  std::vector<std::pair<std::size_t, std::size_t>> joins;

  bool empty() const noexcept { return stores.empty(); }
};
volatile_steps find_volatile_steps(const token_list& source, const unit& u, const definition& function);
/// Inserts steps, at which the threads of a warp wait for each other. `rank` orders the threads that wait in different
/// functions: those with the lowest rank continue first.
void write_steps(edited_source& source, const volatile_steps& steps, std::size_t rank);

/// Returns the first tokens of the statements before which a step is needed: in a list of statements that contains a
/// barrier, those that access shared memory in another way than an earlier statement since the last barrier.
std::unordered_set<std::size_t> find_shared_steps(const token_list& source, const unit& u, const definition& function,
                                                  const std::function<bool(std::string_view)>& waits);
void write_steps(edited_source& source, const std::unordered_set<std::size_t>& before, std::size_t rank);

}  // namespace troupe::cuda_on_host
