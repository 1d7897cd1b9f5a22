// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
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

void prefetch::check(checker& c) const { check_managed(*this, c); }
void advise::check(checker& c) const { check_managed(*this, c); }
void look_at_managed::check(checker& c) const { check_managed(*this, c); }

}  // namespace troupe::memory
