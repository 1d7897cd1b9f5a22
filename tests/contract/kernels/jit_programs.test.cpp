// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests of jit beyond the contract: compiled programs, with this machine's compiler.
#include "jit_fixture.hpp"

namespace troupe::whole::jit_tests {
namespace {

TEST_F(a_program, has_globals_that_the_application_reads_and_writes_in_order_with_launches) {
  const auto p =
      jit::compile(gpu_, {.source = "__device__ float table[4] = {1, 2, 3, 4};\n__constant__ int factor = 2;\n"
                                    "__global__ void k() { table[threadIdx.x] *= factor; }\n",
                          .globals = {"table", "factor"}});
  const auto table = [&] {
    auto all = gpu_.alloc<float>(4);
    gpu_.tell(jit::read_global{.global = p.global("table"), .target = all.as<std::byte>()});
    return gpu_.download(all).get().value();
  };
  const jit::launch l{.kernel = p.kernel("k"), .grid = 1, .block = 4, .writes_globals = true};
  gpu_.tell(l);
  EXPECT_EQ(table(), (std::vector<float>{2, 4, 6, 8}));
  gpu_.tell(jit::write_global{.global = p.global("factor"), .source = uploaded<int>(gpu_, {10}).as<std::byte>()});
  gpu_.tell(jit::write_global{
      .global = p.global("table"), .source = uploaded<float>(gpu_, {7}).as<std::byte>(), .offset_bytes = 8});
  gpu_.tell(l);
  EXPECT_EQ(table(), (std::vector<float>{20, 40, 70, 80}));
}

TEST_F(a_program, provides_its_image_to_be_loaded_as_a_module) {
  const auto p = jit::compile(gpu_, saxpy_recipe());
  const auto bytes = p.image().get();
  ASSERT_OK(bytes);
  EXPECT_EQ(bytes->size(), p.summary().get().value().image_bytes);
  EXPECT_OK(p.unload().get());
  const auto m = module::load(gpu_, *bytes);
  const auto x = uploaded(gpu_, counting(10)), y = uploaded(gpu_, counting(10));
  gpu_.tell(module::launch{.kernel = m.kernel("saxpy"), .grid = 1, .block = 32, .arguments = {1.0f, x, inout(y), 10}});
  EXPECT_EQ(gpu_.download(y).get().value()[9], 18);
}

TEST_F(a_program, names_the_remedy_for_a_template_missing_from_its_recipe) {
  const auto p = jit::compile(gpu_, {.source = "template <int N> __global__ void k(float* out) { out[0] = N; }\n"});
  auto out = gpu_.alloc<float>(1, {.zeroed = true});
  EXPECT_TRUE(is_error(
      error_of(gpu_.ask(jit::launch{.kernel = p.kernel("k<3>"), .grid = 1, .block = 1, .arguments = {inout(out)}})),
      reaction::caller_bug, {"has no kernel \"k<3>\"", "Name templates when you compile it"}));
}

TEST_F(a_program, flushes_printed_lines_before_the_launch_is_answered) {
  const std::string name = testing::TempDir() + "troupe_printed_" + std::to_string(::getpid());
  std::fflush(stdout);
  const int own = ::dup(STDOUT_FILENO), file = ::open(name.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  ASSERT_TRUE(own >= 0 && file >= 0);
  ::dup2(file, STDOUT_FILENO);  // the worker inherits it
  device printing = runtime_.open_device(with_test_engines());
  const auto ready = printing.started().get();
  ::dup2(own, STDOUT_FILENO);
  ::close(own);
  ::close(file);
  ASSERT_OK(ready);
  const auto p = jit::compile(printing, {.source = "__global__ void k(int n) { printf(\"n is %d\\n\", n); }\n"});
  EXPECT_OK(printing.ask(jit::launch{.kernel = p.kernel("k"), .grid = 1, .block = 1, .arguments = {7}}).get());
  std::ifstream printed(name);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(printed), {}), "n is 7\n");
  fs::remove(name);
}

TEST_F(a_program, checks_tensor_maps_and_refuses_valid_ones_on_the_host) {
  const auto p = jit::compile(gpu_, {.source = "struct alignas(128) CUtensorMap { unsigned long long opaque[16]; };\n"
                                               "__global__ void k(int, const CUtensorMap m, float* y) { y[0] = 1; }"});
  const auto x = uploaded(gpu_, counting(1024));
  auto y = uploaded(gpu_, counting(1));
  const auto answer = [&](kernel::tiles t) {
    y = uploaded(gpu_, counting(1));  // a refused launch leaves its outputs stale
    return error_of(gpu_.ask(jit::launch{.kernel = p.kernel("k"),
                                         .grid = 1,
                                         .block = 1,
                                         .arguments = {1, kernel::tensor_map(x, std::move(t)), inout(y)}}));
  };
  EXPECT_TRUE(
      is_error(answer({.sizes = {32, 32}, .box = {300, 8}}), reaction::caller_bug,
               {"jit.launch k (program.cu): arguments[1] is a tensor map whose box[0] is 300; expected 1 to 256"}));
  EXPECT_TRUE(is_error(answer({.sizes = {32, 33}, .box = {32, 8}}), reaction::caller_bug,
                       {"jit.launch k (program.cu): arguments[1] is a tensor map whose buffer holds 4096 bytes; "
                        "expected the 4224 bytes that "
                        "sizes and strides span"}));
  EXPECT_TRUE(is_error(answer({.sizes = {32, 32}, .box = {32, 8}}), reaction::unsupported,
                       {"argument 1 is a tensor map, but the host engine has no tensor memory accelerator"}));
  EXPECT_FALSE(y.readable()) << "the output of the refused launch is stale";
}

TEST_F(a_program, is_not_launched_with_a_tensor_map_of_a_lost_or_foreign_buffer) {
  const auto p = jit::compile(gpu_, {.source = kernel_that_writes("1")});
  const auto ask = [&](const buffer<float>& of) {
    return text_of(gpu_.ask(jit::launch{.kernel = p.kernel("k"),
                                        .grid = 1,
                                        .block = 1,
                                        .arguments = {kernel::tensor_map(of, {.sizes = {32, 32}, .box = {32, 8}})}}));
  };
  const device other = runtime_.open_device(with_test_engines());
  EXPECT_NE(ask(other.alloc<float>(1024)).find("arguments[0]"), std::string::npos);
  const auto lost = gpu_.alloc<float>(1024);
  kill_worker(gpu_);
  (void)gpu_.ping(0).get();
  while (lost.readable()) (void)gpu_.ping(0).get();
  EXPECT_EQ(ask(lost).find("tensor memory accelerator"), std::string::npos)
      << "the launch is refused before it is queued";
}

TEST_F(a_program, describes_its_kernels) {
  const auto a = jit::compile(gpu_, saxpy_recipe()).attributes("saxpy").get();
  ASSERT_OK(a);
  ASSERT_EQ(a->parameters.size(), 4u);
  EXPECT_EQ(a->parameters[1].passing, kernel::passing::const_pointer);
  EXPECT_EQ(a->parameters[1].element, dtype::f32);
  EXPECT_EQ(a->parameters[3].element, dtype::i32);
  EXPECT_EQ(a->max_threads, 1024u);
}

TEST_F(a_program, shares_the_compile_but_not_the_globals_of_an_equal_one) {
  const jit::recipe r{
      .source = "__device__ float v = 1;\n__global__ void k(float* out) { out[0] = v += 1; }\n// " + unique(),
      .cache = jit::cache_use::memory};
  std::vector<jit::program> all;
  for (int i = 0; i < 4; ++i) all.push_back(jit::compile(gpu_, r));
  int compiled = 0;
  for (const auto& p : all) {
    const auto s = p.summary().get();
    ASSERT_OK(s);
    compiled += s->source == kernel::image_source::compiled;
    EXPECT_EQ(output_of(p)[0], 2);
  }
  EXPECT_EQ(compiled, 1);
  EXPECT_EQ(output_of(all[0])[0], 3);
  EXPECT_EQ(output_of(all[1])[0], 3);
}

TEST_F(a_program, is_loaded_from_disk_on_another_device) {
  const jit::recipe r{.source = kernel_that_writes("5") + "// " + unique()};
  EXPECT_EQ(jit::compile(gpu_, r).summary().get().value().source, kernel::image_source::compiled);
  const device next = runtime_.open_device(with_test_engines());
  const auto p = jit::compile(next, r);
  EXPECT_EQ(p.summary().get().value().source, kernel::image_source::disk);
  auto out = next.alloc<float>(1);
  next.tell(jit::launch{.kernel = p.kernel("k"), .grid = 1, .block = 1, .arguments = {troupe::out(out)}});
  EXPECT_EQ(next.download(out).get().value()[0], 5);
}

TEST_F(a_program, is_found_but_not_compiled_on_a_device_that_forbids_compiling) {
  const jit::recipe r{.source = kernel_that_writes("5") + "// " + unique(), .name = "five.cu"};
  runtime rt;
  device_options forbids = with_test_engines();
  forbids.compile = false;
  EXPECT_TRUE(is_error(error_of(jit::compile(rt.open_device(forbids), r).ready()), reaction::unsupported,
                       {"five.cu", "was not compiled before", "device_options::compile is false"}));
  EXPECT_EQ(output_of(jit::compile(gpu_, r))[0], 5);
  EXPECT_OK(jit::compile(rt.open_device(forbids), r).ready().get());
}

TEST_F(a_program, is_not_cached_if_its_options_or_date_macros_may_change_it) {
  const auto twice = [&](const jit::recipe& r) {
    (void)jit::compile(gpu_, r).summary().get();
    const auto p = jit::compile(gpu_, r);
    const auto s = p.summary().get();
    EXPECT_OK(s);
    return std::pair(s ? s->source : kernel::image_source::unknown, p.log().get().value_or("?"));
  };
  using enum kernel::image_source;
  const std::string own = kernel_that_writes("1") + "// " + unique();
  EXPECT_EQ(twice({.source = own}).first, memory);
  EXPECT_EQ(twice({.source = own, .options = {"-Wall", "-DX=1", "-fno-math-errno", "-O2"}}).first, memory);
  const auto library = twice({.source = own, .options = {"-lm"}});
  EXPECT_EQ(library.first, compiled);
  EXPECT_NE(library.second.find("note: cache: not kept: it is unknown which files -lm reads"), std::string::npos)
      << library.second;
  const std::string text = "__device__ const char t[] = WHEN;\n" + own;
  EXPECT_EQ(twice({.source = text, .definitions = {{"WHEN", "__TIME__"}}}).first, compiled);
  EXPECT_EQ(twice({.source = text, .options = {"-DWHEN=__DATE__"}}).first, compiled);
  const fs::path room = fs::temp_directory_path() / ("troupe-clock-" + std::to_string(::getpid()));
  fs::create_directories(room);
  std::ofstream(room / "when.h") << "#define WHEN __TIMESTAMP__\n";
  fs::last_write_time(room / "when.h", fs::file_time_type::clock::now() - std::chrono::hours(1));
  fs::last_write_time(room, fs::file_time_type::clock::now() - std::chrono::hours(1));
  EXPECT_EQ(twice({.source = "#include <when.h>\n" + text, .include_paths = {room.string()}}).first, compiled);
  std::ofstream(room / "when.h") << "#define WHEN \"later\"\n";
  fs::last_write_time(room / "when.h", fs::file_time_type::clock::now() - std::chrono::hours(1));
  EXPECT_EQ(twice({.source = "#include <when.h>\n" + text, .include_paths = {room.string() + "/"}}).first, memory);
  fs::remove_all(room);
}

TEST_F(a_program, is_compiled_without_a_usable_cache_and_logs_the_reason) {
  const fs::path room = fs::temp_directory_path() / ("troupe-cache-" + std::to_string(::getpid()));
  fs::create_directories(room / "open");
  fs::permissions(room / "open", fs::perms::all);
  std::ofstream(room / "file") << "";
  const std::string before = std::getenv("TROUPE_CACHE");
  const auto log_with = [&](const std::string& folder) {
    ::setenv("TROUPE_CACHE", folder.c_str(), 1);
    const device gpu = runtime_.open_device(with_test_engines());
    ::setenv("TROUPE_CACHE", before.c_str(), 1);
    const auto p = jit::compile(gpu, {.source = kernel_that_writes("5")});
    EXPECT_EQ(p.summary().get().value().source, kernel::image_source::compiled);
    return p.log().get().value();
  };
  EXPECT_NE(log_with(room / "open").find("note: cache: cannot use the folder"), std::string::npos);
  EXPECT_NE(log_with(room / "file" / "cache").find("note: cache: cannot make the folder"), std::string::npos);
  EXPECT_EQ(log_with("off"), "");
  fs::remove_all(room);
}

TEST_F(a_program, is_unsupported_where_there_is_no_compiler) {
  ::setenv("TROUPE_CXX", "/no/compiler", 1);
  const device gpu = runtime_.open_device(with_test_engines());
  ::unsetenv("TROUPE_CXX");
  EXPECT_TRUE(is_error(error_of(jit::compile(gpu, {.source = kernel_that_writes("1")}).ready()), reaction::unsupported,
                       {"TROUPE_CXX is \"/no/compiler\"", "apt install g++"}));
}

TEST_F(a_program, is_unloaded_once_after_earlier_requests_and_refuses_later_ones) {
  const auto p = jit::compile(gpu_, saxpy_recipe());
  EXPECT_OK(p.unload().get());
  EXPECT_EQ(text_of(p.unload()), "jit.unload: saxpy.cu was unloaded; compile or load it again");
  const accepted late = gpu_.tell(jit::launch{.kernel = p.kernel("saxpy"), .grid = 1, .block = 1});
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().text(),
            "jit.launch: kernel belongs to saxpy.cu, which was unloaded; expected a program that is loaded; compile or "
            "load it "
            "again");
  EXPECT_TRUE(is_error(error_of(p.image()), reaction::caller_bug, {"jit.image", "was unloaded"}));
}

