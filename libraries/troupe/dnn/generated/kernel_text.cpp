// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <troupe/base/text/cat.hpp>
#include <troupe/dnn/generated/kernel_text.hpp>
#include <troupe/dnn/generated/text_parts.hpp>
#include <troupe/dnn/operations/random/attributes.hpp>
#include <troupe/dnn/operations/random/generator.hpp>

namespace troupe::dnn::generated {
namespace {

using kind = elementwise_kernel::operation::kind;
using how = access::kind;

constexpr unsigned warp = 32;  // threads of a warp

class kernel_writer {
 public:
  kernel_writer(const elementwise_kernel& kernel, const thread_partition& partition)
      : kernel_(kernel), partition_(partition), last_(kernel.over.rank() - 1) {}

  kernel_text text() {
    line("using index = ", partition_.narrow_indexes ? "unsigned" : "long long", ";");
    add_extents();
    for (std::size_t i = 0; i < kernel_.sequences.size(); ++i) add_sequence(i);
    partition_.tiled ? add_tiles() : add_groups();
    out_.blocks = partition_.blocks(), out_.threads = block_threads;
    out_.text = cat("(const __grid_constant__ operands<", operands() + kernel_.sequences.size(), ", ",
                    out_.numbers.size(), "> at) {\n", out_.text, "}\n");
    return std::move(out_);
  }

 private:
  template <class... Parts>
  void line(const Parts&... parts) {
    out_.text += cat("  ", parts..., "\n");
  }
  // Returns the text for a number that is not part of the text.
  std::string number(std::int64_t x) {
    out_.numbers.push_back(x);
    return cat("at.numbers[", out_.numbers.size() - 1, "]");
  }
  std::size_t operands() const noexcept { return kernel_.operands.size(); }
  dtype type(std::size_t i) const noexcept { return kernel_.operands[i].type; }
  unsigned bytes(std::size_t i) const noexcept { return static_cast<unsigned>(bytes_of(type(i))); }
  bool is_written(std::size_t i) const noexcept {
    return std::any_of(kernel_.operations.begin(), kernel_.operations.end(),
                       [&](const elementwise_kernel::operation& o) { return o.what == kind::write && o.operand == i; });
  }
  std::int64_t stride(std::size_t i, std::size_t k) const noexcept {
    return kernel_.over.stride(kernel_.operand_in_space[i], k);
  }

  // Writes what kernels for other extents and numbers have differently: the extents e0, e1, ..., the divisors d1, d2,
  // ... for them, the strides s0_1 of operand 0 along axis 1, unless they are 0 or 1, and the numbers x3 of
  // operation 3.
  void add_extents() {
    for (std::size_t k = 0; k <= last_; ++k)
      line("[[maybe_unused]] const index e", k, " = static_cast<index>(", number(kernel_.over.extent(k)), ");");
    for (std::size_t k = 1; k <= last_; ++k)
      line("[[maybe_unused]] const long long d", k, " = ",
           number(divisor_of(kernel_.over.extent(k), partition_.narrow_indexes)), ";");
    for (std::size_t i = 0; i < operands(); ++i)
      for (std::size_t k = 0; k <= last_; ++k)
        if (stride(i, k) != 0 && stride(i, k) != 1)
          line("[[maybe_unused]] const index s", i, "_", k, " = static_cast<index>(", number(stride(i, k)), ");");
    for (std::size_t n = 0; n < kernel_.operations.size(); ++n)
      if (kernel_.operations[n].what == kind::number)
        line("const N x", n, " = ", text_of_bits(number(std::bit_cast<std::int64_t>(kernel_.operations[n].value))),
             ";");
  }
  std::string stride_text(std::size_t i, std::size_t k) const {
    return stride(i, k) == 0 ? "0" : stride(i, k) == 1 ? "1" : cat("s", i, "_", k);
  }

  // Writes a kernel in which each thread has a group of elements.
  void add_groups() {
    line("const index groups = static_cast<index>(", number(partition_.groups), ");");
    line("const index group = static_cast<index>(blockIdx.x) * ", block_threads, " + threadIdx.x;");
    line("if (group >= groups) return;");
    if (partition_.elements != 1 && (partition_.flat || last_ == 0)) {
      const std::string first = cat("group * ", partition_.elements);
      line("const index rest = static_cast<index>(", number(partition_.rest), ");");
      line("if (rest != 0 && group == groups - 1) {");
      line("for (index n = ", first, "; n < ", first, " + rest; ++n) {");
      add_single("n");
      line("}");
      line("return;");
      line("}");
    }
    partition_.elements == 1 ? add_single("group") : add_several();
  }

