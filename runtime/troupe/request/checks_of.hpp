// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// For the sources of Troupe: not installed, and not included by any installed header.
#pragma once

#include <troupe/request/checker.hpp>
#include <troupe/request/request_list.hpp>
#include <tuple>
#include <utility>

namespace troupe::detail {

template <class R>
constexpr auto check_of() {
  if constexpr (ready_request<R>)
    return std::pair(&R::check, &R::to_request);
  else
    return &R::check;
}
template <class List>
struct checks_of;
template <class... R>
struct checks_of<request_list<R...>> {
  static constexpr std::tuple all{check_of<R>()...};
};

}  // namespace troupe::detail

/// Instantiates the `check` of each request of the list, which the source defines above as a template, and the
/// `to_request` of each ready request.
#define TROUPE_CHECKS(...) template struct troupe::detail::checks_of<__VA_ARGS__>;
/// Instantiates FUNCTION(request, checker), a function template of this namespace that the `check` of each request of
/// the list calls.
#define TROUPE_CHECKED_BY(FUNCTION, LIST)             \
  template <class List>                               \
  struct FUNCTION##_of;                               \
  template <class... R>                               \
  struct FUNCTION##_of<troupe::request_list<R...>> {  \
    static constexpr std::tuple all{&FUNCTION<R>...}; \
  };                                                  \
  template struct FUNCTION##_of<LIST>;
