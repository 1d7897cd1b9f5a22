// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests of jit beyond the contract: how sources are compiled, with this machine's compiler.
#include "jit_fixture.hpp"

namespace troupe::whole::jit_tests {
namespace {

TEST_F(a_program, is_compiled_in_the_background_and_usable_at_once) {
  const auto p = jit::compile(gpu_, saxpy_recipe());
  const auto x = uploaded(gpu_, counting(100)), y = uploaded(gpu_, counting(100));
  gpu_.tell(jit::launch{.kernel = p.kernel("saxpy"), .grid = 4, .block = 32, .arguments = {3.0f, x, inout(y), 100}});
  const auto got = gpu_.download(y).get();
  ASSERT_OK(got);
  for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ((*got)[i], 4.0f * static_cast<float>(i));
  EXPECT_OK(p.ready().get());
  EXPECT_OK(p.ready().get());  // may be called any number of times
}

TEST_F(a_program, has_typed_kernels) {
  const auto p = jit::compile(gpu_, saxpy_recipe());
  const auto saxpy = p.kernel<void(float, in<float>, inout<float>, int)>("saxpy");
  const auto x = gpu_.upload(counting(100)), y = gpu_.upload(counting(100));
  gpu_.tell(saxpy(kernel::blocks_for(100, 32), 32)(3.0f, x, y, 100));
  const auto got = gpu_.download(y).get();
  ASSERT_OK(got);
  for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ((*got)[i], 4.0f * static_cast<float>(i));
  const auto other = p.kernel<void(double, in<float>, inout<float>, int)>("saxpy");
  EXPECT_TRUE(is_error(error_of(gpu_.ask(other(1, 32)(3.0, x, y, 100))), reaction::caller_bug,
                       {"argument 0 is f64, but parameter 0 of saxpy is `float`"}));
}

TEST_F(a_program, may_take_longer_to_compile_than_its_device_lets_requests_run) {
  const device brief = runtime_.open_device(with_test_engines({.run_timeout = 100ms}));
  std::string source =
      "#include <cmath>\n#include <type_traits>\n__global__ void k(float* out) {\n  float x = out[0];\n";
  for (int i = 0; i < 300; ++i) source += "  x = sinf(x) * " + std::to_string(i) + ".0f + sqrtf(fabsf(x));\n";
  const auto p = jit::compile(brief, {.source = source + "  out[0] = x;\n}\n", .cache = jit::cache_use::none});
  const auto made = p.summary().get();
  ASSERT_OK(made);
  EXPECT_EQ(brief.statistics().faults, 0u);
}

TEST_F(a_program, takes_null_pointers_and_pointers_inside_structs) {
  struct shape {
    const float* from;
    float* to;
    int n;
  };
  const auto p = jit::compile(gpu_, {.source = R"(
struct shape { const float* from; float* to; int n; };
__global__ void copy(shape s, const float* bias, float* spare) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < s.n) s.to[i] = s.from[i] + (bias ? bias[i] : 0) + (spare ? 1000 : 0);
})"});
  const auto x = gpu_.upload(counting(10)), y = gpu_.alloc<float>(10, {.zeroed = true});
  const auto copy = [&](const buffer<float>& from, kernel::argument bias) {
    return jit::launch{.kernel = p.kernel("copy"),
                       .grid = 1,
                       .block = 32,
                       .arguments = {kernel::with_buffers(shape{kernel::device_pointer(in<float>(from)),
                                                                kernel::device_pointer(inout<float>(y)), 10},
                                                          in<float>(from), inout<float>(y)),
                                     bias, nullptr}};
  };
  gpu_.tell(copy(x, nullptr));
  EXPECT_EQ(gpu_.download(y).get().value()[7], 7);
  // The same as a typed kernel; its list of buffers is made at run time.
  using typed = jit::typed_kernel<void(kernel::with<shape>, std::optional<in<float>>, std::optional<inout<float>>)>;
  const typed k(p.kernel("copy"));
  std::vector<kernel::held_buffer> held{in<float>(x)};
  held.push_back(inout<float>(y));
  const shape s{kernel::device_pointer(in<float>(x)), kernel::device_pointer(inout<float>(y)), 10};
  gpu_.tell(k(1, 32)(kernel::with_buffers(s, held), x, nullptr));
  EXPECT_EQ(gpu_.download(y).get().value()[7], 14);
  gpu_.tell(copy(x, x));
  EXPECT_EQ(gpu_.download(y).get().value()[7], 14);
  // The launch runs after the request that writes the buffer, and fails if that fails.
  EXPECT_TRUE(
      is_error(error_of(gpu_.ask(copy(x.slice(0, 11), nullptr))), reaction::caller_bug, {"slice", "10 elements"}));
  EXPECT_FALSE(y.readable());
}

TEST_F(a_program, may_read_through_a_pointer_to_non_const_if_the_caller_passes_in) {
  const auto p = jit::compile(gpu_, {.source = "__global__ void k(float* out, float* x) { out[0] = x[3]; }\n"});
  const auto x = gpu_.upload(counting(10)), y = gpu_.alloc<float>(1);
  gpu_.tell(jit::launch{.kernel = p.kernel("k"), .grid = 1, .block = 1, .arguments = {out<float>(y), in<float>(x)}});
  EXPECT_EQ(gpu_.download(y).get().value()[0], 3);
}

TEST_F(a_program, has_the_kernels_and_templates_that_its_recipe_names) {
  const auto p = jit::compile(gpu_, {.source = "namespace a { template <class T, int N> __global__ void add(T* out) "
                                               "{ out[0] += T(N); } }\n__global__ void other(float*) {}\n",
                                     .kernels = {"a::add<float, 4>", "a::add<double, 5>"}});
  auto f = gpu_.alloc<float>(1, {.zeroed = true});
  auto d = gpu_.alloc<double>(1, {.zeroed = true});
  gpu_.tell(jit::launch{.kernel = p.kernel("a::add<float,4>"), .grid = 1, .block = 1, .arguments = {inout(f)}});
  gpu_.tell(jit::launch{.kernel = p.kernel("a::add<double, 5>"), .grid = 1, .block = 1, .arguments = {inout(d)}});
  EXPECT_EQ(gpu_.download(f).get().value()[0], 4);
  EXPECT_EQ(gpu_.download(d).get().value()[0], 5);
  EXPECT_EQ(p.summary().get().value().kernels, 2u);
  EXPECT_TRUE(is_error(
      error_of(gpu_.ask(jit::launch{.kernel = p.kernel("other"), .grid = 1, .block = 1, .arguments = {inout(f)}})),
      reaction::caller_bug, {"has no kernel \"other\"", "a::add<float, 4>", "a::add<double, 5>"}));
}

TEST_F(a_program, obeys_every_field_of_its_recipe) {
  EXPECT_EQ(value_of("N + LONG", {.definitions = {{"N", "4"}, {"LONG", "(1 + 2) * 3"}}}), 13);
  EXPECT_EQ(value_of("FLAG", {.definitions = {{"FLAG", "1"}}}), 1);
  EXPECT_EQ(value_of("one() + two()", {.source = "#include \"one.h\"\n#include <sub/two.h>\n",
                                       .headers = {{"one.h", "__device__ float one() { return 1; }"},
                                                   {"sub/two.h", "__device__ float two() { return 2; }"}}}),
            3);
  EXPECT_EQ(value_of("(float)(__cplusplus / 100)", {.standard = 17}), 2017);
  EXPECT_EQ(value_of("(float)(__cplusplus / 100)", {.standard = 20}), 2020);
  EXPECT_GT(value_of("(float)(__cplusplus / 100)", {.standard = 23}), 2020);
  const std::string optimised = "\n#ifdef __OPTIMIZE__\n1\n#else\n0\n#endif\n";
  EXPECT_EQ(value_of(optimised, {.optimisation = 0}), 0);
  EXPECT_EQ(value_of(optimised, {.optimisation = 2}), 1);
  EXPECT_EQ(value_of("GIVEN", {.options = {"-DGIVEN=6"}}), 6);
}

TEST_F(a_program, resolves_include_paths_from_the_applications_folder) {
  const fs::path before = fs::current_path(),
                 room = fs::temp_directory_path() / ("troupe-include-" + std::to_string(::getpid()));
  fs::create_directories(room / "one");
  fs::create_directories(room / "two");
  std::ofstream(room / "two" / "value.h") << "#define VALUE 2\n";
  fs::current_path(room);
  const jit::recipe r{.source = "#include <value.h>\n", .include_paths = {"one/", (room / "two").string() + "/"}};
  EXPECT_EQ(value_of("VALUE", r), 2);
  EXPECT_EQ(value_of("VALUE", r), 2);
  std::ofstream(room / "one" / "value.h") << "#define VALUE 1\n";  // this is now the first match
  EXPECT_EQ(value_of("VALUE", r), 1);
  std::ofstream(room / "one" / "value.h") << "#define VALUE 10\n";
  EXPECT_EQ(value_of("VALUE", r), 10);
  fs::current_path(before);
  fs::remove_all(room);
}

TEST_F(a_program, flushes_subnormals_and_fuses_products_by_its_recipe) {
  // 2^-140 is subnormal; halving it gives 2^-141, or 0.
  const std::string source =
      "__global__ void k(float* out) { out[0] = out[1] * 0.5f; out[2] = out[3] * out[3] - out[4]; }\n";
  const auto run = [&](jit::recipe r) {
    r.source = source;
    const float a = 1 + std::ldexp(1.0f, -12);
    auto out = uploaded<float>(gpu_, {0, std::ldexp(1.0f, -140), 0, a, a * a});
    const auto p = jit::compile(gpu_, r);
    gpu_.tell(jit::launch{.kernel = p.kernel("k"), .grid = 1, .block = 1, .arguments = {inout(out)}});
    return gpu_.download(out).get().value();
  };
  EXPECT_EQ(run({})[0], std::ldexp(1.0f, -141));
  EXPECT_EQ(run({.flush_to_zero = true})[0], 0);
  EXPECT_EQ(run({.fast_math = true})[0], 0);
  EXPECT_EQ(run({.fuse_multiply_add = false})[2], 0);
  if (__builtin_cpu_supports("fma")) {
    EXPECT_EQ(run({})[2], std::ldexp(1.0f, -24));
  }
}

TEST_F(a_program, takes_as_many_and_as_large_arguments_as_cuda) {
  std::string parameters = "float* out", sum = "big.v[999]";
  std::vector<kernel::argument> list;
  auto out = gpu_.alloc<float>(1);
  list.emplace_back(troupe::out(out));
  for (int i = 0; i < 100; ++i) {
    parameters += ", float a" + std::to_string(i);
    sum += " + a" + std::to_string(i);
    list.emplace_back(static_cast<float>(i));
  }
  struct big {
    float v[1000];
  };
  list.emplace_back(big{{}});
  const auto run = [&](const jit::launch& l) { return gpu_.tell(l) ? gpu_.download(out).get() : gpu_.tell(l).error(); };
  const auto p = jit::compile(gpu_, {.source = "struct big { float v[1000]; };\n__global__ void k(" + parameters +
                                               ", big big) { out[0] = " + sum + "; }\n"});
  const auto got = run({.kernel = p.kernel("k"), .grid = 1, .block = 1, .arguments = kernel::arguments(list)});
  ASSERT_OK(got);
  EXPECT_EQ((*got)[0], 4950);
  while (list.size() < 110) list.emplace_back(big{{}});
  const auto refused = run({.kernel = p.kernel("k"), .grid = 1, .block = 1, .arguments = kernel::arguments(list)});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().text(),
            "jit.launch: arguments have 36408 bytes; expected at most 32764; pass the rest in a buffer");
}

