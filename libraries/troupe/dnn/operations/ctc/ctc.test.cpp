// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Compares the CTC loss with cases that are computed by hand, and tests refusals of tensors that do not fit.
#include <limits>
#include <troupe/dnn/testing/definition.hpp>

namespace troupe::dnn {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr std::int32_t least = std::numeric_limits<std::int32_t>::min(),
                       most = std::numeric_limits<std::int32_t>::max();

class dnn_ctc : public testing::definition {
 protected:
  value zeros(const extents& e) {
    std::int64_t n = 1;
    for (const std::int64_t each : e) n *= each;
    return given(e, numbers(static_cast<std::size_t>(n)));
  }
  ctc_labels labels(std::int64_t longest, const std::vector<std::int32_t>& all, const std::vector<std::int32_t>& steps,
                    const std::vector<std::int32_t>& counts) {
    const auto batch = static_cast<std::int64_t>(steps.size());
    return {whole({batch, longest}, all), whole({batch}, steps), whole({batch}, counts)};
  }
};

TEST_F(dnn_ctc, loss_sums_over_the_alignments_of_a_sequence) {
  const double log3 = std::log(3.0);
  // The alignments of 2 equally probable steps: for the label 1: 1 1, - 1 and 1 -; for 1 2: 1 2; for 1 1: none; without
  // labels: - -. Those of 3 steps for 1 1: 1 - 1.
  const ctc_labels l = labels(2, {1, 9, 1, 2, 1, 1, 9, 9, 1, 1, 9, 9}, {2, 2, 2, 2, 3, 0}, {1, 2, 2, 0, 2, 0});
  expect(ctc_loss(zeros({3, 6, 3}), l), {log3, 2 * log3, infinite, 2 * log3, 3 * log3, 0});
}

TEST_F(dnn_ctc, loss_uses_the_softmax_of_the_logits_and_any_class_can_be_the_blank) {
  ctc_labels l = labels(1, {0}, {1}, {1});
  l.blank = 2;
  const double a = std::exp(1.0), b = std::exp(-0.5), c = std::exp(3.0), sum = a + b + c;
  const value logits = given({1, 1, 3}, {1, -0.5, 3});
  expect(ctc_loss(logits, l), {-std::log(a / sum)});
  expect(ctc_loss_gradient(given({1}, {2}), logits, l), {2 * (a / sum - 1), 2 * b / sum, 2 * c / sum});
}

TEST_F(dnn_ctc, loss_is_infinite_and_gradient_0_if_no_alignment_is_possible) {
  const ctc_labels l = labels(1, {3, -1, 0, most, least, 1, 1, 1, 1, 1}, {2, 2, 2, 2, 2, 3, -1, 2, 2, 0},
                              {1, 1, 1, 1, 1, 1, 1, 2, -1, 1});
  expect(ctc_loss(zeros({2, 10, 3}), l), numbers(10, infinite));
  expect(ctc_loss_gradient(given({10}, numbers(10, infinite)), zeros({2, 10, 3}), l), numbers(60, 0));
}

TEST_F(dnn_ctc, classes_of_probability_0_are_in_no_alignment) {
  const ctc_labels l = labels(1, {1, 2}, {1, 1}, {1, 1});
  const value logits = given({1, 2, 3}, {0, -infinite, 0, 0, -infinite, 0});
  expect(ctc_loss(logits, l), {infinite, std::log(2.0)});
  expect(ctc_loss_gradient(given({2}, {1, 1}), logits, l), {0, 0, 0, 0.5, 0, -0.5});
}

TEST_F(dnn_ctc, tensors_with_wrong_extents_or_types_are_refused) {
  const auto reason = [&](const value& logits, const ctc_labels& l) { return ctc_loss(logits, l).why_refused(); };
  const ctc_labels l = labels(2, {1, 2}, {2}, {2});
  const value logits = zeros({2, 1, 3});
  EXPECT_EQ(reason(logits, l), "");
  EXPECT_EQ(reason(zeros({2, 3}), l), "has a ctc_loss whose logits has 2 axes; expected 3");
  EXPECT_EQ(reason(zeros({2, 2, 3}), l),
            "has a ctc_loss whose labels is 1 x 2; expected 2 x most labels, as the logits have 2 sequences");
  EXPECT_EQ(reason(logits, {l.labels, l.steps, whole({2}, {1, 1})}),
            "has a ctc_loss whose counts is 2; expected 1, the sequences of the logits");
  EXPECT_EQ(reason(logits, {l.labels, given({1}, {2}), l.counts}),
            "has a ctc_loss whose steps holds f64; expected i32");
  EXPECT_EQ(reason(logits, {l.labels, l.steps + 1, l.counts}),
            "has a ctc_loss whose steps is computed; expected i32 that are read from memory");
  EXPECT_EQ(reason(logits, {l.labels, l.steps, 1.0}), "has a ctc_loss whose counts is a number; expected 1 axis");
  EXPECT_EQ(reason(logits, {l.labels, l.steps, l.counts, 3}),
            "has a ctc_loss whose blank is 3; expected one of the 3 classes");
  EXPECT_EQ(ctc_loss_gradient(zeros({3}), logits, l).why_refused(),
            "has a ctc_loss_gradient whose dloss is 3; expected 1, the sequences of the logits");
}

}  // namespace
}  // namespace troupe::dnn
