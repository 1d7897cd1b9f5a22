// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// For our own sources: not installed, and included by no header that is.
#pragma once

#include <troupe/base/result.hpp>
#include <utility>

/// The value of a `result`, or a return with its error from the function around, which returns a `result` or an
/// `error`:
///     const auto plan = TROUPE_TRY(make_plan(request));
///     TROUPE_TRY(check(plan));
/// Stands as a statement of its own, as the whole of an initializer, or as an argument.
#define TROUPE_TRY(...)                                  \
  __extension__({                                        \
    auto&& troupe_tried = (__VA_ARGS__);                 \
    if (!troupe_tried) [[unlikely]]                      \
      return troupe_tried.error();                       \
    *std::forward<decltype(troupe_tried)>(troupe_tried); \
  })