TEST_F(a_program, locates_compile_errors_in_the_users_own_files) {
  const auto p = jit::compile(
      gpu_,
      {.source = "#include \"inner.h\"\n\n__global__ void k(float* out) {\n  out[0] = missing + 1./2;\n  f();\n}\n",
       .name = "folder/broken.cu",
       .headers = {{"inner.h", "inline int f() { return nowhere; }\n"}}});
  const error e = error_of(p.ready());
  EXPECT_TRUE(is_error(e, reaction::caller_bug,
                       {"jit.compile", "folder/broken.cu does not compile", "'nowhere'", "'missing'",
                        "folder/broken.cu:4:12: error:", "inner.h:1:"}));
  for (const char* ours : {"/tmp/", "troupe-", "libexec", ".ii"})
    EXPECT_EQ(e.text().find(ours), std::string::npos) << ours << " in " << e.text();
  const auto log = p.log().get();
  ASSERT_OK(log);
  EXPECT_NE(log->find("out[0] = missing + 1./2;"), std::string::npos) << *log;
  EXPECT_NE(log->find("In file included from folder/broken.cu:1"), std::string::npos) << *log;
  // All uses of the program fail with that error.
  auto out = gpu_.alloc<float>(1, {.zeroed = true});
  EXPECT_TRUE(is_error(
      error_of(gpu_.ask(jit::launch{.kernel = p.kernel("k"), .grid = 1, .block = 1, .arguments = {inout(out)}})),
      reaction::caller_bug, {"folder/broken.cu does not compile", "reached through jit.launch"}));
  EXPECT_TRUE(is_error(error_of(gpu_.download(out)), reaction::caller_bug, {"does not compile"}));
  EXPECT_TRUE(is_error(error_of(p.image()), reaction::caller_bug, {"does not compile", "'missing'"}));
  EXPECT_TRUE(is_error(error_of(p.attributes("k")), reaction::caller_bug, {"does not compile"}));
  EXPECT_OK(p.unload().get());
  expect_serving();
}

