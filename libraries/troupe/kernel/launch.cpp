// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/text/cat.hpp>
#include <troupe/kernel/launch.hpp>
#include <troupe/request/encoding/describe.hpp>

namespace troupe::kernel {
namespace {

// CUDA's limits, for compute capabilities 5.0 to 12.
constexpr dimensions most_blocks{0x7fffffff, 65535, 65535}, most_threads{1024, 1024, 64};
constexpr std::int64_t threads_of_a_block = 1024;
constexpr std::int64_t most_of_any_cluster = 8, most_of_a_cluster = 16;
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
    const bool map = a.is() == argument::kind::map;
    bytes += !a.has_memory() ? a.bytes() : map ? tensor_descriptor_bytes : sizeof(std::uint64_t);
    if (map) [[unlikely]]
      if (const auto wrong = complaint_about(a.layout(), a.type(), a.range().address, a.range().bytes))
        return c.refuse(&a, "is a tensor map whose " + wrong->value, wrong->expected);
    if (a.alignment() > most_alignment) [[unlikely]]
      return c.refuse(&values, cat("hold a value aligned to ", a.alignment(), " bytes"),
                      cat("at most ", most_alignment));
  }
  if (bytes > most_argument_bytes) [[unlikely]]
    c.refuse(&values, cat("have ", bytes, " bytes"),
             cat("at most ", most_argument_bytes, "; pass the rest in a buffer"));
}

template <class Symbol>
void check_writes(checker& c, const Symbol& of) {
  c.also_writes(&of);
  of.of().core()->note_global_write();
}

}  // namespace

void check_program(checker& c, const program& p, const void* field) {
  if (!p) [[unlikely]]
    return c.refuse(field, "is empty (default-constructed, or moved from)", "a program returned by compile or load");
  if (p.core()->unloaded()) [[unlikely]]
    c.refuse(field, "belongs to " + p.core()->name() + ", which was unloaded",
             "a program that is loaded; compile or load it again");
}

void check_block(checker& c, const dimensions& block, const extent& shared_bytes, const dimensions& cluster,
                 bool non_portable_cluster) {
  check_extents(c, block, most_threads);
  const extent threads = block.x * block.y * block.z;
  if (threads > threads_of_a_block) [[unlikely]]
    c.refuse(&block, "is " + text_of(block) + ", " + detail::text(threads) + " threads",
             cat("at most ", threads_of_a_block, " threads"));
  c.at_least(shared_bytes, 0);
  if (cluster == dimensions(1)) [[likely]]
    return;
  const std::int64_t most = non_portable_cluster ? most_of_a_cluster : most_of_any_cluster;
  check_extents(c, cluster, {most, most, most});
  if (const extent all = cluster.x * cluster.y * cluster.z; all > most)
    c.refuse(&cluster, "is " + text_of(cluster) + ", " + detail::text(all) + " blocks",
             cat("at most ", most, " blocks",
                 non_portable_cluster ? "" : ", or up to 16 with non_portable_cluster, where the GPU can"));
}

void check_launch(checker& c, const launch_fields& l) {
  check_program(c, l.kernel.of(), &l.kernel);
  c.require(!l.kernel.name().empty(), l.kernel, "has no name", "the name of a kernel");
  check_extents(c, l.grid, most_blocks);
  check_block(c, l.block, l.shared_bytes, l.cluster, l.non_portable_cluster);
  const auto divides = [](extent part, extent all) { return part < 1 || all < 1 || all.value() % part.value() == 0; };
  if (!divides(l.cluster.x, l.grid.x) || !divides(l.cluster.y, l.grid.y) || !divides(l.cluster.z, l.grid.z))
      [[unlikely]]
    c.refuse(&l.cluster, "is " + text_of(l.cluster) + ", which does not divide grid, " + text_of(l.grid),
             "a whole number of clusters in each direction");
  if (l.shared_carveout < -1 || l.shared_carveout > 100) [[unlikely]]
    c.refuse(&l.shared_carveout, cat("is ", l.shared_carveout), "0 to 100 per cent, or -1 to let the driver decide");
  check_values(c, l.values);
  if (l.writes_globals && l.kernel.of()) check_writes(c, l.kernel);
  c.may_overlap_freely();
}

void check_global(checker& c, const global& variable, const extent& offset_bytes, bool writes) {
  check_program(c, variable.of(), &variable);
  c.require(!variable.name().empty(), variable, "has no name", "the name of a global variable");
  if (writes && variable.of()) check_writes(c, variable);
  c.at_least(offset_bytes, 0);
}

void check_kernel(checker& c, const in<std::byte>& root, const text& kernel) {
  c.elements(root, program_root::bytes);
  c.require(!kernel.empty(), kernel, "is empty", "the name of a kernel");
}

}  // namespace troupe::kernel
