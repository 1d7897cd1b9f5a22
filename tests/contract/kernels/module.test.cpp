// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests of module beyond the contract, with the image of images/kernels.cpp.
#include "kernels.hpp"

namespace troupe::whole {
namespace {

class a_module : public testing::Test {
 protected:
  module::launch saxpy(kernel::arguments arguments) const {
    return {.kernel = image_.kernel("saxpy"), .grid = 1, .block = 32, .arguments = std::move(arguments)};
  }
  module::launch plain(const char* name) const { return {.kernel = image_.kernel(name), .grid = 1, .block = 1}; }
  // Expects that the worker still serves.
  void expect_serving() const {
    auto y = gpu_.alloc<float>(32, {.zeroed = true});
    gpu_.tell(saxpy({3.0f, uploaded(gpu_, counting(32)), inout(y), 32}));
    const auto got = gpu_.download(y).get();
    ASSERT_OK(got);
    for (int i = 0; i < 32; ++i) EXPECT_EQ((*got)[static_cast<std::size_t>(i)], 3.0f * static_cast<float>(i));
  }
  std::vector<float> table(const module::image& image) const {
    auto all = gpu_.alloc<float>(16);
    gpu_.tell(module::read_global{.global = image.global("table"), .target = all.as<std::byte>()});
    return gpu_.download(all).get().value();
  }

