// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#define TROUPE_EMBEDDED_AS(type, name, path, end) \
  asm(".section .rodata\n"                        \
      ".balign 16\n"                              \
      ".globl " #name                             \
      "\n"                                        \
      ".hidden " #name "\n" #name                 \
      ":\n"                                       \
      ".incbin \"" path "\"\n" end                \
      "\n"                                        \
      ".previous\n");                             \
  extern "C" __attribute__((visibility("hidden"))) const type name[]
/// Embeds the bytes of the file `path` in the program, as the array `name` at namespace scope.
#define TROUPE_EMBEDDED(name, path) TROUPE_EMBEDDED_AS(unsigned char, name, path, ".balign 16")
/// Embeds a text file in the same way, as a string with a terminating zero.
#define TROUPE_EMBEDDED_TEXT(name, path) TROUPE_EMBEDDED_AS(char, name, path, ".byte 0")
/// Embeds the kernels of a library, the fatbin that its kernels.cu is compiled to, and defines `load_kernels` for them.
#define TROUPE_EMBEDDED_KERNELS(library)                                                                           \
  TROUPE_EMBEDDED(troupe_##library##_kernels, TROUPE_KERNELS);                                                     \
  troupe::result<troupe::cuda::kernel_set> troupe::library::load_kernels() {                                       \
    return cuda::kernel_set::load(troupe_##library##_kernels, "troupe_" #library "_", "the kernels of " #library); \
  }
