// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <troupe/base/helper_places.hpp>

namespace troupe::dnn::onednn {

/// Has `count` threads compute what the calling thread asks of oneDNN while this exists, each on a processor of its own
/// if there are as many. Precondition: `load` succeeded.
class threads {
 public:
  [[nodiscard]] explicit threads(int count);

 private:
  std::optional<kept_in_place> caller_;
};

}  // namespace troupe::dnn::onednn
