// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// For our own sources: not installed, and included by no header that is.
#pragma once

#include <troupe/base/for_each.hpp>
#include <troupe/request/checker.hpp>
#include <troupe/request/request_list.hpp>
#include <tuple>

namespace troupe::detail {

template <class List>
struct checks_of;
template <class... R>
struct checks_of<request_list<R...>> {
  static constexpr std::tuple all{&R::check...};
};

}  // namespace troupe::detail

/// The requests R<T> of the list are checked by FUNCTION(request, checker).
#define TROUPE_CHECKED_BY(FUNCTION, ...) TROUPE_FOR_EACH(TROUPE_CHECKED_BY_ONE, FUNCTION, __VA_ARGS__)
#define TROUPE_CHECKED_BY_ONE(FUNCTION, R) \
  template <class T>                       \
  void R<T>::check(checker& check) const { \
    FUNCTION(*this, check);                \
  }

/// Makes the `check` of each request of the list, which the source before this line defines as a template.
#define TROUPE_CHECKS(...) template struct troupe::detail::checks_of<__VA_ARGS__>;