// Returns true if the worker maps the image, which is a memory file with the program's name.
bool is_in_worker(const device& gpu, const std::string& name) {
  std::ifstream maps("/proc/" + std::to_string(gpu.statistics().worker_pid.value()) + "/maps");
  const std::string all{std::istreambuf_iterator<char>(maps), {}};
  return all.find("memfd:" + name) != std::string::npos;
}

TEST_F(a_program, stays_unloaded_while_its_image_and_attributes_are_read) {
  for (int i = 0; i < 20; ++i) {
    const std::string name = "gone" + std::to_string(i) + ".cu";
    jit::recipe r = saxpy_recipe();
    r.name = name;
    const auto p = jit::compile(gpu_, r);
    if (i % 2 == 0) {
      EXPECT_OK(p.ready().get());
      EXPECT_TRUE(is_in_worker(gpu_, name));
    }
    auto image = p.image();
    auto attributes = p.attributes("saxpy");
    auto gone = p.unload();
    const auto bytes = image.get();
    if (!bytes) {
      EXPECT_TRUE(is_error(bytes.error(), reaction::caller_bug, {"jit.image", "unloaded"}));
    }
    EXPECT_OK(attributes.get());  // succeeds, because it was sent first
    EXPECT_OK(gone.get());
    EXPECT_OK(gpu_.sync().get());
    EXPECT_FALSE(is_in_worker(gpu_, name)) << i;
  }
}

