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

/// The same for a text, as the characters `name`, with a zero at the end.
#define TROUPE_EMBEDDED_TEXT(name, path) \
  asm(".section .rodata\n"               \
      ".globl " #name                    \
      "\n"                               \
      ".hidden " #name "\n" #name        \
      ":\n"                              \
      ".incbin \"" path                  \
      "\"\n"                             \
      ".byte 0\n"                        \
      ".previous\n");                    \
  extern "C" __attribute__((visibility("hidden"))) const char name[]
