// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// What belongs to a single thread in CUDA, and what a barrier must preserve. Each kernel has a form for which an
// earlier translator mixed up threads; its expected output is worked out by hand, and required both as the translator
// chooses and as fibers.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <functional>

#include "compiled.hpp"

namespace troupe::cuda_on_host::testing {

namespace {

constexpr int threads = 64;

// One kernel, `extern "C" __global__ void k(int* y, int n)`, of one block, and the value that each thread leaves in
// y.
struct shape {
  const char* name;
  std::string source;
  std::function<int(int)> want;
  int n = threads;
  const char* kernel = "k";
  int before = 0;  // the initial content of y
};

void expect(const std::vector<shape>& shapes) {
  for (const shape& s : shapes)
    for (const bool only_fibers : {false, true}) {
      const compiled c = compile_text(s.source, {.kernels = {s.kernel}, .only_fibers = only_fibers});
      ASSERT_FALSE(c.bytes.empty()) << s.name << ": " << c.messages;
      const std::string how = c.how(c.text.kernels.at(0).name);
      if (!only_fibers && how.starts_with("fibers")) continue;  // which runs next
      const loaded_image image = load(c);
      std::vector<int> y(threads, s.before);
      run(image, s.kernel, {1}, {threads}, 0, y.data(), s.n);
      for (int t = 0; t < threads; ++t)
        ASSERT_EQ(y[static_cast<std::size_t>(t)], s.want(t))
            << s.name << ", thread " << t << ", as " << to_string(image.find_kernel(s.kernel)->attributes.how) << "\n"
            << s.source;
    }
}

// Returns the exit status of a child that runs `act`.
int status_of_child(const std::function<int()>& act) {
  const pid_t child = ::fork();
  if (child == 0) {
    for (const int signal : {SIGSEGV, SIGBUS}) std::signal(signal, SIG_DFL);
    const rlimit no_core{};
    ::setrlimit(RLIMIT_CORE, &no_core);
    ::_exit(act());
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return status;
}

std::string kernel(const std::string& body, const std::string& before = "") {
  return before + "\nextern \"C\" __global__ void k(int* y, int n) {\n  int t = threadIdx.x;\n" + body + "\n}\n";
}

}  // namespace

TEST(semantics, parameters_that_a_thread_changes_are_its_own) {
  const auto with = [&](const std::string& before, const std::string& type, const std::string& body) {
    return before + "extern \"C\" __global__ void k(int* y, " + type + " a) {\n  int t = threadIdx.x;\n" + body +
           "\n}\n";
  };
  const auto plus = [](int by) { return [by](int t) { return t + by; }; };
  const std::string wrapped = "struct wrapped { int v[1]; };\n",
                    functor = "struct functor { int n; __device__ int operator()(int t) { return n += t; } };\n",
                    hidden =
                        "struct hidden { mutable int n; __device__ int operator()(int t) const { return n += t; } };\n",
                    whole = "struct whole { int n; __device__ operator int() { return n++; } };\n";
  for (const std::string barrier : {"", "__syncthreads();", "__syncwarp();"})
    expect({
        {"an array of a struct", with(wrapped, "wrapped", "a.v[0] += t; " + barrier + " y[t] = a.v[0];"), plus(10), 10},
        {"a pointer into a struct", with(wrapped, "wrapped", "int* p = a.v; *p += t; " + barrier + " y[t] = a.v[0];"),
         plus(10), 10},
        {"a struct that is called", with(functor, "functor", "int r = a(t); " + barrier + " y[t] = r;"), plus(10), 10},
        {"a constant struct with something mutable",
         with(hidden, "const hidden", "int r = a(t); " + barrier + " y[t] = r;"), plus(10), 10},
        {"a struct that is converted", with(whole, "whole", "int r = a; r = a; " + barrier + " y[t] = r;"),
         [](int) { return 11; }, 10},
        {"a number behind a reference", with("", "int", "int& r = a; r += t; " + barrier + " y[t] = a;"), plus(10), 10},
        {"a number by its address", with("", "int", "*(int*)&a += t; " + barrier + " y[t] = a;"), plus(10), 10},
        {"one of two numbers", with("", "int", "int b = 1; (t >= 0 ? a : b) = t; " + barrier + " y[t] = a * 10 + b;"),
         [](int t) { return t * 10 + 1; }, 10},
        {"a number in a lambda", with("", "int", "auto f = [&] { a += t; }; f(); " + barrier + " y[t] = a;"), plus(10),
         10},
        {"a number behind a function's reference",
         with("template <class T> __device__ void grow(T& r, int t) { r += t; }\n", "int",
              "grow(a, t); " + barrier + " y[t] = a;"),
         plus(10), 10},
        {"a number behind an alias of a reference",
         with("using reference = int&; __device__ void grow(reference r, int t) { r += t; }\n", "int",
              "grow(a, t); " + barrier + " y[t] = a;"),
         plus(10), 10},
        {"a number behind an operator",
         with("struct adder { int t; }; __device__ adder operator>>(adder s, int& r) { r += s.t; return s; }\n", "int",
              "adder s = {t}; s >> a; " + barrier + " y[t] = a;"),
         plus(10), 10},
        {"a number in braces",
         with("struct holder { int& r; };\n", "int", "holder h{a}; h.r += t; " + barrier + " y[t] = a;"), plus(10), 10},
        {"a number in brackets", with("", "int", "int (&r) = a; r += t; " + barrier + " y[t] = a;"), plus(10), 10},
    });
}

TEST(semantics, parameter_packs_that_a_thread_changes_are_its_own) {
  for (const std::string barrier : {"", "__syncthreads();", "__syncwarp();"})
    expect({{"a pack",
             "template <class... Ts> __global__ void spread(int* y, Ts... a) {\n  ((a += (Ts)threadIdx.x), ...);" +
                 barrier + "\n  int sum = (a + ...); if (sum < 0) return;\n  y[threadIdx.x] = sum;\n}\n",
             [](int t) { return 10 + t; }, 10, "spread<int>"}});
}

TEST(semantics, loads_and_writes_through_casts_happen_before_the_barrier) {
  const auto reversed = [](int t) { return threads - 1 - t; };
  expect({
      {"a cast of what is loaded",
       kernel("y[t] = t; __syncthreads(); int mine = (int)*(y + t); __syncthreads(); y[n - 1 - t] = mine;"), reversed},
      {"a cast in the middle",
       kernel("y[t] = t; __syncthreads(); int mine = 0 + (int)*(y + t); __syncthreads(); y[n - 1 - t] = mine;"),
       reversed},
      {"the address of a variable behind a cast",
       kernel("int v = 0; int w = *(volatile int*)&v; *(int*)&v = t; __syncthreads(); y[t] = v + w;"),
       [](int t) { return t; }},
      {"one of two variables", kernel("int a = 1, b = 2; (t & 1 ? a : b) = t; __syncthreads(); y[t] = a * 1000 + b;"),
       [](int t) { return t & 1 ? t * 1000 + 2 : 1000 + t; }},
      {"the last of two variables", kernel("int a = 1, b = 2; (a, b) = t; __syncthreads(); y[t] = a * 1000 + b;"),
       [](int t) { return 1000 + t; }},
      {"an assignment that is assigned to", kernel("int a = 1; (a = 2) += t; __syncthreads(); y[t] = a;"),
       [](int t) { return 2 + t; }},
      {"a variable counted up that is assigned to", kernel("int a = 1; ++a += t; __syncthreads(); y[t] = a;"),
       [](int t) { return 2 + t; }},
      {"a cast to a reference", kernel("int a = 1; (int&)a = t; __syncthreads(); y[t] = a;"), [](int t) { return t; }},
  });
}

TEST(semantics, threads_have_their_own_arrays_and_add_one_after_another) {
  expect({
      {"an array with an index of run time",
       kernel("int r[2]; int j = y[t] & 1; r[j] = t; r[1 - j] = 1000; y[t] = r[0] * 10000 + r[1];"),
       [](int t) { return t * 10000 + 1000; }},
      {"a struct with an array",
       kernel("both r; int j = y[t] & 1; r.v[j] = t; r.v[1 - j] = 1000; y[t] = r.v[0] * 10000 + r.v[1];",
              "struct both { int v[2]; };"),
       [](int t) { return t * 10000 + 1000; }},
      {"an array in a function", kernel("y[t] = f(y[t] & 1, t);", R"(
__device__ int f(int j, int t) { int r[2]; r[j] = t; r[1 - j] = 1000; return r[0] * 10000 + r[1]; })"),
       [](int t) { return t * 10000 + 1000; }},
      {"an addition in the block", kernel("int old = atomicAdd_block(&y[t & 1], 3); if (t > 1) y[t] = old;"),
       [](int t) { return t > 1 ? t / 2 * 3 : threads / 2 * 3; }},
      {"an exchange in the block", kernel("int old = atomicExch_block(&y[0], t + 1); if (t > 0) y[t] = old;"),
       [](int t) { return t > 0 ? t : threads; }},
      {"a maximum in the block", kernel("atomicMax_block(&y[t & 3], t);"),
       [](int t) { return t < 4 ? threads - 4 + t : 0; }},
  });
}

TEST(semantics, pointers_to_a_threads_variables_stay_valid_across_barriers) {
  expect({
      {"two buffers that change places", kernel(R"(
  int a[4], b[4], *cur = a, *next = b;
  for (int i = 0; i < 4; ++i) cur[i] = t + i;
  for (int step = 0; step < 3; ++step) {
    for (int i = 0; i < 4; ++i) next[i] = cur[i] * 2;
    __syncthreads();
    int* other = cur; cur = next; next = other;
  }
  y[t] = cur[0] + cur[3];)"),
       [](int t) { return 8 * (2 * t + 3); }},
      {"the address of a number", kernel("int a = 1; int* p = &a; __syncthreads(); *p = t; y[t] = a;"),
       [](int t) { return t; }},
      {"the address of a number that is not used any more",
       kernel("int a = t; int* p = &a; __syncthreads(); int b = 7; y[t] = *p + b;"), [](int t) { return t + 7; }},
      {"the address in braces",
       kernel("int a = t; holder h = {&a}; __syncthreads(); *h.p += 1; y[t] = a;", "struct holder { int* p; };"),
       [](int t) { return t + 1; }},
      {"the address in an array", kernel("int a = t; int* p[1] = {&a}; __syncthreads(); *p[0] += 1; y[t] = a;"),
       [](int t) { return t + 1; }},
      {"a reference in braces",
       kernel("int a = t; holder h{a}; __syncthreads(); h.r += 1; y[t] = a;", "struct holder { int& r; };"),
       [](int t) { return t + 1; }},
      {"an address that a function gives back",
       kernel("int a = t; int* p = address(a); __syncthreads(); *p += 1; y[t] = a;",
              "__device__ int* address(int& r) { return &r; }"),
       [](int t) { return t + 1; }},
      {"an address that a member function gives back",
       kernel("holder h = {t}; int* p = h.address(); __syncthreads(); *p += 1; y[t] = h.v;",
              "struct holder { int v; __device__ int* address() { return &v; } };"),
       [](int t) { return t + 1; }},
      {"an array that is a member",
       kernel("holder h; h.v[0] = t; int* p = h.v; __syncthreads(); *p += 1; y[t] = h.v[0];",
              "struct holder { int v[2]; };"),
       [](int t) { return t + 1; }},
      {"a row of an array",
       kernel("int a[2][2]; a[1][0] = t; int* p = a[1]; __syncthreads(); p[0] += 1; y[t] = a[1][0];"),
       [](int t) { return t + 1; }},
      {"what a lambda refers to", kernel("int a = t; auto f = [&] { a += 1; }; f(); __syncthreads(); y[t] = a;"),
       [](int t) { return t + 1; }},
      {"what ends with its scope",
       kernel("__shared__ int s[64]; s[t] = 0; { at_end e{s + t}; __syncthreads(); y[t] = s[n - 1 - t]; "
              "__syncthreads(); } __syncthreads(); y[t] += 10 * s[n - 1 - t];",
              "struct at_end { int* p; __device__ ~at_end() { *p = 1; } };"),
       [](int) { return 10; }},
  });
}

TEST(semantics, a_name_refers_to_the_innermost_scope) {
  expect({
      {"a template's parameter of the same name as a shared variable",
       kernel(R"(
  __shared__ int size;
  if (t == 0) size = y[0] + 1;
  __syncthreads();
  int mine = size;
  __syncthreads();
  if (t == 0) size = 100;
  __syncthreads();
  y[t] = mine;)",
              "template <int size> struct other { int v[size]; };"),
       [](int) { return 1; }},
      {"a constant of another scope of the same name as a device variable",
       kernel(R"(
  int mine = size;
  __syncthreads();
  if (t == 0) size = 100;
  __syncthreads();
  y[t] = mine;)",
              "namespace other { constexpr int size = 5; } __device__ int size = 3;"),
       [](int) { return 3; }},
      {"a constant expression with a pointer",
       kernel(R"(
  y[t] = t;
  __syncthreads();
  int mine = first(y + t);
  __syncthreads();
  y[n - 1 - t] = mine;)",
              "constexpr __device__ int first(const int* p) { return *p; }"),
       [](int t) { return threads - 1 - t; }},
      {"a constant expression that looks around",
       kernel(R"(
  int mine = look(n);
  __syncthreads();
  if (t == 0) around = 9;
  __syncthreads();
  y[t] = mine;)",
              "__device__ int around = 4; constexpr __device__ int look(int n) { return n < 0 ? n : around; }"),
       [](int) { return 4; }},
      {"an inner variable of the same name",
       kernel("int k = 3; { y[t] = k; int k = 5; __syncthreads(); y[t] += 10 * k; } __syncthreads(); y[t] += 100 * k;"),
       [](int) { return 353; }},
  });
}

