// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/jit/requests.hpp>

namespace troupe::jit {

void launch::check(checker& c) const { kernel::check_launch(c, *this); }
void write_global::check(checker& c) const { kernel::check_global(c, global, offset_bytes, true); }
void read_global::check(checker& c) const { kernel::check_global(c, global, offset_bytes, false); }

// These are made of parts of a program, by its own functions.
void compile_recipe::check(checker& c) const {
  c.require(state.size() >= kernel::program_root::state_bytes, state, "is too small", "a program's state");
  c.elements(root, kernel::program_root::bytes);
}
void read_summary::check(checker& c) const { c.elements(state, kernel::program_root::state_bytes); }
void read_image::check(checker& c) const { c.elements(root, kernel::program_root::bytes); }
void read_attributes::check(checker& c) const {
  c.elements(root, troupe::kernel::program_root::bytes);
  c.require(!kernel.empty(), kernel, "is empty", "the name of a kernel");
}
void read_occupancy::check(checker& c) const {
  c.elements(root, troupe::kernel::program_root::bytes);
  c.require(!kernel.empty(), kernel, "is empty", "the name of a kernel");
  troupe::kernel::check_block(c, block, shared_bytes, cluster, true);
}
void unload::check(checker& c) const {
  c.elements(root, kernel::program_root::bytes);
  c.elements(state, kernel::program_root::state_bytes);
}

}  // namespace troupe::jit
