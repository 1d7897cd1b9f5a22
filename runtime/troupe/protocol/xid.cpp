// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/text/cat.hpp>
#include <troupe/protocol/xid.hpp>

namespace troupe::protocol {
namespace {

const char* meaning_of(std::uint32_t xid) noexcept {
  switch (xid) {
    case 13:
      return "a kernel used an address that is misaligned, or beyond its shared or local memory";
    case 31:
      return "a kernel used an address where it has no memory, or may not write";
    case 43:
      return "a kernel trapped, or an assertion in it failed";
    case 45:
      return "the work of a program was ended after an error";
    case 48:
    case 94:
    case 95:
      return "memory had an error that cannot be corrected";
    case 62:
    case 119:
    case 120:
      return "the GPU's own processor failed";
    case 74:
      return "NVLink failed";
    case 79:
      return "the GPU has fallen off the bus";
    default:
      return "see NVIDIA's list of Xid errors";
  }
}

}  // namespace

bool xid_ends_a_program(std::uint32_t xid) noexcept { return xid == 13 || xid == 31 || xid == 43 || xid == 45; }

bool xid_is_told_early(std::uint32_t xid) noexcept { return xid == 13 || xid == 31; }

std::string xid_text(std::uint32_t xid) { return cat("Xid ", xid, " (", meaning_of(xid), ")"); }

}  // namespace troupe::protocol
