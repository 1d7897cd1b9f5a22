// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests stored-type steps of attention, on a fake driver that runs kernels on the host.
#include <troupe/base/text/cat.hpp>
#include <troupe/dnn/cuda/kernels.hpp>
#include <troupe/dnn/cuda/launches/attention_decoding.hpp>
#include <troupe/dnn/cuda/launches/attention_launches.hpp>
#include <troupe/dnn/operations/attention/attributes.hpp>
#include <troupe/dnn/testing/encoding.hpp>
#include <troupe/epilogue/numbers.hpp>

namespace troupe::dnn::testing {
namespace {

constexpr std::int64_t unlimited = attention_attributes::unlimited;

struct decoding_step {
  std::int64_t batch = 2, heads = 8, key_heads = 2, queries = 1, keys = 600, width = 128, value_width = 128;
  dtype type = dtype::f16, type_of_y = dtype::f32;
  attention_attributes attributes{.scale = 0.3,
                                  .soft_cap = 0,
                                  .left = unlimited,
                                  .right = unlimited,
                                  .bottom_right = 1,
                                  .has_bias = 0,
                                  .has_alibi = 0,
                                  .queries = sequence_layout::whole,
                                  .keys = sequence_layout::whole,
                                  .has_pages = 0,
                                  .has_step = 0,
                                  .dropout = 0,
                                  .seed = 0,
                                  .offset = 0};

  // A graph of one attention node, its step, and their memory.
  struct memory {
    encoding e;
    std::deque<std::vector<std::uint64_t>> held;
    operator_step step;
  };
  location tensor(memory& m, const extents& e, dtype t, std::uint64_t seed) const {
    const tensor_shape shape = dense(e);
    std::vector<std::uint64_t>& words = m.held.emplace_back(elements_of(shape) + 2);
    // Stored-type steps need addresses that are multiples of 16.
    auto* const begin = reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(words.data()) + 15) / 16 * 16);
    for (std::int64_t i = 0; i < elements_of(shape) && seed != 0; ++i) {
      const std::uint64_t x = (static_cast<std::uint64_t>(i) + 1) * seed * 0x9e3779b97f4a7c15;
      epilogue::put_number(begin + i * static_cast<std::int64_t>(bytes_of(t)), t,
                           static_cast<double>(x >> 40) / (1 << 23) - 1);
    }
    const std::uint16_t n = m.e.at(begin, t, shape, seed == 0 ? access_mode::write : access_mode::read);
    return {.is_buffer = false, .number = m.e.tensors[n].memory, .type = t, .offset = 0, .shape = shape};
  }
  void make(memory& m) const {
    m.step = {.what = op::attention,
              .attributes = node_attributes::of(attributes),
              .inputs = {},
              .outputs = {},
              .workspace = {}};
    m.step.inputs = {tensor(m, {batch, heads, queries, width}, type, 3),
                     tensor(m, {batch, key_heads, keys, width}, type, 5),
                     tensor(m, {batch, key_heads, keys, value_width}, type, 7)};
    m.step.outputs = {tensor(m, {batch, heads, queries, value_width}, type_of_y, 0),
                      tensor(m, {batch, heads, queries, 1}, dtype::f32, 0)};
  }
};

class dnn_decoding : public ::testing::Test {
 protected:
  bool reads_stored_type(const decoding_step& s) {
    decoding_step::memory m;
    s.make(m);
    return is_stored_type_attention(m.step);
  }
  // Runs the step, and compares its results with the definition.
  void expect_as_defined(const decoding_step& s, double tolerance) {
    SCOPED_TRACE(cat("heads ", s.heads, ", keys ", s.keys, ", widths ", s.width, " and ", s.value_width));
    decoding_step::memory m;
    s.make(m);
    ASSERT_TRUE(is_stored_type_attention(m.step));
    const std::uint16_t y = m.e.intermediate({s.batch, s.heads, s.queries, s.value_width}),
                        statistics = m.e.intermediate({s.batch, s.heads, s.queries, 1});
    m.e.node(op::attention, {0, 1, 2}, {y, statistics}, s.attributes);
    const auto expected = m.e.values();

    step_list plan{.compute_type = dtype::f32, .steps = {}, .buffers = {0}, .bytes = 0};
    std::vector<float> workspace(static_cast<std::size_t>(attention_workspace_of(m.step)));
    m.step.workspace = {.is_buffer = true, .number = 0, .type = dtype::u8, .offset = 0, .shape = dense({1})};
    auto kernels = load_kernels();
    ASSERT_TRUE(kernels) << kernels.error().text();
    const encoded_graph graph(m.e.encode(), m.e.bytes());
    const launch_context site{.kernels = *kernels,
                              .graph = graph,
                              .workspace = reinterpret_cast<std::uint64_t>(workspace.data()),
                              .plan = plan,
                              .stream = nullptr,
                              .most_blocks = 4224};
    const result<void> done = enqueue(m.step, site);
    ASSERT_TRUE(done) << done.error().text();
    for (const std::size_t k : {0u, 1u}) {
      const location& l = m.step.outputs[k];
      const auto* const from = static_cast<const std::byte*>(site.at(l));
      const numbers& want = expected[k == 0 ? y : statistics];
      for (std::size_t i = 0; i < want.size(); ++i)
        ASSERT_NEAR(epilogue::number_at(from + i * bytes_of(l.type), l.type), want[i], k == 0 ? tolerance : 1e-4)
            << "element " << i << " of result " << k;
    }
  }
};

TEST_F(dnn_decoding, results_in_f32_and_in_the_half_type_match_the_definition) {
  for (const dtype type : {dtype::f16, dtype::bf16})
    for (const dtype type_of_y : {dtype::f32, type})
      for (const std::int64_t keys : {1, 90, 600})
        for (const std::int64_t width : {64, 128})
          expect_as_defined({.keys = keys, .width = width, .type = type, .type_of_y = type_of_y},
                            type == dtype::bf16 ? 8e-3 : 1e-3);
}

TEST_F(dnn_decoding, steps_read_the_stored_type_up_to_16_rows_of_supported_widths) {
  EXPECT_TRUE(reads_stored_type({.heads = 32, .key_heads = 2}));
  EXPECT_FALSE(reads_stored_type({.heads = 34, .key_heads = 2}));
  EXPECT_TRUE(reads_stored_type({.queries = 4}));
  EXPECT_FALSE(reads_stored_type({.queries = 5}));
  EXPECT_TRUE(reads_stored_type({.width = 64, .value_width = 128}));
  EXPECT_FALSE(reads_stored_type({.width = 96}));
  EXPECT_FALSE(reads_stored_type({.value_width = 256}));
}

TEST_F(dnn_decoding, steps_with_f32_mixed_types_dropout_or_unaligned_inputs_do_not_read_the_stored_type) {
  EXPECT_FALSE(reads_stored_type({.type = dtype::f32}));
  EXPECT_FALSE(reads_stored_type({.type = dtype::f16, .type_of_y = dtype::bf16}));
  decoding_step s;
  s.attributes.dropout = 0.5;
  EXPECT_FALSE(reads_stored_type(s));
  decoding_step::memory m;
  decoding_step{}.make(m);
  m.step.inputs[2].type = dtype::bf16;
  EXPECT_FALSE(is_stored_type_attention(m.step));
  m.step.inputs[2].type = dtype::f16, m.step.inputs[1].offset = 4;
  EXPECT_FALSE(is_stored_type_attention(m.step));
  m.step.inputs[1].offset = 8;
  EXPECT_TRUE(is_stored_type_attention(m.step));
}

}  // namespace
}  // namespace troupe::dnn::testing
