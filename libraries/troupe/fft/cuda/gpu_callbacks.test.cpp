// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <troupe/fft/cuda/gpu_callbacks.hpp>
#include <troupe/kernel/engine/cuda/container.hpp>
#include <vector>

namespace troupe::fft {
namespace {

// A program's memory as the application writes it, with space for what the worker writes.
struct program_memory {
  alignas(64) std::array<std::byte, kernel::program_root::state_bytes + 4096> said{};
  std::vector<std::uint64_t> all;

  program_memory(std::uint64_t id, const std::string& source, const callback_names& names, dtype in, dtype out) {
    jit::recipe r{.source = source, .cache = jit::cache_use::none};
    r.source += wrapper(names.load, names.store, in, out);
    const std::string encoded = jit::encode(r);
    const std::string recipe = encode(callback_recipe{!names.load.empty(), !names.store.empty(), in, out, encoded});
    kernel::program_root root{};
    root.id = id;
    root.state = reinterpret_cast<std::uint64_t>(said.data());
    root.log_bytes = 4096;
    root.recipe_at = sizeof root;
    root.recipe_bytes = recipe.size();
    all.resize((sizeof root + recipe.size()) / 8 + 1);
    std::memcpy(all.data(), &root, sizeof root);
    std::memcpy(reinterpret_cast<char*>(all.data()) + sizeof root, recipe.data(), recipe.size());
  }
  const kernel::program_root& root() const { return *reinterpret_cast<const kernel::program_root*>(all.data()); }
};

struct pair {
  dtype in, out;
  const char *from, *to;
};
constexpr pair pairs[] = {
    {dtype::c64, dtype::c64, "float2", "float2"},   {dtype::c128, dtype::c128, "double2", "double2"},
    {dtype::f32, dtype::c64, "float", "float2"},    {dtype::c64, dtype::f32, "float2", "float"},
    {dtype::f64, dtype::c128, "double", "double2"}, {dtype::c128, dtype::f64, "double2", "double"}};

std::string load_of(const std::string& type) {
  return "__device__ " + type + " get(const " + type +
         "* input, unsigned long long at, const void*) { return input[at]; }\n";
}
std::string store_of(const std::string& type) {
  return "namespace ns { template <int N> __device__ void put(" + type + "* output, unsigned long long at, " + type +
         " value, void*) { output[at + N] = value; } }\n";
}

TEST(gpu_callbacks, become_link_time_code_for_every_element_type) {
  gpu_callbacks all(90);
  std::uint64_t id = 0;
  for (const pair& p : pairs) {
    program_memory both(++id, load_of(p.from) + store_of(p.to), {.load = "get", .store = "ns::put<1>"}, p.in, p.out);
    const auto done = all.make(both.root());
    ASSERT_TRUE(done) << p.from << " to " << p.to << ": " << done.error().text();
    const auto made = all.find(both.root(), "test");
    ASSERT_TRUE(made) << made.error().text();
    const link_time_code& code = (*made)->image();
    EXPECT_TRUE(code.loads() && code.stores());
    EXPECT_EQ(kernel::inspect_image(code.code()).is, kernel::container::lto_ir);
    EXPECT_EQ(kernel::inspect_image(code.forwarder()).is, kernel::container::lto_ir);
  }
}

TEST(gpu_callbacks, can_be_a_load_or_a_store_function_alone) {
  gpu_callbacks all(90);
  program_memory only(1, store_of("float2"), {.store = "ns::put<0>"}, dtype::f32, dtype::c64);
  ASSERT_TRUE(all.make(only.root()));
  const link_time_code& code = (*all.find(only.root(), "test"))->image();
  EXPECT_FALSE(code.loads());
  EXPECT_TRUE(code.stores());
  EXPECT_TRUE(code.forwarder().empty());
}

TEST(gpu_callbacks, a_wrong_signature_is_refused_with_the_compilers_messages) {
  gpu_callbacks all(90);
  program_memory wrong(1, load_of("float"), {.load = "get"}, dtype::c64, dtype::c64);
  const auto done = all.make(wrong.root());
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().reaction(), reaction::caller_bug);
  EXPECT_NE(done.error().text().find("the functions around the callbacks"), std::string::npos) << done.error().text();
  // A transform that uses the callbacks gets the same error, and the compiler does not run again.
  EXPECT_TRUE(all.is_known(wrong.root()));
  EXPECT_EQ(all.find(wrong.root(), "test").error().text(), done.error().text());
}

TEST(gpu_callbacks, unloaded_callbacks_cannot_be_used_again) {
  gpu_callbacks all(90);
  program_memory one(1, load_of("float2"), {.load = "get"}, dtype::c64, dtype::c64);
  ASSERT_TRUE(all.make(one.root()));
  all.unload(one.root());
  EXPECT_FALSE(all.find(one.root(), "test"));
}

}  // namespace
}  // namespace troupe::fft
