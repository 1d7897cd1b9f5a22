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

/// The use of a variable at one mention of its name.
enum class use_kind : std::uint8_t {
  read,      ///< its value is read, and nothing else: this has been proven
  assigned,  ///< the variable, an element or a member is modified in place
  /// Its address is passed to a function that is not the user's and that does not keep it.
  lent,
  leaked,  ///< anything else: its address may be kept, or it may be modified now or later
};

struct name_use {
  std::size_t at = 0;
  std::size_t end = 0;           ///< after the name with its subscripts and members: x[i].y
  std::uint32_t subscripts = 0;  ///< directly after the name
  bool has_member = false;       ///< a . somewhere after the name
  bool through = false;          ///< preceded by * or followed by ->: the pointee is meant
  std::size_t pointee = 0;       ///< the first [ or -> after a member, x.p[i]: if p is a pointer, x only is read
  bool is_argument = false;      ///< a whole argument in a call of a function that is not the user's
  use_kind kind = use_kind::leaked;

  /// Returns true, for a pointer, if the pointer itself is unchanged, whatever happens to its target.
  bool leaves_pointer() const noexcept { return kind == use_kind::read || through || subscripts > 0; }
};

/// Every mention of a name in a function, except names of members.
struct name_uses {
  std::unordered_map<std::string_view, std::vector<name_use>> all;

  const std::vector<name_use>& of(std::string_view name) const;
  /// Returns true if the variable, assuming it is a number or pointer, may be written.
  bool contains(std::string_view name) const;
  /// The same, counting its elements and members.
  bool contains_with_elements(std::string_view name) const;
};

/// Examines tokens [begin, end) of a function whose parameters begin at token `parameters`. Names in `casts` are types
/// that are known not to be references: T(x) reads x.
name_uses find_uses(const token_list& source, const unit& u, std::size_t parameters, std::size_t begin, std::size_t end,
                    const std::unordered_set<std::string_view>& casts = {});

}  // namespace troupe::cuda_on_host
