// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <troupe/cuda_on_host/translate/internal/parsing/functions.hpp>
#include <troupe/cuda_on_host/translate/internal/parsing/usage.hpp>
#include <troupe/cuda_on_host/translate/translate.hpp>

#include <random>

namespace troupe::cuda_on_host {

namespace {

// Returns how the only kernel of a source runs, and why: "loop", "split", "fibers: line 4: ...".
std::string how(const std::string& source) {
  const translation t = translate(source, {});
  if (!t.findings.empty()) return to_string(t.findings[0]);
  if (t.kernels.size() != 1) return std::to_string(t.kernels.size()) + " kernels";
  return std::string(to_string(t.kernels[0].how)) +
         (t.kernels[0].how == execution::fibers ? ": " + t.kernels[0].reason : "");
}

// Returns a source with a kernel k of this body, which begins on line 3.
std::string body(const std::string& text) {
  return "__device__ int f(int); __device__ void by_reference(int&);\n__global__ void k(int n, const float* x, float* "
         "y) {\n" +
         text + "\n}\n";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST(translate, finds_kernels_in_all_their_forms) {
  const token_list tokens = tokenize(R"(
# 1 "user.cu"
namespace a { inline namespace b { template <typename T, int (*F)(int) = nullptr>
__global__ void __launch_bounds__(sizeof(T) > 4 ? 64 : 128, 2) first(T* x, int (&y)[4]) { if (x) { } } } }
extern "C" { __global__ void second() { } }
extern "C" __global__ __launch_bounds__(32) void third(void) ;
struct holder { int v{3}; holder() : v{4}, w(5) { } int w; static __global__ void fourth(int n) { } };
template <> __global__ void first<float>(float* x) { }
namespace c::d { __global__ void fifth(float (*table)[3]) { } }
auto lambda = [](int x) { return x; };
enum class color { red, green };
__constant__ float weights[3] = {1, 2, 3};
)");
  const unit u = find_definitions(tokens);
  std::string found;
  for (const definition& d : u.definitions)
    if (d.is_kernel) found += d.qualified() + (d.has_body ? " " : "; ");
  EXPECT_EQ(found, "a::b::first second third; holder::fourth first c::d::fifth ");
  EXPECT_TRUE(u.constants.contains("red") && u.constants.contains("green"));
  EXPECT_TRUE(u.in_constant_memory.contains("weights"));
}

TEST(translate, copies_text_of_system_headers_unchanged) {
  const std::string source =
      "# 1 \"a.cu\"\n# 1 \"/usr/include/x.h\" 1 3\n__global__ asm(\"x\"); {{{ \"\n# 2 \"a.cu\" 2\n__global__ void k() "
      "{ }\n";
  const translation t = translate(source, {});
  ASSERT_TRUE(t.findings.empty());
  EXPECT_EQ(t.kernels.size(), 1u);
  EXPECT_EQ(t.kernels[0].line, 2u);
  EXPECT_TRUE(contains(t.text, "__global__ asm(\"x\"); {{{ \"\n"));
}

TEST(translate, translates_text_after_a_macro_of_a_system_header) {
  EXPECT_EQ(how("# 1 \"a.cu\"\n__global__ void k(float* x) { float a =\n# 2 \"a.cu\" 3\n1.0f\n# 2 \"a.cu\"\n; x[0] = "
                "a; __syncthreads(); x[1] = a; }"),
            "split");
}

TEST(translate, turns_kernels_without_barriers_into_loops) {
  EXPECT_EQ(how(body("int i = threadIdx.x; if (i < n) y[i] = x[i];")), "loop");
  EXPECT_EQ(how(body("goto end; end: return;")), "loop");
  EXPECT_EQ(how(body("for (;;) { switch (n) { case 1: break; default: continue; } }")), "loop");
}

TEST(translate, splits_a_kernel_at_barriers_in_structured_places) {
  EXPECT_EQ(how(body("__shared__ float s[32]; s[threadIdx.x] = x[0]; __syncthreads(); y[0] = s[0];")), "split");
  EXPECT_EQ(how(body("for (int i = 0; i < n; ++i) { y[i] = 1; __syncthreads(); }")), "split");
  EXPECT_EQ(how(body("int i = 0; while (i < n) { i++; __syncthreads(); }")), "split");
  EXPECT_EQ(how(body("int i = 0; do { __syncthreads(); i += f(i); } while (i < n);")), "split");
  EXPECT_EQ(how(body("if (n > 3) { __syncthreads(); y[0] = 1; } else y[1] = 2;")), "split");
  EXPECT_EQ(how(body("if (threadIdx.x >= n) return; __syncthreads(); y[0] = 1;")), "split");
  EXPECT_EQ(how(body("float a[4] = {1, 2, 3, 4}; __syncthreads(); for (int i = 0; i < 4; ++i) y[i] = a[i];")), "split");
  EXPECT_EQ(
      how(body("for (int i = 0; i < 9; ++i) { for (int j = 0; j < 9; ++j) if (j == n) break; __syncthreads(); }")),
      "split");
  EXPECT_EQ(how(body("auto g = [](int a) { return a; }; y[0] = g(1); __syncthreads(); y[1] = 2;")), "split");
  EXPECT_EQ(how(body("int a = f(1), b = f(2); __syncthreads(); y[0] = (b & (a / 3)) & (a > 4 ? b : a);")), "split");
  EXPECT_EQ(how(body("auto g = [](int a) { return a; }; if (g(n) > 0) return; __syncthreads(); y[1] = 2;")), "split");
}

TEST(translate, splits_a_kernel_at_barriers_of_a_block_group_without_other_uses) {
  const auto with_groups = [](const std::string& text) {
    return how(
        "namespace cg = cooperative_groups;\n__device__ void f(cg::thread_block);\n__global__ void k(int n, float* "
        "y) {\n" +
        text + "\n}\n");
  };
  for (const std::string block : {"cg::thread_block b = cg::this_thread_block();", "auto b = cg::this_thread_block();",
                                  "const cg::thread_block b = cooperative_groups::this_thread_block();"})
    for (const std::string wait : {"b.sync();", "cg::sync(b);", "sync(b);", "for (int i = 0; i < n; ++i) b.sync();"}) {
      EXPECT_EQ(with_groups(block + " y[b.thread_rank()] = b.size(); " + wait + " y[0] = b.group_index().x;"), "split");
    }
  EXPECT_EQ(with_groups("cg::this_thread_block().sync(); y[0] = 1; cg::sync(cg::this_thread_block());"), "split");
  EXPECT_EQ(with_groups("auto b = cg::this_thread_block();\n f(b); b.sync();"),
            "fibers: line 4: this_thread_block waits for other threads");
  EXPECT_EQ(with_groups("auto b = cg::this_thread_block();\n auto t = cg::tiled_partition<32>(b); b.sync();"),
            "fibers: line 4: this_thread_block waits for other threads");
  EXPECT_EQ(with_groups("auto b = cg::this_thread_block(); y[(b.sync(), 0)] = 1;"),
            "fibers: line 4: this_thread_block waits for other threads");
}

TEST(translate, runs_kernels_it_does_not_understand_as_fibers_and_says_why) {
  EXPECT_EQ(how(body("for (int i = 0; i < n; ++i) {\n if (x[i] > 0) break; __syncthreads(); }")),
            "fibers: line 4: 'break' in a loop around a barrier");
  EXPECT_EQ(how(body("switch (n) {\n case 1: __syncthreads(); }")), "fibers: line 3: a barrier inside of 'switch'");
  EXPECT_EQ(how(body("int a = (__syncthreads(), 1);")), "fibers: line 3: a barrier inside of 'int'");
  EXPECT_EQ(how(body("again: __syncthreads(); if (n) goto again;")),
            "fibers: line 3: a statement that is not understood");
  EXPECT_EQ(how(body("int a = f(1);\n int& b = a; __syncthreads(); y[0] = b;")),
            "fibers: line 4: what happens to 'a' is not understood");
  EXPECT_EQ(how(body("int a = f(1); auto g = [&] { return a; }; __syncthreads(); y[0] = g();")),
            "fibers: line 3: a lambda that refers to variables");
  EXPECT_EQ(how(body("int a = f(1);\n int* p = &a; __syncthreads(); *p = 2; y[0] = a;")),
            "fibers: line 4: what happens to 'a' is not understood");
  EXPECT_EQ(how(body("int a = f(1);\n f((T & (int)) & a); __syncthreads(); y[0] = a;")),
            "fibers: line 4: what happens to 'a' is not understood");
  EXPECT_EQ(how(body("float a[4]; float* p = a; __syncthreads(); y[0] = p[0] + a[0];")),
            "fibers: line 3: what happens to 'a' is not understood");
  EXPECT_EQ(how(body("static int a; __syncthreads();")),
            "fibers: line 3: a declaration between barriers that is not understood");
  EXPECT_EQ(how(body("auto [a, b] = pair(); __syncthreads(); y[a] = b;")),
            "fibers: line 3: a declaration between barriers that is not understood");
  EXPECT_EQ(how(body("y[0] = __syncthreads_count(n);")), "fibers: line 3: __syncthreads_count waits for other threads");
  EXPECT_EQ(how(body("__syncthreads();\n y[0] = __shfl_down_sync(1, n, 1);")),
            "fibers: line 4: __shfl_down_sync waits for other threads");
}

TEST(translate, finds_functions_that_wait_by_their_names) {
  EXPECT_EQ(how("__device__ void inner() { __syncwarp(); }\nstruct s { __device__ void outer() { inner(); } };\n"
                "__global__ void k(s v) {\n v.outer(); }"),
            "fibers: line 4: outer waits for other threads");
  EXPECT_EQ(how("struct s { __device__ void operator()() { __syncthreads(); } };\ntemplate <class F> __global__ void "
                "k(F f) { f(); }"),
            "fibers: line 1: an operator, constructor or destructor waits for other threads");
  EXPECT_EQ(how("__device__ auto lambda = [] { __syncthreads(); };\n__global__ void k() { lambda(); }"),
            "fibers: line 2: lambda waits for other threads");
  translate_options options;
  options.kernels = {"k<&inner>"};
  const translation t =
      translate("__device__ void inner() { __syncwarp(); } template <auto F> __global__ void k() { F(); }", options);
  EXPECT_EQ(t.kernels[0].reason, "the name expression k<&inner> passes a function that waits for other threads");
}

TEST(translate, keeps_uniform_variables_once_and_recomputes_others) {
  const std::string text = translate(body("const int row = blockIdx.y * 16 + threadIdx.y;\n"
                                          "float sum = 0;\n"
                                          "for (int k = 0; k < n; k += 16) { sum += x[row + k]; __syncthreads(); }\n"
                                          "y[row] = sum;"),
                                     {})
                               .text;
  EXPECT_FALSE(contains(text, "struct troupe_d0")) << text;  // row
  EXPECT_TRUE(contains(text, "float sum; }")) << text;
  EXPECT_TRUE(contains(text, "if (!(k < n)) break;")) << text;
  EXPECT_FALSE(contains(text, "ask_each_thread")) << text;
  // A function that takes a reference may change its argument.
  EXPECT_EQ(how(body("int row = threadIdx.y; by_reference(row); __syncthreads(); y[row] = 1;")),
            "fibers: line 3: what happens to 'row' is not understood");
  EXPECT_FALSE(
      contains(translate(body("int row = threadIdx.y; f(row); __syncthreads(); y[row] = 1;"), {}).text, "int row; }"));
  // A recomputed value must not depend on a variable that changes before the value is used.
  EXPECT_TRUE(contains(
      translate(body("int k = 1; int a = k + threadIdx.x; for (; k < n; k *= 2) { __syncthreads(); y[a] = 1; }"), {})
          .text,
      "int a; }"));
}

TEST(translate, declares_threads_independent_only_if_they_keep_to_registers) {
  const auto is_independent = [](const std::string& text) {
    return contains(translate(body(text), {}).text, "each_thread<false, true>") ||
           contains(translate(body(text), {}).text, "each_thread_inside<false, true>");
  };
  EXPECT_TRUE(is_independent("int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = 2.0f * x[i] + y[i];"));
  EXPECT_TRUE(is_independent(
      "float sum = 0; for (int k = 0; k < n; ++k) sum += x[k] & 1; y[threadIdx.x] = fmaf(sum, sum, 1.0f);"));
  for (const char* text : {"int r[2]; r[n & 1] = 1; y[0] = r[0];", "{ int r[2]; r[n & 1] = 1; y[0] = r[0]; }",
                           "int r = 1; int* p = &r; *p = 2; y[0] = r;", "y[0] = f(n);", "atomicAdd_block(y, 1.0f);",
                           "float4 v; v.x = 1; y[0] = v.x;", "auto g = [=] { return n; }; y[0] = g();",
                           "int r = 1; int& s = r; s = 2; y[0] = r;", "struct s { int v[2]; }; s a; y[0] = a.v[n];"})
    EXPECT_FALSE(is_independent(text)) << text;
}

TEST(translate, distinguishes_writes_from_reads) {
  const std::string source =
      "void t(int a, int b, int c, int d, int e, int g, int h, float* p, float* q) { a = 1; ++b; int* z = &c; user(d); "
      "int& r = e; g + h * max(g, h); if (g & h) { } (q)++; p[g] = h; p[h + 1].x += g; } void user(int&);";
  const token_list tokens = tokenize(source);
  const unit u = find_definitions(tokens);
  const name_uses w = find_uses(tokens, u, u.definitions[0].parameters, u.definitions[0].body, u.definitions[0].end);
  for (const char* name : {"a", "b", "c", "d", "e", "q"}) EXPECT_TRUE(w.contains(name)) << name;
  for (const char* name : {"g", "h", "p"}) EXPECT_FALSE(w.contains(name)) << name;
  EXPECT_TRUE(w.contains_with_elements("p"));
}

TEST(translate, reports_unsupported_code_at_its_line) {
  const translation t = translate("# 5 \"dir/a.cu\"\n__global__ void k() {\n asm volatile(\"x\"); }\n", {});
  ASSERT_EQ(t.findings.size(), 1u);
  EXPECT_TRUE(contains(to_string(t.findings[0]), "dir/a.cu:6: error: PTX (asm) runs on GPUs only"));
  EXPECT_TRUE(t.text.empty());
}

TEST(translate, survives_any_text) {
  const std::uint64_t seed = std::random_device{}();
  std::mt19937_64 random(seed);
  const std::string pieces[] = {"__global__ ",
                                "void ",
                                "k",
                                "(",
                                ")",
                                "{",
                                "}",
                                "[",
                                "]",
                                "<",
                                ">",
                                ";",
                                "__syncthreads();",
                                "for",
                                "if",
                                "else ",
                                "while",
                                "do ",
                                "return;",
                                "int ",
                                "x",
                                "=",
                                "&",
                                "template <",
                                "struct s",
                                "#pragma unroll\n",
                                "\n# 3 \"f\"\n",
                                "__shared__ ",
                                "extern ",
                                "\"",
                                "'",
                                "R\"(",
                                "/*",
                                "operator",
                                "namespace n ",
                                ",",
                                "::",
                                "__launch_bounds__(",
                                "auto ",
                                "0x1p-3f"};
  for (int n = 0; n < 3000; ++n) {
    std::string text;
    for (std::uint64_t i = random() % 80; i > 0; --i) text += pieces[random() % std::size(pieces)];
    (void)translate(text, {.kernels = {text}, .globals = {text}, .any_brackets = true});
  }
}

TEST(translate, takes_time_linear_in_the_length_of_the_text) {
  // Shapes that make a naive parser slow: each takes milliseconds in linear time, and minutes in quadratic time.
  const auto repeated = [](const std::string& piece, std::size_t count) {
    std::string out;
    for (std::size_t i = 0; i < count; ++i) out += piece;
    return out;
  };
  const std::size_t many = 100'000;
  for (const std::string& text :
       {repeated("{", many), repeated("(", many), repeated("a<", many),
        body(repeated("a<", many) + ";__syncthreads();"), body(repeated("__syncthreads();", many)),
        body(repeated("{", many) + "__syncthreads();" + repeated("}", many)),
        body("for (;;) { __syncthreads();" + repeated("if (x) break;", many) + "}"),
        body(repeated("int a = 1;", many) + "__syncthreads();"),
        body(repeated("int a"
                      " = threadIdx.x; __syncthreads(); y[a] = 1;",
                      300)),
        repeated("__device__ int g(int a) { return g(a); }\n", many / 10), repeated("template <", many)})
    (void)translate(text, {.any_brackets = true});
}

}  // namespace troupe::cuda_on_host
