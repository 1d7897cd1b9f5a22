// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/jit/program.hpp>
#include <troupe/kernel/requests.hpp>

namespace troupe::jit {

using launch = kernel::launch<"jit">;
template <class Signature>
using typed_kernel = kernel::typed_kernel<launch, Signature>;
using write_global = kernel::write_global<"jit">;
using read_global = kernel::read_global<"jit">;

// Sent by the functions of a program.
using compile_recipe = kernel::make_program<"jit", "compile">;
using read_summary = kernel::read_summary<"jit">;
using read_attributes = kernel::read_attributes<"jit">;
using read_occupancy = kernel::read_occupancy<"jit">;
using unload = kernel::unload<"jit">;

/// Copies the first bytes of the compiled image. Sent by `program::image`.   nvrtcGetCUBIN
struct read_image {
  in<std::byte> root;  ///< the program's root, which keeps it from being unloaded meanwhile
  out<std::byte> target;
  using reply = std::uint64_t;  ///< size of the image in bytes
  TROUPE_REQUEST("jit.image", root, target)
  void check(checker& c) const { c.elements(root, kernel::program_root::bytes); }
};

using requests = joined_requests<kernel::requests<"jit", "compile">, request_list<read_image>>;

}  // namespace troupe::jit
