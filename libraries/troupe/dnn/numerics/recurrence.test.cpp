// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Compares recurrences, the CTC loss and their gradients with the reference in double precision.
#include <limits>
#include <troupe/dnn/testing/numerics.hpp>

namespace troupe::dnn {
namespace {

using namespace testing;

constexpr dtype types[] = {dtype::f32, dtype::f64, dtype::f16, dtype::bf16, dtype::f8e4m3, dtype::i8};
constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinite = std::numeric_limits<double>::infinity();

class dnn_sequences : public dnn_numerics {
 protected:
  value whole(const extents& e, const std::vector<std::int64_t>& numbers) {
    stored_tensor& t = stored(dtype::i32, e);
    std::size_t next = 0;
    t.fill([&] { return static_cast<double>(numbers[next++]); });
    return value(t.operand<access_mode::read>());
  }
  // Returns random numbers. Steps after the end of a sequence hold `beyond`, which would spoil results that read it.
  value within_lengths(dtype type, const extents& e, const std::vector<std::int64_t>& lengths, double beyond = nan) {
    stored_tensor& t = stored(type, e);
    std::int64_t next = 0;
    t.fill([&] {
      const std::int64_t line = next++ / e[2], sequence = line % e[1];
      const bool is_used = lengths.empty() || line / e[1] < lengths[static_cast<std::size_t>(sequence)];
      return is_used ? random.value() : type == dtype::i8 ? 100 : beyond;
    });
    return value(t.operand<access_mode::read>());
  }
  std::vector<std::int64_t> some(std::int64_t count, std::int64_t least, std::int64_t most) {
    std::vector<std::int64_t> out(static_cast<std::size_t>(count));
    for (std::int64_t& n : out) n = random.between(least, most);
    return out;
  }
  value small(dtype type, const extents& e) { return given(type, e) * 0.3; }
};

TEST_F(dnn_sequences, recurrences_and_their_gradients_match_the_definition) {
  for (const recurrent_cell cell :
       {recurrent_cell::relu, recurrent_cell::tanh, recurrent_cell::lstm, recurrent_cell::gru})
    for (const dtype t : types)
      for (int i = 0; i < 4 && !HasFailure(); ++i) {
        const bool is_lstm = cell == recurrent_cell::lstm, is_large = random.between(0, 5) == 0;
        const std::int64_t time = random.between(1, 7),
                           batch = is_large ? random.between(30, 70) : random.between(1, 5),
                           inputs = random.between(1, 9),
                           hidden = is_large ? random.between(17, 70) : random.between(1, 9);
        const std::int64_t width = is_lstm && random.between(0, 1) == 0 ? random.between(1, hidden) : hidden,
                           rows = hidden * (is_lstm                       ? 4
                                            : cell == recurrent_cell::gru ? 3
                                                                          : 1);
        const dtype of_weights = t == dtype::i8 ? dtype::f32 : t;
        recurrent_weights w{small(of_weights, {rows, inputs}), small(of_weights, {rows, width})};
        if (random.between(0, 1) == 0) w.biases = {small(dtype::f32, {rows}), small(dtype::f32, {rows})};
        if (width != hidden || (is_lstm && random.between(0, 3) == 0))
          w.projection = small(of_weights, {width, hidden});
        recurrence_options o{.cell = cell, .reversed = random.between(0, 1) == 0};
        if (random.between(0, 1) == 0) {
          o.initial = recurrent_state{given(of_weights, {batch, width})};
          if (is_lstm) o.initial->c = given(of_weights, {batch, hidden});
        }
        std::vector<std::int64_t> lengths;
        if (random.between(0, 1) == 0) o.lengths = whole({batch}, lengths = some(batch, -1, time + 1));
        const value x = within_lengths(t, {time, batch, inputs}, lengths);
        const recurrent_result r = recurrence(x, w, o);
        recurrent_output_gradients d;
        const std::int64_t which = random.between(0, 2);
        if (which != 0) d.y = within_lengths(of_weights, {time, batch, width}, lengths);
        if (which != 1) d.h = given(of_weights, {batch, width});
        if (is_lstm && random.between(0, 1) == 0) d.c = given(of_weights, {batch, hidden});
        // The gradient of relu reads a reserve of random numbers. In a computed one, a rounding error may decide
        // whether a sum is above 0, which changes the gradient.
        const auto of_reserve = r.reserve.extents();
        const value reserve =
            cell == recurrent_cell::relu
                ? within_lengths(of_weights, extents(of_reserve.begin(), of_reserve.end()), lengths, 0)
                : r.reserve;
        const recurrence_gradients g = recurrence_gradient(d, x, w, reserve, o);
        std::vector<value> all{r.y, r.h, r.reserve, g.dx, g.dinput, g.drecurrent};
        if (is_lstm) all.push_back(r.c);
        if (w.biases) all.insert(all.end(), {g.dinput_bias, g.drecurrent_bias});
        if (w.projection) all.push_back(g.dprojection);
        if (o.initial) all.push_back(g.dh);
        if (o.initial && is_lstm) all.push_back(g.dc);
        expect_as_defined(all, random.one_of({dtype::f32, dtype::f16}), 2e-4);
      }
}

TEST_F(dnn_sequences, bidirectional_layers_match_the_definition) {
  for (int i = 0; i < 4 && !HasFailure(); ++i) {
    const std::int64_t time = random.between(1, 6), batch = random.between(1, 4);
    const rnn_options o{
        .cell = recurrent_cell::gru, .bidirectional = true, .lengths = whole({batch}, some(batch, 0, time))};
    std::vector<recurrent_weights> w;
    std::vector<recurrent_state> initial;
    std::vector<recurrent_output_gradients> d;
    for (int k = 0; k < 4; ++k) {
      w.push_back({small(dtype::f16, {12, k < 2 ? 3 : 8}), small(dtype::f16, {12, 4})});
      initial.push_back({given(dtype::f32, {batch, 4})});
      d.push_back({.h = given(dtype::f32, {batch, 4})});
    }
    const value x = given(dtype::f16, {time, batch, 3}), dy = given(dtype::f32, {time, batch, 8});
    const rnn_result r = rnn(x, w, o, initial);
    const rnn_gradients g = rnn_gradient(dy, x, w, r, o, initial, d);
    std::vector<value> all{r.y, g.dx};
    for (int k = 0; k < 4; ++k) {
      const auto& of = g.layers[static_cast<std::size_t>(k)];
      all.insert(all.end(), {r.layers[static_cast<std::size_t>(k)].h, of.dinput, of.drecurrent, of.dh});
    }
    expect_as_defined(all, dtype::f32, 2e-4);
  }
}

TEST_F(dnn_sequences, lengths_do_not_make_the_graph_compute_in_double) {
  const value x = given(dtype::f32, {3, 2, 4}, dense);
  const recurrent_weights w{given(dtype::f32, {4, 4}, dense), given(dtype::f32, {4, 4}, dense)};
  stored_tensor &y = stored(dtype::f32, {3, 2, 4}, dense), &lengths = stored(dtype::i32, {2}, dense);
  lengths.fill([] { return 2; });
  const auto needs = [&](const recurrence_options& o) {
    const computation r{.graph = {{recurrence(x, w, o).y, y.operand<access_mode::write>()}}};
    const auto bytes = engine->run(prepare{r});
    EXPECT_TRUE(bytes);
    return bytes ? *bytes : 0;
  };
  const value of_each(lengths.operand<access_mode::read>());
  EXPECT_EQ(needs({.cell = recurrent_cell::tanh, .lengths = of_each}), needs({.cell = recurrent_cell::tanh}));
}

TEST_F(dnn_sequences, ctc_loss_and_its_gradient_match_the_definition) {
  for (const dtype t : {dtype::f32, dtype::f64, dtype::f16, dtype::bf16, dtype::f8e5m2})
    for (int i = 0; i < 6 && !HasFailure(); ++i) {
      const bool is_large = random.between(0, 3) == 0;
      const std::int64_t time = is_large ? random.between(100, 200) : random.between(1, 12),
                         batch = random.between(1, 4), classes = random.between(1, is_large ? 150 : 6),
                         longest = random.between(1, is_large ? 80 : time / 2 + 1);
      const std::int64_t blank = random.between(0, classes - 1);
      std::vector<std::int64_t> labels = some(batch * longest, 0, classes - 1);
      for (std::int64_t& label : labels)
        if (label == blank && classes > 1) label = (blank + 1) % classes;
      const ctc_labels l{whole({batch, longest}, labels),
                         whole({batch}, some(batch, std::max<std::int64_t>(0, time - 3), time)),
                         whole({batch}, some(batch, 0, longest)), blank};
      const value logits = given(t, {time, batch, classes}) * 3.0, dloss = given(t, {batch});
      expect_as_defined({ctc_loss(logits, l), ctc_loss_gradient(dloss, logits, l)}, dtype::f32, 1e-4);
    }
}

TEST_F(dnn_sequences, invalid_labels_and_lengths_match_the_definition) {
  constexpr std::int64_t far = std::numeric_limits<std::int32_t>::max(), odd[] = {-far - 1, -1, 3, 4, 1 << 24, far};
  for (int i = 0; i < 30 && !HasFailure(); ++i) {
    const auto any = [&](std::int64_t count, std::int64_t most) {
      std::vector<std::int64_t> out = some(count, 0, most);
      for (std::int64_t& n : out)
        if (random.between(0, 4) == 0) n = odd[random.between(0, 5)];
      return out;
    };
    const std::int64_t batch = 6;
    const ctc_labels l{whole({batch, 2}, any(2 * batch, 2)), whole({batch}, any(batch, 3)),
                       whole({batch}, any(batch, 2))};
    stored_tensor& t = stored(random.one_of({dtype::f32, dtype::f64}), {3, batch, 3});
    t.fill([&] { return random.between(0, 4) == 0 ? -infinite : random.value(); });
    const value logits(t.operand<access_mode::read>()), dloss = given(dtype::f32, {batch});
    const recurrent_weights w{given(dtype::f32, {3, 3}), given(dtype::f32, {3, 1})};
    const recurrence_options o{.cell = recurrent_cell::gru, .lengths = whole({batch}, any(batch, 3))};
    const recurrent_result r = recurrence(given(dtype::f32, {3, batch, 3}), w, o);
    expect_as_defined({ctc_loss(logits, l), ctc_loss_gradient(dloss, logits, l), r.y, r.h}, dtype::f32, 1e-4);
  }
}

}  // namespace
}  // namespace troupe::dnn
