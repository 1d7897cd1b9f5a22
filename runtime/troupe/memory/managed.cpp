// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/cat.hpp>
#include <troupe/memory/managed.hpp>

namespace troupe::memory {
namespace {

template <class R>
void check_managed(const R& r, checker& c) {
  c.positive(r.bytes);
  const block_ref& owner = r.range.range().owner;
  c.require(!owner || owner->address == 0 || owner->managed, r.range, "is not managed memory",
            "a buffer of alloc_managed(), or a slice of one");
  c.elements(r.range, r.bytes);
}

}  // namespace

void prefetch::check(checker& c) const {
  if (to > managed_place::host) c.refuse(&to, cat("is ", static_cast<int>(to)), "managed_place::device or host");
  check_managed(*this, c);
}

void advise::check(checker& c) const {
  if (what > managed_advice::no_accessed_by)
    c.refuse(&what, cat("is ", static_cast<int>(what)), "an enumerator of managed_advice");
  if (where > managed_place::host)
    c.refuse(&where, cat("is ", static_cast<int>(where)), "managed_place::device or host");
  check_managed(*this, c);
}

void look_at_managed::check(checker& c) const { check_managed(*this, c); }

}  // namespace troupe::memory