TEST(semantics, no_code_runs_for_a_block_whose_threads_have_all_returned) {
  const auto untouched = [](int) { return 77; };
  expect({
      {"a division that no thread comes to",
       kernel("if (n == 0) return; int chunk = 256 / n; __syncthreads(); y[t] = chunk;"), untouched, 0, "k", 77},
      {"a division in a condition that no thread comes to",
       kernel("if (n == 0) return; __syncthreads(); if (256 / n > 1) { y[t] = 1; __syncthreads(); } y[t] = 2;"),
       untouched, 0, "k", 77},
      {"a division in a loop that no thread comes to",
       kernel(
           "for (int i = 0; i < 3; ++i) { if (n == 0) return; int chunk = 256 % n; __syncthreads(); y[t] = chunk; }"),
       untouched, 0, "k", 77},
      {"a shift of a number by what it is divided by",
       kernel("if (n == 0) return; int k = 256; k /= n; __syncthreads(); y[t] = k;"), untouched, 0, "k", 77},
      {"the same with threads left", kernel("if (n == 0) return; int chunk = 256 / n; __syncthreads(); y[t] = chunk;"),
       [](int) { return 4; }},
  });
}

TEST(semantics, a_local_struct_and_an_attribute_keep_their_returns) {
  expect({
      {"a struct with a return of its own", kernel(R"(
  struct setter { int v; __device__ void set(int x) { if (x < 0) return; v = x; } };
  if (t > 1000) return;
  setter s;
  s.set(t);
  __syncthreads();
  y[t] = s.v;)"),
       [](int t) { return t; }},
      {"a return behind an attribute", kernel("[[unlikely]] if (t < 3) { return; } __syncthreads(); y[t] = 1;"),
       [](int t) { return t < 3 ? 0 : 1; }},
  });
}

