// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels nobody has written: random declarations, loops, branches and barriers. Splitting must compute what fibers
// compute.
#include "compiled.hpp"

namespace troupe::kernel::testing {

namespace {

constexpr int threads = 48;

// Writes the body of a kernel. Its variables are unsigned, so that nothing overflows. Between two barriers a thread
// writes only its own element of shared memory, or reads those of others.
class kernel_writer {
 public:
  explicit kernel_writer(random_source& random) : random_(random) {}

  std::string write(int number) {
    out_ =
        "extern \"C\" __global__ void k" + std::to_string(number) + "(unsigned* out, unsigned p, const unsigned q) {\n";
    out_ += "  __shared__ unsigned s[" + std::to_string(threads) +
            "];\n  const unsigned t = threadIdx.x;\n  s[t] = t * 7 + q;\n";
    scope_ = {{"t", false}, {"q", false}, {"blockIdx.x", false}};
    if (chance(2)) scope_.push_back({"p", true});
    uniform_ = {"q", "blockIdx.x", "3u"};
    if (chance(4)) out_ += "  if (t >= " + std::to_string(random_.between(20, 47)) + ") return;\n";
    out_ += "  __syncthreads();\n";
    statements(4, 2);
    out_ += "  out[blockIdx.x * blockDim.x + t] = " + expression() + " + s[t];\n}\n";
    return out_;
  }

 private:
  struct name {
    std::string text;
    bool writable;
  };

  bool chance(int one_in) { return random_.between(1, one_in) == 1; }
  std::string pick(const std::vector<name>& from) {
    return from[static_cast<std::size_t>(random_.between(0, static_cast<std::int64_t>(from.size()) - 1))].text;
  }
  std::string indent() const { return std::string(2 * static_cast<std::size_t>(depth_ + 1), ' '); }
  void line(const std::string& text) { out_ += indent() + text + "\n"; }

  std::string expression(int size = 2) {
    if (size == 0 || chance(4)) return chance(3) ? std::to_string(random_.between(0, 9)) + "u" : pick(scope_);
    static const char* const operators[] = {" + ", " * ", " ^ ", " - ", " & "};
    return "(" + expression(size - 1) + operators[random_.between(0, 4)] + expression(size - 1) + ")";
  }
  std::string uniform() {
    return "(" +
           uniform_[static_cast<std::size_t>(random_.between(0, static_cast<std::int64_t>(uniform_.size()) - 1))] +
           " + " + std::to_string(random_.between(0, 5)) + ")";
  }
  std::string fresh() { return "v" + std::to_string(next_++); }

  void assignment() {
    std::vector<name> writable;
    for (const name& n : scope_)
      if (n.writable) writable.push_back(n);
    if (writable.empty()) return;
    static const char* const forms[] = {" = ", " += ", " ^= "};
    line(pick(writable) + forms[random_.between(0, 2)] + expression() + ";");
  }

  void plain() {
    switch (random_.between(0, 8)) {
      case 0: {
        const std::string v = fresh();
        line((chance(3) ? "auto " : "unsigned ") + v + " = " + expression() + ";");
        scope_.push_back({v, true});
        return;
      }
      case 1: {
        const std::string v = fresh();
        line("const unsigned " + v + " = " + expression(3) + ";");
        scope_.push_back({v, false});
        return;
      }
      case 2: {
        const std::string v = fresh();
        line("unsigned " + v + "[3] = {" + expression() + ", " + expression() + ", 5u};");
        for (const char* element : {"[0]", "[1]", "[2]"}) scope_.push_back({v + element, true});
        return;
      }
      case 3:
        line("if (" + expression() + " % 3u == 1u) {");
        ++depth_;
        assignment();
        --depth_;
        line("} else {");
        ++depth_;
        assignment();
        --depth_;
        line("}");
        return;
      case 4:
        line("for (unsigned i = 0; i < " + expression() + " % 5u; ++i) {");
        ++depth_;
        assignment();
        --depth_;
        line("}");
        return;
      case 5: {
        const std::string v = fresh(), w = fresh();
        line("unsigned " + v + " = " + expression() + ", " + w + " = " + uniform() + ";");
        scope_.push_back({v, true});
        scope_.push_back({w, true});
        return;
      }
      default:
        return assignment();
    }
  }

