// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Trains a small transformer to say digits backwards, with Adam. With --faults N, it does so again while the worker is
// broken N times, and compares all losses and weights.
//   example_train_sequence [--device cuda:0] [--steps N] [--faults N] [--picture FILE.svg]
#include <cmath>
#include <numeric>
#include "training.hpp"

using namespace troupe;
using dnn::value;

// A sequence has some digits, the end of the question, and the digits backwards but for the last.
constexpr int sequences = 32, digits = 8, tokens = 2 * digits, classes = 11, end_of_question = 10;
constexpr int width = 64, heads = 4, blocks = 2;

struct samples {
  std::vector<float> seen, wanted;  // wanted: the digits backwards
};

// The sequences of one step, always the same ones.
static samples draw(int step) {
  std::mt19937 random(static_cast<unsigned>(step) + 1);
  std::uniform_int_distribution<int> digit(0, 9);
  samples out;
  for (int n = 0; n < sequences; ++n) {
    std::vector<float> question(digits);
    for (float& d : question) d = static_cast<float>(digit(random));
    out.seen.insert(out.seen.end(), question.begin(), question.end());
    out.seen.push_back(end_of_question);
    out.seen.insert(out.seen.end(), question.rbegin(), question.rend() - 1);
    out.wanted.insert(out.wanted.end(), question.rbegin(), question.rend());
  }
  return out;
}

// Attention, then a layer that sees each token alone; both add to what there is.
class transformer_block {
 public:
  explicit transformer_block(training::memory& m)
      : before_attention_(m.weights({1, 1, width}, 1, 0)),
        before_layers_(m.weights({1, 1, width}, 1, 0)),
        qkv_(m.weights({1, width, 3 * width}, 0, 1 / std::sqrt(width))),
        attended_(m.weights({1, width, width}, 0, 1 / std::sqrt(width * blocks * 2))),
        wide_(m.weights({1, width, 4 * width}, 0, 1 / std::sqrt(width))),
        narrow_(m.weights({1, 4 * width, width}, 0, 1 / std::sqrt(4 * width * blocks * 2))) {}

  value operator()(const value& x) const {
    const value all = product(rms_norm(x, 1, 1e-5, before_attention_).y, qkv_);
    // Which of q, k and v, then as attention has its tensors: sequences x heads x tokens x width.
    const value parts = transpose(reshape(all, {sequences, tokens, 3, heads, width / heads}), {2, 0, 3, 1, 4});
    const auto part = [&](std::int64_t which) {
      return reshape(slice(parts, 0, which, 1), {sequences, heads, tokens, width / heads});
    };
    dnn::attention_options o;
    o.window = dnn::causal;
    const value seen = attention(part(0), part(1), part(2), o).y;
    const value h = x + product(reshape(transpose(seen, {0, 2, 1, 3}), {sequences, tokens, width}), attended_);
    return h + product(gelu(product(rms_norm(h, 1, 1e-5, before_layers_).y, wide_)), narrow_);
  }

 private:
  value before_attention_, before_layers_, qkv_, attended_, wide_, narrow_;
};

class transformer {
 public:
  explicit transformer(training::memory& m)
      : of_tokens_(m.weights({1, classes, width}, 0, 1)),
        of_places_(m.weights({1, tokens, width}, 0, 1)),
        blocks_{transformer_block(m), transformer_block(m)},
        last_norm_(m.weights({1, 1, width}, 1, 0)),
        last_(m.weights({1, width, classes}, 0, 1 / std::sqrt(width))) {}

  // The logarithms of the probabilities of the digits that follow the question, from one-hot tokens.
  value operator()(const value& seen) const {
    value h = product(seen, of_tokens_) + of_places_;
    for (const transformer_block& b : blocks_) h = b(h);
    const value answers = slice(rms_norm(h, 1, 1e-5, last_norm_).y, 1, digits, digits);
    return log_softmax(product(answers, last_), 2);
  }

 private:
  value of_tokens_, of_places_;
  transformer_block blocks_[blocks];
  value last_norm_, last_;
};

static value one_hot(const tensor<float>& of, const tensor<float>& all_classes) {
  return equal(dnn::read(of), dnn::read(all_classes));
}

