// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <troupe/kernel/attributes.hpp>
#include <vector>

namespace troupe::kernel {

/// The contents of a kernel's mangled name: its name and its parameters.
struct demangled_kernel {
  std::string name;  ///< "ns::reduce<float, 256>"
  std::vector<parameter_attributes> parameters;
};

/// Returns nullopt if this is not the mangled name of a function, for example because the function is `extern "C"`. The
/// sizes of classes, and of classes that a parameter points to, are unknown and returned as 0.
std::optional<demangled_kernel> demangle_kernel(const std::string& mangled);

/// Mangles the name of a variable in nested namespaces: "ns::x" becomes "_ZN2ns1xE".
std::string mangle_variable(std::string_view name);

}  // namespace troupe::kernel
