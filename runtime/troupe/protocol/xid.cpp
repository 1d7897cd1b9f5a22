// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/containers/value_for.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/protocol/xid.hpp>

namespace troupe::protocol {
namespace {

constexpr const char *bad_memory = "memory had an error that cannot be corrected",
                     *own_processor = "the GPU's own processor failed";
constexpr std::pair<std::uint32_t, const char*> meanings[] = {
    {13, "a kernel used an address that is misaligned, or beyond its shared or local memory"},
    {31, "a kernel used an address where it has no memory, or may not write"},
    {43, "a kernel trapped, or an assertion in it failed"},
    {45, "the work of a program was ended after an error"},
    {48, bad_memory},
    {62, own_processor},
    {74, "NVLink failed"},
    {79, "the GPU has fallen off the bus"},
    {94, bad_memory},
    {95, bad_memory},
    {119, own_processor},
    {120, own_processor},
};

}  // namespace

bool xid_ends_a_program(std::uint32_t xid) noexcept { return xid == 13 || xid == 31 || xid == 43 || xid == 45; }

bool xid_is_told_early(std::uint32_t xid) noexcept { return xid == 13 || xid == 31; }

std::string xid_text(std::uint32_t xid) {
  return cat("Xid ", xid, " (", value_for(xid, meanings, "see NVIDIA's list of Xid errors"), ")");
}

}  // namespace troupe::protocol
