// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests CUDA kernels that are generated for random set kernels. Compiled for the processor, they must give the results
// of the interpreting kernel; NVRTC must compile them without warnings.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>
#include <tests/numerics/random.hpp>
#include <troupe/dnn/cuda/launches/set_arguments.hpp>
#include <troupe/dnn/generated/set_text.hpp>
#include <troupe/dnn/generated/testing/compiled_for_gpu.hpp>
#include <troupe/dnn/generated/testing/compiled_for_host.hpp>
#include <troupe/dnn/generated/testing/operand_memory.hpp>
#include <troupe/dnn/sets/combining.hpp>
#include <troupe/dnn/sets/set_partition.hpp>
#include <troupe/epilogue/numbers.hpp>

namespace troupe::dnn::generated {
namespace {

using kind = elementwise_kernel::operation::kind;

// A set kernel, and memory for its operands.
struct random_sets : testing::operand_memory {
  sets::set_kernel what;
  tensor_shape shape;
  std::int64_t over = 0;
};

class set_generator {
 public:
  set_generator(numerics::random_source& random, dtype numbers) : random_(random), is_double_(numbers == dtype::f64) {}

  random_sets make(std::vector<bool>& aligned) {
    random_sets out;
    // Some kernels only reduce, and have large sets, which are divided into parts.
    const bool only_reduces = random_.between(0, 2) == 0;
    choose_extents(out, only_reduces);
    const auto elements = random_.between(1, 3), of_sets = random_.between(0, 1),
               steps = only_reduces ? 0 : random_.between(1, 7);
    for (std::int64_t i = 0; i < elements + of_sets; ++i) {
      const bool is_of_set = i >= elements;
      add(out, {.what = kind::read, .operand = add_operand(out, aligned, is_of_set, i != 0)}, is_of_set);
    }
    add(out, {.what = kind::number, .value = random_.one_of({0.5, -1.25, 3.0})}, true);
    if (random_.between(0, 3) == 0) add_indexes(out);
    for (std::int64_t i = 0; i < steps; ++i) add_step(out);
    add_reduction(out, any(out, false));
    const std::size_t values = out.what.operations.size();
    if (random_.between(0, 1) == 0) add_write(out, aligned, any(out, false), false);
    if (random_.between(0, 2) == 0) add_write(out, aligned, any(out, false), false);
    add_write(out, aligned, static_cast<std::uint16_t>(values - 1), true);
    return out;
  }