TEST_F(a_program, does_not_compile_without_the_kernels_and_globals_of_its_recipe) {
  EXPECT_TRUE(is_error(error_of(jit::compile(gpu_, {.source = kernel_that_writes("1"), .kernels = {"kk"}}).ready()),
                       reaction::caller_bug, {"does not compile", "kk"}));
  EXPECT_TRUE(is_error(error_of(jit::compile(gpu_, {.source = kernel_that_writes("1"), .globals = {"table"}}).ready()),
                       reaction::caller_bug, {"does not compile", "table"}));
  expect_serving();
}

TEST_F(a_program, is_compiled_again_when_a_new_file_changes_an_include) {
  const fs::path room = fs::temp_directory_path() / ("troupe-found-" + std::to_string(::getpid()));
  fs::create_directories(room / "sub");
  const auto write = [&](const char* name, const char* text) {
    std::ofstream(room / name) << text;
    fs::last_write_time(room / name, fs::file_time_type::clock::now() - std::chrono::hours(1));
  };
  write("sub/a.h", "#include \"x.h\"\n");
  write("x.h", "#define VALUE 1\n");
  for (const char* folder : {"", "sub"})
    fs::last_write_time(room / folder, fs::file_time_type::clock::now() - std::chrono::hours(1));
  const jit::recipe asks{.source = "#if __has_include(<sub/y.h>)\n#define HAS 1\n#else\n#define HAS 0\n#endif\n",
                         .include_paths = {room.string()}},
      shadowed{.source = "#include <sub/a.h>\n", .include_paths = {room.string()}};
  EXPECT_EQ(value_of("HAS", asks), 0);
  EXPECT_EQ(value_of("VALUE", shadowed), 1);
  write("sub/y.h", "");
  write("sub/x.h", "#define VALUE 2\n");
  EXPECT_EQ(value_of("HAS", asks), 1);
  EXPECT_EQ(value_of("VALUE", shadowed), 2);
  fs::remove(room / "sub/y.h");
  EXPECT_EQ(value_of("HAS", asks), 0);
  fs::remove_all(room);
}

