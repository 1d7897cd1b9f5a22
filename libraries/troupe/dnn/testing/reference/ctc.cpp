// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <troupe/dnn/operations/ctc/attributes.hpp>
#include <troupe/dnn/testing/reference/definitions.hpp>
#include <vector>

namespace troupe::dnn::detail {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

// Returns log(exp(a) + exp(b)).
double log_sum(double a, double b) noexcept {
  if (a == -infinite || b == -infinite) return a == -infinite ? b : a;
  const double most = std::isnan(a) || a > b ? a : b;
  return most + std::log(std::exp(a - most) + std::exp(b - most));
}

// The alignments of one sequence's labels to its steps. The states are blank, label, blank, ..., label, blank. At each
// step, an alignment stays in its state, goes to the next state, or skips a blank between two different labels.
class alignments {
 public:
  // `in` has the logits, the labels, the numbers of steps and the numbers of labels.
  alignments(const ctc_attributes& a, std::span<const input_values> in, std::int64_t sequence)
      : logits_(in[0]), sequence_(sequence), blank_(a.blank) {
    const auto b = static_cast<std::size_t>(sequence);
    const double steps = in[2].numbers[b], labels = in[3].numbers[b];
    const std::int64_t longest = in[1].shape.extents[1];
    possible_ =
        steps >= 0 && steps <= static_cast<double>(time()) && labels >= 0 && labels <= static_cast<double>(longest);
    if (!possible_) return;
    steps_ = static_cast<std::int64_t>(steps);
    states_.assign(static_cast<std::size_t>(2 * labels + 1), a.blank);
    for (std::size_t i = 1; i < states_.size(); i += 2) {
      const double label = in[1].numbers[b * static_cast<std::size_t>(longest) + i / 2];
      possible_ =
          possible_ && label >= 0 && label < static_cast<double>(classes()) && label != static_cast<double>(a.blank);
      if (possible_) states_[i] = static_cast<std::int64_t>(label);
    }
    if (possible_) find_logarithms();
  }

  std::int64_t time() const noexcept { return logits_.shape.extents[0]; }
  std::int64_t classes() const noexcept { return logits_.shape.extents[2]; }

  double loss() const {
    if (!possible_) return infinite;
    const auto a = forward();
    return -total(a);
  }

  // Writes the gradient of the logit of class c at step t to the element `to(t, c)`. `dloss` is the gradient of the
  // loss.
  template <class To>
  void gradient(double dloss, To&& to) const {
    if (!possible_ || loss() == infinite) return;
    const auto a = forward(), b = backward();
    const double all = total(a);
    for (std::int64_t t = 0; t < steps_; ++t) {
      const auto i = static_cast<std::size_t>(t);
      for (std::int64_t c = 0; c < classes(); ++c) to(t, c) = dloss * std::exp(log_of(t, c));
      for (std::size_t s = 0; s < states_.size(); ++s) to(t, states_[s]) -= dloss * std::exp(a[i][s] + b[i][s] - all);
    }
  }

 private:
  using steps = std::vector<std::vector<double>>;

  void find_logarithms() {
    for (std::int64_t t = 0; t < steps_; ++t) {
      double most = -infinite, sum = 0;
      const double* const row = &logits_[{t, sequence_, 0}];
      for (std::int64_t c = 0; c < classes(); ++c) most = row[c] > most || std::isnan(row[c]) ? row[c] : most;
      for (std::int64_t c = 0; c < classes(); ++c) sum += std::exp(row[c] - most);
      for (std::int64_t c = 0; c < classes(); ++c) logarithms_.push_back(row[c] - most - std::log(sum));
    }
  }
  double log_of(std::int64_t t, std::int64_t c) const {
    return logarithms_[static_cast<std::size_t>(t * classes() + c)];
  }
  bool skips(std::size_t s) const { return s >= 2 && states_[s] != blank_ && states_[s] != states_[s - 2]; }
  steps empty() const {
    return steps(static_cast<std::size_t>(steps_), std::vector<double>(states_.size(), -infinite));
  }

  // Returns, for each step and state, the log probability of being in the state after the step with all earlier labels
  // emitted.
  steps forward() const {
    steps a = empty();
    for (std::size_t t = 0; t < a.size(); ++t)
      for (std::size_t s = 0; s < states_.size(); ++s) {
        double sum = t == 0 ? (s < 2 ? 0 : -infinite) : a[t - 1][s];
        if (t > 0 && s > 0) sum = log_sum(sum, a[t - 1][s - 1]);
        if (t > 0 && skips(s)) sum = log_sum(sum, a[t - 1][s - 2]);
        a[t][s] = sum + log_of(static_cast<std::int64_t>(t), states_[s]);
      }
    return a;
  }
  // Returns, for each step and state, the log probability of emitting all labels after the state in the later steps.
  steps backward() const {
    steps b = empty();
    for (std::size_t t = b.size(); t-- > 0;)
      for (std::size_t s = 0; s < states_.size(); ++s) {
        const auto next = [&](std::size_t to) {
          return b[t + 1][to] + log_of(static_cast<std::int64_t>(t) + 1, states_[to]);
        };
        if (t + 1 == b.size()) {
          b[t][s] = s + 2 >= states_.size() ? 0 : -infinite;
          continue;
        }
        b[t][s] = next(s);
        if (s + 1 < states_.size()) b[t][s] = log_sum(b[t][s], next(s + 1));
        if (s + 2 < states_.size() && skips(s + 2)) b[t][s] = log_sum(b[t][s], next(s + 2));
      }
    return b;
  }
  double total(const steps& a) const {
    if (a.empty()) return states_.size() == 1 ? 0 : -infinite;
    const auto& last = a.back();
    return last.size() == 1 ? last[0] : log_sum(last[last.size() - 1], last[last.size() - 2]);
  }

  const input_values logits_;
  const std::int64_t sequence_, blank_;
  bool possible_ = false;
  std::int64_t steps_ = 0;
  std::vector<std::int64_t> states_;  // the class of each state
  std::vector<double> logarithms_;    // log probability of each class at each step
};

}  // namespace

void find_ctc_loss(const ctc_attributes& a, inputs in, outputs out) {
  const output_values losses = out[0];
  for (std::size_t b = 0; b < losses.numbers.size(); ++b)
    losses.numbers[b] = alignments(a, in, static_cast<std::int64_t>(b)).loss();
}

void find_ctc_loss_gradient(const ctc_attributes& a, inputs in, outputs out) {
  const output_values dlogits = out[0];
  for (std::int64_t b = 0; b < dlogits.shape.extents[1]; ++b)
    alignments(a, in.subspan(1), b)
        .gradient(in[0].numbers[static_cast<std::size_t>(b)],
                  [&](std::int64_t t, std::int64_t c) -> double& { return dlogits[{t, b, c}]; });
}

}  // namespace troupe::dnn::detail
