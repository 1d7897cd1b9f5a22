// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/actor/receipt.hpp>

namespace troupe {

error empty_reference() {
  return error(reaction::caller_bug, "actor",
               "the reference refers to no actor: it was made without one or moved from");
}

error closed_stage() {
  return error(reaction::stopped, "actor", "its stage was closed before it was spawned: nothing was built");
}

}  // namespace troupe
