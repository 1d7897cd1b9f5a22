// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <troupe/base/enumeration.hpp>
#include <troupe/base/processor/x86_processor.hpp>

/// Selects the kernels that OpenBLAS computes with. OpenBLAS chooses them when it is loaded, from a list of processor
/// models. For a processor that its version does not know, it may choose kernels that are many years older.
/// OPENBLAS_CORETYPE in the environment overrides the list. All names of kernels are OpenBLAS's, for example "Haswell".
namespace troupe {

inline constexpr const char* openblas_variable = "OPENBLAS_CORETYPE";

/// Returns the kernels that OpenBLAS 0.3.21 chooses by itself.
std::string_view openblas_takes(const x86_processor& p) noexcept;
/// Returns the kernels that use everything that OpenBLAS can use of a processor.
std::string_view best_openblas_kernels(const x86_processor& p) noexcept;
/// Returns true if the kernels leave a part of the processor unused, or need more than it has, which would end the
/// process.
bool unfit(std::string_view kernels, const x86_processor& p) noexcept;

/// The choice of kernels in this process.
struct kernel_choice {
  enum class chooser : std::uint8_t { user, troupe, openblas };
  chooser by = chooser::openblas;
  std::string users;      ///< the value of OPENBLAS_CORETYPE, if set
  std::string_view own;   ///< the choice of OpenBLAS 0.3.21
  std::string_view best;  ///< the best for the processor; passed to OpenBLAS if Troupe chooses
  x86_processor processor;

  /// Makes the choice for a processor. `setting` is the value of OPENBLAS_CORETYPE; null: not set.
  static kernel_choice of(const x86_processor& p, const char* setting);
  static kernel_choice here();

  /// Returns the variable for the environment in which OpenBLAS is loaded: "OPENBLAS_CORETYPE=SkylakeX". Empty if the
  /// user has set that variable, or if OpenBLAS chooses the right kernels by itself.
  std::string setting() const;
  /// Returns a text such as "SkylakeX, chosen by Troupe: OpenBLAS 0.3.21 takes Prescott here". `in_use` is what
  /// OpenBLAS reports.
  std::string text(std::string_view in_use) const;
  /// Returns what the user should do if the kernels in use are unfit for the processor; empty if they are fit.
  std::string remedy(std::string_view in_use) const;
};
TROUPE_ENUM(kernel_choice::chooser, user, troupe, openblas)

}  // namespace troupe
