// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/file_descriptor.hpp>

namespace troupe {

/// Opens what a descriptor writes to a second time, so that a child cannot change the flags of this program's own, such
/// as O_NONBLOCK. Returns none if children do not inherit the descriptor, if it cannot be opened again, as for a
/// socket, or if both would overwrite each other's text: a file that is written at a position, which only descriptors
/// of one opening share.
file_descriptor open_output_again(int fd);

}  // namespace troupe
