// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/device/device.hpp>
#include <vector>

namespace troupe {

/// A range of a block, and the access that a request has to it.
struct checked_access {
  memory_range where;
  access_mode mode;
};

/// Functions of a device for library actors. Programs do not need them.
class library_access {
 public:
  explicit library_access(const device& gpu) noexcept : device_(gpu) {}

  /// Returns the ranges that the request would touch, or the error with which it would be refused now. Does not check
  /// what may change before it is sent: whether an operand is stale or sealed. For callers that keep requests to send
  /// them later.
  template <request R>
  result<std::vector<checked_access>> check_for_later(const R& r) const {
    checker c(r, device_.owner(), device_.generation());
    r.check(c);
    return accesses(c);
  }
  /// Does the same for a ready request and the request that is sent for it.
  template <ready_request R>
  result<std::vector<checked_access>> check_for_later(const R& ready, const sent_as<R>& sent) const {
    const detail::ready_and_sent<R> both{ready, sent};
    checker c(both, device_.owner(), device_.generation());
    both.checked().check(c);
    return accesses(c);
  }
  /// Allocates memory that the application writes and workers can only read, so that it survives every fault. It counts
  /// as host memory.
  memory_range alloc_sent(extent bytes) const;
  /// Returns a handle to the device without a scope: for objects that outlive a client, such as programs and graphs.
  device unscoped() const;

 private:
  static result<std::vector<checked_access>> accesses(checker& c) {
    if (const auto& why = c.finish(true)) return *why;
    std::vector<checked_access> out;
    for (const operand_use& u : c.uses())
      out.push_back({{u.range->owner, u.touched.begin, u.touched.end - u.touched.begin}, u.touched.mode});
    return out;
  }

  device device_;
};

}  // namespace troupe
