// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string_view>
#include <troupe/base/clock.hpp>
#include <troupe/base/try.hpp>
#include <troupe/kernel/engine/program_store.hpp>
#include <troupe/kernel/requests.hpp>
#include <troupe/worker/engine.hpp>

namespace troupe::kernel {

/// Builds a program with `build(summary, log)`, which also records the origin and the size of the image in `summary`.
template <class Programs, class Build>
typename Programs::made built(Build&& build) {
  const std::int64_t begin = now_ns();
  build_summary s;
  std::string log;
  result<typename Programs::program_ref> program = build(s, log);
  if (program) {
    s.kernels = static_cast<std::uint32_t>((*program)->image().kernels().size());
    s.globals = static_cast<std::uint32_t>((*program)->image().globals().size());
  }
  s.duration_ns = now_ns() - begin;
  return {std::move(program), s, std::move(log)};
}

template <class Programs>
concept puts_launches_together = Programs::puts_together;

/// The base of the engines of all libraries with kernels. `Programs` runs the kernels.
template <fixed_string Library, class Programs>
class program_engine {
 public:
  using launch = kernel::launch<Library>;
  using write_global = kernel::write_global<Library>;
  using read_global = kernel::read_global<Library>;
  using read_summary = kernel::read_summary<Library>;
  using read_attributes = kernel::read_attributes<Library>;
  using read_occupancy = kernel::read_occupancy<Library>;

  template <fixed_string Verb>
  result<void> run(const make_program<Library, Verb>& r, call&) {
    return programs_.make(root_at(r.root.data()));
  }
  result<void> run(const launch& r, call& c) { return programs_.run(r.kernel.of().root(), order_of(r), c); }
  /// Returns a number that is equal for launches of the same kernel, grid and block. Returns 0 if the launch has
  /// attributes and must run alone. Launches with different numbers may run as one graph.
  static std::uint64_t sequence_of(const launch& r)
    requires(puts_launches_together<Programs>)
  {
    if (r.cooperative || r.dependent || r.cluster != dimensions(1) || r.shared_carveout >= 0) return 0;
    const std::uint64_t name = std::hash<std::string_view>()(r.kernel.name());
    const auto number = [](const extent& e) { return static_cast<std::uint64_t>(e.value()); };
    return (name ^ (number(r.grid.x) + 31 * number(r.grid.y)) << 32 ^ number(r.block.x)) | 1;
  }
  bool run_sequence(const group<launch>& all, call& c)
    requires(puts_launches_together<Programs>)
  {
    return programs_.run_sequence(
        all.size(),
        [&all](std::size_t i, const auto& f) {
          const launch r = all[i];
          return f(r.kernel.of().root(), order_of(r));
        },
        c);
  }
  result<void> run(const write_global& r, call& c) {
    const auto target = TROUPE_TRY(programs_.place(r.global, r.offset_bytes, r.source.size(), name_of<write_global>()));
    return Programs::copy(target.at, r.source.data(), r.source.size(), name_of<write_global>(), c);
  }
  result<void> run(const read_global& r, call& c) {
    const auto source = TROUPE_TRY(programs_.place(r.global, r.offset_bytes, r.target.size(), name_of<read_global>()));
    return Programs::copy(r.target.data(), source.at, r.target.size(), name_of<read_global>(), c);
  }
  result<build_summary> run(const read_summary& r, call&) {
    return programs_.summary(root_at(r.root), name_of<read_summary>());
  }
  result<attributes_head> run(const read_attributes& r, call& c) {
    auto known = TROUPE_TRY(programs_.attributes(root_at(r.root.data()), r.kernel, name_of<read_attributes>()));
    if (known.listing.size() <= r.listing.size())
      TROUPE_TRY(Programs::put(r.listing.data(), known.listing, name_of<read_attributes>(), c));
    return known.head;
  }
  result<occupancy> run(const read_occupancy& r, call&) {
    return programs_.occupancy_of(root_at(r.root.data()), {.request = name_of<read_occupancy>().data(),
                                                           .kernel = r.kernel,
                                                           .block = r.block,
                                                           .shared_bytes = r.shared_bytes,
                                                           .cluster = r.cluster});
  }
  result<void> run(const unload<Library>& r, call&) {
    programs_.unload(root_at(r.root.data()));
    return {};
  }

  // After a restart, the first request that uses a program builds it, outside of the lanes, which are not blocked
  // meanwhile.
  bool ready(const launch& r) { return programs_.is_known(r.kernel.of().root()); }
  bool ready(const write_global& r) { return programs_.is_known(r.global.of().root()); }
  bool ready(const read_global& r) { return programs_.is_known(r.global.of().root()); }
  bool ready(const read_summary& r) { return programs_.is_known(root_at(r.root)); }
  bool ready(const read_occupancy& r) { return programs_.is_known(root_at(r.root.data())); }
  bool ready(const read_attributes& r) { return programs_.is_known(root_at(r.root.data())); }

 private:
  static launch_order order_of(const launch& r) {
    return {.request = name_of<launch>().data(),
            .kernel = r.kernel.name(),
            .grid = r.grid,
            .block = r.block,
            .shared_bytes = r.shared_bytes,
            .values = r.arguments,
            .cooperative = r.cooperative,
            .cluster = r.cluster,
            .dependent = r.dependent,
            .shared_carveout = r.shared_carveout};
  }

 protected:
  using made = typename Programs::made;

  template <class Build>
  static made built(Build&& build) {
    return kernel::built<Programs>(std::forward<Build>(build));
  }

  template <class... Parts>
  explicit program_engine(Parts&&... parts) : programs_(std::forward<Parts>(parts)...) {}

  Programs programs_;
};

}  // namespace troupe::kernel