  // What threads write, a barrier, what they read, a barrier.
  void exchange() {
    line("s[t] = " + expression() + ";");
    line("__syncthreads();");
    const std::string v = fresh();
    line("unsigned " + v + " = s[(t + " + std::to_string(random_.between(1, threads - 1)) + ") % " +
         std::to_string(threads) + "u];");
    scope_.push_back({v, true});
    if (chance(2)) plain();
    line("__syncthreads();");
  }

  void block(int statements_left, int nesting, const std::string& more = "") {
    const auto scope = scope_;
    const auto uniform_names = uniform_;
    ++depth_;
    if (!more.empty()) {
      scope_.push_back({more, false});
      uniform_.push_back(more);
    }
    statements(statements_left, nesting);
    --depth_;
    scope_ = scope;
    uniform_ = uniform_names;
  }

  void statements(int count, int nesting) {
    for (int n = 0; n < count; ++n) {
      plain();
      const auto kind = nesting > 0 ? random_.between(0, 6) : random_.between(0, 1);
      if (kind <= 1) {
        exchange();
      } else if (kind == 2) {
        const std::string i = fresh();
        line("for (unsigned " + i + " = " + std::to_string(random_.between(0, 2)) + "; " + i + " < " + uniform() +
             " % 4u; " + (chance(2) ? "++" + i : i + " += 1") + ") {");
        block(2, nesting - 1, i);
        line("}");
      } else if (kind == 3) {
        // A loop whose count is in a variable of each thread, though all have the same.
        const std::string i = fresh();
        line("unsigned " + i + " = s[0] * 0u + " + uniform() + " % 4u;");
        line("while (" + i + " > 0) {");
        ++depth_;
        line(i + "--;");
        --depth_;
        block(2, nesting - 1);
        line("}");
        scope_.push_back({i, false});
      } else if (kind == 4) {
        line("if (" + uniform() + " % 2u == 0) {");
        block(2, nesting - 1);
        line("} else {");
        block(1, nesting - 1);
        line("}");
      } else if (kind == 5) {
        const std::string i = fresh();
        line("int " + i + " = 0;");
        line("do {");
        block(2, nesting - 1);
        line("} while (++" + i + " < 2);");
      } else {
        line("{");
        block(2, nesting - 1);
        line("}");
      }
    }
  }

  random_source& random_;
  std::string out_;
  std::vector<name> scope_;
  std::vector<std::string> uniform_;
  int next_ = 0, depth_ = 0;
};

}  // namespace

TEST(random_kernels, compute_the_same_split_and_as_fibers) {
  random_source random;
  constexpr int count = 6;
  std::string source;
  for (int k = 0; k < count; ++k) source += kernel_writer(random).write(k);
  const compiled split = compile_text(source, {}, {.optimisation = 1});
  const compiled fibers = compile_text(source, {.only_fibers = true}, {.optimisation = 1});
  ASSERT_FALSE(split.bytes.empty()) << split.messages << "\n" << source << how_to_repeat();
  ASSERT_FALSE(fibers.bytes.empty()) << fibers.messages;
  const loaded_image split_image = load(split), fibers_image = load(fibers);
  for (int k = 0; k < count; ++k) {
    const std::string name = "k" + std::to_string(k);
    ASSERT_EQ(split.how(name), "split (its barriers are statements of the kernel)") << source << how_to_repeat();
    std::vector<unsigned> a(3 * threads), b(3 * threads);
    run(split_image, name, {3}, {threads}, 0, a.data(), 11u, 5u);
    run(fibers_image, name, {3}, {threads}, 0, b.data(), 11u, 5u);
    ASSERT_EQ(a, b) << name << " of\n" << source << how_to_repeat();
  }
}

}  // namespace troupe::kernel::testing
