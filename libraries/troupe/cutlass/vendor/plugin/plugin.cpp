// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The table of the plug-in. variants.inc, which the build generates, has a line VARIANT(name) for each kernel.
#include <troupe/cutlass/vendor/interface.hpp>

namespace troupe::cutlass::vendor {

#define VARIANT(name) extern "C" const kernel_variant* troupe_variant_##name();
#include "variants.inc"
#undef VARIANT

namespace {

const char kernels_header[] = {
#include "kernels_2x.inc"
};

}  // namespace

extern "C" [[gnu::visibility("default")]] const table* troupe_cutlass_variants() {
#define VARIANT(name) troupe_variant_##name(),
  static const kernel_variant* const all[] = {
#include "variants.inc"
  };
#undef VARIANT
  static const table contents = {.version = interface_version,
                                 .variant_bytes = sizeof(kernel_variant),
                                 .launch_bytes = sizeof(launch),
                                 .count = static_cast<int>(sizeof all / sizeof *all),
                                 .variants = all,
                                 .cutlass_version = TROUPE_CUTLASS_VERSION,
                                 .compiler = TROUPE_CUTLASS_COMPILER,
                                 .headers = TROUPE_CUTLASS_HEADERS,
                                 .kernels_header = kernels_header};
  return &contents;
}

}  // namespace troupe::cutlass::vendor