TEST_F(a_program, reports_divergent_barriers_and_serves_on) {
  const auto p =
      jit::compile(gpu_, {.source = "__global__ void k(float* out) {\n  if (threadIdx.x < 3) __syncthreads();\n"
                                    "  out[threadIdx.x] = 1;\n}\n",
                          .name = "d.cu"});
  auto out = gpu_.alloc<float>(8, {.zeroed = true});
  EXPECT_TRUE(is_error(
      error_of(gpu_.ask(jit::launch{.kernel = p.kernel("k"), .grid = 1, .block = 8, .arguments = {inout(out)}})),
      reaction::caller_bug, {"jit.launch", "d.cu:2"}));
  expect_serving();
}

TEST_F(a_program, refuses_shared_memory_beyond_the_limit_static_or_dynamic) {
  const auto p = jit::compile(gpu_, {.source = "__global__ void k(float* out) { extern __shared__ float s[]; s[0] = 1; "
                                               "out[0] = s[0]; }\n"});
  auto out = gpu_.alloc<float>(1, {.zeroed = true});
  jit::launch l{.kernel = p.kernel("k"), .grid = 1, .block = 1, .shared_bytes = 232449, .arguments = {inout(out)}};
  EXPECT_TRUE(is_error(error_of(gpu_.ask(l)), reaction::caller_bug, {"jit.launch", "232449", "232448"}));
  EXPECT_TRUE(is_error(
      error_of(jit::compile(gpu_, {.source = "__global__ void k(float* out) { __shared__ float s[100000]; "
                                             "s[threadIdx.x] = 1; out[0] = s[0]; }\n"})
                   .ready()),
      reaction::caller_bug, {"has a kernel k with 400000 bytes of static shared memory; expected at most 232448"}));
  expect_serving();
}

