// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>
#include <troupe/base/placed.hpp>
#include <troupe/base/time_span.hpp>

namespace troupe {

class request_scope;

/// What `device::within` sets for everything that is sent through the handle it returns.
struct scope_options {
  /// Counted from the call of `within`. What has not started by then is answered `retry_later` and never runs.
  time_span timeout = time_span::for_ever();
  /// Once a stop is requested, what has not started is answered `retry_later` and never runs.
  placed<std::stop_token> stop = {};
};

}  // namespace troupe
