// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/kernel/launch.hpp>
#include <troupe/request/describe.hpp>

namespace troupe::kernel {
namespace {

// Those of CUDA, for compute capability 5.0 to 12.
constexpr dimensions most_blocks{0x7fffffff, 65535, 65535}, most_threads{1024, 1024, 64};
constexpr std::int64_t threads_of_a_block = 1024;
constexpr std::uint64_t most_argument_bytes = 32764;
constexpr std::uint32_t most_alignment = 128;

std::string text_of(const dimensions& d) {
  return "{" + detail::text(d.x) + ", " + detail::text(d.y) + ", " + detail::text(d.z) + "}";
}

void check_extents(checker& c, const dimensions& d, const dimensions& most) {
  const auto within = [](extent e, extent high) { return e >= 1 && e <= high; };
  if (within(d.x, most.x) && within(d.y, most.y) && within(d.z, most.z)) [[likely]]
    return;
  c.refuse(&d, "is " + text_of(d), "1 to " + text_of(most));
}

void check_values(checker& c, const arguments& values) {
  std::uint64_t bytes = 0;
  for (const argument& a : values.list()) {
    const bool by_value = a.is() == argument::kind::value;
    bytes += by_value ? a.bytes() : sizeof(std::uint64_t);
    if (a.alignment() > most_alignment) [[unlikely]]
      return c.refuse(&values, "hold a value aligned to " + std::to_string(a.alignment()) + " bytes",
                      "at most " + std::to_string(most_alignment));
  }
  if (bytes > most_argument_bytes) [[unlikely]]
    c.refuse(&values, "are " + std::to_string(bytes) + " bytes",
             "at most " + std::to_string(most_argument_bytes) + "; pass the rest in a buffer");
}

template <class Symbol>
void check_writes(checker& c, const Symbol& of) {
  c.also_writes(&of);
  of.of().core()->globals_are_written();
}

}  // namespace

void check_program(checker& c, const program& p, const void* field) {
  if (!p) [[unlikely]]
    return c.refuse(field, "is empty (default-made, or moved from)", "what compile or load gave");
  if (p.core()->unloaded()) [[unlikely]]
    c.refuse(field, "is of " + p.core()->name() + ", which was unloaded",
             "a program that is loaded; compile or load it again");
}

void check_launch(checker& c, const function& kernel, const dimensions& grid, const dimensions& block,
                  const extent& shared_bytes, const arguments& values, bool writes_globals) {
  check_program(c, kernel.of(), &kernel);
  c.require(!kernel.name().empty(), kernel, "has no name", "the name of a kernel");
  check_extents(c, grid, most_blocks);
  check_extents(c, block, most_threads);
  const extent threads = block.x * block.y * block.z;
  if (threads > threads_of_a_block) [[unlikely]]
    c.refuse(&block, "is " + text_of(block) + ", " + detail::text(threads) + " threads",
             "at most " + std::to_string(threads_of_a_block) + " threads");
  c.at_least(shared_bytes, 0);
  check_values(c, values);
  if (writes_globals && kernel.of()) check_writes(c, kernel);
  c.may_overlap_freely();
}

void check_global(checker& c, const global& variable, const extent& offset_bytes, bool writes) {
  check_program(c, variable.of(), &variable);
  c.require(!variable.name().empty(), variable, "has no name", "the name of a global variable");
  if (writes && variable.of()) check_writes(c, variable);
  c.at_least(offset_bytes, 0);
}

}  // namespace troupe::kernel
