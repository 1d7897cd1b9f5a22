// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <troupe/kernel/internal/listing.hpp>

namespace troupe::kernel {
namespace {

attributes example() {
  return {.name = "ns::k<int>",
          .max_threads = 256,
          .static_shared_bytes = 64,
          .local_bytes = 8,
          .registers = 40,
          .constant_bytes = 36,
          .execution = "split: line 3",
          .parameters = {{"const float *", passing::const_pointer, dtype::f32, 4, 4},
                         {"vec", passing::value, dtype{}, 12, 4}}};
}
attributes_head head_of(const attributes& a, std::size_t bytes) {
  return {a.max_threads, a.static_shared_bytes, a.local_bytes, static_cast<std::uint32_t>(a.parameters.size()),
          a.registers,   a.constant_bytes,      bytes};
}

TEST(attribute_listing, unpacks_to_what_was_packed) {
  const attributes a = example();
  const std::string packed = pack_listing(a);
  const auto b = unpack_listing(head_of(a, packed.size()), packed);
  ASSERT_TRUE(b);
  EXPECT_EQ(b->name, a.name);
  EXPECT_EQ(b->execution, a.execution);
  EXPECT_EQ(b->max_threads, 256u);
  EXPECT_EQ(b->local_bytes, 8u);
  EXPECT_EQ(b->registers, 40u);
  EXPECT_EQ(b->constant_bytes, 36u);
  ASSERT_EQ(b->parameters.size(), 2u);
  EXPECT_EQ(b->parameters[0].type, "const float *");
  EXPECT_EQ(b->parameters[0].passing, passing::const_pointer);
  EXPECT_EQ(b->parameters[1].bytes, 12u);
}

TEST(attribute_listing, is_refused_if_truncated_or_inconsistent_with_its_size) {
  const attributes a = example();
  const std::string packed = pack_listing(a);
  for (std::size_t n = 0; n < packed.size(); ++n) EXPECT_FALSE(unpack_listing(head_of(a, n), packed.substr(0, n))) << n;
  attributes_head more = head_of(a, packed.size());
  more.parameters = UINT32_MAX;
  EXPECT_FALSE(unpack_listing(more, packed));
  std::string wild = packed;
  wild[0] = static_cast<char>(0xff);
  wild[7] = static_cast<char>(0xff);
  EXPECT_FALSE(unpack_listing(head_of(a, packed.size()), wild));
}

}  // namespace
}  // namespace troupe::kernel
