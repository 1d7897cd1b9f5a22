// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/request/request_list.hpp>
#include <troupe/worker/engine_abi.hpp>
#include <type_traits>

/// Which lane serves a request, where that is not its library's own.
namespace troupe {

/// In the list of TROUPE_ENGINE: the request runs on a helper thread, because it compiles, searches or waits.
template <class R>
struct slow {};
/// In the list of TROUPE_ENGINE: the request runs on the lane for copies to the device.
template <class R>
struct uploads {};
/// In the list of TROUPE_ENGINE: the request runs on the lane for copies from the device.
template <class R>
struct downloads {};
/// In the list of TROUPE_ENGINE: the request runs when everything before it has run.
template <class R>
struct fences {};
/// In the list of TROUPE_ENGINE: the request takes no time itself, and runs right behind what it waits for.
template <class R>
struct follows {};
/// In the list of TROUPE_ENGINE: the request needs nothing that belongs to a lane, such as a workspace or a handle, so
/// it may run on the lane of any library.
template <class R>
struct anywhere {};
namespace detail {
template <template <class> class Mark, class List, class... Marked>
struct marked_among;
template <template <class> class Mark, class... R, class... Marked>
struct marked_among<Mark, request_list<R...>, Marked...> {
  template <class One>
  static constexpr bool is_marked = (std::is_same_v<One, Marked> || ...);
  static_assert((is_marked<R> + ... + 0) == sizeof...(Marked), "a marked request must be in the list, once");
  using type = request_list<std::conditional_t<is_marked<R>, Mark<R>, R>...>;
};
}  // namespace detail
/// A library's list in which these requests have one of the marks above:
///   TROUPE_ENGINE(openblas, "blas", "host", marked<slow, all_requests, load, search>)
template <template <class> class Mark, class List, class... Marked>
using marked = typename detail::marked_among<Mark, List, Marked...>::type;
template <class List, class... Slow>
using with_slow = marked<slow, List, Slow...>;

namespace detail {

template <class R, std::uint32_t Lane = troupe_lane_library>
struct operation_traits {
  using type = R;
  static constexpr std::uint32_t lane = Lane;
};
template <class R>
struct operation_traits<slow<R>> : operation_traits<R, troupe_lane_helper> {};
template <class R>
struct operation_traits<uploads<R>> : operation_traits<R, troupe_lane_upload> {};
template <class R>
struct operation_traits<downloads<R>> : operation_traits<R, troupe_lane_download> {};
template <class R>
struct operation_traits<follows<R>> : operation_traits<R, troupe_lane_behind> {};
template <class R>
struct operation_traits<anywhere<R>> : operation_traits<R, troupe_lane_anywhere> {};
template <class R>
struct operation_traits<fences<R>> : operation_traits<R, troupe_lane_fence> {};

}  // namespace detail
}  // namespace troupe