TEST_F(a_program, delays_only_dependent_requests_by_an_endless_launch) {
  for (const bool by_signal : {false, true})
    for (const std::uint64_t inline_bytes : {0, 64 << 10}) {
      const device gpu = runtime_.open_device(
          with_test_engines({.inline_bytes = inline_bytes, .close_timeout = std::chrono::milliseconds(100)}));
      const auto p = jit::compile(gpu, {.source = kernel_that_writes("1")});
      auto out = gpu.alloc<float>(1, {.zeroed = true});
      jit::launch l{.kernel = p.kernel("k"), .grid = 1, .block = 1, .arguments = {inout(out)}};
      ASSERT_OK(gpu.ask(l).get());
      l.grid = {0x7fffffff, 65535, 65535};
      const call_options soon{.timeout = std::chrono::milliseconds(200)};
      auto endless = gpu.ask(l);
      EXPECT_TRUE(is_error(error_of(gpu.ask(l, soon)), reaction::retry_later, {"jit.launch"}));
      if (inline_bytes == 0) {
        EXPECT_OK(gpu.ping().get());
      }
      EXPECT_FALSE(endless.ready());
      if (by_signal) {
        kill_worker(gpu);
        EXPECT_TRUE(is_error(error_of(std::move(endless)), reaction::context_lost, {"jit.launch"}));
      } else {
        (void)gpu.close_now().get();
        EXPECT_TRUE(
            is_error(error_of(std::move(endless)), reaction::context_lost, {"jit.launch", "closed with close_now()"}));
      }
    }
}

TEST_F(a_program, is_refused_once_its_device_has_closed) {
  const auto p = jit::compile(gpu_, saxpy_recipe());
  EXPECT_OK(p.ready().get());
  EXPECT_OK(gpu_.close().get());
  EXPECT_TRUE(is_error(error_of(p.ready()), reaction::stopped, {"closed"}));
  EXPECT_TRUE(is_error(error_of(jit::compile(gpu_, saxpy_recipe()).ready()), reaction::stopped, {"closed"}));
  EXPECT_FALSE(p.image().get());
  EXPECT_FALSE(p.unload().get());
}

}  // namespace
}  // namespace troupe::whole::jit_tests
