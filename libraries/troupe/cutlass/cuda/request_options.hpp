// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <troupe/cutlass/options.hpp>
#include <troupe/cutlass/plan.hpp>

namespace troupe::cutlass {

/// The fields that all requests which compute have.
struct request_options {
  std::string_view request;
  const cutlass::plan& plan;
  cutlass::compiling compiling;
  std::uint64_t workspace;
};
template <class R>
request_options options_of(const R& r) noexcept {
  return {R::request_name, r.plan, r.compiling, r.workspace};
}

}  // namespace troupe::cutlass
