// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/cuda/embedded.hpp>
#include <troupe/cutlass/prebuilt/bundle.hpp>

#ifdef TROUPE_BUNDLE
TROUPE_EMBEDDED(troupe_cutlass_bundle, TROUPE_BUNDLE);
extern "C" __attribute__((visibility("hidden"))) const unsigned char troupe_cutlass_bundle_end[];
asm(".section .rodata\n.globl troupe_cutlass_bundle_end\n.hidden "
    "troupe_cutlass_bundle_end\ntroupe_cutlass_bundle_end:\n.byte 0\n.previous\n");
#endif

namespace troupe::cutlass::prebuilt {

std::string_view bundle_of_engine() {
#ifdef TROUPE_BUNDLE
  return {reinterpret_cast<const char*>(troupe_cutlass_bundle),
          static_cast<std::size_t>(troupe_cutlass_bundle_end - troupe_cutlass_bundle)};
#else
  return {};
#endif
}

}  // namespace troupe::cutlass::prebuilt
