// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <troupe/dnn/dnn.hpp>

#include <tests/contract/contract.hpp>

namespace troupe::whole {
namespace {

// A layer of one unit that adds x to its state, over a sequence of 3 steps and a sequence of 1 step.
struct recurrent_layer {
  using request = dnn::computation;
  static constexpr const char* bad_field =
      "graph has a recurrence whose recurrent weights is 1 x 2; expected 1 x 1: without a projection, as many columns "
      "as rows for each gate";
  static request make(const device& gpu, extent width) {
    const tensor x(gpu.upload(std::vector<float>{1, 10, 2, 20, 4, 40}), {3, 2, 1}), y(gpu.alloc<float>(6), {3, 2, 1});
    const tensor input(gpu.upload(std::vector<float>{1}), {1, 1}),
        recurrent(gpu.upload(std::vector<float>{1, 1}), {1, width});
    const auto lengths = gpu.upload(std::vector<std::int32_t>{3, 1});
    const dnn::recurrent_result r = dnn::recurrence(dnn::read(x), {dnn::read(input), dnn::read(recurrent)},
                                                    {.cell = dnn::recurrent_cell::relu, .lengths = dnn::read(lengths)});
    return {.graph = {write(r.y, y)}};
  }
  static request good(const device& gpu) { return make(gpu, 1); }
  static request bad(const device& gpu) { return make(gpu, 2); }
  static void expect_right(const device& gpu, const request& r, const result<void>& answer) {
    ASSERT_OK(answer);
    EXPECT_EQ(gpu.download(buffer<float>(r.graph.memory().back().range)).get().value(),
              (std::vector<float>{1, 10, 3, 0, 7, 0}));
  }
};

// The CTC loss of one label in two steps; the three classes have equal probabilities.
struct alignment {
  using request = dnn::computation;
  static constexpr const char* bad_field = "graph has a ctc_loss whose blank is 3; expected one of the 3 classes";
  static request make(const device& gpu, std::int64_t blank) {
    const auto one = gpu.upload(std::vector<std::int32_t>{1}), two = gpu.upload(std::vector<std::int32_t>{2}),
               label = gpu.upload(std::vector<std::int32_t>{1});
    const tensor logits(gpu.upload(std::vector<float>(6)), {2, 1, 3}), loss(gpu.alloc<float>(1), {1});
    const dnn::value l =
        dnn::ctc_loss(dnn::read(logits), {dnn::read(tensor(label, {1, 1})), dnn::read(two), dnn::read(one), blank});
    return {.graph = {write(l, loss)}};
  }
  static request good(const device& gpu) { return make(gpu, 0); }
  static request bad(const device& gpu) { return make(gpu, 3); }
  static void expect_right(const device& gpu, const request& r, const result<void>& answer) {
    ASSERT_OK(answer);
    const auto loss = gpu.download(buffer<float>(r.graph.memory().back().range)).get().value();
    EXPECT_NEAR(loss[0], std::log(3.0f), 1e-5f);
  }
};

using dnn_sequence_cases = testing::Types<recurrent_layer, alignment>;
INSTANTIATE_TYPED_TEST_SUITE_P(dnn_sequences, library_actor, dnn_sequence_cases);

// Two layers add 2 and 3 times their input to their state. The forward and the backward request use the same reserve.
TEST(dnn_rnn_requests, forward_and_backward_requests_share_a_reserve) {
  runtime rt;
  const device gpu = rt.open_device();
  const auto numbers = [&](const std::vector<float>& n) { return gpu.upload(n); };
  const auto read_back = [&](const tensor<float>& t) { return gpu.download(t.memory()).get().value(); };
  const tensor x(numbers({1, 2}), {2, 1, 1}), y(gpu.alloc<float>(2), {2, 1, 1}), last(gpu.alloc<float>(2), {2, 1, 1});
  const tensor by_two(numbers({2}), {1, 1}), by_three(numbers({3}), {1, 1}), once(numbers({1}), {1, 1});
  dnn::rnn_forward forward{.x = x,
                           .y = y,
                           .weights = {{.input = by_two, .recurrent = once}, {.input = by_three, .recurrent = once}},
                           .cell = dnn::recurrent_cell::relu,
                           .last_h = last};
  const std::int64_t elements = forward.reserve_elements();
  const tensor reserve(gpu.alloc<float>(elements), {elements});
  forward.reserve = reserve;
  EXPECT_TRUE(gpu.tell(forward));
  const tensor dy(numbers({0, 1}), {2, 1, 1}), dx(gpu.alloc<float>(2), {2, 1, 1});
  const tensor dfirst(gpu.alloc<float>(1), {1, 1}), dsecond(gpu.alloc<float>(1), {1, 1});
  const tensor r1(gpu.alloc<float>(1), {1, 1}), r2(gpu.alloc<float>(1), {1, 1});
  EXPECT_OK(
      gpu.ask(dnn::rnn_backward{.dy = dy,
                                .x = x,
                                .reserve = reserve,
                                .dx = dx,
                                .weights = forward.weights,
                                .dweights = {{.input = dfirst, .recurrent = r1}, {.input = dsecond, .recurrent = r2}},
                                .cell = forward.cell})
          .get());
  EXPECT_EQ(read_back(y), (std::vector<float>{6, 24}));
  EXPECT_EQ(read_back(last), (std::vector<float>{6, 24}));
  EXPECT_EQ(read_back(dx), (std::vector<float>{12, 6}));
  EXPECT_EQ(read_back(dfirst), (std::vector<float>{12}));
  EXPECT_EQ(read_back(dsecond), (std::vector<float>{8}));
}

}  // namespace
}  // namespace troupe::whole
