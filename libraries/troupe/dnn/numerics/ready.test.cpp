// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Compares all ready requests with the reference: for all types, with a value in each field, and with changed fields.
#include <troupe/dnn/testing/all_ready_cases.hpp>
#include <troupe/dnn/testing/numerics.hpp>

namespace troupe::dnn {
namespace {

using namespace testing;

template <class Case>
class dnn_ready_requests : public dnn_numerics {
 protected:
  // Returns a source of positive numbers: variances and inverse deviations must be positive.
  tensor_source tensors_of(dtype type) {
    return {[this, type](const extents& e) {
              stored_tensor& t = stored(type, e);
              t.fill([&] { return 0.8 + 0.7 * random.value(); });
              return place_of(t);
            },
            [this](const extents& e, const std::vector<std::int32_t>& numbers) {
              stored_tensor& t = stored(dtype::i32, e);
              t.fill([&, next = numbers.begin()]() mutable { return *next++; });
              return place_of(t);
            }};
  }
  static tensor_in_memory place_of(stored_tensor& t) {
    return {t.operand<access_mode::read>().range(), t.shape(), t.type()};
  }
};
TYPED_TEST_SUITE(dnn_ready_requests, all_ready_cases);

TYPED_TEST(dnn_ready_requests, requests_match_the_definition) {
  for (const dtype type : {dtype::f32, dtype::f64, dtype::f16, dtype::bf16}) {
    const double tolerance = type == dtype::f64 ? 1e-9 : type == dtype::f32 ? 1e-4 : 1e-3;
    const tensor_source tensors = this->tensors_of(type);
    this->expect_computed(TypeParam::make(tensors).to_request(), tolerance);
    auto limited = TypeParam::make(tensors);
    limited.options.workspace = 1 << 30;
    this->expect_computed(limited.to_request(), tolerance);
    for (const auto& c : TypeParam::changes(tensors)) {
      auto r = TypeParam::make(tensors);
      c.make(r);
      const computation sent = r.to_request();
      if (!sent.graph.refused()) this->expect_computed(sent, tolerance);
      if (this->HasFailure()) FAIL() << c.field << " of " << to_string(type);
    }
  }
}

}  // namespace
}  // namespace troupe::dnn