TEST(semantics, ordinary_kernels_with_barriers_are_split) {
  const auto how = [](const std::string& file, const std::string& kernel) {
    const loaded_image image = load(compile_file(file, {.kernels = {kernel}}));
    return image.find_kernel(kernel)->attributes.how;
  };
  for (const auto& [file, kernel] :
       std::vector<std::pair<std::string, std::string>>{{"convolution.cu", "convolve"},
                                                        {"histogram.cu", "histogram"},
                                                        {"matmul.cu", "matmul<16>"},
                                                        {"particles.cu", "attract<64>"},
                                                        {"reduce.cu", "reduce_tree<float, 64>"},
                                                        {"scan.cu", "scan_blocks"},
                                                        {"softmax.cu", "softmax<64>"},
                                                        {"sort.cu", "sort_blocks"},
                                                        {"stencil.cu", "heat::step"},
                                                        {"transpose.cu", "transpose<float>"}})
    EXPECT_EQ(how(file, kernel), execution::split) << kernel;
}

TEST(semantics, types_decide_whether_a_template_is_split) {
  const std::string source = R"(
struct pair { float a, b; };
struct counted { float a; __device__ counted() : a(0) {} __device__ ~counted() {} };
struct several { float v[2]; };
template <class T> __global__ void k(T* y) {
  T mine = y[threadIdx.x];
  __syncthreads();
  y[(threadIdx.x + 1) % 32] = mine;
}
template <class T> __global__ void member(T* y) {
  T mine = y[threadIdx.x];
  __syncthreads();
  y[(threadIdx.x + 1) % 32].v = mine.v;
}
struct one { float v; };
struct inner { one v; };
)";
  const std::vector<std::pair<std::string, execution>> wanted{
      {"k<float>", execution::split},    {"k<float4>", execution::split},    {"k<float*>", execution::split},
      {"k<pair>", execution::split},     {"k<several>", execution::split},   {"k<counted>", execution::fibers},
      {"member<one>", execution::split}, {"member<inner>", execution::split}};
  std::vector<std::string> kernels;
  for (const auto& [kernel, how] : wanted) kernels.push_back(kernel);
  const loaded_image image = load_text(source, {.kernels = kernels});
  for (const auto& [kernel, how] : wanted) EXPECT_EQ(image.find_kernel(kernel)->attributes.how, how) << kernel;
}

