// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/device/core/core.hpp>
#include <troupe/device/device.hpp>

namespace troupe::detail {

/// Gives the sources of this component access to the core behind a handle.
struct device_access {
  static const std::shared_ptr<device_core>& core(const device& gpu) noexcept { return gpu.core_; }
  static const std::shared_ptr<request_scope>& scope(const device& gpu) noexcept { return gpu.scope_; }
};

}  // namespace troupe::detail
