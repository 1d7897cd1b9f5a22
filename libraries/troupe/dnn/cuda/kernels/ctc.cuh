// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel_sequence_arguments.hpp"
#include "combine_threads.cuh"

/// The CTC loss: sums over all alignments of labels to steps, as logarithms of probabilities in double. A block
/// processes the steps of one sequence. Its threads share the states of an alignment: blank, label, blank, ..., label,
/// blank.
namespace troupe::dnn::on_gpu {

using kernel_arguments::ctc_arguments;

inline constexpr double no_logarithm = -std::numeric_limits<double>::infinity();  // the logarithm of 0

__device__ inline double log_sum(double a, double b, double c) {
  const double most = fmax(fmax(a, b), c);  // fmax ignores NaN
  if (most == no_logarithm || a != a || b != b || c != c) return a + b + c;
  return most + log(exp(a - most) + exp(b - most) + exp(c - most));
}

__device__ inline bool has_counts(const ctc_arguments& r, i64 b) {
  return r.steps[b] >= 0 && r.steps[b] <= r.time && r.counts[b] >= 0 && r.counts[b] <= r.longest;
}
__device__ inline i64 label_of(const ctc_arguments& r, i64 b, i64 k) { return r.labels[b * r.longest + k]; }
__device__ inline i64 class_of(const ctc_arguments& r, i64 b, i64 s) {
  return s % 2 != 0 ? label_of(r, b, s / 2) : r.blank;
}
/// Returns true if state s can follow state s - 2 directly: both are labels, and they differ.
__device__ inline bool skips(const ctc_arguments& r, i64 b, i64 s) {
  return s % 2 != 0 && s > 2 && label_of(r, b, s / 2) != label_of(r, b, s / 2 - 1);
}
__device__ inline double* forward_of(const ctc_arguments& r, i64 b, i64 t) {
  return r.forward + (b * r.retained_steps + t % r.retained_steps) * r.states;
}
template <class N>
__device__ double log_of(const ctc_arguments& r, i64 b, i64 t, i64 s) {
  const i64 line = t * r.batch + b;
  return static_cast<double>(static_cast<const N*>(r.logits)[line * r.classes + class_of(r, b, s)]) - r.norms[line];
}

/// Computes for each used step the logarithm of the sum of its logits' exponentials.
template <class N>
__device__ void ctc_norms(const ctc_arguments& r) {
  const auto larger = [](double a, double b) { return a > b || a != a ? a : b; };
  for (i64 line = blockIdx.x; line < r.time * r.batch; line += gridDim.x) {
    if (line / r.batch >= r.steps[line % r.batch]) continue;
    const N* const x = static_cast<const N*>(r.logits) + line * r.classes;
    double most = no_logarithm;
    for (i64 c = threadIdx.x; c < r.classes; c += set_threads) most = larger(most, static_cast<double>(x[c]));
    most = combine_threads(most, larger);
    double sum = 0;
    for (i64 c = threadIdx.x; c < r.classes; c += set_threads)
      sum += static_cast<double>(exp(x[c] - static_cast<N>(most)));
    sum = combine_threads(sum, [](double a, double b) { return a + b; });
    if (threadIdx.x == 0) r.norms[line] = most + log(sum);
  }
}

/// Returns true in all threads if all labels of a sequence are classes other than the blank.
__device__ inline bool has_valid_labels(const ctc_arguments& r, i64 b) {
  if (!has_counts(r, b)) return false;
  double wrong = 0;
  for (i64 k = threadIdx.x; k < r.counts[b]; k += set_threads) {
    const i64 label = label_of(r, b, k);
    if (label < 0 || label >= r.classes || label == r.blank) wrong = 1;
  }
  return combine_threads(wrong, [](double x, double y) { return x + y; }) == 0;
}

/// Computes the loss of each sequence. For the gradient, writes the logarithm of its probability (minus the loss) to
/// `losses`.
template <class N>
__device__ void ctc_forward(const ctc_arguments& r) {
  for (i64 b = blockIdx.x; b < r.batch; b += gridDim.x) {
    const bool possible = has_valid_labels(r, b);
    const i64 steps = possible ? r.steps[b] : 0, states = possible ? 2 * i64{r.counts[b]} + 1 : 0;
    for (i64 t = 0; t < steps; ++t) {
      const double* const before = forward_of(r, b, t + r.retained_steps - 1);
      double* const now = forward_of(r, b, t);
      for (i64 s = threadIdx.x; s < states; s += set_threads) {
        double sum = s < 2 ? 0 : no_logarithm;
        if (t > 0)
          sum = log_sum(before[s], s > 0 ? before[s - 1] : no_logarithm, skips(r, b, s) ? before[s - 2] : no_logarithm);
        now[s] = sum + log_of<N>(r, b, t, s);
      }
      __syncthreads();
    }
    if (threadIdx.x != 0) continue;
    double total = states == 1 ? 0 : no_logarithm;
    if (steps > 0) {
      const double* const last = forward_of(r, b, steps - 1);
      total = log_sum(last[states - 1], states > 1 ? last[states - 2] : no_logarithm, no_logarithm);
    }
    if (r.dloss != nullptr)
      r.losses[b] = total;
    else
      static_cast<N*>(r.to)[b] = static_cast<N>(-total);
  }
}

/// Replaces the forward sum of each state and step by the probability that an alignment is in that state. Also links
/// each label to the next equal one: a link is the index of that label, or `longest` if there is none. It is stored as
/// -1 - link if an equal label precedes.
template <class N>
__device__ void ctc_backward(const ctc_arguments& r) {
  for (i64 b = blockIdx.x; b < r.batch; b += gridDim.x) {
    const double total = r.losses[b];
    if (total == no_logarithm) continue;
    const i64 steps = r.steps[b], count = r.counts[b], states = 2 * count + 1;
    double* const next = r.next + b * r.longest;
    for (i64 k = threadIdx.x; k < count; k += set_threads) {
      i64 later = k + 1;
      while (later < count && label_of(r, b, later) != label_of(r, b, k)) ++later;
      i64 earlier = k - 1;
      while (earlier >= 0 && label_of(r, b, earlier) != label_of(r, b, k)) --earlier;
      const auto link = static_cast<double>(later < count ? later : r.longest);
      next[k] = earlier < 0 ? link : -1 - link;
    }
    for (i64 t = steps; t-- > 0;) {
      double* const now = r.backward + (b * 2 + t % 2) * r.states;
      const double* const then = r.backward + (b * 2 + (t + 1) % 2) * r.states;
      double* const sums = forward_of(r, b, t);
      for (i64 s = threadIdx.x; s < states; s += set_threads) {
        const auto after = [&](i64 to) { return then[to] + log_of<N>(r, b, t + 1, to); };
        double sum = s + 2 >= states ? 0 : no_logarithm;
        if (t + 1 < steps)
          sum = log_sum(after(s), s + 1 < states ? after(s + 1) : no_logarithm,
                        s + 2 < states && skips(r, b, s + 2) ? after(s + 2) : no_logarithm);
        now[s] = sum;
        sums[s] = exp(sums[s] + sum - total);
      }
      __syncthreads();
    }
  }
}

/// Computes the gradient of the logits. A block computes one step of one sequence at a time.
template <class N>
__device__ void ctc_gradient(const ctc_arguments& r) {
  for (i64 line = blockIdx.x; line < r.time * r.batch; line += gridDim.x) {
    const i64 t = line / r.batch, b = line % r.batch;
    N* const to = static_cast<N*>(r.to) + line * r.classes;
    const bool is_used = r.losses[b] != no_logarithm && t < r.steps[b];
    const N dloss = is_used ? static_cast<const N*>(r.dloss)[b] : N(0);
    for (i64 c = threadIdx.x; c < r.classes; c += set_threads)
      to[c] = is_used
                  ? dloss * exp(static_cast<const N*>(r.logits)[line * r.classes + c] - static_cast<N>(r.norms[line]))
                  : N(0);
    if (!is_used) continue;
    const i64 count = r.counts[b];
    const double *const probabilities = forward_of(r, b, t), *const next = r.next + b * r.longest;
    double blanks = 0;
    for (i64 k = threadIdx.x; k <= count; k += set_threads) blanks += probabilities[2 * k];
    blanks = combine_threads(blanks, [](double x, double y) { return x + y; });
    if (threadIdx.x == 0) to[r.blank] -= dloss * static_cast<N>(blanks);
    for (i64 k = threadIdx.x; k < count; k += set_threads) {
      if (next[k] < 0) continue;
      double sum = 0;
      for (i64 same = k; same < r.longest;) {
        sum += probabilities[2 * same + 1];
        same = static_cast<i64>(next[same] < 0 ? -1 - next[same] : next[same]);
      }
      to[label_of(r, b, k)] -= dloss * static_cast<N>(sum);
    }
  }
}

KERNELS(ctc_norms, ctc_arguments, ctc_norms)
KERNELS(ctc_forward, ctc_arguments, ctc_forward)
KERNELS(ctc_backward, ctc_arguments, ctc_backward)
KERNELS(ctc_gradient, ctc_arguments, ctc_gradient)

}  // namespace troupe::dnn::on_gpu