TEST_F(a_program, is_stopped_if_it_never_finishes_compiling) {
  const auto p = jit::compile(
      gpu_,
      {.source =
           "constexpr unsigned long count() { unsigned long n = 0; for (unsigned i = 0; i < 2000000000u; ++i) n += i; "
           "return n; }\nconstexpr unsigned long counted = count();\n" +
           kernel_that_writes("(float)counted"),
       .options = {"-fconstexpr-loop-limit=2147483647", "-fconstexpr-ops-limit=9223372036854775807"},
       .timeout = std::chrono::milliseconds(1500)});
  auto end = p.ready();
  EXPECT_EQ(gpu_.ping(5).get().value(), 5u);
  EXPECT_FALSE(end.ready());
  const error e = error_of(std::move(end));
  EXPECT_TRUE(
      is_error(e, reaction::caller_bug,
               {"program.cu: the compiler had not ended after 1500 ms and was killed; raise the recipe's timeout"}));
  expect_serving();
}

TEST_F(a_program, stops_compiling_when_it_is_cancelled) {
  const std::string endless =
      "constexpr unsigned long count() { unsigned long n = 0; for (unsigned i = 0; i < 2000000000u; ++i) n += i; "
      "return n; }\nconstexpr unsigned long counted = count();\n" +
      kernel_that_writes("(float)counted") + "// " + unique();
  const jit::recipe r{.source = endless,
                      .options = {"-fconstexpr-loop-limit=2147483647", "-fconstexpr-ops-limit=9223372036854775807"}};
  const auto p = jit::compile(gpu_, r), equal = jit::compile(gpu_, r);
  auto end = p.ready();
  p.cancel();
  const error e = error_of(std::move(end));
  EXPECT_TRUE(is_error(e, reaction::retry_later, {"program.cu: compiling was cancelled"}));
  auto other = equal.ready();
  EXPECT_FALSE(other.ready()) << "the other caller, which has not cancelled, still waits";
  equal.cancel();
  EXPECT_TRUE(is_error(error_of(std::move(other)), reaction::retry_later, {"program.cu: compiling was cancelled"}));
  expect_serving();
}

