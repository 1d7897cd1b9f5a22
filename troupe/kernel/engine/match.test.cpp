// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <troupe/kernel/engine/match.hpp>

namespace troupe::kernel {
namespace {

struct pair_of_floats {
  float a, b;
};

// What a kernel k with these parameters says to an argument that is passed as a worker sees it.
std::string answer(const std::vector<parameter>& parameters, const arguments& given) {
  std::vector<std::byte> bytes(given.encoded_bytes());
  given.encode(bytes.data());
  argument_frame frame;
  const auto done = frame.fill(arguments::view(bytes.data(), static_cast<std::uint32_t>(given.size())), "k", parameters,
                               "jit.launch");
  return done ? "" : done.error().text();
}

parameter of_size(std::uint64_t bytes) { return {parameter_kind::unknown, dtype{}, bytes, 0, ""}; }

TEST(arguments_of_a_kernel, fit_a_parameter_of_which_only_the_size_is_known_when_they_have_that_size) {
  EXPECT_EQ(answer({of_size(4)}, {1.0f}), "");
  EXPECT_EQ(answer({of_size(4)}, {7}), "");
  EXPECT_EQ(answer({of_size(8)}, {pair_of_floats{1, 2}}), "");
  EXPECT_EQ(answer({of_size(8)}, {7}),
            "jit.launch: argument 0 is i32, but parameter 0 of k is 8 bytes of a type that its image does not tell; 4 "
            "bytes do not fit");
  EXPECT_EQ(answer({of_size(8), of_size(4)}, {1.0}),
            "jit.launch: 1 argument was given, but k has 2 parameters (8 bytes of a type that its image does not tell, "
            "4 bytes of a type that its image does not tell)");
}

TEST(arguments_of_a_kernel, fit_a_struct_of_unknown_alignment_by_their_size) {
  const parameter p{parameter_kind::value, dtype{}, 8, 0, "pair_of_floats"};
  EXPECT_EQ(answer({p}, {pair_of_floats{1, 2}}), "");
  struct three {
    float a, b, c;
  };
  EXPECT_EQ(answer({p}, {three{}}),
            "jit.launch: argument 0 is a struct of 12 bytes, aligned to 4, but parameter 0 of k is `pair_of_floats`; "
            "expected a struct of 8 bytes");
}

}  // namespace
}  // namespace troupe::kernel
