// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The CTC loss: sums over all alignments, as logarithms of probabilities in double. One thread processes a sequence.
#include <algorithm>
#include <cmath>
#include <limits>
#include <troupe/dnn/host/operations/compute_functions.hpp>
#include <troupe/dnn/host/sums.hpp>
#include <troupe/dnn/operations/ctc/attributes.hpp>
#include <troupe/dnn/steps/step_workspace.hpp>
#include <troupe/epilogue/host/runs.hpp>
#include <vector>

namespace troupe::dnn::host {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

double log_sum(double a, double b, double c) noexcept {
  const double most = std::max(std::max(a, b), c);
  if (most == -infinite) return a + b + c;  // -infinity, or NaN if a summand is NaN
  return most + std::log(std::exp(a - most) + std::exp(b - most) + std::exp(c - most));
}

// The tensors and the workspace of the loss, or of its gradient.
template <class N>
struct losses {
  losses(const execution_context& on, const operator_step& s, bool is_gradient, ctc_inputs at)
      : blank(s.attributes.as<ctc_attributes>().blank),
        shape(s.inputs[at.logits].shape),
        longest(s.inputs[at.labels].shape.extents[1]),
        workspace(shape, s.inputs[at.labels].shape, is_gradient),
        logits(on.elements<N>(s.inputs[at.logits])),
        labels(on.elements<std::int32_t>(s.inputs[at.labels])),
        steps(on.elements<std::int32_t>(s.inputs[at.steps])),
        counts(on.elements<std::int32_t>(s.inputs[at.counts])),
        all(on.elements<double>(s.workspace)),
        stored_steps(is_gradient ? shape.extents[0] : 2) {}

  std::int64_t time() const noexcept { return shape.extents[0]; }
  std::int64_t batch() const noexcept { return shape.extents[1]; }
  std::int64_t classes() const noexcept { return shape.extents[2]; }
  const N* row(std::int64_t t, std::int64_t b) const noexcept { return logits + (t * batch() + b) * classes(); }

  const std::int64_t blank;
  const tensor_shape shape;
  const std::int64_t longest;
  const ctc_workspace workspace;
  const N* const logits;
  const std::int32_t *const labels, *const steps, *const counts;
  double* const all;
  const std::int64_t stored_steps;  // number of steps whose sums are stored: 2 for the loss, all for its gradient
};

template <class N>
class alignments {
 public:
  alignments(const losses<N>& l, std::int64_t sequence) : l_(l), b_(sequence) {
    const std::int64_t steps = l.steps[b_], count = l.counts[b_];
    possible_ = steps >= 0 && steps <= l.time() && count >= 0 && count <= l.longest;
    if (!possible_) return;
    steps_ = steps, states_ = 2 * count + 1;
    classes_.assign(static_cast<std::size_t>(states_), l.blank);
    for (std::int64_t s = 1; s < states_; s += 2) {
      const std::int64_t label = l.labels[b_ * l.longest + s / 2];
      possible_ = possible_ && label >= 0 && label < l.classes() && label != l.blank;
      classes_[static_cast<std::size_t>(s)] = label;
    }
  }

  // Returns the logarithm of the probability of all alignments. Stores the sums of the last stored_steps steps.
  double total() {
    if (!possible_) return -infinite;
    find_norms();
    for (std::int64_t t = 0; t < steps_; ++t) {
      const double* const before = forward(t - 1);
      double* const now = forward(t);
      for (std::int64_t s = 0; s < states_; ++s) {
        double sum = s < 2 ? 0 : -infinite;
        if (t > 0) sum = log_sum(before[s], s > 0 ? before[s - 1] : -infinite, skips(s) ? before[s - 2] : -infinite);
        now[s] = sum + log_of(t, s);
      }
    }
    if (steps_ == 0) return states_ == 1 ? 0 : -infinite;
    const double* const last = forward(steps_ - 1);
    return log_sum(last[states_ - 1], states_ > 1 ? last[states_ - 2] : -infinite, -infinite);
  }

