// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// For sources of this repository: not installed, and not included by any installed header.
#pragma once

#include <troupe/base/result.hpp>
#include <utility>

/// Evaluates to the value of a `result`, or returns its error from the enclosing function, which must return a `result`
/// or an `error`:
///     const auto plan = TROUPE_TRY(make_plan(request));
///     TROUPE_TRY(check(plan));
/// Use it as a statement, as a whole initializer, or as an argument.
#define TROUPE_TRY(...)                                  \
  __extension__({                                        \
    auto&& troupe_tried = (__VA_ARGS__);                 \
    if (!troupe_tried) [[unlikely]]                      \
      return troupe_tried.error();                       \
    *std::forward<decltype(troupe_tried)>(troupe_tried); \
  })
