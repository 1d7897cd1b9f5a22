// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <troupe/cuda_on_host/translate/internal/functions.hpp>
#include <troupe/cuda_on_host/translate/internal/words.hpp>
#include <troupe/cuda_on_host/translate/token.hpp>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace troupe::cuda_on_host {

/// What happens to a variable where its name stands.
enum class use_kind : std::uint8_t {
  read,      ///< its value is taken, and nothing else: this has been proven
  assigned,  ///< it, an element or a member is changed on the spot
  handed,    ///< its address goes to a function that is not the user's, which does not keep it
  leaked,    ///< anything else: somebody may hold its address, or change it now or later
};

struct name_use {
  std::size_t at = 0;
  std::size_t end = 0;           ///< behind the name with its subscripts and members: x[i].y
  std::uint32_t subscripts = 0;  ///< that stand directly behind the name
  bool has_member = false;       ///< a . somewhere behind it
  bool through = false;          ///< * in front or -> behind: what it points to is meant
  bool is_argument = false;      ///< alone between the commas of a call of a function that is not the user's
  use_kind kind = use_kind::leaked;

  /// When it is a pointer: whether it stays as it is, whatever happens to what it points to.
  bool leaves_pointer() const noexcept { return kind == use_kind::read || through || subscripts > 0; }
};

/// Every place where the names of a function stand, but for names of members.
struct name_uses {
  std::unordered_map<std::string_view, std::vector<name_use>> all;

  const std::vector<name_use>& of(std::string_view name) const;
  /// Whether the variable may be written to, were it a number or pointer.
  bool contains(std::string_view name) const;
  /// The same, where elements and members count.
  bool contains_with_elements(std::string_view name) const;
};

/// Looks at tokens [begin, end) of a function whose parameters begin at token `parameters`. Names in `casts` are types
/// that are known to be no references: T(x) reads x.
name_uses find_uses(const token_list& source, const unit& u, std::size_t parameters, std::size_t begin, std::size_t end,
                    const std::unordered_set<std::string_view>& casts = {});

}  // namespace troupe::cuda_on_host