TEST_F(a_program, is_not_affected_by_cancelling_after_its_compile) {
  const auto p = jit::compile(gpu_, {.source = kernel_that_writes("5")});
  EXPECT_OK(p.ready().get());
  p.cancel();
  EXPECT_EQ(output_of(p)[0], 5);
}

TEST_F(a_program, is_stopped_if_it_includes_an_endless_file) {
  const fs::path pipe = fs::temp_directory_path() / ("troupe-pipe-" + std::to_string(::getpid()));
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const auto text = [&](const std::string& path) {
    return text_of(jit::compile(gpu_, {.source = "#include \"" + path + "\"\n" + kernel_that_writes("1"),
                                       .timeout = std::chrono::seconds(1)})
                       .ready());
  };
  EXPECT_NE(text(pipe.string()).find("the compiler had not ended after 1 s and was killed"), std::string::npos);
  (void)text("/dev/zero");  // g++ runs out of time or memory; clang treats the file as empty
  expect_serving();
  fs::remove(pipe);
}

TEST_F(a_program, is_refused_if_it_grows_too_large_in_preprocessing) {
  std::string source = "#define M0 x += 1;\n";
  for (int i = 1; i <= 6; ++i) {
    source += "#define M" + std::to_string(i);
    for (int k = 0; k < 12; ++k) source += " M" + std::to_string(i - 1);
    source += "\n";
  }
  const auto p = jit::compile(gpu_, {.source = source + "__global__ void k(int* out) { int x = 0; M6 out[0] = x; }\n"});
  EXPECT_TRUE(is_error(error_of(p.ready()), reaction::caller_bug,
                       {"jit.compile", "program.cu is more than 16777216 bytes after preprocessing"}));
  EXPECT_EQ(p.log().get().value(), "");
  expect_serving();
}

TEST_F(a_program, keeps_warnings_and_the_requested_length_of_the_log) {
  const auto p = jit::compile(gpu_, {.source = "#warning mind the step\n" + kernel_that_writes("1"), .name = "w.cu"});
  const auto log = p.log().get();
  ASSERT_OK(log);
  EXPECT_NE(log->find("w.cu:1:2: warning:"), std::string::npos) << *log;
  EXPECT_NE(log->find("mind the step"), std::string::npos) << *log;
  std::string many;
  for (int i = 0; i < 50; ++i) many += "#warning number " + std::to_string(i) + "\n";
  const auto cut = jit::compile(gpu_, {.source = many + kernel_that_writes("1"), .log_bytes = 500}).log().get();
  ASSERT_OK(cut);
  EXPECT_EQ(cut->size(), 500u);
  EXPECT_NE(cut->find("raise log_bytes to see more"), std::string::npos) << *cut;
}

