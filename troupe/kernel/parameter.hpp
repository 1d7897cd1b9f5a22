// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <troupe/base/dtype.hpp>

namespace troupe::kernel {

enum class parameter_kind : std::uint8_t { value, const_pointer, pointer, unknown };

/// A parameter of a kernel, as its engine knows it.
struct parameter {
  parameter_kind kind;
  dtype type;               ///< of the value, or of what the pointer points to; `dtype{}` for another type
  std::uint64_t bytes;      ///< of the same; 0 for a pointer to void, or to what nobody knows
  std::uint64_t alignment;  ///< of the same; 0 when nobody knows
  std::string spelling;     ///< as C++ spells it; empty when only the size is known
};

}  // namespace troupe::kernel