 private:
  void choose_extents(random_sets& out, bool large) {
    tensor_shape& s = out.shape;
    s = {};
    s.rank = static_cast<std::size_t>(random_.between(1, 4));
    std::int64_t remaining = large ? 120'000 : random_.one_of({300, 3'000, 60'000});
    for (std::size_t i = 0; i < s.rank; ++i) {
      std::int64_t e = random_.one_of({1, 2, 3, 5, 7, 8, 16, 17, 24, 32, 64, 96, 100, 129, 1000, 4096, 40'000});
      while (e > remaining) e = (e + 1) / 2;
      s.extents[i] = std::max<std::int64_t>(e, 1);
      remaining /= s.extents[i];
    }
    s.strides = dense_strides(s);
    out.over = large ? (std::int64_t{1} << s.rank) - 1 : random_.between(1, (std::int64_t{1} << s.rank) - 1);
    for (std::size_t i = 0; i < s.rank; ++i)
      out.description += cat(i == 0 ? "" : " x ", s.extents[i], (out.over >> i & 1) != 0 ? "*" : "");
  }
  void add(random_sets& to, const sets::set_kernel::operation& o, bool is_of_set) {
    to.what.operations.push_back(o), to.what.is_of_set.push_back(is_of_set);
  }
  // Returns any value: one of an element unless `may_be_of_set`.
  std::uint16_t any(const random_sets& of, bool may_be_of_set) {
    std::uint16_t at = 0;
    do at = static_cast<std::uint16_t>(random_.between(0, static_cast<std::int64_t>(of.what.operations.size()) - 1));
    while (of.what.operations[at].what == kind::write || (of.what.is_of_set[at] && !may_be_of_set));
    return at;
  }
  void add_indexes(random_sets& to) {
    location l{.number = location::nowhere, .type = dtype::f32, .shape = to.shape};
    l.shape.strides = {};
    const auto along = static_cast<std::size_t>(random_.between(0, static_cast<std::int64_t>(l.shape.rank) - 1));
    for (std::size_t i = 0; i < l.shape.rank; ++i)
      if (i != along) l.shape.extents[i] = 1;
    l.shape.strides[along] = 1;
    to.what.operands.push_back(l), to.memory.emplace_back(64), to.begin.push_back(0);
    add(to, {.what = kind::position, .operand = static_cast<std::uint16_t>(to.what.operands.size() - 1)},
        (to.over >> along & 1) == 0 || l.shape.extents[along] == 1);
  }
  void add_reduction(random_sets& to, std::uint16_t of) {
    using enum elementwise_kernel::operation::reducing;
    const auto how = static_cast<reduction_kind>(random_.between(0, 7));
    switch (random_.between(0, 4)) {
      case 0: {
        add(to, {.what = kind::reduce, .reduction = reduction_kind::mean, .form = moments, .from = {of, of, of}}, true);
        const auto mean = static_cast<std::uint16_t>(to.what.operations.size() - 1);
        if (random_.between(0, 3) == 0) return;
        add(to, {.what = kind::reduce, .reduction = reduction_kind::mean, .form = squares, .from = {of, mean, of}},
            true);
        return;
      }
      case 1:
        add(to,
            {.what = kind::reduce,
             .reduction = random_.one_of({reduction_kind::sum, reduction_kind::mean}),
             .form = products,
             .from = {of, any(to, true), of}},
            true);
        return;
      default:
        add(to, {.what = kind::reduce, .reduction = how, .from = {of, of, of}}, true);
    }
  }
  void add_step(random_sets& to) {
    const auto what = random_.between(0, 5);
    const std::uint16_t a = any(to, true), b = any(to, true), c = any(to, true);
    const bool is_of_set = to.what.is_of_set[a] && to.what.is_of_set[b];
    if (what == 0)
      add_reduction(to, any(to, false));
    else if (what == 1)
      add(to, {.what = kind::round, .type = dtype::bf16, .from = {a, a, a}}, to.what.is_of_set[a]);
    else if (what == 2)
      add(to, {.what = kind::multiply_add, .from = {a, b, c}}, is_of_set && to.what.is_of_set[c]);
    else
      add(to,
          {.what = kind::apply,
           .function = random_.one_of({epilogue::op::add, epilogue::op::subtract, epilogue::op::multiply,
                                       epilogue::op::maximum, epilogue::op::leaky_relu}),
           .from = {a, b, a}},
          is_of_set);
  }
  void add_write(random_sets& to, std::vector<bool>& aligned, std::uint16_t from, bool is_of_set) {
    add(to, {.what = kind::write, .operand = add_operand(to, aligned, is_of_set, false), .from = {from, from, from}},
        is_of_set);
  }
  dtype type() {
    if (is_double_ && random_.between(0, 1) == 0) return random_.one_of({dtype::f64, dtype::i32});
    return random_.one_of({dtype::f32, dtype::f32, dtype::f16, dtype::bf16, dtype::bf16, dtype::f8e4m3, dtype::i8});
  }
  std::uint16_t add_operand(random_sets& to, std::vector<bool>& aligned, bool is_of_set, bool may_be_broadcast) {
    location l{.is_buffer = false, .number = 0, .type = type(), .offset = 0, .shape = to.shape};
    for (std::size_t i = 0; i < l.shape.rank; ++i)
      if ((is_of_set && (to.over >> i & 1) != 0) || (may_be_broadcast && random_.between(0, 3) == 0))
        l.shape.extents[i] = 1;
    std::vector<std::size_t> order(l.shape.rank);
    std::iota(order.begin(), order.end(), 0);
    const auto how = random_.between(0, 5);
    if (how <= 1) std::reverse(order.begin(), order.end());
    if (how == 2 && order.size() > 2) std::rotate(order.begin() + 1, order.begin() + 2, order.end());
    to.what.operands.push_back(to.add(l, order, 2, random_, aligned));
    return static_cast<std::uint16_t>(to.what.operands.size() - 1);
  }

  numerics::random_source& random_;
  const bool is_double_;
};

struct plan_of_sets {
  step_list steps;
  std::vector<random_sets> all;
  std::vector<bool> aligned;

  source text() const {
    return source_of(steps, [this](const fused_step& s) { return std::span(&all[s.match].what, 1); }, aligned);
  }
};
plan_of_sets plan_of(numerics::random_source& random, dtype numbers, std::size_t count) {
  plan_of_sets out;
  out.steps.compute_type = numbers;
  set_generator generator(random, numbers);
  for (std::size_t i = 0; i < count; ++i) {
    random_sets& s = out.all.emplace_back(generator.make(out.aligned));
    sets::partition(s.what, s.shape, s.over, random.between(0, 3) == 0 ? 0 : UINT64_MAX);
    out.steps.steps.emplace_back(fused_step{.match = i, .inputs = {}, .outputs = {}, .workspace = {}});
  }
  return out;
}

class generated_sets : public ::testing::TestWithParam<dtype> {
 protected:
  numerics::random_source random_;
};

void expect_same(const random_sets& p, const std::vector<std::vector<std::byte>>& actual,
                 const std::vector<std::vector<std::byte>>& expected, const std::string& description) {
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const dtype t = p.what.operands[i].type;
    const std::size_t size = bytes_of(t);
    for (std::size_t at = p.begin[i] % size; at + size <= actual[i].size(); at += size) {
      if (std::memcmp(actual[i].data() + at, expected[i].data() + at, size) == 0) continue;
      const double a = epilogue::number_at(actual[i].data() + at, t),
                   b = epilogue::number_at(expected[i].data() + at, t);
      if (std::isnan(a) && std::isnan(b)) continue;
      ADD_FAILURE() << "operand " << i << " at byte " << at << " is " << a << ", interpreted " << b << "\n"
                    << description;
      return;
    }
  }
}

TEST_P(generated_sets, results_have_the_same_bits_as_those_of_the_interpreter) {
  constexpr std::size_t count = 120;
  const plan_of_sets plan = plan_of(random_, GetParam(), count);
  const source s = plan.text();
  ASSERT_EQ(s.of_steps.size(), count);
  const testing::compiled_for_host compiled(s, GetParam());
  const auto interpret_sets = compiled.find<void(const void*, unsigned, unsigned)>("interpret_sets"),
             interpret_parts = compiled.find<void(const void*, unsigned, unsigned)>("interpret_parts");
  ASSERT_NE(interpret_sets, nullptr);
  int by_columns = 0, in_parts = 0, held = 0, wide = 0;
  for (std::size_t i = 0; i < count; ++i) {
    random_sets p = plan.all[i];
    sets::set_kernel& k = p.what;
    std::vector<double> partial(sets::partial_bytes_of(k) / sizeof(double) + 1, 1e300);
    by_columns += k.layout.by_columns, in_parts += k.partition.parts != 1, held += k.partition.is_held();
    wide += k.partition.width > 1 || k.layout.sets > 1;
    std::vector<std::int64_t> addresses;
    for (std::size_t o = 0; o < p.memory.size(); ++o)
      addresses.push_back(reinterpret_cast<std::intptr_t>(p.memory[o].data() + p.begin[o]) +
                          k.operands[o].offset * static_cast<std::int64_t>(bytes_of(k.operands[o].type)));
    const auto before = p.memory;
    ASSERT_FALSE(s.of_steps[i].empty());
    for (const source::launch& launch : s.of_steps[i]) {
      std::vector<std::int64_t> parameter = addresses;
      parameter.push_back(reinterpret_cast<std::intptr_t>(partial.data()));
      parameter.insert(parameter.end(), launch.numbers.begin(), launch.numbers.end());
      const auto run = compiled.find<void(const void*, unsigned)>("run_" + s.kernels[launch.kernel].name);
      ASSERT_NE(run, nullptr);
      run(parameter.data(), launch.blocks);
    }
    const auto got = p.memory;
    for (std::size_t o = 0; o < before.size(); ++o) std::copy(before[o].begin(), before[o].end(), p.memory[o].begin());
    std::ranges::fill(partial, 1e300);
    const auto a = set_arguments_of(k, [&](const location& l) -> void* {
      const auto which = static_cast<std::size_t>(&l - k.operands.data());
      return which < addresses.size() ? reinterpret_cast<void*>(addresses[which]) : partial.data();
    });
    interpret_sets(&a, 3, std::max(k.partition.threads, 64u));
    if (a.parts != 1) interpret_parts(&a, 2, 64);
    std::string texts;
    for (const kernel_text& t : texts_of(k, plan.aligned)) texts += t.text;
    expect_same(p, got, p.memory,
                cat("kernel ", i, " of ", p.description, "; ", numerics::how_to_repeat(), "\n", texts));
    if (HasFailure()) return;
  }
  EXPECT_GT(by_columns, count / 30);
  EXPECT_GT(in_parts, 0);
  EXPECT_GT(held, count / 8);
  EXPECT_LT(held, count);
  EXPECT_GT(wide, count / 30);
}

TEST_P(generated_sets, nvrtc_compiles_sources_without_warnings) {
  const plan_of_sets plan = plan_of(random_, GetParam(), 25);
  const source s = plan.text();
  EXPECT_EQ(testing::compiled_for_gpu(s.text), "") << numerics::how_to_repeat();
}

INSTANTIATE_TEST_SUITE_P(, generated_sets, ::testing::Values(dtype::f32, dtype::f64),
                         [](const auto& i) { return i.param == dtype::f32 ? "f32" : "f64"; });

}  // namespace
}  // namespace troupe::dnn::generated
