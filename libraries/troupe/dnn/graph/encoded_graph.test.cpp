// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <troupe/dnn/operations/attention/attributes.hpp>
#include <troupe/dnn/operations/blocks/attributes.hpp>
#include <troupe/dnn/operations/cumulative/attributes.hpp>
#include <troupe/dnn/operations/indexing/attributes.hpp>
#include <troupe/dnn/operations/normalization/attributes.hpp>
#include <troupe/dnn/operations/pointwise/attributes.hpp>
#include <troupe/dnn/operations/pooling/attributes.hpp>
#include <troupe/dnn/operations/random/attributes.hpp>
#include <troupe/dnn/operations/reductions/attributes.hpp>
#include <troupe/dnn/operations/resampling/attributes.hpp>
#include <troupe/dnn/operations/selection/attributes.hpp>
#include <troupe/dnn/operations/shaping/attributes.hpp>
#include <troupe/dnn/testing/encoding.hpp>

namespace troupe::dnn {
namespace {

using namespace testing;

// Returns a valid graph, which writes x + 2.
encoding small_graph() {
  encoding e;
  const auto x = e.given({2, 2}, {1, 2, 3, 4}), two = e.number(2), sum = e.intermediate({2, 2}),
             y = e.at(nullptr, dtype::f32, dense({2, 2}), access_mode::write);
  e.node(op::pointwise, {x, two}, {sum}, pointwise_attributes{epilogue::op::add, {}});
  e.node(op::write, {sum}, {y});
  return e;
}

TEST(encoded_graphs, a_graph_is_read_in_place) {
  encoding e = small_graph();
  const encoded_graph g = e.encoded();
  EXPECT_EQ(g.nodes().size(), 2u);
  EXPECT_EQ(g.tensors().size(), 4u);
  EXPECT_EQ(g.memory().size(), 2u);
  EXPECT_EQ(evaluate(g)[3], (numbers{3, 4, 5, 6}));
  EXPECT_TRUE(encoded_graph().empty());
  EXPECT_TRUE(encoded_graph().structure().empty());
  EXPECT_TRUE(evaluate(encoded_graph()).empty());
}

TEST(encoded_graphs, graphs_that_differ_only_in_addresses_have_the_same_structure) {
  encoding one = small_graph(), other = small_graph(), different = small_graph();
  different.nodes[0].attributes = node_attributes::of(pointwise_attributes{epilogue::op::subtract, {}});
  const encoded_graph a = one.encoded(), b = other.encoded(), c = different.encoded();
  ASSERT_NE(a.memory()[0].address, b.memory()[0].address);
  EXPECT_TRUE(std::equal(a.structure().begin(), a.structure().end(), b.structure().begin(), b.structure().end()));
  EXPECT_FALSE(std::equal(a.structure().begin(), a.structure().end(), c.structure().begin(), c.structure().end()));
}

TEST(encoded_graphs, nodes_read_the_old_content_of_memory_that_the_graph_also_writes) {
  encoding e;
  float memory[] = {1, 2};
  const auto x = e.at(memory, dtype::f32, dense({2}), access_mode::read_write),
             y = e.at(nullptr, dtype::f32, dense({2}), access_mode::write), two = e.number(2),
             twice = e.intermediate({2}), four = e.intermediate({2});
  e.node(op::pointwise, {x, two}, {twice}, pointwise_attributes{epilogue::op::multiply, {}});
  e.node(op::write, {twice}, {x});
  e.node(op::pointwise, {x, two}, {four}, pointwise_attributes{epilogue::op::add, {}});
  e.node(op::write, {four}, {y});
  const std::vector<numbers> all = e.values();
  EXPECT_EQ(all[x], (numbers{2, 4})) << "the content of x after the graph has run";
  EXPECT_EQ(all[y], (numbers{3, 4})) << "y is computed from the old content of x";
  e.memory[0].mode = access_mode::write;
  EXPECT_TRUE(e.encoded().empty()) << "memory that is read is encoded as written only";
}

TEST(encoded_graphs, a_truncated_encoding_or_a_wrong_count_yields_an_empty_graph) {
  encoding e = small_graph();
  const std::byte* encoded = e.encode();
  for (std::size_t bytes = 0; bytes < e.bytes(); ++bytes) EXPECT_TRUE(encoded_graph(encoded, bytes).empty()) << bytes;
  for (const std::uint32_t count : {0u, 1u, 3u, 65'536u, 0xffffffffu})
    for (std::size_t field = 0; field < 3; ++field) {
      e.encode();
      std::memcpy(reinterpret_cast<std::byte*>(e.words.data()) + field * sizeof count, &count, sizeof count);
      EXPECT_TRUE(encoded_graph(encoded, e.bytes()).empty()) << count << " in field " << field;
    }
  encoding large = small_graph();
  large.nodes.resize(1);
  while (large.tensors.size() < most_tensors) large.node(op::reshape, {2}, {large.intermediate({4})});
  EXPECT_FALSE(large.encoded().empty());
  large.node(op::reshape, {2}, {large.intermediate({4})});
  EXPECT_TRUE(large.encoded().empty());
}

// Adds a slice of the first tensor, which is 2 x 2.
void add_slice(encoding& e, std::array<std::int64_t, 2> first, std::array<std::int64_t, 2> step,
               std::initializer_list<std::int64_t> to) {
  slice_attributes a{};
  for (std::size_t i = 0; i < 2; ++i) a.first[i] = first[i], a.step[i] = step[i];
  const auto y = e.intermediate(to);
  e.node(op::slice, {0}, {y}, a);
}
TEST(encoded_graphs, slices_and_lines_within_the_tensor_are_accepted) {
  encoding e = small_graph();
  add_slice(e, {1, 0}, {1, 1}, {1, 2});
  add_slice(e, {0, 1}, {1, 5}, {2, 1});
  const auto values = e.intermediate({2, 1}), indexes = e.intermediate({2, 1}), sums = e.intermediate({2, 2});
  e.node(op::top_k, {0}, {values, indexes}, selection_attributes{1, 0});
  e.node(op::cumulative_sum, {0}, {sums}, cumulative_attributes{1, 0, 0});
  EXPECT_FALSE(e.encoded().empty());
}

TEST(encoded_graphs, damage_to_any_part_yields_an_empty_graph) {
  const struct {
    const char* what;
    void (*damage)(encoding&);
  } cases[] = {
      {"no operation", [](encoding& e) { e.nodes[0].what = op::none; }},
      {"unknown operation", [](encoding& e) { e.nodes[0].what = static_cast<op>(200); }},
      {"too few inputs", [](encoding& e) { e.nodes[1].input_count = 0; }},
      {"too many inputs", [](encoding& e) { e.nodes[1].input_count = 255; }},
      {"too few outputs", [](encoding& e) { e.nodes[0].output_count = 0; }},
      {"too many outputs", [](encoding& e) { e.nodes[0].output_count = 255; }},
      {"fewer inputs than the function has", [](encoding& e) { e.nodes[0].input_count = 1; }},
      {"unknown function",
       [](encoding& e) {
         e.nodes[0].attributes = node_attributes::of(pointwise_attributes{epilogue::op::convert, {}});
       }},
      {"input that is no tensor", [](encoding& e) { e.nodes[0].inputs[1] = 4; }},
      {"output that is no tensor", [](encoding& e) { e.nodes[0].outputs[0] = no_tensor; }},
      {"input computed later", [](encoding& e) { std::swap(e.nodes[0], e.nodes[1]); }},
      {"input that is the output", [](encoding& e) { e.nodes[0].inputs[0] = 2; }},
      {"input that is written later", [](encoding& e) { e.nodes[0].inputs[0] = 3; }},
      {"output of two nodes", [](encoding& e) { e.node(op::reshape, {0}, {2}); }},
      {"memory written twice", [](encoding& e) { e.node(op::write, {0}, {3}); }},
      {"memory written without a write", [](encoding& e) { e.nodes[0].outputs[0] = 3, e.nodes[1].inputs[0] = 0; }},
      {"write to a tensor between nodes", [](encoding& e) { e.nodes[1].outputs[0] = e.intermediate({2, 2}); }},
      {"write to a number", [](encoding& e) { e.nodes[1].outputs[0] = e.number(1); }},
      {"slice with a step of 0", [](encoding& e) { add_slice(e, {}, {1, 0}, {2, 1}); }},
      {"slice with a negative index", [](encoding& e) { add_slice(e, {-1, 0}, {1, 1}, {2, 1}); }},
      {"slice beyond the tensor", [](encoding& e) { add_slice(e, {1, 0}, {1, 1}, {2, 1}); }},
      {"slice beyond the tensor by its step", [](encoding& e) { add_slice(e, {}, {2, 1}, {2, 1}); }},
      {"slice with other axes", [](encoding& e) { add_slice(e, {}, {1, 1}, {2}); }},
      {"more selected elements than there are",
       [](encoding& e) {
         const auto values = e.intermediate({2, 3}), indexes = e.intermediate({2, 3});
         e.node(op::top_k, {0}, {values, indexes}, selection_attributes{1, 0});
       }},
      {"selection along an axis that the tensor does not have",
       [](encoding& e) {
         const auto values = e.intermediate({2, 2}), indexes = e.intermediate({2, 2});
         e.node(op::top_k, {0}, {values, indexes}, selection_attributes{2, 0});
       }},
      {"cumulative sum of other extents",
       [](encoding& e) {
         const auto y = e.intermediate({2, 3});
         e.node(op::cumulative_sum, {0}, {y}, cumulative_attributes{1, 0, 0});
       }},
      {"computed number", [](encoding& e) { e.node(op::reshape, {1}, {e.number(1)}); }},
      {"no type", [](encoding& e) { e.tensors[2].type = dtype{}; }},
      {"unknown type", [](encoding& e) { e.tensors[2].type = static_cast<dtype>(200); }},
      {"unknown place", [](encoding& e) { e.tensors[2].where = static_cast<place>(3); }},
      {"no such memory", [](encoding& e) { e.tensors[0].memory = 2; }},
      {"unknown mode", [](encoding& e) { e.memory[0].mode = static_cast<access_mode>(3); }},
      {"too many axes", [](encoding& e) { e.tensors[2].shape.rank = 9; }},
      {"far too many axes", [](encoding& e) { e.tensors[2].shape.rank = ~0ull; }},
      {"extent of 0", [](encoding& e) { e.tensors[0].shape.extents[1] = 0; }},
      {"negative extents", [](encoding& e) { e.tensors[0].shape.extents[0] = e.tensors[0].shape.extents[1] = -2; }},
      {"too many elements",
       [](encoding& e) { e.tensors[0].shape.extents[0] = e.tensors[0].shape.extents[1] = 1ll << 32; }},
      {"number with two elements", [](encoding& e) { e.tensors[1].shape = dense({2}); }},
  };
  EXPECT_FALSE(small_graph().encoded().empty());
  for (const auto& c : cases) {
    encoding e = small_graph();
    c.damage(e);
    EXPECT_TRUE(e.encoded().empty()) << c.what;
  }
}

TEST(encoded_graphs, attributes_that_do_not_fit_the_tensors_yield_an_empty_graph) {
  const auto is_accepted = [](op what, std::size_t inputs, std::size_t outputs, const auto& f) {
    encoding e;
    e.node(what, {}, {}, f);
    encoded_node& n = e.nodes[0];
    n.input_count = static_cast<std::uint8_t>(inputs), n.output_count = static_cast<std::uint8_t>(outputs);
    for (std::size_t i = 0; i < inputs; ++i) n.inputs[i] = e.number(1, 3);
    for (std::size_t i = 0; i < outputs; ++i) n.outputs[i] = e.intermediate({1, 1, 1});
    return !e.encoded().empty();
  };
  for (const std::int64_t kind : {-1, 0, 2, 3, 7, 8}) {
    EXPECT_EQ(is_accepted(op::reduction, 1, 1, reduction_attributes{1, reduction_kind(kind)}), kind >= 0 && kind < 8)
        << kind;
    const pooling_attributes a{{1}, by_one, pooling_kind(kind)};
    EXPECT_EQ(is_accepted(op::pooling, 1, 1, a), kind >= 0 && kind < 3) << kind;
    EXPECT_EQ(is_accepted(op::pooling_gradient, 2, 1, a), kind == 0) << kind;
    EXPECT_EQ(is_accepted(op::pooling_gradient, 1, 1, a), kind == 2) << kind;
    EXPECT_EQ(is_accepted(op::softmax, 1, 1, softmax_attributes{0, kind}), kind == 0) << kind;
  }
  for (const std::int64_t axis : {-1, 0, 7, 8}) {
    EXPECT_EQ(is_accepted(op::iota, 0, 1, iota_attributes{axis}), axis == 0 || axis == 7) << axis;
    EXPECT_EQ(is_sound(op::gather, gather_attributes{axis}, {2, 1}), axis == 0 || axis == 7) << axis;
  }
  for (const std::int64_t kind : {-1, 0, 2, 3}) {
    EXPECT_EQ(is_accepted(op::random, 0, 1, random_attributes{random_kind(kind), 0, 0, 0}), kind == 0 || kind == 2)
        << kind;
    EXPECT_FALSE(is_accepted(op::random, 1, 1, random_attributes{random_kind(kind), 0, 0, 0}))
        << "the seed is no memory";
    EXPECT_EQ(is_accepted(op::pooling_with_indexes, 1, 2, pooling_attributes{{1}, by_one, pooling_kind(kind)}),
              kind == 0)
        << kind;
    EXPECT_EQ(is_accepted(op::block_quantization, 1, 2, block_attributes{0, kind, dtype::f8e4m3, dtype::f32, {}}),
              kind > 0);
  }
  for (const std::int64_t taps : {-1, 0, 1, 2, 3, 4, 5})
    EXPECT_EQ(is_accepted(op::resampling, 1, 1, resampling_attributes{taps, {}, {}}),
              taps == 1 || taps == 2 || taps == 4)
        << taps;
  EXPECT_FALSE(is_accepted(op::resampling_gradient, 1, 1, resampling_attributes{2, resampling_coordinates(4), {}}));
  EXPECT_FALSE(is_accepted(op::resampling_gradient, 1, 1, resampling_attributes{1, {}, nearest_rounding(4)}));
  for (std::size_t inputs = 0; inputs <= 6; ++inputs)
    for (std::size_t outputs = 0; outputs <= encoded_node::most_outputs; ++outputs)
      for (const std::int64_t rms : {0, 1})
        for (const std::int64_t affine : {0, 1})
          for (const std::int64_t running : {0, 1}) {
            const normalization_attributes a{
                .over = 1, .groups = 1, .rms = rms, .has_affine = affine, .has_running = running};
            const auto has = std::make_pair(inputs, outputs);
            const bool forward =
                rms ? !running && has == std::make_pair(affine ? 2ul : 1ul, 3ul)
                    : has == std::make_pair(1ul + (affine ? 2 : 0) + (running ? 2 : 0), running ? 5ul : 3ul);
            EXPECT_EQ(is_accepted(op::normalization, inputs, outputs, a), forward);
            const bool backward = has == std::make_pair(affine ? 5ul : 4ul, affine ? (rms ? 2ul : 3ul) : 1ul);
            EXPECT_EQ(is_accepted(op::normalization_gradient, inputs, outputs, a), backward);
          }
}

TEST(encoded_graphs, an_attention_whose_attributes_do_not_fit_its_tensors_yields_an_empty_graph) {
  const std::int32_t length = 1;
  const auto is_accepted = [&](op what, const attention_attributes& a, std::size_t numbers, std::size_t whole,
                               std::size_t outputs) {
    encoding e;
    e.node(what, {}, {}, a);
    encoded_node& n = e.nodes[0];
    n.input_count = static_cast<std::uint8_t>(numbers + whole), n.output_count = static_cast<std::uint8_t>(outputs);
    for (std::size_t i = 0; i < numbers; ++i) n.inputs[i] = e.given({1, 1, 1, 1}, {0});
    for (std::size_t i = numbers; i < numbers + whole; ++i) n.inputs[i] = e.at(&length, dtype::i32, dense({1}));
    for (std::size_t i = 0; i < outputs; ++i) n.outputs[i] = e.intermediate({1, 1, 1, 1});
    return !e.encoded().empty();
  };
  const attention_attributes plain{.scale = 1};
  EXPECT_TRUE(is_accepted(op::attention, plain, 3, 0, 2));
  EXPECT_FALSE(is_accepted(op::attention, plain, 2, 0, 2));
  EXPECT_FALSE(is_accepted(op::attention, plain, 3, 1, 2));
  EXPECT_TRUE(is_accepted(op::attention_gradient, plain, 6, 0, 3));
  EXPECT_FALSE(is_accepted(op::attention_gradient, plain, 6, 0, 4));
  const attention_attributes with_all{.scale = 1,
                                      .has_bias = 1,
                                      .queries = sequence_layout::offsets,
                                      .keys = sequence_layout::lengths,
                                      .has_pages = 1,
                                      .has_step = 1};
  EXPECT_TRUE(is_accepted(op::attention, with_all, 4, 4, 2));
  EXPECT_FALSE(is_accepted(op::attention, with_all, 5, 3, 2)) << "an f64 where an i32 is read";
  EXPECT_FALSE(is_accepted(op::attention_gradient, with_all, 7, 4, 4)) << "pages have no gradients";
  attention_attributes wrong = plain;
  wrong.left = -1;
  EXPECT_FALSE(is_accepted(op::attention, wrong, 3, 0, 2));
  wrong = plain, wrong.dropout = 1;
  EXPECT_FALSE(is_accepted(op::attention, wrong, 3, 0, 2));
  wrong = plain, wrong.queries = sequence_layout(3);
  EXPECT_FALSE(is_accepted(op::attention, wrong, 3, 1, 2));
  wrong = plain, wrong.has_alibi = 2;
  EXPECT_FALSE(is_accepted(op::attention, wrong, 3, 0, 2));
}

// Returns true if each index in the graph refers to an existing tensor or memory.
bool has_valid_references(const encoded_graph& g) {
  for (const encoded_node& n : g.nodes()) {
    if (!is_known(n.what) || n.input_count > encoded_node::most_inputs || n.output_count > encoded_node::most_outputs)
      return false;
    for (std::size_t i = 0; i < n.input_count; ++i)
      if (n.inputs[i] >= g.tensors().size()) return false;
    for (std::size_t i = 0; i < n.output_count; ++i)
      if (n.outputs[i] >= g.tensors().size()) return false;
  }
  return std::all_of(g.tensors().begin(), g.tensors().end(), [&](const encoded_tensor& t) {
    return is_known(t.type) && t.shape.rank <= tensor_shape::max_rank && elements_of(t.shape) > 0 &&
           (t.where != place::memory || t.memory < g.memory().size());
  });
}

TEST(encoded_graphs, changing_any_byte_never_makes_a_graph_refer_to_missing_tensors) {
  encoding e = small_graph();
  e.encode();
  auto* bytes = reinterpret_cast<std::byte*>(e.words.data());
  for (std::size_t i = 0; i < e.bytes(); ++i)
    for (int change = 1; change < 256; ++change) {
      const std::byte before = bytes[i];
      bytes[i] ^= static_cast<std::byte>(change);
      EXPECT_TRUE(has_valid_references({bytes, e.bytes()})) << "byte " << i << " changed by " << change;
      bytes[i] = before;
    }
}

}  // namespace
}  // namespace troupe::dnn
