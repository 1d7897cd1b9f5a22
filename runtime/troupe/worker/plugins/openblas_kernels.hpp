// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <troupe/base/x86_processor.hpp>

/// Which of its kernels OpenBLAS computes with. OpenBLAS looks at the processor when it is loaded, and goes by a list
/// of models. A processor that its version does not know may get kernels that are many years older than itself.
/// OPENBLAS_CORETYPE in the environment overrules the list. All names here are OpenBLAS's, as in "Haswell".
namespace troupe {

inline constexpr const char* openblas_variable = "OPENBLAS_CORETYPE";

/// What OpenBLAS 0.3.21 takes by itself.
std::string_view openblas_takes(const x86_processor& p) noexcept;
/// The kernels that use all of a processor that OpenBLAS can use.
std::string_view best_openblas_kernels(const x86_processor& p) noexcept;
/// Whether kernels leave a part of the processor unused, or need more than it has, which ends the process.
bool unfit(std::string_view kernels, const x86_processor& p) noexcept;

/// How the kernels of this process come to be chosen.
struct kernel_choice {
  enum class chooser : std::uint8_t { user, troupe, openblas };
  chooser by = chooser::openblas;
  std::string users;      ///< what OPENBLAS_CORETYPE holds, where it is set
  std::string_view own;   ///< what OpenBLAS 0.3.21 takes by itself
  std::string_view best;  ///< for the processor; what Troupe tells OpenBLAS where it is Troupe that chooses
  x86_processor processor;

  /// `setting`: the value of OPENBLAS_CORETYPE; null where it is not set.
  static kernel_choice of(const x86_processor& p, const char* setting);
  static kernel_choice here();

  /// The line for the environment in which OpenBLAS is loaded: "OPENBLAS_CORETYPE=SkylakeX". Empty where the user has
  /// set the variable, to whatever it is, and where OpenBLAS finds the right kernels by itself.
  std::string setting() const;
  /// "SkylakeX, chosen by Troupe: OpenBLAS 0.3.21 takes Prescott here". `in_use` is what OpenBLAS says.
  std::string text(std::string_view in_use) const;
  /// What to do where kernels are in use that are not fit for the processor; empty where they are.
  std::string remedy(std::string_view in_use) const;
};
std::string_view to_string(kernel_choice::chooser c) noexcept;

}  // namespace troupe
