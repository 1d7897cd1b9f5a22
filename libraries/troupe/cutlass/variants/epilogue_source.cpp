// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/base/containers/value_for.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/cutlass/variants/epilogue_source.hpp>
#include <vector>

namespace troupe::cutlass {

using epilogue::node, epilogue::op, epilogue::reduction_scope;

std::string_view name_of_type(dtype t) noexcept {
  static constexpr std::pair<dtype, std::string_view> names[] = {
      {dtype::f16, "f16"},     {dtype::bf16, "bf16"}, {dtype::f8e4m3, "e4m3"},   {dtype::f8e5m2, "e5m2"},
      {dtype::f8e8m0, "e8m0"}, {dtype::f4e2m1, "f4"}, {dtype::f4e2m1x2, "f4x2"}, {dtype::f32, "f32"},
      {dtype::f64, "f64"},     {dtype::i8, "i8"},     {dtype::u8, "u8"},         {dtype::boolean, "boolean"},
      {dtype::i16, "i16"},     {dtype::u16, "u16"},   {dtype::i32, "i32"},       {dtype::u32, "u32"},
      {dtype::i64, "w64"},     {dtype::u64, "u64"}};
  return value_for(t, names, "void");
}

namespace {

constexpr char reduces[] = "#define TROUPE_REDUCES\n";

// Writes the source of one epilogue. The value of node i is a variable v<i>; stores to memory follow the computation of
// all elements. Operands that differ between rows are read by a separate function, which may be called long before;
// other operands are read before the first element.
class writer {
 public:
  writer(std::span<const node> nodes, std::span<const memory_kind> memory, bool transposed)
      : nodes_(nodes), memory_(memory), transposed_(transposed) {}

  void write() {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const node& n = nodes_[i];
      const std::string value = cat("    const number v", i, " = ");
      const auto argument = [&](std::size_t which) { return cat("v", n.arguments[which]); };
      switch (n.what) {
        case op::accumulator:
        case op::left:
          each_ += value + "left[w];\n";
          break;
        case op::right:
          each_ += value + "right[w];\n";
          break;
        case op::number:
          each_ += cat(value, "p.numbers[", n.operand, "];\n");
          break;
        case op::load_number:
        case op::load_row:
        case op::load_column:
        case op::load:
          load(n, i);
          each_ += cat(value, "m", i, "[w];\n");
          break;
        case op::convert:
          each_ += cat(value, "static_cast<number>(", name_of_type(n.type), "::load(", name_of_type(n.type), "::store(",
                       argument(0), ")));\n");
          break;
        case op::store:
          before_ += cat("  number m", i, "[W];\n");
          each_ += cat(value, argument(0), ";\n    m", i, "[w] = v", i, ";\n");
          after_ += cat("  store_run<", kind_of(n), ">(p.memory[", n.operand, "], at, m", i, ");\n");
          break;
        case op::reduce:
          each_ += cat(value, argument(0), ";\n    reduced[", reductions_.size(), "][w] = v", i, ";\n");
          reductions_.push_back(i);
          break;
        default: {
          std::string arguments;
          for (std::size_t a = 0; a < epilogue::info(n.what).arguments; ++a) arguments += ", " + argument(a);
          each_ += cat(value, "value_of<op(", static_cast<int>(n.what), ")>(", arguments.substr(2), ");\n");
        }
      }
    }
  }

  std::string text(std::size_t numbers, dtype sums) const {
    const auto list = [this](auto&& f) {
      std::string out;
      for (const std::size_t i : reductions_) out += cat(f(nodes_[i]), ", ");
      return reductions_.empty() ? std::string("0") : out.substr(0, out.size() - 2);
    };
    const std::size_t count = std::max<std::size_t>(1, reductions_.size());
    return cat("struct kernel_epilogue {\n  using number = ", sums == dtype::f64 ? "double" : "float",
               ";\n  using all = arguments<number, ", std::max<std::size_t>(1, memory_.size()), ", ",
               std::max<std::size_t>(1, numbers),
               ">;\n  static constexpr bool paired = ", epilogue::is_paired(nodes_) ? "true" : "false",
               ", reads_memory = ", memory_.empty() ? "false" : "true",
               ";\n  static constexpr int reductions = ", reductions_.size(), ", over[] = {",
               list([this](const node& n) { return static_cast<int>(over(n)); }), "}, how[] = {",
               list([](const node& n) { return static_cast<int>(n.combine); }), "}, to[] = {",
               list([](const node& n) { return static_cast<int>(n.operand); }), "};\n", write_reduced(), reading(),
               "  template <int W>\n"
               "  static __device__ __forceinline__ void apply(const all& p, const run& at, const stored<W>& from, "
               "const number (&left)[W],\n"
               "                                               const number (&right)[W], number (&out)[W], number "
               "(&reduced)[",
               count, "][W]) {\n", before_, "#pragma unroll\n  for (int w = 0; w < W; ++w) {\n", each_,
               "    out[w] = v", nodes_.size() - 1, ";\n  }\n", after_, "  }\n};\n",
               reductions_.empty() ? "" : reduces);
  }

