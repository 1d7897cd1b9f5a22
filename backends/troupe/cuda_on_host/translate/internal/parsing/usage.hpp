// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <troupe/cuda_on_host/translate/internal/parsing/functions.hpp>
#include <troupe/cuda_on_host/translate/internal/parsing/words.hpp>
#include <troupe/cuda_on_host/translate/token.hpp>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace troupe::cuda_on_host {

/// The use of a variable at one occurrence of its name.
enum class use_kind : std::uint8_t {
  read,      ///< it has been proven that the value is read and nothing else happens
  assigned,  ///< the variable, an element or a member is modified in place
  /// Its address is passed to a function that is not the user's and that does not keep it.
  lent,
  leaked,  ///< anything else: the address may be kept, or the variable may be modified now or later
};

struct name_use {
  std::size_t at = 0;
  std::size_t end = 0;           ///< the position after the name with its subscripts and members: x[i].y
  std::uint32_t subscripts = 0;  ///< number of subscripts directly after the name
  bool has_member = false;       ///< a . follows, possibly after subscripts
  bool through = false;          ///< a * precedes or a -> follows: the use is one of the pointee
  /// position of the first [ or -> after a member, as in x.p[i]: if p is a pointer, x itself is only read
  std::size_t pointee = 0;
  bool is_argument = false;  ///< the operand is a whole argument in a call of a function that is not the user's
  use_kind kind = use_kind::leaked;

  /// Returns true if the variable, assuming it is a pointer, is unchanged itself, whatever happens to its pointee.
  bool leaves_pointer() const noexcept { return kind == use_kind::read || through || subscripts > 0; }
};

/// Every mention of a name in a function, except names of members.
struct name_uses {
  std::unordered_map<std::string_view, std::vector<name_use>> all;

  const std::vector<name_use>& of(std::string_view name) const;
  /// Returns true if a variable of this name, assuming it is a number or pointer, may be written.
  bool contains(std::string_view name) const;
  /// Returns true if a variable of this name, one of its elements or one of its members may be written.
  bool contains_with_elements(std::string_view name) const;
};

/// Examines tokens [begin, end) of a function whose parameters begin at token `parameters`. `casts` contains names of
/// types that are known not to be references, so T(x) reads x.
name_uses find_uses(const token_list& source, const unit& u, std::size_t parameters, std::size_t begin, std::size_t end,
                    const std::unordered_set<std::string_view>& casts = {});

}  // namespace troupe::cuda_on_host