// Replaces the weights by the next ones, by Adam. `count` is the number of steps so far; the rate rises at first.
static dnn::graph descend(const training::memory& m, const tensor<float>& count) {
  constexpr double rate = 3e-3, rising = 50, beta1 = 0.9, beta2 = 0.99;
  const value gradient = dnn::read(m.gradients()), n = dnn::read(count) + 1;
  const value mean = beta1 * dnn::read(m.moment(0)) + (1 - beta1) * gradient;
  const value square = beta2 * dnn::read(m.moment(1)) + (1 - beta2) * gradient * gradient;
  const value now = rate * min(n / rising, 1) / (1 - pow(beta1, n));
  const value step = now * mean / (sqrt(square / (1 - pow(beta2, n))) + 1e-8);
  return {write(mean, m.moment(0)), write(square, m.moment(1)), write(n, count),
          write(dnn::read(m.all_weights()) - step, m.all_weights())};
}

// All of the memory of one training.
struct course {
  course(const device& gpu, int steps)
      : m(gpu, 110'000),
        net(m),
        losses(m.kept({steps, 1, 1}, 0)),
        count(m.kept({1}, 0)),
        seen(gpu.alloc<float>(sequences * tokens), {sequences, tokens, 1}),
        wanted(gpu.alloc<float>(sequences * digits), {sequences, digits, 1}),
        all_classes(gpu.alloc<float>(classes), {1, 1, classes}) {}

  void upload(const device& gpu, int step) const {
    const samples s = draw(step);
    std::vector<float> numbers(classes);
    std::iota(numbers.begin(), numbers.end(), 0.0f);
    gpu.upload(seen.memory(), s.seen);
    gpu.upload(wanted.memory(), s.wanted);
    gpu.upload(all_classes.memory(), numbers);
  }

  training::memory m;
  transformer net;
  tensor<float> losses, count, seen, wanted, all_classes;
};

// The share of sequences that are said backwards without any mistake, of some that come in no step.
static result<double> accuracy_of(const device& gpu, const course& c, int steps) {
  using enum dnn::reduction_kind;
  constexpr int batches = 8;
  const tensor right(gpu.alloc<float>(batches), {batches, 1, 1});
  for (int i = 0; i < batches; ++i) {
    c.upload(gpu, steps + i);
    const value guess = c.net(one_hot(c.seen, c.all_classes)), wanted = one_hot(c.wanted, c.all_classes);
    const value is_right = equal(reduce(guess, maximum, {2}), reduce(guess * wanted, sum, {2}));
    dnn::compute(gpu, {write(reduce(reduce(is_right, minimum, {1}), mean, {0}), right.slice(0, i, 1))});
  }
  const auto got = gpu.download(right.memory()).get();
  if (!got) return got.error();
  return std::accumulate(got->begin(), got->end(), 0.0) / batches;
}

int main(int argc, char** argv) {
  const training::options o = training::read_options(argc, argv, 300);
  return training::compare_with_faults(o, 0.9, [&](const device& gpu, int faults) -> result<training::outcome> {
    const course c(gpu, o.steps);
    const dnn::computation next{descend(c.m, c.count)};
    const auto step = [&](int i) {
      c.upload(gpu, i);
      const value guess = c.net(one_hot(c.seen, c.all_classes)), wanted = one_hot(c.wanted, c.all_classes);
      const value loss = reduce(-wanted * guess, dnn::reduction_kind::sum, {0, 1, 2}) / (sequences * digits);
      std::vector<dnn::written> to{write(loss, c.losses.slice(0, i, 1))};
      c.m.write_gradients(loss, to);
      gpu.tell(dnn::computation{dnn::graph(to)});
      gpu.tell(next);
    };
    auto out = training::train(gpu, c.m, c.losses, o.steps, faults, sequences, step);
    if (!out) return out;
    const auto accuracy = accuracy_of(gpu, c, o.steps);
    if (!accuracy) return accuracy.error();
    std::printf("  %.1f %% of unseen sequences are said backwards without a mistake\n", 100 * *accuracy);
    out->accuracy = *accuracy;
    return out;
  });
}
