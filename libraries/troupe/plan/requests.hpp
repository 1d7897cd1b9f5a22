// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <troupe/base/text/fixed_string.hpp>
#include <troupe/plan/statistics.hpp>
#include <troupe/request/checker.hpp>
#include <troupe/request/request.hpp>

/// The requests about plans. A library that has plans makes them its own: `using troupe::plan::prepare;`
namespace troupe::plan {

namespace detail {
template <class R>
inline constexpr auto prepare_name = [] {
  troupe::detail::fixed_name name;
  name.append(library_of<R>());
  name.append(".prepare");
  return name;
}();
}  // namespace detail

/// Chooses, makes and keeps the plan of `request` for later requests like it, without writing to its operands. The type
/// of `request.options` defines `prepare_options` and the reply, `plan_info`.
///   const auto info = gpu.ask(cutlass::prepare{request, 8}).get();
template <class R>
struct prepare {
  R request;
  std::int32_t measure = 0;  ///< number of plans to measure; 0: none, a cost model or heuristic chooses the plan
  typename decltype(R::options)::prepare_options options = {};
  using reply = typename decltype(R::options)::plan_info;
  TROUPE_REQUEST(detail::prepare_name<R>.view(), request, measure, options)
  void check(checker& c) const {
    request.check(c);
    c.only_reads(request);
    if (measure < 0 || measure > 64)
      c.refuse(&measure, "is " + std::to_string(measure), "0 to 64, the number of plans to measure");
    options.check(c, measure);
  }
};
template <class R>
prepare(R, std::int32_t = 0) -> prepare<R>;

/// Returns statistics of a library's plans since its engine was opened.
template <fixed_string Library>
struct read_statistics {
  bool start_anew = false;  ///< true: count from 0 afterwards
  using reply = statistics;
  TROUPE_REQUEST(static_text<Library + ".read_statistics">, start_anew)
  void check(checker&) const {}
};

}  // namespace troupe::plan
