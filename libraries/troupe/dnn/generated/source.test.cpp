// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests CUDA kernels that are generated for random elementwise kernels. Compiled for the processor, they must give the
// results of the interpreting kernel; NVRTC must compile them without warnings.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <tests/numerics/random.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/dnn/cuda/launches/elementwise_arguments.hpp>
#include <troupe/dnn/generated/kernel_text.hpp>
#include <troupe/dnn/generated/source.hpp>
#include <troupe/dnn/generated/testing/compiled_for_gpu.hpp>
#include <troupe/dnn/generated/testing/compiled_for_host.hpp>
#include <troupe/dnn/generated/testing/operand_memory.hpp>
#include <troupe/dnn/operations/random/attributes.hpp>
#include <troupe/dnn/steps/iteration_space.hpp>
#include <troupe/epilogue/numbers.hpp>

namespace troupe::dnn::generated {
namespace {

using testing::compiled_for_host;

using kind = elementwise_kernel::operation::kind;

// An elementwise kernel, and memory for its operands.
struct random_kernel : testing::operand_memory {
  elementwise_kernel what;
};

class kernel_generator {
 public:
  kernel_generator(numerics::random_source& random, dtype numbers)
      : random_(random), is_double_(numbers == dtype::f64) {}

  /// Returns a random elementwise kernel. Appends to `aligned`, for each operand, true if its memory is aligned.
  random_kernel make(std::vector<bool>& aligned) {
    random_kernel out;
    choose_extents();
    std::vector<bool> constant;
    elementwise_kernel& k = out.what;
    k.extents = shape_;
    const auto add = [&](elementwise_kernel::operation o, bool is_constant) {
      k.operations.push_back(o), constant.push_back(is_constant);
    };
    const auto reads = random_.between(1, 4), functions = random_.between(0, 6), writes = random_.between(1, 2);
    for (std::int64_t i = 0; i < reads; ++i) {
      add({.what = kind::read, .operand = static_cast<std::uint16_t>(k.operands.size())}, false);
      add_operand(out, aligned, true);
    }
    if (random_.between(0, 5) == 0) {
      add({.what = kind::random, .operand = static_cast<std::uint16_t>(k.operands.size())}, false);
      add_sequence(out, aligned);
    }
    const auto any = [&](bool may_be_constant) {
      std::uint16_t at = 0;
      do at = static_cast<std::uint16_t>(random_.between(0, static_cast<std::int64_t>(k.operations.size()) - 1));
      while (constant[at] && !may_be_constant);
      return at;
    };
    if (random_.between(0, 3) == 0) {
      const std::int64_t count = random_.between(1, 5), stride = add_parts(out, aligned, count);
      const auto first = static_cast<std::uint16_t>(k.operations.size());
      add({.what = kind::number, .value = static_cast<double>(count)}, true);
      add({.what = kind::number, .value = static_cast<double>(stride)}, true);
      add({.what = kind::read_at,
           .operand = static_cast<std::uint16_t>(k.operands.size() - 1),
           .from = {any(false), first, static_cast<std::uint16_t>(first + 1)}},
          false);
    }
    for (std::int64_t i = 0; i < functions; ++i) {
      const auto what = random_.between(0, 9);
      if (what == 0) {
        add({.what = kind::number, .value = random_.one_of({0.5, -1.25, 3.0, 1e30, infinite, 0.0, 0.1})}, true);
      } else if (what == 1) {
        add({.what = kind::round, .type = type(), .from = {any(false)}}, false);
      } else {
        // The first argument is no constant: compilers fold functions of constants with other roundings.
        const std::uint16_t a = any(false), b = any(true), c = any(true);
        add({.what = kind::apply, .function = function(), .from = {a, b, c}}, false);
      }
    }
    const std::uint16_t last = static_cast<std::uint16_t>(k.operations.size() - 1), other = any(true);
    for (std::int64_t i = 0; i < writes; ++i) {
      const std::uint16_t from = i == 0 ? last : other;
      add({.what = kind::write, .operand = static_cast<std::uint16_t>(k.operands.size()), .from = {from, 0, 0}}, false);
      add_operand(out, aligned, false);
    }
    set_iteration_space(k);
    return out;
  }