TEST_F(a_program, is_refused_naming_the_field_if_a_field_is_invalid_or_unsupported) {
  const auto text = [&](jit::recipe r) {
    if (r.source.empty()) r.source = "__global__ void k() {}";
    const auto p = jit::compile(gpu_, r);
    const std::string all = text_of(p.ready());
    auto launched = gpu_.ask(jit::launch{.kernel = p.kernel("k"), .grid = 1, .block = 1});
    EXPECT_EQ(text_of(std::move(launched)), all);
    return all;
  };
  EXPECT_EQ(text({.source = std::string("\0", 1)}), "jit.compile: source holds a zero byte; expected text");
  EXPECT_EQ(text({.name = "../up.cu"}),
            "jit.compile: name is \"../up.cu\"; expected a relative file name without .., such as saxpy.cu");
  EXPECT_EQ(
      text({.kernels = {"k", ""}}),
      "jit.compile: kernels[1] is \"\"; expected a name as spelled in C++, such as scale or ns::reduce<float, 256>");
  EXPECT_EQ(text({.headers = {{"/etc/passwd", ""}}}),
            "jit.compile: headers has \"/etc/passwd\"; expected a relative file name without .., as #include names it, "
            "other than the source's name");
  EXPECT_EQ(text({.include_paths = {""}}), "jit.compile: include_paths[0] is \"\"; expected a folder");
  EXPECT_EQ(text({.definitions = {{"1", "2"}}}),
            "jit.compile: definitions has \"1\" = \"2\"; expected the name of a macro, and a value on one line");
  EXPECT_EQ(text({.standard = 14}), "jit.compile: standard is 14; expected 17, 20 or 23");
  EXPECT_EQ(text({.optimisation = 4}), "jit.compile: optimisation is 4; expected 0 to 3");
  EXPECT_EQ(text({.max_registers = 300}),
            "jit.compile: max_registers is 300; expected 1 to 255, or 0 to let the compiler decide");
  EXPECT_EQ(
      text({.max_registers = 32}),
      "jit.compile: max_registers is 32; the host engine compiles for a processor, whose registers are not shared: "
      "leave it 0");
  EXPECT_EQ(text({.architecture = "sm_90a"}),
            "jit.compile: architecture is \"sm_90a\"; the host engine compiles for the processor it runs on: leave it "
            "empty");
  EXPECT_EQ(
      text({.units = {{.name = "b.cu", .source = "__device__ int b;"}}}),
      "jit.compile: units has \"b.cu\"; the host engine builds a program from one source: #include the others, as "
      "recipe::headers, or link on a GPU");
  EXPECT_EQ(text({.relocatable = true}),
            "jit.compile: relocatable is true; the host engine links nothing: leave it false, or compile on a GPU");
  EXPECT_EQ(text({.precompiled_headers = true}),
            "jit.compile: precompiled_headers is true; the host engine translates each source with its headers as a "
            "whole: leave it false");
  EXPECT_EQ(text({.options = {"-o/etc/passwd"}}),
            "jit.compile: options[0] is \"-o/etc/passwd\"; expected one of those that docs/jit.md lists, in one piece: "
            "-O, -g, -m, -W, -D, -U, -std=, --param=, -pthread, -f of the language and the optimiser, -I, -L, -l, "
            "-fsanitize=, some of -Wl, and NVRTC's; others may write files, or load code into the compiler");
  EXPECT_EQ(text({.compiler = "g++"}), "jit.compile: compiler is \"g++\"; expected an absolute path, or nothing");
  EXPECT_NE(
      text({.compiler = "/no/g++"}).find("compiler is \"/no/g++\", which is not an executable program; install one"),
      std::string::npos);
  EXPECT_EQ(text({.timeout = time_span::of_seconds(0)}), "jit.compile: timeout is 0 ns; expected more than 0");
  EXPECT_EQ(text({.log_bytes = 10}), "jit.compile: log_bytes is 10; expected 256 to 16777216");
  EXPECT_EQ(text_of(jit::compile(gpu_, {.name = "a"}).ready()), "jit.compile: source is empty; expected CUDA C++");
  expect_serving();
}

}  // namespace
}  // namespace troupe::whole::jit_tests