  // Writes the seed of sequence i of random numbers, and the offset that is added to the positions of its elements.
  void add_sequence(std::size_t i) {
    const elementwise_kernel::sequence& s = kernel_.sequences[i];
    const std::string seed = cat("const unsigned long long seed", i, " = "),
                      offset = cat("offset", i, " = ", number_of(s.attributes.offset));
    if (!s.words) return line(seed, number_of(s.attributes.seed), ", ", offset, ";");
    const auto pair = [&](std::int64_t first) {
      const auto word = [&](std::int64_t n) { return cat("words", i, "[", n * s.words->shape.strides[0], "]"); };
      return cat("(", word(first), " | static_cast<unsigned long long>(", word(first + 1), ") << 32)");
    };
    line("const auto* const words", i, " = static_cast<const unsigned*>(at.all[", operands() + i, "]);");
    line(seed, pair(0), ", ", offset, s.words->shape.extents[0] == 4 ? " + " + pair(2) : "", ";");
  }
  std::string number_of(std::uint64_t x) {
    return cat("static_cast<unsigned long long>(", number(static_cast<std::int64_t>(x)), ")");
  }
  std::string random_value(const elementwise_kernel::operation& o, const std::string& position) const {
    const random_attributes& a = kernel_.sequences[o.from[0]].attributes;
    const std::string which =
        cat("(seed", o.from[0], ", offset", o.from[0], " + static_cast<unsigned long long>(", position, "))");
    if (a.kind == random_kind::normal) return cat("dnn::random_normal<N>", which);
    const std::string word = cat("dnn::random_word", which);
    return a.kind == random_kind::uniform
               ? cat("dnn::uniform_of<N>(", word, ")")
               : cat("dnn::bernoulli_of<N>(", word, ", ", bernoulli_limit(a.probability), "u)");
  }

  // Returns the text for the element of an operand at an index along an axis.
  std::string part_text(const elementwise_kernel::operation& o, const std::string& offset) {
    const auto argument = [&](std::size_t k) {
      return number(static_cast<std::int64_t>(kernel_.operations[o.from[k]].value));
    };
    return cat("part_at(", text_of(type(o.operand)), ", at.all[", o.operand, "], ", offset, ", v", o.from[0], ", ",
               argument(1), ", ", argument(2), ")");
  }

  // Writes an element's indexes c0, c1, ... along the axes of the iteration space. `number` is its index in row-major
  // order.
  void add_indexes(std::string number) {
    for (std::size_t k = last_; k > 0; --k) {
      line("const index rest", k, " = quotient(", number, ", d", k, ");");
      line("[[maybe_unused]] const index c", k, " = ", number, " - rest", k, " * e", k, ";");
      number = cat("rest", k);
    }
    line("[[maybe_unused]] const index c0 = ", number, ";");
  }
  std::string offset_of(std::size_t i) const {
    std::string out;
    for (std::size_t k = 0; k <= last_; ++k)
      if (stride(i, k) != 0 && kernel_.over.extent(k) != 1)
        out += cat(out.empty() ? "" : " + ", "c", k, " * ", stride_text(i, k));
    return out.empty() ? "0" : out;
  }
  // Returns the text for operand i as an array of unsigned integers of `width` bytes.
  static std::string memory(std::size_t i, unsigned width, bool is_read) {
    return cat("static_cast<", is_read ? "const " : "", unsigned_type(width), "*>(at.all[", i, "])");
  }

