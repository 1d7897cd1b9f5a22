// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>
#include <troupe/base/containers/placed.hpp>
#include <troupe/base/time_span.hpp>

namespace troupe {

class request_scope;

/// Options of `device::within`. They apply to every request that is sent through the handle that it returns.
struct scope_options {
  /// Counts from the call of `within`. Requests that have not started by then fail with `retry_later` and never run.
  time_span timeout = time_span::for_ever();
  /// Requests that have not started when a stop is requested fail with `retry_later` and never run.
  placed<std::stop_token> stop = {};
  /// Limits the running time of each request, like call_options::run_timeout: the shortest limit counts.
  time_span run_timeout = time_span::for_ever();
};

}  // namespace troupe
