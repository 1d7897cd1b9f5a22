// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <troupe/cutlass/options.hpp>

namespace troupe::cutlass {

/// The options of a request, and its name for error texts.
struct request_options : product_options {
  std::string_view request;
};
template <class R>
request_options options_of(const R& r) noexcept {
  return {r.options, R::request_name};
}

}  // namespace troupe::cutlass
