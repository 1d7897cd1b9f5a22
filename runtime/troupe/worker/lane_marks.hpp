// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/request/request_list.hpp>
#include <troupe/worker/engine_abi.hpp>
#include <type_traits>

/// Marks requests in the list of TROUPE_ENGINE that do not run on their library's own lane.
namespace troupe {

namespace detail {
template <class R, std::uint32_t Lane>
struct on_lane {
  using request_on_lane = R;
  static constexpr std::uint32_t lane = Lane;
};
}  // namespace detail

/// Runs the request on a helper thread, because it compiles, searches or waits.
template <class R>
struct slow : detail::on_lane<R, troupe_lane_helper> {};
/// Runs the request on the lane for copies to the device.
template <class R>
struct uploads : detail::on_lane<R, troupe_lane_upload> {};
/// Runs the request on the lane for copies from the device.
template <class R>
struct downloads : detail::on_lane<R, troupe_lane_download> {};
/// Runs the request when everything before it has run.
template <class R>
struct fences : detail::on_lane<R, troupe_lane_fence> {};
/// Runs the request, which takes no time itself, right after the operations that it waits for.
template <class R>
struct follows : detail::on_lane<R, troupe_lane_behind> {};
/// Lets the request run on the lane of any library, because it uses nothing that belongs to a lane, such as a handle.
template <class R>
struct anywhere : detail::on_lane<R, troupe_lane_anywhere> {};
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
/// A library's list in which the given requests are marked: marked<slow, all_requests, load, search>
template <template <class> class Mark, class List, class... Marked>
using marked = typename detail::marked_among<Mark, List, Marked...>::type;
template <class List, class... Slow>
using with_slow = marked<slow, List, Slow...>;

namespace detail {

template <class R>
struct operation_traits : on_lane<R, troupe_lane_library> {};
template <class R>
  requires requires { typename R::request_on_lane; }
struct operation_traits<R> : R {};

}  // namespace detail
}  // namespace troupe
