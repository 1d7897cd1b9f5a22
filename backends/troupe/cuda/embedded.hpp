// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Puts the bytes of a file into the program, as the array `name` of namespace scope.
#define TROUPE_EMBEDDED(name, path) \
  asm(".section .rodata\n"          \
      ".balign 16\n"                \
      ".globl " #name               \
      "\n"                          \
      ".hidden " #name "\n" #name   \
      ":\n"                         \
      ".incbin \"" path             \
      "\"\n"                        \
      ".balign 16\n"                \
      ".previous\n");               \
  extern "C" __attribute__((visibility("hidden"))) const unsigned char name[]
