// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/device/device.hpp>

namespace troupe {

class child_handle;

/// Makes a device the child of a supervisor, beside actors. It counts as started when its worker is ready. If it stops
/// with an error, that is a crash, and the supervisor's strategy decides what happens next. In a child_spec:
///   {.id = "gpu", .start = [&rt] { return device_child(rt.open_device()); }}
/// Each restart opens another device: pass the new one to your actors in the start function.
std::shared_ptr<child_handle> device_child(device d);

}  // namespace troupe