 private:
  reduction_scope over(const node& n) const noexcept {
    if (!transposed_ || n.over == reduction_scope::all) return n.over;
    return n.over == reduction_scope::row ? reduction_scope::column : reduction_scope::row;
  }
  // Returns the function write_reduced(p, r, at, x), which stores x as element `at` of the result of reduction r.
  std::string write_reduced() const {
    std::string cases;
    for (std::size_t r = 0; r < reductions_.size(); ++r) {
      const std::size_t operand = nodes_[reductions_[r]].operand;
      const std::string_view type = name_of_type(memory_[operand].type);
      cases += cat("    if (r == ", r, ") reinterpret_cast<", type, "::bits*>(p.memory[", operand,
                   "].address)[at] = ", type, "::store(x);\n");
    }
    return cat(
        "  static __device__ __forceinline__ void write_reduced(const all& p, int r, long long at, double x) {\n",
        cases, "  }\n");
  }
  // Writes the load of node i: its value for element w is m<i>[w].
  void load(const node& n, std::size_t i) {
    before_ += cat("  number m", i, "[W];\n");
    if (is_one_row(n)) {
      before_ += cat("  load_run<", kind_of(n), ">(p.memory[", n.operand, "], in_first_row(at), m", i, ");\n");
      return;
    }
    const memory_kind& m = memory_[n.operand];
    const std::size_t bytes = bytes_of(m.type);
    registers_ += m.access < 0 ? std::max<std::size_t>(1, bytes / 4) : std::max<std::size_t>(8, 8 * bytes) / 4;
    before_ += cat("  numbers_of(from.m", i, ", m", i, ");\n");
    members_ += cat(" stored_run<", kind_of(n), ", W> m", i, ";");
    reads_ += cat("    read_run(p.memory[", n.operand, "], at, to.m", i, ");\n");
    prefetches_ += cat("    prefetch_run<", kind_of(n), ">(p.memory[", n.operand, "], at);\n");
  }
  // Returns the struct of a run's operands as they are stored, the number of registers that 8 elements take, and the
  // functions that read and prefetch them.
  std::string reading() const {
    return cat("  template <int W>\n  struct stored {", members_,
               " };\n  static constexpr int registers = ", registers_,
               ";\n  template <int W>\n"
               "  static __device__ __forceinline__ void read(const all& p, const run& at, stored<W>& to) {\n",
               reads_, "  }\n  static __device__ __forceinline__ void prefetch(const all& p, const run& at) {\n",
               prefetches_, "  }\n");
  }
  // Returns true if the node loads the same values for every row of the kernel.
  bool is_one_row(const node& n) const noexcept {
    return n.what == op::load_number || n.what == (transposed_ ? op::load_column : op::load_row);
  }
  std::string kind_of(const node& n) const {
    const memory_kind& m = memory_[n.operand];
    return cat(name_of_type(m.type), ", ", static_cast<int>(m.access));
  }

  std::span<const node> nodes_;
  std::span<const memory_kind> memory_;
  bool transposed_;
  std::string before_, each_, after_, members_, reads_, prefetches_;
  std::size_t registers_ = 0;
  std::vector<std::size_t> reductions_;
};

}  // namespace

bool has_reductions(std::string_view text) noexcept { return text.find(reduces) != std::string_view::npos; }

std::string epilogue_source(std::span<const node> nodes, std::span<const memory_kind> memory, std::size_t numbers,
                            dtype sums, bool transposed) {
  writer w(nodes, memory, transposed);
  w.write();
  return w.text(numbers, sums);
}

}  // namespace troupe::cutlass