TEST(semantics, a_frame_that_is_larger_than_a_fibers_stack_faults) {
  const loaded_image image = load_text(R"(
extern "C" __global__ void k(int* y, int n) {
  char frame[400000];
  frame[n] = threadIdx.x;
  __syncwarp();
  frame[n + 1] = threadIdx.x;
  __syncwarp();
  y[threadIdx.x] = frame[n] + frame[y[0]];
}
)");
  const int status = status_of_child([&] {
    int y[32] = {};
    run(image, "k", {1}, {32}, 0, &y[0], 3);
    return 0;
  });
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV) << status;
}

TEST(semantics, blocks_run_on_as_many_threads_as_the_system_can_create) {
  const loaded_image image = load_text(R"(
extern "C" __global__ void k(unsigned* y, unsigned n) {
  unsigned v = blockIdx.x;
  for (unsigned i = 0; i < n; ++i) v = v * 1664525u + 1013904223u;
  if (threadIdx.x == 0) y[blockIdx.x] = v | 1;
}
)");
  std::vector<unsigned> y(2000);
  const int status = status_of_child([&] {
    // There is no space for the stack of another thread.
    long pages = 0;
    std::FILE* f = std::fopen("/proc/self/statm", "r");
    if (!f || std::fscanf(f, "%ld", &pages) != 1) return 2;
    std::fclose(f);
    const rlim_t room = static_cast<rlim_t>(pages) * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) + (rlim_t{3} << 20);
    const rlimit limit{room, room};
    if (::setrlimit(RLIMIT_AS, &limit) != 0) return 3;
    launcher four(4);
    arguments<unsigned*, unsigned> a(y.data(), 10'000u);
    if (!four.launch(*image.find_kernel("k"), {2000}, {32}, 0, a.addresses)) return 4;
    return std::count(y.begin(), y.end(), 0u) == 0 ? 0 : 5;
  });
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST(semantics, a_kernel_that_takes_a_struct_of_pointers_is_split) {
  const auto text = [](const std::string& members) {
    return "struct job { const int* in; " + members + R"( float* at; int n; };
extern "C" __global__ void k(job j, int* copy) {
  __shared__ int part[32];
  const int t = threadIdx.x;
  part[t] = t < j.n ? j.in[t] : 0;
  __syncthreads();
  if (t < j.n) atomicAdd(&j.histogram[part[31 - t] & 3], 1);
  j.at[t] = 2.0f * part[t];
  ++j.at[t];
  __syncthreads();
  copy[t] = part[t] + j.histogram[0] * 0 + static_cast<int>(j.at[31 - t]);
  if (t < 4) copy[32 + t] = j.histogram[t];
})";
  };
  std::vector<int> in(32), want(36);
  for (std::size_t i = 0; i < 32; ++i) in[i] = static_cast<int>(i * 7 % 13);
  for (std::size_t i = 0; i < 32; ++i) want[i] = in[i] + 2 * in[31 - i] + 1;
  for (std::size_t i = 0; i < 32; ++i) ++want[32 + static_cast<std::size_t>(in[i] & 3)];
  const compiled c = compile_text(text("int* __restrict__ histogram;"), {});
  EXPECT_EQ(c.how("k").find("split"), 0u) << c.how("k");
  for (const bool only_fibers : {false, true}) {
    struct {
      const int* in;
      int* histogram;
      float* at;
      int n;
    } j{};
    std::vector<int> histogram(4), copy(36);
    std::vector<float> at(32);
    j = {in.data(), histogram.data(), at.data(), 32};
    run(load_text(text("int* __restrict__ histogram;"), {.only_fibers = only_fibers}), "k", {1}, {32}, 0, j,
        copy.data());
    EXPECT_EQ(copy, want) << only_fibers;
  }
  // Each thread changes its own array, which is a part of its parameter.
  struct {
    const int* in;
    int histogram[4];
    float* at;
    int n;
  } own{};
  std::vector<int> copy(36);
  std::vector<float> at(32);
  own.in = in.data();
  own.at = at.data();
  own.n = 32;
  run(load_text(text("int histogram[4];"), {}), "k", {1}, {32}, 0, own, copy.data());
  for (std::size_t t = 0; t < 4; ++t) EXPECT_EQ(copy[32 + t], (in[31 - t] & 3) == static_cast<int>(t) ? 1 : 0) << t;
}

}  // namespace troupe::cuda_on_host::testing
