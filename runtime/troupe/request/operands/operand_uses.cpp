// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/request/operands/operand_uses.hpp>

namespace troupe {

void operand_uses::add_to_many(const operand_use& u) {
  if (many_.empty()) many_.assign(few_, few_ + count_);
  many_.push_back(u);
  first_ = many_.data();
}

}  // namespace troupe
