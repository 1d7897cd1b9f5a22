// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <troupe/cuda_on_host/translate/internal/parsing/functions.hpp>
#include <troupe/cuda_on_host/translate/translate.hpp>
#include <unordered_set>

namespace troupe::cuda_on_host {

/// Returns true if this is the name of a barrier or a warp operation.
bool waits_for_others(std::string_view name) noexcept;

/// The names through which code can reach a wait for other threads. Decided by names alone: if in doubt, a name is
/// included.
struct waiting_names {
  std::unordered_set<std::string_view> functions;  ///< the user's functions that may reach a wait
  /// the source uses cooperative groups, so calls of their members may wait
  bool cooperative_groups = false;
  /// An unnamed function waits (an operator, a constructor), so its callers cannot be found.
  bool callers_unknown = false;
  std::string reason;  ///< why callers_unknown is true

  bool contains(std::string_view name) const noexcept;
};

/// Finds the names through which code can reach a wait. `also` returns true for definitions that wait for another
/// reason.
waiting_names find_waiting_names(const token_list& source, const unit& u, const translate_options& options,
                                 const std::function<bool(const definition&)>& also);

}  // namespace troupe::cuda_on_host