 private:
  static constexpr double infinite = std::numeric_limits<double>::infinity();

  void choose_extents() {
    shape_ = {};
    shape_.rank = static_cast<std::size_t>(random_.between(1, 4));
    std::int64_t remaining = 40'000;
    for (std::size_t i = 0; i < shape_.rank; ++i) {
      std::int64_t e = random_.one_of({1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 24, 32, 33, 49, 64, 96, 100, 1000, 4096});
      while (e > remaining) e = (e + 1) / 2;
      shape_.extents[i] = std::max<std::int64_t>(e, 1);
      remaining /= shape_.extents[i];
    }
    shape_.strides = dense_strides(shape_);
  }
  dtype type() {
    if (is_double_ && random_.between(0, 1) == 0) return random_.one_of({dtype::f64, dtype::i32, dtype::u32});
    return random_.one_of({dtype::f32, dtype::f32, dtype::f16, dtype::bf16, dtype::f16, dtype::bf16, dtype::f8e4m3,
                           dtype::f8e5m2, dtype::i8, dtype::u8, dtype::i16, dtype::boolean});
  }
  epilogue::op function() {
    epilogue::op o{};
    do o = static_cast<epilogue::op>(random_.between(1, static_cast<std::int64_t>(epilogue::op::logical_or)));
    while (!epilogue::is_function(o));
    return o;
  }
  void add_operand(random_kernel& to, std::vector<bool>& aligned, bool is_read) {
    location l{.is_buffer = false, .number = 0, .type = type(), .offset = 0, .shape = shape_};
    if (is_read && random_.between(0, 2) == 0)
      for (std::size_t i = 0; i < shape_.rank; ++i)
        if (random_.between(0, 1) == 0) l.shape.extents[i] = 1;
    std::vector<std::size_t> order(shape_.rank);
    std::iota(order.begin(), order.end(), 0);
    const auto how = random_.between(0, 5);
    if (how == 0 && shape_.rank > 1) std::swap(order[0], order[1]);
    if (how <= 2 && shape_.rank > 2) std::rotate(order.begin() + 1, order.begin() + 2, order.end());
    to.what.operands.push_back(to.add(l, order, random_.one_of({4.0, 40.0}), random_, aligned));
  }
  // Adds an operand that is read at indexes along an axis of `count` elements, and returns the stride of that axis.
  std::int64_t add_parts(random_kernel& to, std::vector<bool>& aligned, std::int64_t count) {
    location l{.is_buffer = false, .number = 0, .type = type(), .offset = 0, .shape = shape_};
    const auto axis = static_cast<std::size_t>(random_.between(0, static_cast<std::int64_t>(shape_.rank) - 1));
    l.shape.extents[axis] = count;
    std::vector<std::size_t> order(shape_.rank);
    std::iota(order.begin(), order.end(), 0);
    if (random_.between(0, 1) == 0) std::reverse(order.begin(), order.end());
    l = to.add(l, order, 4.0, random_, aligned);
    const std::int64_t stride = l.shape.strides[axis];
    l.shape.extents[axis] = 1, l.shape.strides[axis] = 0;
    to.what.operands.push_back(l);
    return stride;
  }
  // Adds a sequence. Its words are in the memory that add_sequence adds for the operand of its positions.
  void add_sequence(random_kernel& to, std::vector<bool>& aligned) {
    elementwise_kernel::sequence s{
        .attributes = {random_.one_of({random_kind::normal, random_kind::uniform, random_kind::bernoulli}),
                       static_cast<std::uint64_t>(random_.between(0, INT64_MAX)),
                       static_cast<std::uint64_t>(random_.between(0, INT64_MAX)), 0.3},
        .words = {}};
    if (const std::int64_t words = random_.one_of({0, 2, 4}); words != 0)
      s.words = location{.is_buffer = false,
                         .number = 0,
                         .type = dtype::u32,
                         .offset = 0,
                         .shape = {.rank = 1, .extents = {words}, .strides = {random_.between(1, 2)}}};
    to.what.sequences.push_back(s);
    location positions{.is_buffer = false, .number = location::nowhere, .type = {}, .offset = 0, .shape = shape_};
    to.what.operands.push_back(positions);
    aligned.push_back(true);
    auto& memory = to.memory.emplace_back(64);
    for (std::byte& b : memory) b = static_cast<std::byte>(random_.between(0, 255));
    to.begin.push_back(0);
    to.description += ", random numbers";
  }
  // Sets the iteration space as the planner of steps does.
  static void set_iteration_space(elementwise_kernel& k) {
    std::vector<axis_values> strides;
    k.operand_in_space.resize(k.operands.size());
    const auto take = [&](std::size_t i) {
      k.operand_in_space[i] = strides.size();
      strides.push_back(broadcast_strides(k.operands[i].shape, k.extents.rank, k.extents.extents));
    };
    std::size_t first = 0;
    while (k.operations[first].what != kind::write) ++first;
    const std::size_t written = k.operations[first].operand;
    take(written);
    for (std::size_t i = 0; i < k.operands.size(); ++i)
      if (i != written) take(i);
    k.over = iteration_space(k.extents.rank, k.extents.extents, std::move(strides), true);
  }

