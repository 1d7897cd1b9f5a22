// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <troupe/base/complex.hpp>
#include <troupe/epilogue/numbers.hpp>

/// Access to elements whose type is known only at run time, for tests.
namespace troupe::matmul::testing {

/// A real or a complex number.
struct element_value {
  double real = 0, imag = 0;
};
/// Reads an element.
inline element_value read(const void* place, dtype t) {
  if (t == dtype::c64) {
    complex64 z;
    std::memcpy(&z, place, sizeof z);
    return {z.real, z.imag};
  }
  if (t == dtype::c128) {
    complex128 z;
    std::memcpy(&z, place, sizeof z);
    return {z.real, z.imag};
  }
  return {epilogue::number_at(place, t), 0};
}
/// Rounds a value to the type and writes it.
inline void write(void* place, dtype t, element_value v) {
  if (t == dtype::c64) {
    const complex64 z(static_cast<float>(v.real), static_cast<float>(v.imag));
    std::memcpy(place, &z, sizeof z);
  } else if (t == dtype::c128) {
    const complex128 z(v.real, v.imag);
    std::memcpy(place, &z, sizeof z);
  } else {
    epilogue::put_number(place, t, v.real);
  }
}

}  // namespace troupe::matmul::testing
