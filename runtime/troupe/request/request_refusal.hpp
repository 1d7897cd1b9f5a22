// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <troupe/base/enumeration.hpp>
#include <troupe/base/error.hpp>
#include <troupe/request/encoding/fields.hpp>
#include <troupe/request/extent.hpp>
#include <troupe/request/operands/operand_uses.hpp>

namespace troupe {

/// The reason why the check of a request refuses it, as an error that names the request and the field. The first
/// refusal is kept; later ones are ignored.
class request_refusal {
 public:
  using field_name_fn = std::string (*)(const void* request, const void* field);
  using find_field_fn = const void* (*)(const void* request, std::string_view name);
  request_refusal(const void* request, std::string_view name, field_name_fn field_name,
                  find_field_fn find_field = nullptr) noexcept
      : request_(request), name_(name), field_name_(field_name), find_field_(find_field) {}

  explicit operator bool() const noexcept { return why_.has_value(); }
  const std::optional<error>& why() const noexcept { return why_; }
  std::string field_name(const void* field) const { return field_name_(request_, field); }
  /// Returns the address of the ready request's field with this name; null if there is none.
  const void* find_field(std::string_view name) const {
    return find_field_ != nullptr ? find_field_(request_, name) : nullptr;
  }

  /// Refuses with the text `name: field value; expected ...`.
  void refuse(const void* field, std::string_view value, std::string_view expected);
  /// Refuses a field that is less than `low`. `hint` is appended to the text.
  void refuse_less(const void* field, extent value, extent low, std::string_view hint);
  /// Refuses an operand that holds fewer than `count` elements. `shape` is the formula for the count, or empty.
  void refuse_short(const operand_use& u, extent count, std::string_view shape);
  /// Refuses a field that has a value without an enumerator, or a request or group with such a field. Only for
  /// enumerations that TROUPE_ENUM describes.
  template <class F>
  void check_enumerators(const F& f) {
    if constexpr (described_enum<F>) {
      if (!is_known(f)) [[unlikely]]
        refuse_unknown(&f, static_cast<std::int64_t>(f), names_of<F>);
    } else if constexpr (field_group<F>) {
      f.visit_fields(f, [self = this](std::string_view, const auto&... each) { (self->check_enumerators(each), ...); });
    }
  }
  /// Reports a mistake in the request's `check` itself, as a fatal error.
  void blame(std::string_view what);
  /// Refuses with the error that the operand's memory carries.
  void pass_on(const error& cause, bool is_stale = true);
  /// Refuses likewise, for an operand that the request writes in part: the rest would stay stale.
  void refuse_to_keep(const void* field, const error& cause);
  /// Refuses for a reason outside of the request's fields.
  void fail(const error& why, bool passed_on = false) {
    if (why_) return;
    why_ = why;
    passed_on_ = passed_on;
  }
  /// Returns true if the reason is an error that an operand's memory carries.
  bool is_passed_on() const noexcept { return passed_on_; }

 private:
  void refuse_unknown(const void* field, std::int64_t value, std::string_view names);

  const void* request_;
  std::string_view name_;
  field_name_fn field_name_;
  find_field_fn find_field_;
  std::optional<error> why_;
  bool passed_on_ = false;
};

}  // namespace troupe
