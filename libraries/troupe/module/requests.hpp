// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/kernel/requests.hpp>
#include <troupe/module/image.hpp>

namespace troupe::module {

using launch = kernel::launch<"module">;
template <class Signature>
using typed_kernel = kernel::typed_kernel<launch, Signature>;
using write_global = kernel::write_global<"module">;
using read_global = kernel::read_global<"module">;

// The requests that `load` and the functions of an image send.
using load_image = kernel::make_program<"module", "load">;
using read_summary = kernel::read_summary<"module">;
using read_attributes = kernel::read_attributes<"module">;
using read_occupancy = kernel::read_occupancy<"module">;
using unload = kernel::unload<"module">;

using requests = kernel::requests<"module", "load">;

}  // namespace troupe::module
