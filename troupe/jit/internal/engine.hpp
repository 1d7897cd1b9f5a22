// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <troupe/jit/requests.hpp>
#include <troupe/kernel/engine/program_store.hpp>
#include <troupe/worker/engine.hpp>

namespace troupe::jit {

/// What the engines of jit do alike. `Programs` runs the kernels.
template <class Programs>
class engine_with {
 public:
  result<void> run(const compile_recipe& r, call&) { return programs_.make(kernel::root_at(r.root.data())); }
  result<void> run(const launch& r, call& c) {
    return programs_.run(r.kernel.of().root(),
                         {.request = "jit.launch",
                          .kernel = r.kernel.name(),
                          .grid = r.grid,
                          .block = r.block,
                          .shared_bytes = r.shared_bytes,
                          .values = r.arguments,
                          .cooperative = r.cooperative},
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
  result<kernel::build_summary> run(const read_summary& r, call&) {
    return programs_.summary(kernel::root_at(r.root), name_of<read_summary>());
  }
  result<std::uint64_t> run(const read_image& r, call&) {
    const auto program = programs_.find(kernel::root_at(r.root.data()), name_of<read_image>());
    if (!program) return program.error();
    const std::string& bytes = (*program)->bytes();
    std::memcpy(r.target.data(), bytes.data(), std::min<std::size_t>(bytes.size(), r.target.size()));
    return std::uint64_t{bytes.size()};
  }
  result<kernel::attributes_head> run(const read_attributes& r, call&) {
    return programs_.attributes(kernel::root_at(r.root.data()), r.kernel, r.listing.data(), r.listing.size(),
                                name_of<read_attributes>());
  }
  result<void> run(const unload& r, call&) {
    programs_.unload(kernel::root_at(r.root.data()));
    return {};
  }

  // After a restart the first who needs a program makes it: not where all lanes would wait.
  bool ready(const launch& r) { return programs_.is_known(r.kernel.of().root()); }
  bool ready(const write_global& r) { return programs_.is_known(r.global.of().root()); }
  bool ready(const read_global& r) { return programs_.is_known(r.global.of().root()); }
  bool ready(const read_summary& r) { return programs_.is_known(kernel::root_at(r.root)); }
  bool ready(const read_image& r) { return programs_.is_known(kernel::root_at(r.root.data())); }
  bool ready(const read_attributes& r) { return programs_.is_known(kernel::root_at(r.root.data())); }

 protected:
  template <class... Parts>
  explicit engine_with(Parts&&... parts) : programs_(std::forward<Parts>(parts)...) {}

 private:
  Programs programs_;
};

}  // namespace troupe::jit
