// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests which products of a graph become requests of matmul, with which shapes and epilogues.
#include <gtest/gtest.h>

#include <troupe/base/text/cat.hpp>
#include <troupe/dnn/dnn.hpp>
#include <troupe/dnn/products/batches.hpp>
#include <troupe/dnn/products/kernel_maker.hpp>
#include <troupe/dnn/products/product_match.hpp>
#include <troupe/dnn/steps/planner.hpp>
#include <troupe/epilogue/tree.hpp>
#include <troupe/matmul/matmul.hpp>

namespace troupe::dnn::products {
namespace {

using matmul::multiplication;

// Views of memory that nobody reads. Each begins at another address.
class tensors {
 public:
  value read(dtype t, std::initializer_list<std::int64_t> e) { return value(operand<access_mode::read>(t, dense(e))); }
  out_any written(dtype t, std::initializer_list<std::int64_t> e) { return written(t, dense(e)); }
  out_any written(dtype t, const tensor_shape& s) { return operand<access_mode::write>(t, s); }

 private:
  static tensor_shape dense(std::initializer_list<std::int64_t> e) {
    tensor_shape s{.rank = e.size()};
    std::copy(e.begin(), e.end(), s.extents.begin());
    s.strides = dense_strides(s);
    return s;
  }
  template <access_mode M>
  any_operand<M> operand(dtype t, const tensor_shape& s) {
    return {memory_range{{}, ++next_ << 32, static_cast<std::uint64_t>(elements_of(s)) * bytes_of(t) * 2}, s, t};
  }
  std::uint64_t next_ = 0;
};

// A worker whose only engine is one of matmul. It refuses epilogues of more nodes than `longest`.
class worker_with_matmul {
 public:
  const troupe_engine_context& context() const noexcept { return context_; }
  std::vector<multiplication> run;  // their epilogues are no longer valid
  std::vector<std::string> remarks;
  std::size_t longest = 100;
  std::uint64_t workspace = 0;
  std::int32_t split_k = 1;  ///< of products without an epilogue
  bool has_matmul = true, is_out_of_memory = false;

 private:
  static bool prepare(void* self, const void* payload, const troupe_engine_call* c, troupe_engine_failure* f) {
    auto& worker = *static_cast<worker_with_matmul*>(self);
    const auto r = decode<matmul::prepare<multiplication>>(static_cast<const std::byte*>(payload));
    EXPECT_EQ(c->stream, nullptr);
    EXPECT_EQ(c->recording, nullptr);
    if (worker.is_out_of_memory) {
      troupe::detail::fill(f, reaction::retry_later, 2, "matmul", "cuMemAlloc: out of memory");
      return false;
    }
    const std::size_t nodes = r.request.epilogue.encoded().nodes().size();
    if (nodes > worker.longest && r.request.options.fusion == matmul::fusion::required) {
      troupe::detail::fill(f, reaction::unsupported, 0, "matmul", "the epilogue is too long");
      return false;
    }
    const matmul::plan_info info{.workspace = worker.workspace, .split_k = nodes == 1 ? worker.split_k : 1};
    std::memcpy(c->reply, &info, sizeof info);
    return true;
  }
  static bool multiply(void* self, const void* payload, const troupe_engine_call*, troupe_engine_failure*) {
    static_cast<worker_with_matmul*>(self)->run.push_back(
        decode<multiplication>(static_cast<const std::byte*>(payload)));
    return true;
  }
  static bool find(void* self, std::uint32_t library, std::uint64_t opcode, troupe_found_operation* out,
                   troupe_engine_failure* f) {
    static const troupe_engine_operation all[] = {
        {.opcode = opcode_of<multiplication>, .name = "matmul.multiplication", .run = multiply},
        {.opcode = opcode_of<matmul::prepare<multiplication>>, .name = "matmul.prepare", .run = prepare}};
    EXPECT_EQ(library, library_code("matmul"));
    if (!static_cast<worker_with_matmul*>(self)->has_matmul) {
      troupe::detail::fill(f, reaction::unsupported, 0, "worker", "library matmul: install cuBLASLt");
      return false;
    }
    for (const troupe_engine_operation& o : all)
      if (o.opcode == opcode) *out = {&o, self, 7};
    return out->operation != nullptr;
  }
  const troupe_engine_neighbours neighbours_{this, find, [](void*) { return std::uint64_t{0}; }};
  const troupe_engine_context context_{.abi = troupe_engine_abi,
                                       .neighbours = &neighbours_,
                                       .remarks = this,
                                       .remark = [](void* self, const char* text) {
                                         static_cast<worker_with_matmul*>(self)->remarks.emplace_back(text);
                                       }};
};

class dnn_product_kernels : public testing::Test {
 protected:
  // Plans the graph, and runs its products. Returns the number of nodes of each kernel.
  std::vector<std::size_t> run(const std::vector<written>& all, const computation_options& o = {}) {
    const graph g(all);
    EXPECT_EQ(g.refused(), nullptr);
    encoded_.resize(g.encoded_bytes());
    g.encode(encoded_.data());
    encoded_graph_ = encoded_graph(encoded_.data());
    graph_analysis analysis(encoded_graph_, std::vector<bool>(encoded_graph_.memory().size(), true));
    call c{};
    kernel_maker maker(worker.context());
    auto made = maker.make_kernels(analysis, o, dtype::f32, c);
    kernels_ = std::move(made.vendor_kernels), is_final = made.is_final;
    why_none = maker.why_none();
    std::vector<fusion_match> matches;
    std::vector<std::size_t> out;
    for (const auto& k : kernels_) matches.push_back(k->match()), out.push_back(k->match().nodes.size());
    steps_ = steps_of(encoded_graph_, {}, matches);
    for (const auto& step : steps_.steps) {
      const auto* const s = std::get_if<fused_step>(&step);
      if (s == nullptr) continue;
      const auto needed = kernels_[s->match]->place(*s, o.workspace, c);
      EXPECT_TRUE(needed);
      workspace = std::max(workspace, *needed);
      std::vector<void*> addresses;
      for (std::uintptr_t i = 1; i <= s->inputs.size() + s->outputs.size(); ++i)
        addresses.push_back(reinterpret_cast<void*>(i << 12));
      EXPECT_TRUE(kernels_[s->match]->enqueue(addresses, nullptr, c));
    }
    return out;
  }
  static std::string text_of(const in_any& o) { return text_of(o.type(), o.shape()); }
  static std::string text_of(const out_any& o) { return text_of(o.type(), o.shape()); }
  static std::string text_of(dtype t, const tensor_shape& s) {
    std::string out(to_string(t));
    for (std::size_t i = 0; i < s.rank; ++i) out += cat(i == 0 ? " " : " x ", s.extents[i], ":", s.strides[i]);
    return out;
  }

