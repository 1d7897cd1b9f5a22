// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/half.hpp>
#include <troupe/cutlass/cutlass.hpp>
#include <troupe/graph/graph.hpp>

#include <tests/contract/contract.hpp>

namespace troupe::whole {
namespace {

using epilogue::acc, epilogue::load, epilogue::row;

// The tensors of a convolution: an image of 2 channels and 3 positions, 2 filters of 2 elements.
struct convolution_data {
  explicit convolution_data(const device& gpu)
      : x(gpu.upload(std::vector<float>{1, 2, 3, 4, 5, 6}), {1, 2, 3}),
        filters(gpu.upload(std::vector<float>{1, 0, 0, 1, 2, 0, 0, 0}), {2, 2, 2}),
        y(gpu.upload(std::vector<float>{1, 1, 0, 2}), {1, 2, 2}) {}
  tensor<float> x, filters, y;
};

struct forward {
  using request = cutlass::conv_forward;
  static constexpr const char* bad_field = "y is 1 x 2 x 2; expected 1 x 2 x 3, as the convolution's result has";
  static request good(const device& gpu) {
    const convolution_data d(gpu);
    return {.x = d.x, .filters = d.filters, .y = d.y, .epilogue = acc + row(gpu.upload(std::vector<float>{100, 0}))};
  }
  static request bad(const device& gpu) {
    request r = good(gpu);
    r.padding_after = 1;
    return r;
  }
  static void expect_right(const device& gpu, const request& r, const result<void>& answer) {
    ASSERT_OK(answer);
    EXPECT_EQ(gpu.download(buffer<float>(r.y.range())).get().value(), (std::vector<float>{106, 108, 2, 4}));
  }
};
struct data_gradient {
  using request = cutlass::conv_data_gradient;
  static constexpr const char* bad_field = "groups is 0; expected at least 1";
  static request good(const device& gpu) {
    const convolution_data d(gpu);
    return {.dy = d.y, .filters = d.filters, .dx = d.x, .epilogue = 2 * acc};
  }
  static request bad(const device& gpu) {
    request r = good(gpu);
    r.groups = 0;
    return r;
  }
  static void expect_right(const device& gpu, const request& r, const result<void>& answer) {
    ASSERT_OK(answer);
    EXPECT_EQ(gpu.download(buffer<float>(r.dx.range())).get().value(), (std::vector<float>{2, 10, 0, 0, 2, 2}));
  }
};
struct weight_gradient {
  using request = cutlass::conv_weight_gradient;
  static constexpr const char* bad_field = "dfilters is 2 x 2 x 2, with 2 input channels; expected 3, as the image has";
  static request good(const device& gpu) {
    const convolution_data d(gpu);
    const tensor ones(gpu.upload(std::vector<float>(8, 1)), {2, 2, 2});
    return {.dy = d.y, .x = d.x, .dfilters = d.filters, .epilogue = load(cutlass::filter_matrix(ones)) - acc};
  }
  static request bad(const device& gpu) {
    request r = good(gpu);
    r.x = tensor(buffer<float>(r.x.range()), {1, 3, 2});
    return r;
  }
  static void expect_right(const device& gpu, const request& r, const result<void>& answer) {
    ASSERT_OK(answer);
    EXPECT_EQ(gpu.download(buffer<float>(r.dfilters.range())).get().value(),
              (std::vector<float>{-2, -4, -8, -10, -3, -5, -9, -11}));
  }
};
template <class Convolution>
struct convolution_preparation {
  using request = cutlass::prepare<typename Convolution::request>;
  static constexpr const char* bad_field = "measure is -1; expected";
  static request good(const device& gpu) { return {Convolution::good(gpu)}; }
  static request bad(const device& gpu) { return {Convolution::good(gpu), -1}; }
  static void expect_right(const device&, const request&, const result<cutlass::plan_info>& answer) {
    ASSERT_OK(answer);
    EXPECT_EQ(answer->measured, 0u);
  }
};
struct packing {
  using request = cutlass::pack;
  static constexpr const char* bad_field =
      "scales is 2 x 2; expected one scale for each 16, 32, 64 ... elements along k, or one for all 3";
  static request make(const device& gpu, extent blocks) {
    const matrix from(gpu.upload(std::vector<float>{1, -254, 2, 127, -127, 0}), 3, 2);
    return {.from = from,
            .packed = matrix(gpu.alloc<std::int8_t>(6), 3, 2, element_order::column_major),
            .scales = matrix(gpu.alloc<float>(4), blocks, 2)};
  }
  static request good(const device& gpu) { return make(gpu, 1); }
  static request bad(const device& gpu) { return make(gpu, 2); }
  static void expect_right(const device& gpu, const request& r, const result<void>& answer) {
    ASSERT_OK(answer);
    EXPECT_EQ(gpu.download(buffer<std::int8_t>(r.packed.range())).get().value(),
              (std::vector<std::int8_t>{1, 2, -127, -127, 64, 0}));
    EXPECT_EQ(gpu.download(buffer<float>(r.scales->range())).get().value(), (std::vector<float>{1, 2}));
  }
};

using convolution_cases =
    testing::Types<forward, data_gradient, weight_gradient, convolution_preparation<forward>,
                   convolution_preparation<data_gradient>, convolution_preparation<weight_gradient>>;
static_assert(
    covers<convolution_cases,
           joined_requests<
               cutlass::convolution_requests,
               requests_for<types<cutlass::conv_forward, cutlass::conv_data_gradient, cutlass::conv_weight_gradient>,
                            cutlass::prepare>>>);
INSTANTIATE_TYPED_TEST_SUITE_P(cutlass_convolutions, library_actor, convolution_cases);
using weight_cases = testing::Types<packing>;
static_assert(covers<weight_cases, cutlass::weight_requests>);
INSTANTIATE_TYPED_TEST_SUITE_P(cutlass_weights, library_actor, weight_cases);

class cutlass_convolution : public testing::Test {
 protected:
  runtime rt;
  device gpu = rt.open_device(with_test_engines());
};

TEST_F(cutlass_convolution, epilogue_images_with_gaps_between_positions_are_refused) {
  const tensor whole(gpu.upload(std::vector<float>(24, 1)), {1, 2, 3, 4});
  const tensor part = whole.slice(3, 0, 2);  // a gap after each line
  cutlass::conv_forward r{.x = part,
                          .filters = tensor(gpu.upload(std::vector<float>(4, 1)), {2, 2, 1, 1}),
                          .y = tensor(gpu.alloc<float>(12), {1, 2, 3, 2}),
                          .epilogue = acc + load(cutlass::image_matrices(part))};
  EXPECT_TRUE(is_error(error_of(gpu.ask(r)), reaction::caller_bug,
                       {"image_matrices", "one stride from each position to the next", "copy the images first"}));
  r.epilogue = acc + load(cutlass::image_matrices(tensor(gpu.upload(std::vector<float>(12, 5)), {1, 2, 3, 2})));
  EXPECT_OK(gpu.ask(r).get()) << "x may have any strides";
  EXPECT_EQ(gpu.download(buffer<float>(r.y.range())).get().value(), std::vector<float>(12, 7));
  const tensor<float> none;
  r.epilogue = acc + load(cutlass::image_matrices(none));
  EXPECT_TRUE(is_error(error_of(gpu.ask(r)), reaction::caller_bug, {"epilogue.load[0]"}));
}

TEST_F(cutlass_convolution, epilogue_filters_with_gaps_are_refused) {
  const tensor whole(gpu.upload(std::vector<float>(24, 1)), {1, 2, 3, 4});
  const cutlass::conv_weight_gradient r{.dy = whole,
                                        .x = whole,
                                        .dfilters = tensor(gpu.alloc<float>(4), {2, 2, 1, 1}),
                                        .epilogue = acc + load(cutlass::filter_matrix(whole.slice(3, 0, 2)))};
  EXPECT_TRUE(is_error(error_of(gpu.ask(r)), reaction::caller_bug, {"filter_matrix", "copy the filters first"}));
}

TEST_F(cutlass_convolution, a_recorded_convolution_can_be_rebound_and_launched_again) {
  const forward::request r = forward::good(gpu);
  const buffer<float> x(r.x.range()), y(r.y.range()), other = gpu.upload(std::vector<float>{10, 20, 30, 40, 50, 60});
  graph::recorder rec(gpu);
  ASSERT_TRUE(rec.add(r));
  const graph::graph g = rec.finish();
  gpu.tell(graph::launch{.graph = g});
  EXPECT_EQ(gpu.download(y).get().value(), (std::vector<float>{106, 108, 2, 4}));
  EXPECT_OK(g.rebind(x, other));
  gpu.tell(graph::launch{.graph = g});
  EXPECT_EQ(gpu.download(y).get().value(), (std::vector<float>{160, 180, 20, 40}));
}

}  // namespace
}  // namespace troupe::whole
