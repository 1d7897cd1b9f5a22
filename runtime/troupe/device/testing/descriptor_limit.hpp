// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/resource.h>

namespace troupe::testing_device {

/// Lets no descriptor with this or a higher number be opened while this object exists.
class descriptor_limit {
 public:
  explicit descriptor_limit(rlim_t first_that_cannot) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit now{.rlim_cur = first_that_cannot, .rlim_max = before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &now);
  }
  ~descriptor_limit() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  descriptor_limit(const descriptor_limit&) = delete;

 private:
  rlimit before_{};
};

}  // namespace troupe::testing_device