  // Writes the operations. All reads precede all writes, so that no read waits for a write. `from(i)` and `to(i)`
  // return the text "address, index" for operand i. `extra` is the text that is added to an element's index along the
  // last axis.
  template <class From, class To>
  void add_operations(const From& from, const To& to, const std::string& extra = {}) {
    const auto each = [&](auto&& f) {
      for (std::size_t n = 0; n < kernel_.operations.size(); ++n) f(n, kernel_.operations[n]);
    };
    each([&](std::size_t n, const elementwise_kernel::operation& o) {
      if (o.what == kind::read)
        line("[[maybe_unused]] const N v", n, " = number::load(", text_of(type(o.operand)), ", ", from(o.operand),
             ");");
    });
    each([&](std::size_t n, const elementwise_kernel::operation& o) {
      if (o.what == kind::read || o.what == kind::write) return;
      const std::string more = extra.empty() ? "" : cat(" + ", extra, " * ", stride_text(o.operand, last_));
      line("[[maybe_unused]] const N v", n, " = ",
           o.what == kind::random     ? random_value(o, offset_of(o.operand) + more)
           : o.what == kind::position ? cat("static_cast<N>(", offset_of(o.operand), more, ")")
           : o.what == kind::read_at  ? part_text(o, offset_of(o.operand) + more)
           : o.what == kind::number   ? cat("x", n)
                                      : value_of(o, [](std::uint16_t i) { return cat("v", i); }),
           ";");
    });
    each([&](std::size_t, const elementwise_kernel::operation& o) {
      if (o.what == kind::write)
        line("number::store(", text_of(type(o.operand)), ", ", to(o.operand), ", v", o.from[0], ");");
    });
  }
  void add_single(const char* number) {
    add_indexes(number);
    const auto where = [&](std::size_t i) { return cat("at.all[", i, "], ", offset_of(i)); };
    add_operations(where, where);
  }

  void add_several() {
    const std::string first = cat("group * ", partition_.elements);
    if (!partition_.flat) add_indexes(first);
    for (std::size_t i = 0; i < operands(); ++i) {
      if (partition_.accesses[i].how == how::apart) continue;
      const access& a = partition_.accesses[i];
      line("alignas(16) ", unsigned_type(a.bytes), " m", i, "[",
           a.how == how::once ? 1 : bytes(i) * partition_.elements / a.bytes, "];");
      if (!is_written(i)) add_transfer(i, first, false);
    }
    line("#pragma unroll");
    line("for (unsigned k = 0; k < ", partition_.elements, "; ++k) {");
    const auto where = [&](std::size_t i) {
      return cat("m", i, ", ", partition_.accesses[i].how == how::once ? "0" : "k");
    };
    const auto has_position = [](const elementwise_kernel::operation& o) {
      return o.what == kind::random || o.what == kind::position || o.what == kind::read_at;
    };
    if (partition_.flat && std::ranges::any_of(kernel_.operations, has_position)) add_indexes(cat("(", first, " + k)"));
    add_operations(where, where, partition_.flat ? "" : "k");
    line("}");
    for (std::size_t i = 0; i < operands(); ++i)
      if (is_written(i)) add_transfer(i, first, true);
  }
  // Writes the loads, or the stores if `write`, of a thread's elements of operand i.
  void add_transfer(std::size_t i, const std::string& first, bool write) {
    const access& a = partition_.accesses[i];
    const auto move = [&](const std::string& mine, const std::string& theirs) {
      const std::string here = cat("m", i, "[", mine, "]"), there = cat(memory(i, a.bytes, !write), "[", theirs, "]");
      line(write ? there : here, " = ", write ? here : there, ";");
    };
    if (a.how == how::once) return move("0", offset_of(i));
    line("#pragma unroll");
    line("for (unsigned k = 0; k < ", bytes(i) * partition_.elements / a.bytes, "; ++k) {");
    if (a.how == how::wide) {
      move("k", cat("(", partition_.flat ? first : offset_of(i), ") / ", a.bytes / bytes(i), " + k"));
    } else {
      if (partition_.flat) add_indexes(cat("(", first, " + k)"));
      move("k", partition_.flat ? offset_of(i) : cat(offset_of(i), " + k * ", stride_text(i, last_)));
    }
    line("}");
  }