  runtime runtime_;
  device gpu_ = runtime_.open_device(with_test_engines());
  module::image image_ = module::load(gpu_, test_image(), {.name = "kernels.so"});
  buffer<float> x_ = uploaded(gpu_, counting(100)), y_ = uploaded(gpu_, counting(100));
};

TEST_F(a_module, is_usable_before_it_is_loaded) {
  expect_serving();
  EXPECT_OK(image_.ready().get());
  const auto s = image_.summary().get();
  ASSERT_OK(s);
  EXPECT_EQ(s->kernels, 7u);
  EXPECT_EQ(s->globals, 2u);
}

TEST_F(a_module, passes_structs_by_value_and_takes_any_buffer_for_a_pointer_to_void) {
  gpu_.tell(module::launch{.kernel = image_.kernel("ns::apply<affine, 1>"),
                           .grid = {2, 1, 1},
                           .block = 50,
                           .arguments = {affine{2, 3, 4}, inout(y_)}});
  gpu_.tell(module::launch{.kernel = image_.kernel("clear"), .grid = 1, .block = 400, .arguments = {out(x_)}});
  const auto y = gpu_.download(y_).get().value(), x = gpu_.download(x_).get().value();
  for (std::size_t i = 0; i < 100; ++i) {
    EXPECT_EQ(y[i], 2.0f * static_cast<float>(i) + 7);
    EXPECT_EQ(x[i], 0);
  }
}

TEST_F(a_module, accepts_overlapping_arguments) {
  gpu_.tell(module::launch{
      .kernel = image_.kernel("saxpy"), .grid = 2, .block = 64, .arguments = {1.0f, y_, inout(y_), 100}});
  EXPECT_EQ(gpu_.download(y_).get().value()[7], 14);
}

TEST_F(a_module, requires_as_many_arguments_as_the_kernel_has_parameters) {
  EXPECT_EQ(text_of(gpu_.ask(saxpy({1.0f, x_}))),
            "module.launch: 2 arguments were given, but saxpy has 4 parameters (`float`, `const float*`, `float*`, "
            "`int`)");
  EXPECT_EQ(text_of(gpu_.ask(saxpy({}))),
            "module.launch: 0 arguments were given, but saxpy has 4 parameters (`float`, `const float*`, `float*`, "
            "`int`)");
  module::launch one = plain("nothing");
  one.arguments = {1};
  EXPECT_EQ(text_of(gpu_.ask(one)), "module.launch: 1 argument was given, but nothing has no parameters");
  expect_serving();
}

TEST_F(a_module, refuses_each_argument_of_the_wrong_access_kind_or_type) {
  const auto d = gpu_.alloc<double>(10);
  // A refused launch makes its outputs stale, so each launch has its own output.
  const auto y = [&] { return inout(gpu_.alloc<float>(100, {.zeroed = true})); };
  const auto text = [&](const kernel::arguments& a) { return text_of(gpu_.ask(saxpy(a))); };
  EXPECT_EQ(
      text({1.0f, x_, y_, 3}),
      "module.launch: argument 2 is f32[100], but parameter 2 of saxpy is `float*`, which it may write; pass inout(y) "
      "or out(y), or in(x) if this kernel only reads it");
  EXPECT_EQ(text({1.0f, y(), y(), 3}),
            "module.launch: argument 1 is inout(f32[100]), but parameter 1 of saxpy is `const float*`, which it only "
            "reads; pass in(x)");
  EXPECT_EQ(
      text({1.0f, out(gpu_.alloc<float>(3)), y(), 3}),
      "module.launch: argument 1 is out(f32[3]), but parameter 1 of saxpy is `const float*`, which it only reads; "
      "pass in(x)");
  EXPECT_EQ(text({1.0, x_, y(), 3}),
            "module.launch: argument 0 is f64, but parameter 0 of saxpy is `float`; expected f32");
  EXPECT_EQ(text({1.0f, x_, y(), std::int64_t{3}}),
            "module.launch: argument 3 is i64, but parameter 3 of saxpy is `int`; expected i32");
  EXPECT_EQ(
      text({1.0f, x_, out(d), 3}),
      "module.launch: argument 2 is out(f64[10]), but parameter 2 of saxpy is `float*`; expected elements of f32");
  EXPECT_EQ(text({1.0f, 2.0f, y(), 3}),
            "module.launch: argument 1 is f32, but parameter 1 of saxpy is `const float*`, a pointer; pass a buffer");
  EXPECT_EQ(text({x_, x_, y(), 3}),
            "module.launch: argument 0 is f32[100], but parameter 0 of saxpy is `float`, a value; pass it by value");
  struct shorter {
    float scale;
  };
  module::launch l{
      .kernel = image_.kernel("ns::apply<affine,1>"), .grid = 1, .block = 1, .arguments = {shorter{1}, y()}};
  EXPECT_EQ(
      text_of(gpu_.ask(l)),
      "module.launch: argument 0 is a struct of 4 bytes, aligned to 4, but parameter 0 of ns::apply<affine, 1> is "
      "`affine`; expected a struct of 16 bytes, aligned to 8");
  expect_serving();
}

TEST_F(a_module, makes_the_outputs_of_a_refused_launch_stale_with_its_error) {
  (void)gpu_.tell(saxpy({1.0f, x_, inout(y_)}));
  const error e = error_of(gpu_.download(y_));
  EXPECT_TRUE(is_error(e, reaction::caller_bug, {"3 arguments were given", "module.launch"}));
}

TEST_F(a_module, refuses_grids_and_blocks_beyond_the_limits_before_anything_is_queued) {
  const auto text = [&](kernel::dimensions grid, kernel::dimensions block, extent shared = 0) {
    const accepted s = gpu_.tell(
        module::launch{.kernel = image_.kernel("nothing"), .grid = grid, .block = block, .shared_bytes = shared});
    return s ? std::string("accepted") : s.error().text();
  };
  const std::string grids = "; expected 1 to {2147483647, 65535, 65535}", blocks = "; expected 1 to {1024, 1024, 64}";
  EXPECT_EQ(text(0, 1), "module.launch: grid is {0, 1, 1}" + grids);
  EXPECT_EQ(text(-1, 1), "module.launch: grid is {-1, 1, 1}" + grids);
  EXPECT_EQ(text(std::int64_t{1} << 31, 1), "module.launch: grid is {2147483648, 1, 1}" + grids);
  EXPECT_EQ(text({1, 65536}, 1), "module.launch: grid is {1, 65536, 1}" + grids);
  EXPECT_EQ(text({1, 1, 65536}, 1), "module.launch: grid is {1, 1, 65536}" + grids);
  EXPECT_EQ(text(1, 0), "module.launch: block is {0, 1, 1}" + blocks);
  EXPECT_EQ(text(1, 1025), "module.launch: block is {1025, 1, 1}" + blocks);
  EXPECT_EQ(text(1, {1, 1, 65}), "module.launch: block is {1, 1, 65}" + blocks);
  EXPECT_EQ(text(1, {32, 32, 2}), "module.launch: block is {32, 32, 2}, 2048 threads; expected at most 1024 threads");
  EXPECT_EQ(text(1, 1, -1), "module.launch: shared_bytes is -1; expected at least 0");
  EXPECT_EQ(text({1, 65535, 1}, {1, 1, 64}), "accepted");
  EXPECT_OK(gpu_.sync().get());
}

TEST_F(a_module, refuses_clusters_beyond_any_gpu_before_anything_is_queued) {
  const auto text = [&](kernel::dimensions grid, kernel::dimensions cluster, bool large = false) {
    module::launch l = plain("nothing");
    l.grid = grid;
    l.cluster = cluster;
    l.non_portable_cluster = large;
    const accepted s = gpu_.tell(l);
    return s ? std::string("accepted") : s.error().text();
  };
  EXPECT_EQ(text(8, 0), "module.launch: cluster is {0, 1, 1}; expected 1 to {8, 8, 8}");
  EXPECT_EQ(text(8, 3),
            "module.launch: cluster is {3, 1, 1}, which does not divide grid, {8, 1, 1}; expected a whole number of "
            "clusters in each direction");
  EXPECT_EQ(text({8, 8}, {4, 4}),
            "module.launch: cluster is {4, 4, 1}, 16 blocks; expected at most 8 blocks, or up to 16 with "
            "non_portable_cluster, where the GPU can");
  EXPECT_EQ(text({8, 8}, {4, 4}, true), "accepted");
  EXPECT_EQ(text({8, 8}, {8, 4}, true), "module.launch: cluster is {8, 4, 1}, 32 blocks; expected at most 16 blocks");
  module::launch l = plain("nothing");
  l.shared_carveout = 101;
  EXPECT_TRUE(is_error(gpu_.tell(l).error(), reaction::caller_bug, {"shared_carveout is 101", "0 to 100"}));
}

TEST_F(a_module, refuses_gpu_features_on_the_host_engine_with_the_reason) {
  module::launch l = plain("nothing");
  l.grid = 4;
  l.cluster = 2;
  EXPECT_TRUE(is_error(error_of(gpu_.ask(l)), reaction::unsupported,
                       {"module.launch", "cluster is {2, 1, 1}", "at the same time", "on a GPU"}));
  l.cluster = 1;
  l.shared_carveout = 50;
  EXPECT_TRUE(is_error(error_of(gpu_.ask(l)), reaction::unsupported, {"shared_carveout is 50", "leave it at -1"}));
  EXPECT_TRUE(is_error(error_of(image_.occupancy("nothing", 32, 0, 2)), reaction::unsupported,
                       {"module.occupancy", "cluster is {2, 1, 1}"}));
}

// A dependent launch must not begin before the previous one has ended.
TEST_F(a_module, runs_a_dependent_launch_in_order) {
  for (int i = 0; i < 100; ++i) {
    module::launch l = saxpy({1.0f, x_, inout(y_), 10});
    l.dependent = true;
    (void)gpu_.tell(l);
  }
  const auto y = gpu_.download(y_).get().value();
  for (int i = 0; i < 10; ++i) EXPECT_EQ(y[static_cast<std::size_t>(i)], 101.0f * static_cast<float>(i));
}

TEST_F(a_module, reports_the_occupancy_of_a_kernel) {
  const auto some = image_.occupancy("nothing", 128).get();
  ASSERT_OK(some);
  EXPECT_EQ(some->blocks, 1u);
  EXPECT_GE(some->processors, 1u);
  EXPECT_EQ(some->clusters + some->most_cluster_blocks, 0u);
  EXPECT_EQ(image_.occupancy("ns::apply<affine,1>", 257).get().value().blocks, 0u) << "its __launch_bounds__ say 256";
  EXPECT_EQ(image_.occupancy("nothing", 1, 300'000).get().value().blocks, 0u);
  EXPECT_TRUE(is_error(error_of(image_.occupancy("none", 1)), reaction::caller_bug, {"module.occupancy", "none"}));
  EXPECT_TRUE(is_error(error_of(image_.occupancy("nothing", 0)), reaction::caller_bug, {"block is {0, 1, 1}"}));
  EXPECT_TRUE(is_error(error_of(module::image().occupancy("nothing", 1)), reaction::caller_bug, {"empty"}));
}

TEST_F(a_module, refuses_more_threads_and_shared_memory_than_the_kernel_can_have) {
  EXPECT_TRUE(is_error(error_of(gpu_.ask(module::launch{.kernel = image_.kernel("ns::apply<affine, 1>"),
                                                        .grid = 1,
                                                        .block = 257,
                                                        .arguments = {affine{}, inout(y_)}})),
                       reaction::caller_bug, {"module.launch", "257", "256"}));
  module::launch l = plain("nothing");
  l.shared_bytes = 300'000;
  EXPECT_TRUE(is_error(error_of(gpu_.ask(l)), reaction::caller_bug, {"module.launch", "300000", "232448"}));
  expect_serving();
}

TEST_F(a_module, refuses_a_cooperative_launch_on_the_host_engine_with_the_reason) {
  module::launch l = plain("nothing");
  l.cooperative = true;
  EXPECT_TRUE(is_error(error_of(gpu_.ask(l)), reaction::unsupported,
                       {"module.launch", "cooperative is true", "at the same time", "split it into several launches"}));
}

TEST_F(a_module, lists_its_kernels_and_globals_when_asked_for_a_missing_one) {
  EXPECT_EQ(text_of(gpu_.ask(plain("sxapy"))),
            "module.launch: kernels.so has no kernel \"sxapy\"; its kernels: saxpy, ns::apply<affine, 1>, clear, "
            "accumulate, nothing, trap, crash");
  EXPECT_TRUE(is_error(error_of(gpu_.ask(plain(""))), reaction::caller_bug, {"kernel has no name"}));
  EXPECT_TRUE(is_error(error_of(image_.attributes("none")), reaction::caller_bug, {"module.attributes", "\"none\""}));
  const std::string longer(300, 'k');
  EXPECT_TRUE(is_error(error_of(gpu_.ask(plain(longer.c_str()))), reaction::caller_bug, {longer.c_str()}));
  EXPECT_EQ(text_of(gpu_.ask(module::read_global{.global = image_.global("tabel"), .target = x_.as<std::byte>()})),
            "module.read_global: kernels.so has no global \"tabel\"; its globals: table, factor. Name the globals you "
            "use when you compile it");
}

TEST_F(a_module, describes_its_kernels) {
  const auto a = image_.attributes("ns::apply<affine,1>").get();
  ASSERT_OK(a);
  EXPECT_EQ(a->name, "ns::apply<affine, 1>");
  EXPECT_EQ(a->max_threads, 256u);
  ASSERT_EQ(a->parameters.size(), 2u);
  EXPECT_EQ(a->parameters[0].type, "affine");
  EXPECT_EQ(a->parameters[0].passing, kernel::passing::value);
  EXPECT_EQ(a->parameters[0].bytes, 16u);
  EXPECT_EQ(a->parameters[1].passing, kernel::passing::pointer);
  EXPECT_EQ(a->parameters[1].element, dtype::f32);
  const auto clear = image_.attributes("clear").get();
  ASSERT_OK(clear);
  EXPECT_EQ(clear->static_shared_bytes, 64u);
  EXPECT_EQ(clear->execution, "loop: written by hand");
}

TEST_F(a_module, orders_launches_that_write_globals_with_readers_and_writers) {
  gpu_.tell(
      module::write_global{.global = image_.global("factor"), .source = uploaded<int>(gpu_, {10}).as<std::byte>()});
  for (int i = 0; i < 3; ++i)
    gpu_.tell(module::launch{
        .kernel = image_.kernel("accumulate"), .grid = 1, .block = 16, .arguments = {x_}, .writes_globals = true});
  std::vector<float> expected(16);
  for (std::size_t i = 0; i < 16; ++i)
    expected[i] = 30.0f * static_cast<float>(i) + (i < 3 ? static_cast<float>(i + 1) : 0);
  EXPECT_EQ(table(image_), expected);
}

TEST_F(a_module, has_globals_of_its_own_however_often_the_same_image_is_loaded) {
  const auto other = module::load(gpu_, test_image());
  gpu_.tell(module::write_global{.global = other.global("table"), .source = x_.slice(0, 16).as<std::byte>()});
  EXPECT_EQ(table(other)[5], 5);
  EXPECT_EQ(table(image_)[5], 0);
}

TEST_F(a_module, reads_globals_within_their_bounds) {
  const auto text = [&](extent bytes, extent offset) {
    return text_of(gpu_.ask(module::read_global{
        .global = image_.global("factor"), .target = gpu_.alloc<std::byte>(bytes), .offset_bytes = offset}));
  };
  EXPECT_EQ(
      text(4, 1),
      "module.read_global: 4 bytes at offset 1 are not within global factor, which has 4 bytes; use a slice of the "
      "buffer, or another offset");
  EXPECT_NE(text(400, 0).find("400 bytes at offset 0"), std::string::npos);
  EXPECT_NE(text(1, 4).find("1 bytes at offset 4"), std::string::npos);
  EXPECT_NE(text(1, INT64_MAX).find("at offset 9223372036854775807"), std::string::npos);
  EXPECT_EQ(text(4, 0), "no error at all");
}

TEST_F(a_module, is_stale_after_a_failed_write_to_a_global) {
  EXPECT_EQ(
      text_of(gpu_.ask(module::write_global{.global = image_.global("table"), .source = x_.as<std::byte>()})),
      "module.write_global: 400 bytes at offset 0 are not within global table, which has 64 bytes; use a slice of "
      "the buffer, or another offset");
  EXPECT_TRUE(
      is_error(error_of(gpu_.ask(plain("nothing"))), reaction::caller_bug, {"module.write_global", "module.launch"}));
  EXPECT_OK(image_.ready().get());
  EXPECT_OK(image_.unload().get());
  image_ = module::load(gpu_, test_image());
  expect_serving();
}

TEST_F(a_module, reports_a_kernel_that_traps_and_serves_on) {
  EXPECT_TRUE(is_error(error_of(gpu_.ask(plain("trap"))), reaction::caller_bug, {"module.launch", "trap"}));
  expect_serving();
}

TEST_F(a_module, loses_only_the_worker_when_its_kernel_crashes) {
  EXPECT_TRUE(
      is_error(error_of(gpu_.ask(plain("crash"))), reaction::context_lost, {"module.launch", "the worker", "ended"}));
  const device next = runtime_.open_device(with_test_engines());
  EXPECT_OK(module::load(next, test_image()).ready().get());
}

TEST_F(a_module, fails_with_one_error_for_all_uses_if_the_image_is_invalid) {
  std::vector<std::byte> bytes(1000, std::byte{'x'});
  const auto bad = module::load(gpu_, bytes, {.name = "letters"});
  const error e = error_of(bad.ready());
  EXPECT_TRUE(is_error(e, reaction::caller_bug, {"letters"}));
  module::launch l{.kernel = bad.kernel("saxpy"), .grid = 1, .block = 1};
  EXPECT_TRUE(is_error(error_of(gpu_.ask(l)), reaction::caller_bug, {e.text().c_str(), "module.launch"}));
  bytes = test_image();
  bytes.resize(bytes.size() / 2);
  EXPECT_FALSE(module::load(gpu_, bytes).ready().get());
  std::ifstream engine("/proc/self/exe", std::ios::binary);
  const std::vector<char> program{std::istreambuf_iterator<char>(engine), {}};
  EXPECT_FALSE(module::load(gpu_, std::as_bytes(std::span(program))).ready().get());
  EXPECT_TRUE(
      is_error(error_of(module::load(gpu_, {}).ready()), reaction::caller_bug, {"module.load: bytes is empty"}));
  expect_serving();
}

TEST_F(a_module, is_unloaded_once_after_earlier_requests_and_refuses_later_ones) {
  gpu_.tell(saxpy({1.0f, x_, inout(y_), 32}));
  EXPECT_OK(image_.unload().get());
  EXPECT_EQ(gpu_.download(y_).get().value()[3], 6);
  const error twice = error_of(image_.unload());
  EXPECT_EQ(twice.reaction(), reaction::caller_bug);
  EXPECT_EQ(twice.text(), "module.unload: kernels.so was unloaded; compile or load it again");
  const accepted late = gpu_.tell(saxpy({1.0f, x_, inout(y_), 32}));
  ASSERT_FALSE(late);
  EXPECT_EQ(
      late.error().text(),
      "module.launch: kernel belongs to kernels.so, which was unloaded; expected a program that is loaded; compile or "
      "load it again");
  EXPECT_TRUE(is_error(error_of(image_.ready()), reaction::caller_bug, {"module.summary", "was unloaded"}));
  EXPECT_TRUE(is_error(error_of(image_.attributes("saxpy")), reaction::caller_bug, {"was unloaded"}));
}

TEST_F(a_module, can_be_unloaded_after_it_failed_to_load) {
  const auto bad = module::load(gpu_, std::vector<std::byte>(100), {.name = "zeros"});
  EXPECT_FALSE(bad.ready().get());
  EXPECT_OK(bad.unload().get());
}

TEST_F(a_module, is_refused_where_it_is_empty_or_of_another_device) {
  const module::image empty;
  module::launch l{.kernel = empty.kernel("saxpy"), .grid = 1, .block = 1};
  EXPECT_EQ(text_of(gpu_.ask(l)),
            "module.launch: kernel is empty (default-constructed, or moved from); expected a program returned by "
            "compile or load");
  EXPECT_TRUE(is_error(error_of(empty.ready()), reaction::caller_bug, {"module.summary: the program is empty"}));
  EXPECT_TRUE(is_error(error_of(empty.unload()), reaction::caller_bug, {"module.unload: the program is empty"}));
  const device other = runtime_.open_device(with_test_engines());
  EXPECT_TRUE(is_error(error_of(other.ask(plain("nothing"))), reaction::caller_bug,
                       {"module.launch nothing (kernels.so): kernel belongs to another device"}));
}

TEST_F(a_module, frees_its_memory_with_the_last_handle) {
  ASSERT_OK(gpu_.sync().get());
  const auto used = [&] { return gpu_.statistics().host_memory.used_bytes; };
  const auto before = used();
  {
    const auto image = module::load(gpu_, test_image());
    ASSERT_OK(image.ready().get());
    EXPECT_GT(used(), before);
  }
  ASSERT_OK(gpu_.sync().get());
  EXPECT_EQ(used(), before);
}

TEST_F(a_module, can_be_awaited_with_all_fields_as_temporaries) {
  const auto launch = [](const device& gpu, const module::image& image, buffer<float> x,
                         buffer<float> y) -> task<result<void>> {
    co_await gpu.ask(module::launch{
        .kernel = image.kernel("saxpy"), .grid = 1, .block = 100, .arguments = {2.0f, x, inout(y), 100}});
    co_return {};
  };
  for (int i = 0; i < 10; ++i) EXPECT_OK(start(launch(gpu_, image_, x_, y_)).get());
  EXPECT_EQ(gpu_.download(y_).get().value()[1], 21);
}

}  // namespace
}  // namespace troupe::whole
