// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <troupe/kernel/attributes.hpp>
#include <vector>

namespace troupe::kernel {

/// What a mangled name tells of its kernel.
struct demangled_kernel {
  std::string name;  ///< "ns::reduce<float, 256>"
  std::vector<parameter_attributes> parameters;
};

/// Nothing when it is no mangled name of a function: of one that is `extern "C"`, say.
/// Of parameters passed by value that are no numbers, and of what pointers to those point to, the size is 0.
std::optional<demangled_kernel> demangle_kernel(const std::string& mangled);

/// "_ZN2ns1xE" for the variable "ns::x": of plain names in namespaces.
std::string mangle_variable(std::string_view name);

}  // namespace troupe::kernel
