// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace troupe {

/// The facts from CPUID by which kernels are chosen. An extension counts as present only if the operating system saves
/// its registers.
struct x86_processor {
  std::string vendor;           ///< "GenuineIntel"
  std::uint32_t signature = 0;  ///< leaf 1, EAX: stepping, model and family, with their extensions

  bool sse4a = false, ssse3 = false, sse4_2 = false;
  bool avx = false;
  bool avx2 = false, fma = false;
  bool scalar_v3 = false;  ///< BMI1, BMI2, LZCNT, MOVBE and F16C, which compilers use along with AVX2
  bool avx512_vl = false;
  bool avx512 = false;  ///< F, CD, BW, DQ and VL
  bool avx512_bf16 = false;

  /// The raw fields of `signature`. The base family is 6 for all of Intel's Core line; only if it is 15, the extended
  /// family is added to it.
  std::uint32_t base_family() const noexcept { return signature >> 8 & 0xf; }
  std::uint32_t extended_family() const noexcept { return signature >> 20 & 0xff; }
  std::uint32_t low_model() const noexcept { return signature >> 4 & 0xf; }
  std::uint32_t extended_model() const noexcept { return signature >> 16 & 0xf; }
  /// The model as the manuals of Intel and AMD write it, for example 0xcf.
  std::uint32_t model() const noexcept { return extended_model() << 4 | low_model(); }

  static x86_processor of_this_machine();
};

}  // namespace troupe
