// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests that each field of a request reaches the engine, or is refused if it is invalid.
#include <gtest/gtest.h>

#include <set>
#include <troupe/base/cat.hpp>
#include <troupe/dnn/dnn.hpp>
#include <troupe/dnn/testing/ready_cases.hpp>
#include <troupe/request/codec.hpp>
#include <troupe/request/testing/fake_memory.hpp>

namespace troupe::dnn {
namespace {

using testing::change;

template <class R>
class dnn_requests : public ::testing::Test {
 protected:
  R request() {
    const tensor<float> x(buffer<float>(memory.at<float>(0, 4).range), {4}),
        y(buffer<float>(memory.at<float>(4, 4).range), {4});
    return {.graph = {write(tanh(read(x)), y)}};
  }
  // Returns the encoded request as the engine receives it; unused words are 0.
  static std::vector<std::byte> encoded(const R& r) {
    std::vector<std::uint64_t> blob(blob_bytes(r) / sizeof(std::uint64_t) + 1);
    std::vector<std::byte> out(max_payload_bytes);
    encode(r, out.data(), {reinterpret_cast<std::byte*>(blob.data()), 0});
    const auto* const first = reinterpret_cast<const std::byte*>(blob.data());
    out.insert(out.end(), first, first + blob.size() * sizeof blob[0]);
    return out;
  }
  std::vector<change<R>> changes() {
    const tensor<float> x(buffer<float>(memory.at<float>(0, 4).range), {4}),
        z(buffer<float>(memory.at<float>(8, 4).range), {4});
    return {TROUPE_SET(graph, graph{write(tanh(read(x)), z)}),
            TROUPE_SET(graph, graph{write(exp(read(x)), z)}),
            TROUPE_SET(graph, graph{write(reduce(read(x), reduction_kind::sum, {1}), z)}),
            TROUPE_SET(precision, precision::tf32),
            TROUPE_SET(precision, precision(2)),
            TROUPE_SET(repeatability, repeatability::not_needed),
            TROUPE_SET(repeatability, repeatability(2)),
            TROUPE_SET(fusion, fusion::required),
            TROUPE_SET(fusion, fusion(2)),
            TROUPE_SET(choice, choice::measured),
            TROUPE_SET(choice, choice(2)),
            TROUPE_SET(workspace, 100)};
  }
  troupe::testing::fake_memory memory{1 << 12};
};
using both = ::testing::Types<computation, prepare>;
TYPED_TEST_SUITE(dnn_requests, both);

TYPED_TEST(dnn_requests, each_field_is_sent_or_named_in_the_refusal) {
  const TypeParam first = this->request();
  ASSERT_EQ(this->memory.refusal(first), "");
  std::set<std::string> changed, sent, refused, fields;
  for (const auto& c : this->changes()) {
    TypeParam other = first;
    c.make(other);
    changed.insert(c.field);
    if (const std::string why = this->memory.refusal(other); why.empty()) {
      EXPECT_NE(this->encoded(other), this->encoded(first)) << c.field << " is not sent";
      sent.insert(c.field);
    } else {
      EXPECT_NE(why.find(cat(TypeParam::request_name, ": ", c.field)), std::string::npos) << why;
      refused.insert(c.field);
    }
  }
  for (std::size_t i = 0; !nth_name(TypeParam::request_fields, i).empty(); ++i)
    fields.emplace(nth_name(TypeParam::request_fields, i));
  EXPECT_EQ(changed, fields);
  EXPECT_EQ(sent, fields);
  fields.erase("workspace");  // any number is valid
  EXPECT_EQ(refused, fields);
}

}  // namespace
}  // namespace troupe::dnn
