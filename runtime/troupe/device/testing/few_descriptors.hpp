// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <troupe/device/testing/descriptor_limit.hpp>

namespace troupe::testing_device {

/// Limits the descriptors in flight for this thread and those that it starts, by removing the capabilities that exempt
/// it from the limit.
class few_descriptors {
 public:
  explicit few_descriptors(rlim_t most) : limit_(most) {
    ::syscall(SYS_capget, &who_, capabilities_);
    __user_cap_data_struct fewer[2]{capabilities_[0], capabilities_[1]};
    fewer[0].effective &= ~(1u << CAP_SYS_RESOURCE | 1u << CAP_SYS_ADMIN);
    ::syscall(SYS_capset, &who_, fewer);
  }
  ~few_descriptors() { ::syscall(SYS_capset, &who_, capabilities_); }
  few_descriptors(const few_descriptors&) = delete;

 private:
  descriptor_limit limit_;
  __user_cap_header_struct who_{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct capabilities_[2]{};
};

}  // namespace troupe::testing_device
