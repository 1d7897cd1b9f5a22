// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <troupe/kernel/engine/cuda/names.hpp>

namespace troupe::kernel {
namespace {

TEST(image_names, are_read_back_from_the_end_of_the_image) {
  const image_names given{{{"ns::reduce<float, 256>", "_ZN2ns6reduceIfLi256EEEvPf"}, {"k", "_Z1kv"}},
                          {{"ns::x", "_ZN2ns1xE"}}};
  const std::string image(
      "\x7f"
      "ELF\0\1\n// kernel a b\n",
      22);
  const std::string whole = with_names(image, given);
  EXPECT_TRUE(whole.starts_with(image));
  EXPECT_EQ(names_in(whole).kernels, given.kernels);
  EXPECT_EQ(names_in(whole).globals, given.globals);
}

TEST(image_names, are_empty_if_none_were_appended) {
  EXPECT_TRUE(names_in("").kernels.empty());
  EXPECT_TRUE(names_in("// kernel a b\n").kernels.empty());
  for (std::size_t n = 0; n < 60; ++n) names_in(with_names("", {{{"k", "_Z1kv"}}, {{"g", "g"}}}).substr(0, n));
}

}  // namespace
}  // namespace troupe::kernel
