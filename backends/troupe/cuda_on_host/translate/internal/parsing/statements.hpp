// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <troupe/cuda_on_host/translate/token.hpp>
#include <vector>

namespace troupe::cuda_on_host {

/// A statement of a kernel. Inner statements are parsed only where they contain barriers. Positions are indices of
/// tokens; an end is the index after the last token.
struct statement {
  enum class form : std::uint8_t { plain, barrier, compound, branch, for_loop, while_loop, do_loop };

  form kind = form::plain;
  std::size_t begin = 0, end = 0;
  std::size_t condition = 0, condition_end = 0;  ///< of a branch or loop, without the parentheses
  std::size_t start = 0, start_end = 0;          ///< first part of a for, without the semicolon
  std::size_t step = 0, step_end = 0;            ///< third part of a for
  bool is_constexpr = false;                     ///< true for if constexpr
  std::vector<statement> inner;                  ///< compound: all statements; branch: then, else; loop: the body
};

/// The statements of a whole body.
struct body_outline {
  statement whole;       ///< of kind compound
  std::string obstacle;  ///< why the body cannot be split; empty if nothing in its statements prevents it
};

/// Returns the end of the statement that begins at `begin`, at most `limit`, or `begin` if it cannot be determined.
std::size_t statement_end(const token_list& source, std::size_t begin, std::size_t limit);

/// Parses the compound statement that begins at `open`, down to its statements `__syncthreads();`.
body_outline outline(const token_list& source, std::size_t open);

}  // namespace troupe::cuda_on_host
