// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <troupe/kernel/attributes.hpp>
#include <vector>

namespace troupe::kernel {

/// The parameters of a kernel that its mangled name reveals.
struct demangled_kernel {
  std::string name;  ///< "ns::reduce<float, 256>"
  std::vector<parameter_attributes> parameters;
};

/// Returns nothing if the name is not the mangled name of a function, for example if the function is `extern "C"`. The
/// size is 0 for parameters of class type and for what pointers to such types point to.
std::optional<demangled_kernel> demangle_kernel(const std::string& mangled);

/// Mangles the name of a variable in nested namespaces: "ns::x" becomes "_ZN2ns1xE".
std::string mangle_variable(std::string_view name);

}  // namespace troupe::kernel