  tensors all;
  worker_with_matmul worker;
  std::string why_none;
  bool is_final = true;
  std::uint64_t workspace = 0;

 private:
  std::vector<std::byte> encoded_;
  encoded_graph encoded_graph_;
  std::vector<std::unique_ptr<vendor_kernel>> kernels_;
  step_list steps_;
};

TEST_F(dnn_product_kernels, compute_a_linear_layer_in_one_request) {
  const value x = all.read(dtype::bf16, {64, 32}), w = all.read(dtype::bf16, {48, 32}),
              b = all.read(dtype::bf16, {1, 48});
  const value y = convert(gelu_tanh(product(x, transpose(w, {1, 0})) + b), dtype::bf16);
  EXPECT_EQ(run({{y, all.written(dtype::bf16, {64, 48})}}), (std::vector<std::size_t>{5}));
  ASSERT_EQ(worker.run.size(), 1u);
  const multiplication& r = worker.run[0];
  EXPECT_EQ(text_of(r.a), "bf16 64:32 x 32:1");
  EXPECT_EQ(text_of(r.b), "bf16 32:1 x 48:32");
  EXPECT_EQ(text_of(r.d), "bf16 64:48 x 48:1");
  EXPECT_EQ(r.a.range().address, 1u << 12);
  EXPECT_EQ(r.b.range().address, 2u << 12);
  EXPECT_EQ(r.d.range().address, 4u << 12);
  EXPECT_TRUE(worker.remarks.empty());
}

TEST_F(dnn_product_kernels, join_the_rows_of_a_batch_that_shares_a_factor) {
  const value x = all.read(dtype::f16, {4, 8, 32}), w = all.read(dtype::f16, {1, 32, 16});
  EXPECT_EQ(run({{product(x, w), all.written(dtype::f16, {4, 8, 16})}}), (std::vector<std::size_t>{2}));
  EXPECT_EQ(text_of(worker.run.at(0).a), "f16 32:32 x 32:1");
  EXPECT_EQ(text_of(worker.run.at(0).d), "f16 32:16 x 16:1");
  const value v = all.read(dtype::f16, {4, 32, 16});
  run({{product(x, v), all.written(dtype::f16, {4, 8, 16})}});
  EXPECT_EQ(text_of(worker.run.at(1).a), "f16 4:256 x 8:32 x 32:1");
}

TEST_F(dnn_product_kernels, read_heads_of_attention_where_they_are) {
  const value x = all.read(dtype::bf16, {2, 8, 3, 16}), q = transpose(x, {0, 2, 1, 3}), k = transpose(x, {0, 2, 3, 1});
  run({{product(q, k), all.written(dtype::f32, {2, 3, 8, 8})}});
  // The axes of batches and heads are not equally far apart, so the heads are copied.
  EXPECT_EQ(text_of(worker.run.at(0).a), "bf16 6:128 x 8:16 x 16:1");
  const value one = all.read(dtype::bf16, {1, 8, 3, 16}), left = transpose(one, {0, 2, 1, 3});
  run({{product(left, transpose(one, {0, 2, 3, 1})), all.written(dtype::f32, {1, 3, 8, 8})}});
  EXPECT_EQ(text_of(worker.run.at(1).a), "bf16 3:16 x 8:48 x 16:1");
  EXPECT_EQ(text_of(worker.run.at(1).b), "bf16 3:16 x 16:1 x 8:48");
}

TEST_F(dnn_product_kernels, leave_to_other_kernels_what_matmul_does_not_fuse) {
  worker.longest = 1;
  const value x = all.read(dtype::f32, {64, 32}), w = all.read(dtype::f32, {32, 16}), b = all.read(dtype::f32, {1, 16});
  EXPECT_EQ(run({{relu(product(x, w) + b), all.written(dtype::f32, {64, 16})}}), (std::vector<std::size_t>{1}));
  worker.longest = 100;
  EXPECT_EQ(run({{relu(product(x, w) + b), all.written(dtype::f32, {64, 16})}}), (std::vector<std::size_t>{4}));
  // A bias of another type than the result, and a function that cuBLASLt does not have.
  EXPECT_EQ(run({{product(x, w) + b, all.written(dtype::bf16, {64, 16})}}), (std::vector<std::size_t>{2}));
  EXPECT_EQ(run({{sigmoid(product(x, w) + b), all.written(dtype::f32, {64, 16})}}), (std::vector<std::size_t>{2}));
}

TEST_F(dnn_product_kernels, leave_functions_to_other_kernels_if_sums_are_split_without_them) {
  const value x = all.read(dtype::f16, {64, 32}), w = all.read(dtype::f16, {32, 16}), b = all.read(dtype::f16, {1, 16});
  const auto layer = [&] { return convert(relu(product(x, w) + b), dtype::f16); };
  EXPECT_EQ(run({{layer(), all.written(dtype::f16, {64, 16})}}), (std::vector<std::size_t>{5}));
  worker.split_k = 4;
  EXPECT_EQ(run({{layer(), all.written(dtype::f16, {64, 16})}}), (std::vector<std::size_t>{1}));
  EXPECT_EQ(run({{convert(product(x, w), dtype::f16), all.written(dtype::f16, {64, 16})}}),
            (std::vector<std::size_t>{3}));
}

TEST_F(dnn_product_kernels, do_not_take_what_broadcasts_the_product) {
  const value x = all.read(dtype::f32, {1, 32}), w = all.read(dtype::f32, {32, 16}), y = all.read(dtype::f32, {64, 16});
  EXPECT_EQ(run({{product(x, w) + y, all.written(dtype::f32, {64, 16})}}), (std::vector<std::size_t>{1}));
}

TEST_F(dnn_product_kernels, are_made_later_if_matmul_is_out_of_memory) {
  worker.is_out_of_memory = true;
  const value x = all.read(dtype::f32, {64, 32}), w = all.read(dtype::f32, {32, 16});
  EXPECT_EQ(run({{product(x, w), all.written(dtype::f32, {64, 16})}}), std::vector<std::size_t>{});
  EXPECT_FALSE(is_final);
  EXPECT_EQ(why_none, "cuMemAlloc: out of memory");
}

TEST_F(dnn_product_kernels, round_where_the_graph_rounds) {
  const value x = all.read(dtype::f16, {64, 32}), w = all.read(dtype::f16, {32, 16});
  EXPECT_EQ(run({{convert(product(x, w), dtype::f16), all.written(dtype::f32, {64, 16})}}),
            (std::vector<std::size_t>{2}));
  EXPECT_EQ(worker.run.at(0).d.type(), dtype::f16);
  EXPECT_EQ(run({{product(x, w) * 0.0, all.written(dtype::f32, {64, 16})}}), (std::vector<std::size_t>{1}));
}

TEST_F(dnn_product_kernels, pass_options_and_the_rest_of_the_workspace) {
  const value x = all.read(dtype::f32, {64, 32}), w = all.read(dtype::f32, {32, 16});
  worker.workspace = 500;
  run({{product(x, w), all.written(dtype::f32, {64, 16})}});
  EXPECT_EQ(workspace, 0u) << "without a limit, nobody asks";
  run({{product(x, w), all.written(dtype::f32, {64, 16})}},
      {.precision = precision::tf32, .repeatability = repeatability::not_needed, .workspace = 1000});
  EXPECT_EQ(workspace, 500u);
  const matmul::product_options& o = worker.run.at(1).options;
  EXPECT_EQ(o.precision, matmul::precision::tf32);
  EXPECT_EQ(o.repeatability, matmul::repeatability::within_a_process);
  EXPECT_EQ(o.workspace, 1000u);
  EXPECT_EQ(worker.run.at(0).options.repeatability, matmul::repeatability::between_processes);
}

TEST_F(dnn_product_kernels, are_none_without_an_engine_of_matmul_which_is_said_once) {
  worker.has_matmul = false;
  const value x = all.read(dtype::f32, {64, 32}), w = all.read(dtype::f32, {32, 16});
  EXPECT_EQ(run({{product(product(x, w), all.read(dtype::f32, {16, 16})), all.written(dtype::f32, {64, 16})}}),
            std::vector<std::size_t>{});
  EXPECT_EQ(why_none, "library matmul: install cuBLASLt");
  EXPECT_TRUE(is_final);
  ASSERT_EQ(worker.remarks.size(), 1u);
  EXPECT_NE(worker.remarks[0].find("dnn: slow: our own kernels compute products of matrices, because"),
            std::string::npos);
}

}  // namespace
}  // namespace troupe::dnn::products
