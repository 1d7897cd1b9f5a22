// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The table of a plug-in. cells.inc, which the build makes, lists the cells: CELL(name) for each.
#include <troupe/cutlass/vendor/interface.hpp>

namespace troupe::cutlass::vendor {

#define CELL(name) extern "C" const cell* troupe_cell_##name();
#include "cells.inc"
#undef CELL

namespace {

const char kernels_header[] = {
#include "kernels_2x.inc"
};

}  // namespace

extern "C" [[gnu::visibility("default")]] const table* troupe_cutlass_cells() {
#define CELL(name) troupe_cell_##name(),
  static const cell* const all[] = {
#include "cells.inc"
  };
#undef CELL
  static const table made = {.version = interface_version,
                             .cell_bytes = sizeof(cell),
                             .launch_bytes = sizeof(launch),
                             .count = static_cast<int>(sizeof all / sizeof *all),
                             .cells = all,
                             .cutlass_version = TROUPE_CUTLASS_VERSION,
                             .compiler = TROUPE_CUTLASS_COMPILER,
                             .headers = TROUPE_CUTLASS_HEADERS,
                             .kernels_header = kernels_header};
  return &made;
}

}  // namespace troupe::cutlass::vendor
