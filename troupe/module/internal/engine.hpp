// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/kernel/engine/program_engine.hpp>
#include <troupe/module/requests.hpp>

namespace troupe::module {

struct actor {
  using make = load_image;
  using launch = module::launch;
  using write_global = module::write_global;
  using read_global = module::read_global;
  using read_summary = module::read_summary;
  using read_attributes = module::read_attributes;
  using read_occupancy = module::read_occupancy;
  using unload = module::unload;
};

/// What the engines of module do alike. `Programs` runs the kernels.
template <class Programs>
using engine_with = kernel::program_engine<actor, Programs>;

}  // namespace troupe::module
