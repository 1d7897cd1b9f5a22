// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Compares recurrences with cases that are computed by hand, and tests refusals of tensors that do not fit.
#include <troupe/base/half.hpp>
#include <troupe/dnn/operations/recurrence/attributes.hpp>
#include <troupe/dnn/testing/definition.hpp>
#include <troupe/dnn/testing/encoding.hpp>
#include <troupe/request/testing/fake_memory.hpp>

namespace troupe::dnn {
namespace {

const double log3 = std::log(3.0);  // sigmoid(log3) = 0.75

class dnn_recurrence : public testing::definition {
 protected:
  // Returns weights with which each step adds x to the state.
  recurrent_weights adding() { return {given({1, 1}, {1}), given({1, 1}, {1})}; }
};

TEST_F(dnn_recurrence, simple_cells_apply_a_function_to_the_input_and_the_previous_state) {
  const value x = given({2, 1, 1}, {1, -2});
  const recurrent_weights w{given({1, 1}, {2}), given({1, 1}, {3}),
                            recurrent_weights::bias{given({1}, {0.5}), given({1}, {0.25})}};
  recurrence_options o{.cell = recurrent_cell::relu, .initial = recurrent_state{given({1, 1}, {1})}};
  const recurrent_result r = recurrence(x, w, o);
  expect(r.y, {5.75, 14});
  expect(r.h, {14});
  o.cell = recurrent_cell::tanh;
  const double first = std::tanh(5.75);
  expect(recurrence(x, w, o).y, {first, std::tanh(-3.25 + 3 * first)});
  expect(recurrence(given({1, 1, 1}, {-9}), w, {.cell = recurrent_cell::relu}).y, {0});
}

TEST_F(dnn_recurrence, lstm_gates_are_in_the_order_input_forget_cell_output) {
  const value x = given({1, 1, 1}, {0}), zeros = given({4}, {0, 0, 0, 0});
  recurrent_weights w{given({4, 1}, {0, 0, 0, 0}), given({4, 1}, {0, 0, 0, 0}),
                      recurrent_weights::bias{given({4}, {log3, 0, std::atanh(0.5), -log3}), zeros}};
  recurrence_options o{.initial = recurrent_state{given({1, 1}, {7}), given({1, 1}, {2})}};
  const double c = 0.5 * 2 + 0.75 * 0.5, m = 0.25 * std::tanh(c);
  const recurrent_result r = recurrence(x, w, o);
  expect(r.c, {c});
  expect(r.y, {m});
  expect(r.h, {m});
  w.projection = given({2, 1}, {2, -1});
  w.recurrent = given({4, 2}, {0, 0, 0, 0, 0, 0, 0, 0});
  o.initial->h = given({1, 2}, {7, 8});
  expect(recurrence(x, w, o).y, {2 * m, -m});
  expect(recurrence(x, w, o).h, {2 * m, -m});
  expect(recurrence(x, w, o).c, {c});
}

TEST_F(dnn_recurrence, the_reset_gate_of_a_gru_multiplies_the_product_of_weights_and_state) {
  const recurrent_weights w{given({3, 1}, {0, 0, 1}), given({3, 1}, {0, 0, 1}),
                            recurrent_weights::bias{given({3}, {log3, -log3, -2}), given({3}, {0, 0, 1})}};
  const recurrent_result r = recurrence(given({1, 1, 1}, {0.5}), w,
                                        {.cell = recurrent_cell::gru, .initial = recurrent_state{given({1, 1}, {2})}});
  expect(r.y, {0.75 * std::tanh(0.5 - 2 + 0.75 * 3) + 0.25 * 2});
}

TEST_F(dnn_recurrence, each_sequence_is_processed_from_its_own_first_or_last_step) {
  const value x = given({3, 4, 1}, {1, 10, 100, 1000, 2, 20, 200, 2000, 4, 40, 400, 4000});
  recurrence_options o{.cell = recurrent_cell::relu,
                       .initial = recurrent_state{given({4, 1}, {0.5, 0, 0, 0})},
                       .lengths = whole({4}, {2, 7, 0, -1})};
  const recurrent_result forward = recurrence(x, adding(), o);
  expect(forward.y, {1.5, 10, 0, 0, 3.5, 30, 0, 0, 0, 70, 0, 0});
  expect(forward.h, {3.5, 70, 0, 0});
  o.reversed = true;
  const recurrent_result back = recurrence(x, adding(), o);
  expect(back.y, {3.5, 70, 0, 0, 2.5, 60, 0, 0, 0, 40, 0, 0});
  expect(back.h, {3.5, 70, 0, 0});
}

TEST_F(dnn_recurrence, gradients_ignore_sequences_without_steps) {
  const value x = given({2, 2, 1}, {1, 2, 3, 4});
  const recurrence_options o{
      .cell = recurrent_cell::relu, .initial = recurrent_state{given({2, 1}, {1, 1})}, .lengths = whole({2}, {0, 1})};
  const recurrent_weights w = adding();
  const recurrence_gradients g = recurrence_gradient({.y = given({2, 2, 1}, {5, 6, 7, 8}), .h = given({2, 1}, {3, 4})},
                                                     x, w, recurrence(x, w, o).reserve, o);
  expect(g.dx, {0, 10, 0, 0});
  expect(g.dh, {3, 10});
  expect(g.dinput, {20});
  expect(g.drecurrent, {10});
}

TEST_F(dnn_recurrence, y_of_both_directions_is_the_input_of_the_next_layer) {
  const value x = given({2, 1, 1}, {1, 2});
  const recurrent_weights two{given({1, 2}, {1, 10}), given({1, 1}, {1})};
  const std::vector<recurrent_weights> w{adding(), adding(), two, two};
  const rnn_result r = rnn(x, w, {.cell = recurrent_cell::relu, .bidirectional = true});
  expect(r.layers[0].y, {1, 3});
  expect(r.layers[1].y, {3, 2});
  expect(r.layers[2].y, {31, 54});
  expect(r.layers[3].y, {54, 23});
  expect(r.y, {31, 54, 54, 23});
}

TEST_F(dnn_recurrence, a_bidirectional_layer_needs_weights_for_each_direction) {
  const value x = given({2, 1, 1}, {1, 2});
  EXPECT_NE(rnn(x, std::vector{adding()}, {.bidirectional = true}).y.why_refused(), "");
}

class dnn_recurrence_refusals : public ::testing::Test {
 protected:
  template <class T = float>
  value given(std::initializer_list<extent> e) {
    std::uint64_t n = 1;
    for (const extent each : e) n *= static_cast<std::uint64_t>(each.value());
    return read(tensor<T>(buffer<T>(memory.at<T>(0, n).range), e));
  }
  std::string refusal(const recurrent_weights& w, const recurrence_options& o) {
    return recurrence(given({5, 2, 3}), w, o).y.why_refused();
  }
  troupe::testing::fake_memory memory{1 << 18};
};

TEST_F(dnn_recurrence_refusals, a_refusal_names_the_weights_that_do_not_fit) {
  const value input = given({16, 3}), recurrent = given({16, 4}), bias = given({16});
  EXPECT_EQ(refusal({input, recurrent, recurrent_weights::bias{bias, bias}}, {}), "");
  EXPECT_EQ(refusal({input, given({16, 2}), {}, given({2, 4})}, {}), "");
  EXPECT_EQ(recurrence(given({5, 2}), {input, recurrent}, {}).y.why_refused(),
            "has a recurrence whose x has 2 axes; expected 3");
  EXPECT_EQ(refusal({given({16, 4}), recurrent}, {}),
            "has a recurrence whose input weights is 16 x 4; expected 16 x 3: the rows of the recurrent weights, and "
            "the inputs of x");
  EXPECT_EQ(refusal({input, given({16, 5})}, {}),
            "has a recurrence whose recurrent weights is 16 x 5; expected 16 x 4: without a projection, as many "
            "columns as rows for each gate");
  EXPECT_EQ(
      refusal({input, recurrent}, {.cell = recurrent_cell::gru}),
      "has a recurrence whose recurrent weights is 16 x 4; expected a number of rows that is a multiple of 3, the "
      "gates of a GRU");
  EXPECT_EQ(refusal({input, recurrent, recurrent_weights::bias{bias, given({15})}}, {}),
            "has a recurrence whose recurrent bias is 15; expected 16: the rows of the weights");
  EXPECT_EQ(refusal({input, given({16, 2}), {}, given({2, 5})}, {}),
            "has a recurrence whose projection is 2 x 5; expected 2 x 4: the columns of the recurrent weights, and "
            "their rows for each gate");
  EXPECT_EQ(refusal({given({4, 3}), given({4, 4}), {}, given({4, 4})}, {.cell = recurrent_cell::tanh}),
            "has a recurrence whose projection is given to a simple cell; expected an LSTM, or no projection");
  EXPECT_EQ(refusal({input, recurrent}, {.cell = recurrent_cell(9)}),
            "has a recurrence whose cell is 9; expected relu, tanh, lstm or gru");
}

TEST_F(dnn_recurrence_refusals, a_refusal_names_the_states_or_lengths_that_do_not_fit) {
  const recurrent_weights w{given({16, 3}), given({16, 4})};
  const value h = given({2, 4});
  EXPECT_EQ(refusal(w, {.initial = recurrent_state{h, h}, .lengths = given<std::int32_t>({2})}), "");
  EXPECT_EQ(refusal(w, {.initial = recurrent_state{given({3, 4}), h}}),
            "has a recurrence whose initial h is 3 x 4; expected 2 x 4: the sequences of x, and the columns of the "
            "recurrent weights");
  EXPECT_EQ(refusal(w, {.initial = recurrent_state{h}}),
            "has a recurrence whose initial c is not given; expected a tensor, as initial h is given");
  EXPECT_EQ(refusal({given({12, 3}), given({12, 4})}, {.cell = recurrent_cell::gru, .initial = recurrent_state{h, h}}),
            "has a recurrence whose initial c is given to a GRU; expected an LSTM, or no c");
  EXPECT_EQ(refusal(w, {.lengths = given({2})}), "has a recurrence whose lengths holds f32; expected i32");
  EXPECT_EQ(refusal(w, {.lengths = given<std::int32_t>({3})}),
            "has a recurrence whose lengths is 3; expected 2: the sequences of x");
  EXPECT_EQ(
      recurrence(given({5, 2, 3}), {given({4, 3}), given({4, 4})}, {.cell = recurrent_cell::tanh}).c.why_refused(),
      "has a recurrence whose last c is not computed; expected an LSTM");
}

TEST_F(dnn_recurrence_refusals, a_refusal_names_the_gradients_that_do_not_fit) {
  const value x = given({5, 2, 3});
  const recurrent_weights w{given({16, 3}), given({16, 4})};
  const value reserve = recurrence(x, w, {}).reserve;
  EXPECT_EQ(recurrence_gradient({.y = given({5, 2, 4})}, x, w, reserve, {}).dx.why_refused(), "");
  EXPECT_EQ(recurrence_gradient({}, x, w, reserve, {}).dx.why_refused(),
            "has a recurrence_gradient whose gradients are not given; expected that of y or of a last state");
  EXPECT_EQ(recurrence_gradient({.y = given({5, 2, 3})}, x, w, reserve, {}).dx.why_refused(),
            "has a recurrence_gradient whose dy is 5 x 2 x 3; expected 5 x 2 x 4: the extents of y");
  EXPECT_EQ(recurrence_gradient({.h = given({2, 3})}, x, w, reserve, {}).dx.why_refused(),
            "has a recurrence_gradient whose last dh is 2 x 3; expected 2 x 4: the sequences of x, and the columns of "
            "the recurrent weights");
  EXPECT_EQ(recurrence_gradient({.h = given({2, 4})}, x, w, given({5, 2, 7}), {}).dx.why_refused(),
            "has a recurrence_gradient whose reserve is 5 x 2 x 7; expected 5 x 2 x 24: the extents that the layer "
            "returned");
  const recurrence_gradients g = recurrence_gradient({.h = given({2, 4})}, x, w, reserve, {});
  EXPECT_EQ(g.dinput_bias.why_refused(),
            "has a recurrence_gradient whose dinput_bias is not computed; expected biases to be given");
  EXPECT_EQ(g.dh.why_refused(),
            "has a recurrence_gradient whose dh is not computed; expected an initial state to be given");
}

TEST_F(dnn_recurrence_refusals, a_refusal_names_the_list_that_has_a_wrong_number_of_elements) {
  const value x = given({5, 2, 3});
  const std::vector<recurrent_weights> w(3, {given({16, 3}), given({16, 4})});
  EXPECT_EQ(rnn(x, w, {.bidirectional = true}).y.why_refused(),
            "has a rnn whose weights has 3 elements; expected two for each layer, one for each direction");
  EXPECT_EQ(rnn(x, {}, {}).y.why_refused(), "has a rnn whose weights has 0 elements; expected at least 1");
  const std::vector<recurrent_state> states(2, {given({2, 4}), given({2, 4})});
  EXPECT_EQ(rnn(x, w, {}, states).layers[2].h.why_refused(),
            "has a rnn whose initial has 2 elements; expected 3, one for each of the weights, or none");
  EXPECT_EQ(rnn_gradient(x, x, w, {x, {}}, {}).dx.why_refused(),
            "has a rnn_gradient whose of.layers has 0 elements; expected 3, one for each of the weights");
}

TEST(dnn_recurrence_attributes, a_recurrence_node_must_have_the_tensors_that_its_attributes_declare) {
  const std::int32_t length = 1;
  const auto is_accepted = [&](op what, const recurrence_attributes& a, std::size_t inputs, std::size_t outputs,
                               bool last_is_whole = false) {
    testing::encoding e;
    e.node(what, {}, {}, a);
    encoded_node& n = e.nodes[0];
    n.input_count = static_cast<std::uint8_t>(inputs), n.output_count = static_cast<std::uint8_t>(outputs);
    for (std::size_t i = 0; i < inputs; ++i)
      n.inputs[i] =
          last_is_whole && i + 1 == inputs ? e.at(&length, dtype::i32, testing::dense({1})) : e.given({1, 1, 1}, {0});
    for (std::size_t i = 0; i < outputs; ++i) n.outputs[i] = e.intermediate({1, 1, 1});
    return !e.encoded().empty();
  };
  recurrence_attributes a{};
  EXPECT_TRUE(is_accepted(op::recurrence, a, 3, 3));
  EXPECT_FALSE(is_accepted(op::recurrence, a, 4, 3));
  EXPECT_FALSE(is_accepted(op::recurrence_gradient, a, 4, 3)) << "the gradient of nothing";
  a.has_dh = 1;
  EXPECT_TRUE(is_accepted(op::recurrence_gradient, a, 5, 3));
  EXPECT_FALSE(is_accepted(op::recurrence, a, 3, 3)) << "a gradient as an input of the forward pass";
  a = {.cell = recurrent_cell::lstm, .has_state = 1, .has_biases = 1, .has_projection = 1, .has_lengths = 1};
  EXPECT_TRUE(is_accepted(op::recurrence, a, 9, 4, true));
  EXPECT_FALSE(is_accepted(op::recurrence, a, 9, 4)) << "lengths of f64";
  a.has_dy = a.has_dh = a.has_dc = 1;
  EXPECT_TRUE(is_accepted(op::recurrence_gradient, a, 9, 8, true));
  a.cell = recurrent_cell::gru;
  EXPECT_FALSE(is_accepted(op::recurrence_gradient, a, 8, 7, true)) << "a projection of a GRU";
  a = {}, a.cell = recurrent_cell(4);
  EXPECT_FALSE(is_accepted(op::recurrence, a, 3, 3));
  a = {}, a.reversed = 2;
  EXPECT_FALSE(is_accepted(op::recurrence, a, 3, 3));
}

}  // namespace
}  // namespace troupe::dnn
