// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <troupe/request/operands/operand_uses.hpp>

namespace troupe {
namespace {

// An operand's field is its address in this array.
constexpr std::size_t most = 3 * max_operands;
const char fields[most + 1]{};

void expect_each_is_found(operand_uses& uses, std::size_t from, std::size_t step) {
  for (std::size_t i = 0; i < uses.size(); ++i) {
    const std::size_t n = (from + i * step) % uses.size();
    for (int twice = 0; twice < 2; ++twice) {
      operand_use* const found = uses.find(fields + n);
      ASSERT_NE(found, nullptr) << n;
      EXPECT_EQ(found->field, fields + n);
      EXPECT_EQ(found, &uses.all()[n]);
    }
  }
  EXPECT_EQ(uses.find(fields + most), nullptr);
}

TEST(operand_uses, are_found_in_any_order_however_many_there_are) {
  static const memory_range nothing;
  operand_uses uses;
  EXPECT_EQ(uses.find(fields), nullptr);
  for (std::size_t n = 0; n < most; ++n) {
    uses.add(fields + n, &nothing, std::uint64_t{4}, memory_access{n, n + 1, access_mode::read});
    ASSERT_EQ(uses.all().size(), n + 1);
    expect_each_is_found(uses, 0, 1);
    expect_each_is_found(uses, n / 2, n == 0 ? 1 : n);  // backwards, from the middle
  }
  for (std::size_t n = 0; n < most; ++n) EXPECT_EQ(uses.all()[n].touched.begin, n);
}

}  // namespace
}  // namespace troupe
