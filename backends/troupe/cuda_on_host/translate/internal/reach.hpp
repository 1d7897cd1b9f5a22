// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <troupe/cuda_on_host/translate/internal/functions.hpp>
#include <troupe/cuda_on_host/translate/translate.hpp>
#include <unordered_set>

namespace troupe::cuda_on_host {

/// Whether a name is that of a barrier or an operation of a warp.
bool waits_for_others(std::string_view name) noexcept;

/// By which names code comes to wait for other threads. Decided by names alone, so that it errs on the side of waiting.
struct waiting_names {
  std::unordered_set<std::string_view> functions;  ///< of the user's, those that lead to one that waits
  bool cooperative_groups = false;                 ///< the source uses them, and so their members
  /// Something without a name waits (an operator, a constructor): who calls it cannot be seen.
  bool everything = false;
  std::string why;  ///< of `everything`

  bool contains(std::string_view name) const noexcept;
};

/// `also`: of definitions that wait for another reason.
waiting_names find_waiting(const token_list& source, const unit& u, const translate_options& options,
                           const std::function<bool(const definition&)>& also);

}  // namespace troupe::cuda_on_host