  numerics::random_source& random_;
  const bool is_double_;
  tensor_shape shape_;
};

struct random_plan {
  step_list steps;
  std::vector<random_kernel> kernels;
  std::vector<bool> aligned;
};
random_plan plan_of(numerics::random_source& random, dtype numbers, int kernels) {
  random_plan out;
  out.steps.compute_type = numbers;
  kernel_generator generator(random, numbers);
  for (int i = 0; i < kernels; ++i) {
    out.kernels.push_back(generator.make(out.aligned));
    out.steps.steps.emplace_back(out.kernels.back().what);
  }
  return out;
}

void expect_same(const random_kernel& p, const std::vector<std::vector<std::byte>>& actual,
                 const std::vector<std::vector<std::byte>>& expected, const std::string& description) {
  for (std::size_t i = 0; i < actual.size(); ++i) {
    if (actual[i] == expected[i]) continue;
    const dtype t = p.what.operands[i].type;
    const std::size_t size = bytes_of(t);
    int wrong = 0;
    for (std::size_t at = p.begin[i] % size; at + size <= actual[i].size() && wrong < 3; at += size) {
      const double a = epilogue::number_at(actual[i].data() + at, t),
                   b = epilogue::number_at(expected[i].data() + at, t);
      if (std::memcmp(actual[i].data() + at, expected[i].data() + at, size) == 0 || (std::isnan(a) && std::isnan(b)))
        continue;
      ++wrong;
      ADD_FAILURE() << "operand " << i << " at byte " << at << " is " << a << ", interpreted " << b << "\n"
                    << description;
    }
  }
}

class generated_kernels : public ::testing::TestWithParam<dtype> {
 protected:
  numerics::random_source random_;
};

TEST_P(generated_kernels, results_have_the_same_bits_as_those_of_the_interpreter) {
  constexpr int count = 120;
  random_plan plan = plan_of(random_, GetParam(), count);
  const source s = source_of(plan.steps, {}, plan.aligned);
  ASSERT_EQ(s.of_steps.size(), plan.kernels.size());
  const compiled_for_host compiled(s, GetParam());
  const auto interpret = compiled.find<void(const void*, unsigned, unsigned)>("interpret_elements");
  ASSERT_NE(interpret, nullptr);
  int several = 0, flat = 0, tiled = 0, wide = 0;
  for (std::size_t i = 0; i < plan.kernels.size(); ++i) {
    const random_kernel& p = plan.kernels[i];
    const thread_partition partition = partition_among_threads(p.what, plan.aligned);
    several += partition.elements > 1, flat += partition.flat, tiled += partition.tiled.has_value();
    for (const access& a : partition.accesses) wide += a.how == access::kind::wide;
    const source::launch& launch = s.of_steps[i].front();
    const source::kernel& k = s.kernels[launch.kernel];
    const auto run = compiled.find<void(const void*, unsigned)>("run_" + k.name);
    ASSERT_NE(run, nullptr) << k.name;
    const auto addresses = [&](std::vector<std::vector<std::byte>>& memory) {
      std::vector<void*> out;
      void* words = nullptr;
      for (std::size_t o = 0; o < memory.size(); ++o) {
        const location& l = p.what.operands[o];
        out.push_back(memory[o].data() + p.begin[o] + static_cast<std::size_t>(l.offset) * bytes_of(l.type));
        if (!l.exists()) words = out.back();
      }
      if (words != nullptr) out.push_back(words);
      return out;
    };
    // Run both in the same memory, one after the other, so that both have the same alignment.
    auto& memory = const_cast<random_kernel&>(p).memory;
    const auto before = memory;
    const std::vector<void*> at = addresses(memory);
    std::vector<std::int64_t> parameter;
    for (void* const address : at) parameter.push_back(reinterpret_cast<std::intptr_t>(address));
    parameter.insert(parameter.end(), launch.numbers.begin(), launch.numbers.end());
    run(parameter.data(), launch.blocks);
    const auto got = memory;
    for (std::size_t o = 0; o < memory.size(); ++o) std::copy(before[o].begin(), before[o].end(), memory[o].begin());
    auto e = elementwise_arguments(p.what, [&](const location& l) {
      const auto which = static_cast<std::size_t>(&l - p.what.operands.data());
      return which < p.what.operands.size() ? at[which] : at.back();
    });
    interpret(&e, 1, block_threads);
    expect_same(p, got, memory,
                cat("kernel ", i, " of ", p.description, "; ", numerics::how_to_repeat(), "\n",
                    text_of(p.what, partition).text));
    if (HasFailure()) return;
  }
  EXPECT_GT(several, count / 6);
  EXPECT_GT(flat, 0);
  EXPECT_GT(tiled, 0);
  EXPECT_GT(wide, count / 6);
}

TEST_P(generated_kernels, nvrtc_compiles_sources_without_warnings) {
  const random_plan plan = plan_of(random_, GetParam(), 40);
  const source s = source_of(plan.steps, {}, plan.aligned);
  EXPECT_EQ(testing::compiled_for_gpu(s.text), "") << numerics::how_to_repeat();
}

INSTANTIATE_TEST_SUITE_P(, generated_kernels, ::testing::Values(dtype::f32, dtype::f64),
                         [](const auto& i) { return i.param == dtype::f32 ? "f32" : "f64"; });

TEST(generated_sources, equal_elementwise_kernels_share_a_kernel) {
  numerics::random_source random;
  random_plan plan = plan_of(random, dtype::f32, 1);
  plan.steps.steps.push_back(plan.steps.steps[0]);
  plan.steps.steps.insert(plan.steps.steps.begin(), operator_step{});
  const source s = source_of(plan.steps, {}, plan.aligned);
  EXPECT_EQ(s.kernels.size(), 1u);
  ASSERT_EQ(s.of_steps.size(), 3u);
  EXPECT_TRUE(s.of_steps[0].empty());
  for (const std::size_t i : {1u, 2u}) {
    ASSERT_EQ(s.of_steps[i].size(), 1u);
    EXPECT_EQ(s.of_steps[i][0].kernel, 0u);
  }
}

}  // namespace
}  // namespace troupe::dnn::generated
