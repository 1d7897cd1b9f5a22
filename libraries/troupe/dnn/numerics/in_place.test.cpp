// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests graphs that write to memory that they also read: they must read the content from before the writes.
#include <troupe/dnn/testing/numerics.hpp>

namespace troupe::dnn {
namespace {

using namespace testing;

class dnn_in_place : public dnn_numerics {
 protected:
  stored_tensor& filled(dtype type, const extents& e) {
    stored_tensor& t = stored(type, e);
    t.fill([&] { return random.value(); });
    return t;
  }
  static value content(const stored_tensor& t) {
    return value(const_cast<stored_tensor&>(t).operand<access_mode::read>());
  }
};

TEST_F(dnn_in_place, tensors_can_be_updated_exchanged_transposed_and_shifted_in_place) {
  for (const dtype t : {dtype::f32, dtype::f64, dtype::f16, dtype::bf16})
    for (int i = 0; i < 4 && !HasFailure(); ++i) {
      const std::int64_t n = random.between(1, 60);
      stored_tensor &a = filled(t, {n, n}), &b = filled(t, {n, n}), &c = filled(t, {n, n});
      const value x = content(a), y = content(b), z = content(c);
      expect_written({x - 0.1 * y}, {&a}, 1e-4);
      expect_written({y, x}, {&a, &b}, 1e-4);
      expect_written({y, z, x}, {&a, &b, &c}, 1e-4);
      expect_written({x, transpose(z, {1, 0}), transpose(y, {1, 0})}, {&a, &b, &c}, 1e-4);
      expect_written({transpose(x, {1, 0})}, {&a}, 1e-4);
      expect_written({x + transpose(x, {1, 0})}, {&a}, 1e-4);
      expect_written({softmax(x, 0), reduce(x, reduction_kind::sum, {0}) + y}, {&a, &b}, 1e-3);
      expect_written({concatenate({slice(x, 0, n - 1, 1), x}, 0)}, {&stored(dtype::f32, {n + 1, n})}, 1e-4);
      if (n > 1) expect_written({concatenate({slice(x, 0, n - 1, 1), slice(x, 0, 0, n - 1)}, 0)}, {&a}, 1e-4);
      expect_written({reshape(x, {n, n}), x * 2}, {&a, &c}, 1e-3);
      // One tensor is written by an early node, and read by later ones.
      expect_written({x * 2, product(x, y), z - product(y, x)}, {&a, &b, &c}, 1e-2);
    }
}

TEST_F(dnn_in_place, random_graphs_read_the_content_from_before_their_writes) {
  for (int i = 0; i < 300 && !HasFailure(); ++i) {
    const std::int64_t n = random.between(1, 12);
    std::vector<stored_tensor*> memory;
    std::vector<value> made;
    for (std::int64_t k = random.between(1, 4); k > 0; --k) {
      memory.push_back(&filled(random.one_of({dtype::f32, dtype::f32, dtype::f16}), {n, n}));
      made.push_back(content(*memory.back()));
    }
    for (std::int64_t k = random.between(0, 8); k > 0; --k) {
      const value x = one_of(made), y = one_of(made);
      switch (random.between(0, 8)) {
        case 0:
          made.push_back(transpose(x, {1, 0}));
          break;
        case 1:
          made.push_back(reshape(transpose(x, {1, 0}), {n, n}));
          break;
        case 2:
          made.push_back(slice(concatenate({x, convert(y, x.type())}, 0), 0, random.between(0, n), n));
          break;
        case 3:
          made.push_back(softmax(x, 1));
          break;
        case 4:
          made.push_back(tanh(x) + 0.1 * slice(y, 0, n - 1, 1));
          break;
        case 5:
          made.push_back(0.5 * product(x, convert(y, x.type())) / static_cast<double>(n));
          break;
        case 6:
          made.push_back(convert(x, dtype::f16));
          break;
        default:
          made.push_back(x - 0.5 * y);
      }
      ASSERT_EQ(made.back().why_refused(), "");
    }
    std::vector<value> results;
    std::vector<stored_tensor*> to;
    for (stored_tensor* m : memory)
      if (random.between(0, 3) != 0) results.push_back(one_of(made)), to.push_back(m);
    results.push_back(one_of(made)), to.push_back(&stored(dtype::f32, {n, n}));
    if (random.between(0, 1) == 0)
      std::rotate(results.begin(), results.end() - 1, results.end()), std::rotate(to.begin(), to.end() - 1, to.end());
    expect_written(results, to, 1e-2);
  }
}

}  // namespace
}  // namespace troupe::dnn
