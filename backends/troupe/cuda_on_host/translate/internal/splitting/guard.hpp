// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <troupe/cuda_on_host/translate/internal/edits.hpp>
#include <troupe/cuda_on_host/translate/internal/splitting/variables.hpp>

namespace troupe::cuda_on_host {

/// A bounds check at the beginning: `if (i >= n) return;` or `if (i < n) { the rest }`, after declarations without side
/// effects. Nearly all blocks are entirely within the bounds: testing that first spares the vector code from masking
/// its loads and stores, which is slow.
struct guard {
  std::size_t begin;  ///< where the declarations before the check begin
  std::size_t condition, condition_end;
  std::size_t statement;  ///< position of the `if`
  /// true: threads for which the condition holds return; false: only threads for which it holds have work
  bool leaves;
};

/// Looks for a bounds check at the beginning of tokens [begin, end), which are whole statements between barriers.
std::optional<guard> find_guard(const token_list& source, const level_variables& variables, std::size_t begin,
                                std::size_t end);

/// Returns the body of a function that returns true if a thread has work. It begins on a line of its own.
std::string guard_text(const edited_source& source, const guard& g);
/// Changes the check in the source so that every thread passes it if `troupe_inside` is true.
void skip_if_inside(edited_source& source, const guard& g);

}  // namespace troupe::cuda_on_host
