// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests that each field of a request is sent to the engine, or refused if it is invalid.
#include <gtest/gtest.h>

#include <set>
#include <troupe/base/text/cat.hpp>
#include <troupe/dnn/dnn.hpp>
#include <troupe/dnn/testing/ready_cases.hpp>
#include <troupe/request/encoding/codec.hpp>
#include <troupe/request/testing/fake_memory.hpp>

namespace troupe::dnn {
namespace {

using testing::change;

computation& computation_of(computation& r) { return r; }
computation& computation_of(prepare& r) { return r.request; }

template <class R>
class dnn_requests : public ::testing::Test {
 protected:
  R request() {
    const tensor<float> x(buffer<float>(memory.at<float>(0, 4).range), {4}),
        y(buffer<float>(memory.at<float>(4, 4).range), {4});
    const computation r{.graph = {write(tanh(read(x)), y)}};
    return {r};
  }
  // Returns the encoded request, as the engine receives it. Unused words are 0.
  static std::vector<std::byte> encoded(const R& r) {
    std::vector<std::uint64_t> blob(blob_bytes(r) / sizeof(std::uint64_t) + 1);
    std::vector<std::byte> out(max_payload_bytes);
    encode(r, out.data(), {reinterpret_cast<std::byte*>(blob.data()), 0});
    const auto* const first = reinterpret_cast<const std::byte*>(blob.data());
    out.insert(out.end(), first, first + blob.size() * sizeof blob[0]);
    return out;
  }
  std::vector<change<computation>> changes() {
    const tensor<float> x(buffer<float>(memory.at<float>(0, 4).range), {4}),
        z(buffer<float>(memory.at<float>(8, 4).range), {4});
    return {TROUPE_SET(graph, graph{write(tanh(read(x)), z)}),
            TROUPE_SET(graph, graph{write(exp(read(x)), z)}),
            TROUPE_SET(graph, graph{write(reduce(read(x), reduction_kind::sum, {1}), z)}),
            TROUPE_SET(options.precision, precision::tf32),
            TROUPE_SET(options.precision, precision(2)),
            TROUPE_SET(options.repeatability, repeatability::not_needed),
            TROUPE_SET(options.repeatability, repeatability(2)),
            TROUPE_SET(options.fusion, fusion::required),
            TROUPE_SET(options.fusion, fusion(2)),
            TROUPE_SET(options.choice, choice::measured),
            TROUPE_SET(options.choice, choice(2)),
            TROUPE_SET(options.workspace, 100)};
  }
  troupe::testing::fake_memory memory{1 << 12};
};
using both = ::testing::Types<computation, prepare>;
TYPED_TEST_SUITE(dnn_requests, both);

TYPED_TEST(dnn_requests, each_field_is_sent_or_named_in_the_refusal) {
  const TypeParam first = this->request();
  ASSERT_EQ(this->memory.refusal(first), "");
  const std::string name = cat(TypeParam::request_name, ": ", std::is_same_v<TypeParam, prepare> ? "request." : "");
  std::set<std::string> changed, sent, refused, fields = testing::names_with_options(computation::request_fields);
  for (const auto& c : this->changes()) {
    TypeParam other = first;
    c.make(computation_of(other));
    changed.insert(c.field);
    if (const std::string why = this->memory.refusal(other); why.empty()) {
      EXPECT_NE(this->encoded(other), this->encoded(first)) << c.field << " is not sent";
      sent.insert(c.field);
    } else {
      EXPECT_NE(why.find(name + c.field), std::string::npos) << why;
      refused.insert(c.field);
    }
  }
  EXPECT_EQ(changed, fields);
  EXPECT_EQ(sent, fields);
  fields.erase("options.workspace");  // any number is valid
  EXPECT_EQ(refused, fields);
}

}  // namespace
}  // namespace troupe::dnn
