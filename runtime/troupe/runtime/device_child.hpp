// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/device/device.hpp>

namespace troupe {

class child_handle;

/// A device as the child of a supervisor, beside actors. It is started when it serves; its worker's death is a crash,
/// so the strategy decides what happens next. In a child_spec:
///   {.id = "gpu", .start = [&rt] { return device_child(rt.open_device()); }}
/// Each restart is another device: hand it to your actors through the start function.
std::shared_ptr<child_handle> device_child(device d);

}  // namespace troupe
