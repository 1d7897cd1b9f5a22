// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The functions of a snapshot that engines use as well. They are in a source of their own, because the others need
// devices.
#include <troupe/graph/internal/core.hpp>

namespace troupe::graph {

const std::vector<snapshot::use>& snapshot::uses() const noexcept {
  static const std::vector<use> none;
  return *version_ ? (*version_)->uses : none;
}

std::uint64_t snapshot::root() const noexcept { return *version_ ? (*version_)->root : root_; }
std::uint64_t snapshot::recipe() const noexcept { return *version_ ? (*version_)->recipe : recipe_; }

}  // namespace troupe::graph
