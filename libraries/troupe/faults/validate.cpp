// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/faults/requests.hpp>

namespace troupe::faults {

void exit::check(checker& c) const {
  c.at_least(code, 0);
  c.require(code <= 255, code, "is above 255", "an exit code");
}
void hang::check(checker& c) const { c.at_least(milliseconds, 0); }
void exhaust_memory::check(checker& c) const { c.positive(most_bytes); }
void wild_write::check(checker& c) const {
  c.require(address % sizeof pattern == 0, address, "is no multiple of 4", "where a number of 32 bits may be");
  c.positive(bytes);
}

}  // namespace troupe::faults
