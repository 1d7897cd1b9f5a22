// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <troupe/base/error.hpp>

namespace troupe {

/// What `tell` gives back: accepted, with its place in the mailbox, or refused. May be ignored: a refused request
/// leaves its outputs stale with the reason, so whoever reads them hears of it.
class submission {
 public:
  explicit submission(std::uint64_t ticket) noexcept : ticket_(ticket) {}
  submission(class error why) noexcept : error_(std::move(why)) {}

  explicit operator bool() const noexcept { return !error_; }
  /// Only when refused.
  const class error& error() const noexcept { return *error_; }
  /// Grows along the mailbox; 0 when refused.
  std::uint64_t ticket() const noexcept { return ticket_; }

 private:
  std::uint64_t ticket_ = 0;
  std::optional<class error> error_;
};

}  // namespace troupe
