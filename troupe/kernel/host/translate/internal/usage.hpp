// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>
#include <troupe/kernel/host/translate/internal/functions.hpp>
#include <troupe/kernel/host/translate/internal/token.hpp>
#include <unordered_map>
#include <vector>

namespace troupe::kernel {

/// Where in a function names are written to, or may be: assigned, counted up, their address taken, bound to a
/// reference, handed to somebody who might take one. Names of members do not count. Errs on the side of writing.
/// Writing to what a pointer points to, `p[i] = x`, is told apart, because it leaves the pointer alone.
struct written_names {
  std::unordered_map<std::string_view, std::vector<std::size_t>> at;
  std::unordered_map<std::string_view, std::vector<std::size_t>> elements_at;

  bool contains(std::string_view name) const { return at.contains(name); }
  bool contains_with_elements(std::string_view name) const { return at.contains(name) || elements_at.contains(name); }
};

/// Looks at tokens [begin, end) of a function whose parameters begin at token `parameters`.
written_names find_written(const token_list& source, const unit& u, std::size_t parameters, std::size_t begin,
                           std::size_t end);

/// Whether the identifier at `i` is the name of a member: behind . -> or ::
bool is_member(const token_list& source, std::size_t i) noexcept;

}  // namespace troupe::kernel
