// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/linux/file_descriptor.hpp>

namespace troupe {

/// Opens the file, pipe or terminal behind a descriptor again, so that a child cannot change flags of this program's
/// descriptor, such as O_NONBLOCK. Returns an empty descriptor if children do not inherit this one, if it cannot be
/// opened again (a socket), or if the two would overwrite each other's text (a file without O_APPEND, because each
/// opening has a position of its own).
file_descriptor open_output_again(int fd);

}  // namespace troupe
