// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/text/cat.hpp>
#include <troupe/faults/requests.hpp>

namespace troupe::faults {

void exit::check(checker& c) const {
  c.at_least(code, 0);
  if (code > 255) c.refuse(&code, cat("is ", code.value()), "an exit code from 0 to 255");
}
void hang::check(checker& c) const { c.at_least(milliseconds, 0); }
void exhaust_memory::check(checker& c) const { c.positive(most_bytes); }
void wild_write::check(checker& c) const {
  if (address % sizeof pattern != 0) c.refuse(&address, cat("is ", address), "a multiple of 4");
  c.positive(bytes);
}

}  // namespace troupe::faults
