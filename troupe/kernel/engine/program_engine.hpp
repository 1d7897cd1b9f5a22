// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/try.hpp>
#include <troupe/kernel/engine/program_store.hpp>
#include <troupe/worker/engine.hpp>

namespace troupe::kernel {

/// What the engines of all actors with kernels do alike. `Actor` names its requests: make, launch, write_global,
/// read_global, read_summary, read_attributes, read_occupancy, unload. `Programs` runs the kernels.
template <class Actor, class Programs>
class program_engine {
 public:
  using launch = typename Actor::launch;
  using write_global = typename Actor::write_global;
  using read_global = typename Actor::read_global;
  using read_summary = typename Actor::read_summary;
  using read_attributes = typename Actor::read_attributes;
  using read_occupancy = typename Actor::read_occupancy;

  result<void> run(const typename Actor::make& r, call&) { return programs_.make(root_at(r.root.data())); }
  result<void> run(const launch& r, call& c) {
    return programs_.run(r.kernel.of().root(),
                         {.request = name_of<launch>().data(),
                          .kernel = r.kernel.name(),
                          .grid = r.grid,
                          .block = r.block,
                          .shared_bytes = r.shared_bytes,
                          .values = r.arguments,
                          .cooperative = r.cooperative,
                          .cluster = r.cluster,
                          .dependent = r.dependent,
                          .shared_carveout = r.shared_carveout},
                         c);
  }
  result<void> run(const write_global& r, call& c) {
    return programs_.write(r.global.of().root(), r.global.name(), r.offset_bytes, r.source.data(), r.source.size(),
                           name_of<write_global>(), c);
  }
  result<void> run(const read_global& r, call& c) {
    return programs_.read(r.global.of().root(), r.global.name(), r.offset_bytes, r.target.data(), r.target.size(),
                          name_of<read_global>(), c);
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
  result<void> run(const typename Actor::unload& r, call&) {
    programs_.unload(root_at(r.root.data()));
    return {};
  }

  // After a restart the first who needs a program makes it: not where all lanes would wait.
  bool ready(const launch& r) { return programs_.is_known(r.kernel.of().root()); }
  bool ready(const write_global& r) { return programs_.is_known(r.global.of().root()); }
  bool ready(const read_global& r) { return programs_.is_known(r.global.of().root()); }
  bool ready(const read_summary& r) { return programs_.is_known(root_at(r.root)); }
  bool ready(const read_occupancy& r) { return programs_.is_known(root_at(r.root.data())); }
  bool ready(const read_attributes& r) { return programs_.is_known(root_at(r.root.data())); }

 protected:
  template <class... Parts>
  explicit program_engine(Parts&&... parts) : programs_(std::forward<Parts>(parts)...) {}

  Programs programs_;
};

}  // namespace troupe::kernel
