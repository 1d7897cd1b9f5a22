// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <type_traits>

namespace troupe {

/// The requests of a library, with all their element types: one list for its engines, its checks and its tests.
///   using all = joined_requests<requests_for<types<float, double>, dot, nrm2>, request_list<reset>>;
template <class... R>
struct request_list {
  static constexpr std::size_t size = sizeof...(R);
};

/// A list of element types for requests. If a request has several template parameters, each element is a `types<...>`:
///   types<types<half, float>, types<float, float>>
template <class... T>
struct types {};

namespace detail {

template <class... Lists>
struct join : std::type_identity<request_list<>> {};
template <class... R>
struct join<request_list<R...>> : std::type_identity<request_list<R...>> {};
template <class... A, class... B, class... Lists>
struct join<request_list<A...>, request_list<B...>, Lists...> : join<request_list<A..., B...>, Lists...> {};

template <template <class...> class R, class T>
struct with : std::type_identity<R<T>> {};
template <template <class...> class R, class... T>
struct with<R, types<T...>> : std::type_identity<R<T...>> {};

template <class Types, template <class...> class... R>
struct for_types;
template <class... T, template <class...> class... R>
struct for_types<types<T...>, R...> {
  template <template <class...> class One>
  using each = request_list<typename with<One, T>::type...>;
  using type = typename join<each<R>...>::type;
};

}  // namespace detail

/// The concatenation of several request lists.
template <class... Lists>
using joined_requests = typename detail::join<Lists...>::type;

/// The list of each request R with each of the types.
template <class Types, template <class...> class... R>
using requests_for = typename detail::for_types<Types, R...>::type;

}  // namespace troupe
