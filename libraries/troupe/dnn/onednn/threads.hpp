// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <troupe/base/threads/helper_places.hpp>

namespace troupe::dnn::onednn {

/// A guard: while it exists, oneDNN uses `count` threads for calls from this thread, each on its own processor if there
/// are enough processors. Precondition: `load` succeeded.
class threads {
 public:
  [[nodiscard]] explicit threads(int count);

 private:
  std::optional<kept_in_place> caller_;
};

}  // namespace troupe::dnn::onednn