  // Computes the gradient of the logits. `total` must be the result of a preceding call of total().
  void find_gradient(double total, N gradient, N* to) {
    const std::int64_t used = total == -infinite ? 0 : steps_, n = l_.classes();
    for (std::int64_t t = l_.time(); t-- > used;) std::fill_n(to + (t * l_.batch() + b_) * n, n, N(0));
    for (std::int64_t t = used; t-- > 0;) {
      N* const out = to + (t * l_.batch() + b_) * n;
      exponentials(t, static_cast<N>(norm(t)), out);
      for (std::int64_t c = 0; c < n; ++c) out[c] *= gradient;
      update_backward(t);
      const double *const before = forward(t), *const after = backward(t);
      for (std::int64_t s = 0; s < states_; ++s)
        out[classes_[static_cast<std::size_t>(s)]] -= gradient * static_cast<N>(std::exp(before[s] + after[s] - total));
    }
  }

 private:
  double& norm(std::int64_t t) const noexcept { return l_.all[l_.workspace.norms + t * l_.batch() + b_]; }
  double* forward(std::int64_t t) const noexcept {
    return l_.all + l_.workspace.forward +
           (b_ * l_.stored_steps + (t + l_.stored_steps) % l_.stored_steps) * l_.workspace.states;
  }
  double* backward(std::int64_t t) const noexcept {
    return l_.all + l_.workspace.backward + (b_ * 2 + t % 2) * l_.workspace.states;
  }
  bool skips(std::int64_t s) const noexcept {
    const auto i = static_cast<std::size_t>(s);
    return s % 2 != 0 && s > 2 && classes_[i] != classes_[i - 2];
  }
  double log_of(std::int64_t t, std::int64_t s) const noexcept {
    return static_cast<double>(l_.row(t, b_)[classes_[static_cast<std::size_t>(s)]]) - norm(t);
  }
  void exponentials(std::int64_t t, N less, N* to) const {
    const N* const row = l_.row(t, b_);
    for (std::int64_t c = 0; c < l_.classes(); ++c) to[c] = row[c] - less;
    epilogue::host::apply(epilogue::op::exponential, to, to, to, to, l_.classes());
  }
  void find_norms() {
    std::vector<N> workspace(static_cast<std::size_t>(l_.classes()));
    for (std::int64_t t = 0; t < steps_; ++t) {
      const N* const row = l_.row(t, b_);
      N most = row[0];
      for (std::int64_t c = 1; c < l_.classes(); ++c) most = row[c] > most || row[c] != row[c] ? row[c] : most;
      exponentials(t, most, workspace.data());
      const double sum = sum_along(
          l_.classes(), [&](std::int64_t c) { return static_cast<double>(workspace[static_cast<std::size_t>(c)]); });
      norm(t) = static_cast<double>(most) + std::log(sum);
    }
  }
  // Computes for each state at step t the log probability of the labels after it, from those at step t + 1.
  void update_backward(std::int64_t t) {
    double* const now = backward(t);
    const double* const later = backward(t + 1);
    for (std::int64_t s = 0; s < states_; ++s) {
      const auto next = [&](std::int64_t to) { return later[to] + log_of(t + 1, to); };
      if (t + 1 == steps_)
        now[s] = s + 2 >= states_ ? 0 : -infinite;
      else
        now[s] = log_sum(next(s), s + 1 < states_ ? next(s + 1) : -infinite,
                         s + 2 < states_ && skips(s + 2) ? next(s + 2) : -infinite);
    }
  }

  const losses<N>& l_;
  const std::int64_t b_;
  bool possible_ = false;
  std::int64_t steps_ = 0, states_ = 0;
  std::vector<std::int64_t> classes_;  // class of each state
};

}  // namespace

template <class N>
void ctc_loss(const execution_context& on, const operator_step& s) {
  const losses<N> l(on, s, false, ctc_inputs(false));
  N* const to = on.elements<N>(s.outputs[0]);
  on.team.spread(l.batch(), 1, [&](std::int64_t b) { to[b] = static_cast<N>(-alignments<N>(l, b).total()); });
}

template <class N>
void ctc_loss_gradient(const execution_context& on, const operator_step& s) {
  const losses<N> l(on, s, true, ctc_inputs(true));
  const N* const gradients = on.elements<N>(s.inputs[0]);
  N* const to = on.elements<N>(s.outputs[0]);
  on.team.spread(l.batch(), 1, [&](std::int64_t b) {
    alignments<N> a(l, b);
    a.find_gradient(a.total(), gradients[b], to);
  });
}

TROUPE_HOST_STEP(ctc_loss);
TROUPE_HOST_STEP(ctc_loss_gradient);

}  // namespace troupe::dnn::host
