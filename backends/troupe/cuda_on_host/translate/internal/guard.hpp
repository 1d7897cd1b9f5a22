// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <troupe/cuda_on_host/translate/internal/edits.hpp>
#include <troupe/cuda_on_host/translate/internal/variables.hpp>

namespace troupe::cuda_on_host {

/// `if (i >= n) return;` or `if (i < n) { all the rest }` behind declarations without effect. Nearly all blocks lie
/// inside of the bounds as a whole: asking first saves the vector code from masking all that it loads and stores, which
/// is slow.
struct guard {
  std::size_t begin;  ///< of the declarations before it
  std::size_t condition, condition_end;
  std::size_t statement;  ///< the `if`
  bool leaves;            ///< those for which it holds return; else the others have nothing to do
};

/// Looks for one at the beginning of tokens [begin, end), which are whole statements at the level of barriers.
std::optional<guard> find_guard(const token_list& source, const level_variables& variables, std::size_t begin,
                                std::size_t end);

/// The body of a function that says whether a thread has something to do; begins on a line of its own.
std::string guard_text(const edited_source& source, const guard& g);
/// Makes the guard in the source hold for all when `troupe_inside` is true.
void relax(edited_source& source, const guard& g);

}  // namespace troupe::cuda_on_host