  void add_tiles() {
    const tiles& t = *partition_.tiled;
    std::string rest = "static_cast<index>(blockIdx.x)";
    for (std::size_t k = last_ + 1; k-- > 0;) {
      const bool is_tiled = k == last_ || k == t.other;
      const std::int64_t n = is_tiled ? (kernel_.over.extent(k) + t.size - 1) / t.size : kernel_.over.extent(k);
      line("const index n", k, " = static_cast<index>(", number(n), ");");
      line("[[maybe_unused]] const index ", is_tiled ? "first" : "c", k, " = ", rest, " % n", k,
           is_tiled ? cat(" * ", t.size) : "", ";");
      rest += cat(" / n", k);
    }
    line("const unsigned column = threadIdx.x % ", warp, ", row = threadIdx.x / ", warp, ";");
    const auto is_inside = [&](std::size_t k) { return cat("c", k, " < e", k); };
    const auto is_staged = [&](std::size_t i) { return partition_.accesses[i].how == how::staged; };
    for (std::size_t i = 0; i < operands(); ++i) {
      if (!is_staged(i)) continue;
      // The pitch makes neighboring rows begin in different banks of shared memory.
      const unsigned pitch = t.size + (bytes(i) < 4 ? 4 / bytes(i) : 1);
      line("__shared__ ", unsigned_type(bytes(i)), " tile", i, "[", t.size, "][", pitch, "];");
      add_staging(i);
    }
    line("__syncthreads();");
    const auto where = [&](std::size_t i) {
      return is_staged(i) ? cat("&tile", i, "[k][i], 0") : cat("at.all[", i, "], ", offset_of(i));
    };
    add_tile_loop(t.size);
    line("[[maybe_unused]] const index c", t.other, " = first", t.other, " + i, c", last_, " = first", last_, " + k;");
    line("if (", is_inside(t.other), " && ", is_inside(last_), ") {");
    add_operations(where, where);
    line("}");
    line("}");
  }
  // Begins a loop over a thread's elements of a tile: those in every eighth row i and every 32nd column k.
  void add_tile_loop(unsigned size) {
    line("#pragma unroll");
    line("for (unsigned n = 0; n < ", size * size / block_threads, "; ++n) {");
    line("const unsigned i = row + n / ", size / warp, " * ", block_threads / warp, ", k = column + n % ", size / warp,
         " * ", warp, ";");
  }
  // Writes the copy of an operand to its tile in shared memory. All reads precede all stores, so that reads overlap.
  // Indexes after the last element are replaced by that of the last element.
  void add_staging(std::size_t i) {
    const tiles& t = *partition_.tiled;
    const auto clamped = [&](std::size_t k, const char* more) {
      line("[[maybe_unused]] const index c", k, " = first", k, " + ", more, " < e", k, " ? first", k, " + ", more,
           " : e", k, " - 1;");
    };
    line(unsigned_type(bytes(i)), " held", i, "[", t.size * t.size / block_threads, "];");
    add_tile_loop(t.size);
    clamped(last_, "i"), clamped(t.other, "k");
    line("held", i, "[n] = ", memory(i, bytes(i), true), "[", offset_of(i), "];");
    line("}");
    add_tile_loop(t.size);
    line("tile", i, "[i][k] = held", i, "[n];");
    line("}");
  }

  const elementwise_kernel& kernel_;
  const thread_partition& partition_;
  const std::size_t last_;
  kernel_text out_;
};

}  // namespace

std::string prelude_of(dtype compute_type, bool any_random, bool any_sets) {
  return cat(
      "#define TROUPE_CONSTANT_OPERATIONS\n", any_sets ? "#include <troupe/dnn/sets/threads.cuh>\n" : "",
      any_random ? "#include <troupe/dnn/operations/random/generator.hpp>\n" : "",
      "#include <troupe/epilogue/cuda/numbers.cuh>\n#include <troupe/epilogue/op_definitions.hpp>\n\n"
      "using namespace troupe;\nusing epilogue::op, epilogue::value_of;\nusing N = ",
      compute_type == dtype::f64 ? "double" : "float",
      ";\nusing number = epilogue::on_gpu::number<N>;\n"
      "__device__ inline unsigned quotient(unsigned n, long long by) {\n"
      "  return static_cast<unsigned>(static_cast<unsigned long long>(n) * static_cast<unsigned>(by) >> (by >> 32));"
      "\n}\n__device__ inline long long quotient(long long n, long long by) { return n / by; }\n"
      "__device__ inline N part_at(dtype t, const void* from, long long offset, N index, long long count, "
      "long long stride) {\n"
      "  if (!(index >= 0) || !(static_cast<double>(index) < static_cast<double>(count)))\n"
      "    return std::numeric_limits<N>::quiet_NaN();\n"
      "  return number::load(t, from, offset + static_cast<long long>(index) * stride);\n}\n"
      "template <int Count, int Numbers>\nstruct operands {\n  void* all[Count];\n"
      "  long long numbers[Numbers];\n};\n",
      any_sets ? "using dnn::reduction_kind;\nnamespace sets = dnn::sets;\n" : "");
}

kernel_text text_of(const elementwise_kernel& kernel, const thread_partition& partition) {
  return kernel_writer(kernel, partition).text();
}

}  // namespace troupe::dnn::generated
