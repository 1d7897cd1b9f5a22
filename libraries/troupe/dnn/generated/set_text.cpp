// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <functional>
#include <troupe/base/text/cat.hpp>
#include <troupe/dnn/generated/set_index_text.hpp>
#include <troupe/dnn/generated/set_text.hpp>
#include <troupe/dnn/generated/text_parts.hpp>
#include <troupe/dnn/sets/combining.hpp>
#include <troupe/dnn/sets/set_partition.hpp>

namespace troupe::dnn::generated {
namespace {

using sets::set_kernel;
using operation = set_kernel::operation;
using kind = operation::kind;

// Writes kernels. Values of elements are v3[e] in their text for operation 3, values of sets s3[j].
class set_writer : public set_index_writer {
 public:
  set_writer(const set_kernel& k, const std::vector<bool>& aligned)
      : set_index_writer(k, aligned), known_(k.operations.size()), depth_(sets::depths_of(k)) {}

  kernel_text main_kernel();
  kernel_text parts_kernel();

 private:
  using reducing = operation::reducing;
  const operation& at(std::size_t i) const noexcept { return k_.operations[i]; }
  unsigned elements() const noexcept { return k_.partition.vectors * along_; }
  bool is_held() const noexcept { return k_.partition.is_held(); }
  bool reduces(std::size_t i, reducing form) const noexcept { return at(i).what == kind::reduce && at(i).form == form; }
  std::vector<std::size_t> needed_for(const std::vector<std::size_t>& all) const;
  void add_value_of_set(std::size_t i);
  void add_writes_of_sets();
  void add_loads(const std::vector<std::size_t>& which);
  void add_values(const std::vector<std::size_t>& which);
  std::string element(std::size_t i, const std::string& memory,
                      const std::function<std::string(std::uint16_t)>& argument);
  void add_loop_over_elements(const std::vector<std::string>& lines);
  void add_reductions(const std::vector<std::size_t>& all);
  void add_parts_of_chunk(const std::vector<std::size_t>& all);
  void add_combinations(const std::vector<std::size_t>& all);
  void add_result(std::size_t i);
  void add_writes_of_elements();
  void add_parts(std::size_t i, const sets::set_partition& p, unsigned block_threads);
  void add_transfer(std::size_t operand, const std::string& mine, bool write, bool of_vector = false);
  std::size_t slot_of(std::size_t i) const {
    return static_cast<std::size_t>(std::ranges::count(
        k_.operations.begin(), k_.operations.begin() + static_cast<std::ptrdiff_t>(i), kind::reduce, &operation::what));
  }
  // Returns the operation that reduces the same moments to the mean of squares; 0 if there is none.
  std::size_t squares_with(std::size_t mean) const {
    for (std::size_t i = mean; i < k_.operations.size(); ++i)
      if (reduces(i, reducing::squares) && at(i).from[1] == mean) return i;
    return 0;
  }
  std::string how(std::size_t i) const {
    return cat("static_cast<reduction_kind>(", static_cast<int>(at(i).reduction), ")");
  }
  const char* type_of_part(std::size_t i) const noexcept {
    return sets::combines_in_double(at(i).reduction) ? "double" : "N";
  }
  const char* type_of_total(std::size_t i) const noexcept { return is_held() ? type_of_part(i) : "double"; }
  // Returns the texts for 1 divided by the number of elements, and for this number.
  std::string share() {
    const auto count = static_cast<double>(k_.count_elements());
    const auto text = [&](double x) {
      return cat("__builtin_bit_cast(double, ", number(std::bit_cast<std::int64_t>(x)), ")");
    };
    return cat(text(1 / count), ", ", text(count));
  }
  std::string value(std::uint16_t i, const char* set) const {
    return k_.is_of_set[i] ? cat("s", i, "[", set, "]") : cat("v", i, "[e]");
  }
  const char* neighbor() const noexcept { return columns_ ? "j" : "0"; }

  std::vector<bool> known_;  // operations whose values the text has computed, for elements that are held
  const std::vector<std::size_t> depth_;
};

// Returns the operations that compute values of elements for some operations, in order; without those that are known.
std::vector<std::size_t> set_writer::needed_for(const std::vector<std::size_t>& all) const {
  std::vector<bool> needed(k_.operations.size());
  for (const std::size_t i : all)
    for (const std::uint16_t a : at(i).from) needed[a] = true;
  std::vector<std::size_t> out;
  for (std::size_t i = needed.size(); i-- > 0;) {
    if (!needed[i] || known_[i] || k_.is_of_set[i]) continue;
    out.push_back(i);
    if (at(i).has_arguments())
      for (const std::uint16_t a : at(i).from) needed[a] = true;
  }
  std::ranges::reverse(out);
  return out;
}

// -- values of sets

void set_writer::add_value_of_set(std::size_t i) {
  const operation& o = at(i);
  line("[[maybe_unused]] N s", i, "[", sets_, "];");
  line("#pragma unroll");
  line("for (int j = 0; j < ", sets_, "; ++j)");
  if (o.what == kind::read) {
    const std::int64_t stride = columns_ ? neighbor_stride(o.operand) : 0;
    line("  s", i, "[j] = number::load(", text_of(type(o.operand)), ", at.all[", o.operand, "], b", o.operand,
         stride == 0 ? "" : " + j * " + neighbor_stride_text(o.operand), ");");
  } else if (o.what == kind::position) {
    line("  s", i, "[j] = static_cast<N>(b", o.operand,
         columns_ && neighbor_stride(o.operand) != 0 ? " + j * " + neighbor_stride_text(o.operand) : "", ");");
  } else if (o.what == kind::number) {
    line("  s", i, "[j] = ", text_of_bits(number(std::bit_cast<std::int64_t>(o.value))), ";");
  } else {
    line("  s", i, "[j] = ", value_of(o, [&](std::uint16_t a) { return value(a, "j"); }), ";");
  }
}

void set_writer::add_writes_of_sets() {
  for (std::size_t i = 0; i < k_.operations.size(); ++i) {
    const operation& o = at(i);
    if (o.what != kind::write || !k_.is_of_set[i]) continue;
    const std::int64_t stride = columns_ ? neighbor_stride(o.operand) : 0;
    line("if (is_there && thread == 0)");
    line("  for (int j = 0; j < ", sets_, "; ++j)");
    line("    number::store(", text_of(type(o.operand)), ", at.all[", o.operand, "], b", o.operand,
         stride == 0 ? "" : " + j * " + neighbor_stride_text(o.operand), ", s", o.from[0], "[j]);");
  }
}

// -- values of elements

// Writes the loads, or the stores if `write`, of the neighbors of vector v of an operand. `mine` is the thread's
// memory; if `of_vector`, for this vector only.
void set_writer::add_transfer(std::size_t operand, const std::string& mine, bool write, bool of_vector) {
  const unsigned at_once = bytes_at_once(operand), size = bytes(operand), width = at_once == 0 ? size : at_once;
  const unsigned count = at_once == 0 ? 1 : along_ * size / at_once;
  const std::int64_t stride = neighbor_stride(operand);
  const char* const of = write ? "" : "const ";
  line("{");
  line("auto* const p = reinterpret_cast<", of, unsigned_type(width), "*>(static_cast<", of, unsigned_type(size),
       "*>(at.all[", operand, "]) + b", operand, " + ", inner_offset(operand), ");");
  line("#pragma unroll");
  line("for (int q = 0; q < ", count, "; ++q)");
  const std::string here = cat(mine, of_vector ? "[q]" : cat("[v * ", count, " + q]")),
                    there = cat("p[q", stride > 1 && count > 1 ? " * " + neighbor_stride_text(operand) : "", "]");
  line("  ", write ? there : here, " = ", write ? here : there, ";");
  line("}");
}

// Writes the loads of all operands that operations read.
void set_writer::add_loads(const std::vector<std::size_t>& which) {
  if (std::ranges::none_of(which, [&](std::size_t i) { return at(i).what == kind::read; })) return;
  const unsigned vectors = k_.partition.vectors;
  for (const std::size_t i : which) {
    if (at(i).what != kind::read) continue;
    const unsigned at_once = bytes_at_once(at(i).operand), size = bytes(at(i).operand);
    line("alignas(16) ", unsigned_type(at_once == 0 ? size : at_once), " m", i, "[",
         vectors * (at_once == 0 ? 1 : along_ * size / at_once), "]", is_full() ? "" : " = {}", ";");
  }
  line("#pragma unroll");
  line("for (int v = 0; v < ", vectors, "; ++v) {");
  add_element_index();
  line("if (has) {");
  for (const std::size_t i : which)
    if (at(i).what == kind::read) add_transfer(at(i).operand, cat("m", i), false);
  line("}");
  line("}");
}

void set_writer::add_values(const std::vector<std::size_t>& which) {
  if (which.empty()) return;
  add_loads(which);
  for (const std::size_t i : which) line("[[maybe_unused]] N v", i, "[", elements(), "];");
  line("#pragma unroll");
  line("for (int v = 0; v < ", k_.partition.vectors, "; ++v) {");
  if (std::ranges::any_of(which, [&](std::size_t i) { return at(i).what == kind::position; })) add_element_index();
  line("#pragma unroll");
  line("for (int j = 0; j < ", along_, "; ++j) {");
  line("const int e = v * ", along_, " + j;");
  for (const std::size_t i : which) {
    const bool once = at(i).what == kind::read && bytes_at_once(at(i).operand) == 0;
    line("v", i,
         "[e] = ", element(i, cat("m", i, once ? ", v" : ", e"), [&](std::uint16_t a) { return value(a, neighbor()); }),
         ";");
  }
  line("}");
  line("}");
}

// Returns the text for the value of an element. What it reads is in `memory`.
std::string set_writer::element(std::size_t i, const std::string& memory,
                                const std::function<std::string(std::uint16_t)>& argument) {
  const operation& o = at(i);
  if (o.what == kind::read) return cat("number::load(", text_of(type(o.operand)), ", ", memory, ")");
  if (o.what != kind::position) return value_of(o, argument);
  const std::string along = neighbor_stride(o.operand) != 0 ? " + j * " + neighbor_stride_text(o.operand) : "";
  return cat("static_cast<N>(static_cast<", index_, ">(b", o.operand, " + ", inner_offset(o.operand), along, "))");
}

void set_writer::add_loop_over_elements(const std::vector<std::string>& lines) {
  line("#pragma unroll");
  line("for (int v = 0; v < ", k_.partition.vectors, "; ++v) {");
  add_element_index();
  line("if (has) {");
  line("#pragma unroll");
  line("for (int j = 0; j < ", along_, "; ++j) {");
  line("[[maybe_unused]] const int e = v * ", along_, " + j;");
  for (const std::string& l : lines) line(l);
  line("}");
  line("}");
  line("}");
}

// Writes what a thread's elements, or those of a chunk, contribute to reductions: p3[j] for reduction 3, of moments
// their mean; and their number, n3 if 3 is the first reduction.
void set_writer::add_parts_of_chunk(const std::vector<std::size_t>& all) {
  std::vector<std::string> sums, squares;
  bool any_moments = false;
  for (const std::size_t i : all) {
    const std::string to = cat("p", i, "[", neighbor(), "]"), x = value(at(i).from[0], neighbor());
    line(type_of_part(i), " p", i, "[", sets_, "];");
    line("for (auto& t : p", i, ") t = sets::start_of<", type_of_part(i), ">(", how(i), ");");
    if (at(i).form == reducing::moments) {
      any_moments = true;
      // Distances from the first element lose less to rounding than the elements.
      line("N f", i, "[", sets_, "];");
      line("for (int j = 0; j < ", sets_, "; ++j) f", i, "[j] = ", k_.is_of_set[at(i).from[0]] ? "s" : "v",
           at(i).from[0], "[j];");
      sums.push_back(cat(to, " += ", x, " - f", i, "[", neighbor(), "];"));
    } else if (at(i).form == reducing::squares) {
      const std::string distance = cat(x, " - p", at(i).from[1], "[", neighbor(), "]");
      squares.push_back(cat("{ const N d = ", distance, "; ", to, " = sets::multiply_add(d, d, ", to, "); }"));
    } else if (at(i).form == reducing::products) {
      sums.push_back(cat(to, " = sets::multiply_add(", x, ", ", value(at(i).from[1], neighbor()), ", ", to, ");"));
    } else {
      sums.push_back(cat(to, " = sets::combine(", how(i), ", ", to, ", sets::prepared<", type_of_part(i), ">(", how(i),
                         ", ", x, "));"));
    }
  }
  add_loop_over_elements(sums);
  if (!any_moments) return;
  // Columns have an element for each vector.
  const unsigned of_vector = columns_ ? 1 : along_;
  const std::string n = cat("n", all[0]);
  if (is_full()) {
    line("constexpr N ", n, " = ", k_.partition.vectors * of_vector, ";");
  } else {
    line("N ", n, " = 0;");
    line("#pragma unroll");
    line("for (int v = 0; v < ", k_.partition.vectors, "; ++v) {");
    add_element_index();
    line("if (has) ", n, " += ", of_vector, ";");
    line("}");
  }
  for (const std::size_t i : all)
    if (at(i).form == reducing::moments)
      line("for (int j = 0; j < ", sets_, "; ++j) p", i, "[j] = sets::multiply_add(p", i, "[j], ", n, " != 0 ? 1 / ", n,
           " : 1, f", i, "[j]);");
  if (!squares.empty()) add_loop_over_elements(squares);
}

// Writes the sums, or other combinations, of a thread's elements for reductions of which none depends on another, and
// combines them.
void set_writer::add_reductions(const std::vector<std::size_t>& all) {
  const std::vector<std::size_t> needed = needed_for(all);
  const auto total = [&](std::size_t i) {
    const std::size_t squares = squares_with(i);
    return at(i).form == reducing::moments ? cat("sets::moments<", type_of_total(i), ">{n", all[0], ", p", i, "[j], ",
                                                 squares != 0 ? cat("p", squares, "[j]") : "0", "}")
                                           : cat("p", i, "[j]");
  };
  const auto type = [&](std::size_t i) {
    return at(i).form == reducing::moments ? cat("sets::moments<", type_of_total(i), ">")
                                           : std::string(type_of_total(i));
  };
  if (is_held()) {
    add_values(needed);
    add_parts_of_chunk(all);
    for (const std::size_t i : all) {
      if (at(i).form == reducing::squares) continue;
      line(type(i), " t", i, "[", sets_, "];");
      line("for (int j = 0; j < ", sets_, "; ++j) t", i, "[j] = ", total(i), ";");
    }
    for (const std::size_t n : needed) known_[n] = true;
  } else {
    for (const std::size_t i : all) {
      if (at(i).form == reducing::squares) continue;
      line(type(i), " t", i, "[", sets_, "];");
      line("for (auto& t : t", i,
           ") t = ", at(i).form == reducing::moments ? cat(type(i), "{}") : cat("sets::start_of<double>(", how(i), ")"),
           ";");
    }
    line("{");
    begin_chunks();
    add_values(needed);
    add_parts_of_chunk(all);
    for (const std::size_t i : all) {
      if (at(i).form == reducing::squares) continue;
      line("for (int j = 0; j < ", sets_, "; ++j) t", i, "[j] = sets::combine",
           at(i).form == reducing::moments ? "<N>(" : "(" + how(i) + ", ", "t", i, "[j], ",
           at(i).form == reducing::moments ? total(i) : cat("static_cast<double>(", total(i), ")"), ");");
    }
    line("} }");
  }
  add_combinations(all);
  for (const std::size_t i : all) add_result(i);
}

// Combines the threads' totals.
void set_writer::add_combinations(const std::vector<std::size_t>& all) {
  const sets::set_partition& p = k_.partition;
  const char* const memory = p.threads == 1 ? "nullptr" : "shared";
  std::string hows, totals;  // of those whose threads are neighbors
  for (const std::size_t i : all) {
    if (at(i).form == reducing::squares) continue;
    const bool moments = at(i).form == reducing::moments;
    if (columns_) {
      line("sets::combine_columns<", moments ? "" : how(i) + ", ", p.threads, ", ", k_.layout.lanes, ", ",
           moments ? "N" : cat(k_.layout.block_threads), ", ", sets_, ">(t", i, ", ", memory, ");");
    } else if (moments) {
      line("sets::combine_neighbors<", i, ", ", p.threads, ", ", k_.layout.block_threads, ", ",
           is_held() && is_full() ? "true" : "false", ", N>(t", i, "[0]);");
    } else {
      hows += ", " + how(i), totals += cat(totals.empty() ? "t" : ", t", i, "[0]");
    }
  }
  if (!totals.empty())
    line("sets::combine_neighbors<", all[0], ", ", p.threads, ", ", k_.layout.block_threads, hows, ">(", totals, ");");
}

// Writes the result of a reduction as a value of sets, or as that of a part.
void set_writer::add_result(std::size_t i) {
  const bool squares = at(i).form == reducing::squares, moments = at(i).form == reducing::moments;
  const std::string total =
      squares ? cat("t", at(i).from[1], "[j].squares") : cat("t", i, moments ? "[j].mean" : "[j]");
  if (has_parts()) {
    line("if (is_there && thread == 0)");
    line("  for (int j = 0; j < ", sets_, "; ++j)");
    line("    static_cast<double*>(at.all[", k_.operands.size(), "])[(", slot_of(i), " * ", number(k_.count_sets()),
         " + set + j) * ", count(k_.partition.parts), " + part] = ", total, ";");
    return;
  }
  line("[[maybe_unused]] N s", i, "[", sets_, "];");
  line("for (int j = 0; j < ", sets_, "; ++j) s", i, "[j] = static_cast<N>(",
       moments ? total : cat("sets::finished<N>(", how(i), ", static_cast<double>(", total, "), ", share(), ")"), ");");
}

// Writes the results of elements: one vector after the other, so that operands which all sets share take few registers.
void set_writer::add_writes_of_elements() {
  std::vector<std::size_t> writes;
  for (std::size_t i = 0; i < k_.operations.size(); ++i)
    if (at(i).what == kind::write && !k_.is_of_set[i]) writes.push_back(i);
  if (writes.empty()) return;
  const std::vector<std::size_t> needed = needed_for(writes);
  std::vector<std::size_t> early;  // what is read before
  for (const std::size_t i : needed)
    if (at(i).what == kind::read && k_.differs_among_sets(at(i).operand)) early.push_back(i);
  const auto is_early = [&](std::size_t i) { return std::ranges::find(early, i) != early.end(); };
  if (!is_held()) line("{"), begin_chunks();
  add_loads(early);
  line("#pragma unroll");
  line("for (int v = 0; v < ", k_.partition.vectors, "; ++v) {");
  add_element_index();
  for (const std::size_t i : needed) {
    if (at(i).what != kind::read || is_early(i)) continue;
    const unsigned at_once = bytes_at_once(at(i).operand), size = bytes(at(i).operand);
    line("alignas(16) ", unsigned_type(at_once == 0 ? size : at_once), " l", i, "[",
         at_once == 0 ? 1 : along_ * size / at_once, "]", is_full() ? "" : " = {}", ";");
    line("if (has)");
    add_transfer(at(i).operand, cat("l", i), false, true);
  }
  for (const std::size_t i : writes) {
    const unsigned at_once = std::max(bytes_at_once(at(i).operand), bytes(at(i).operand)), size = bytes(at(i).operand);
    line("alignas(16) ", unsigned_type(at_once), " w", i, "[", along_ * size / at_once, "];");
  }
  line("#pragma unroll");
  line("for (int j = 0; j < ", along_, "; ++j) {");
  line("[[maybe_unused]] const int e = v * ", along_, " + j;");
  const auto here = [&](std::uint16_t a) { return k_.is_of_set[a] || known_[a] ? value(a, neighbor()) : cat("x", a); };
  for (const std::size_t i : needed) {
    const bool once = at(i).what == kind::read && bytes_at_once(at(i).operand) == 0;
    const std::string read = is_early(i) ? cat("m", i, once ? ", v" : ", e") : cat("l", i, once ? ", 0" : ", j");
    line("[[maybe_unused]] const N x", i, " = ", element(i, read, here), ";");
  }
  for (const std::size_t i : writes)
    line("number::store(", text_of(type(at(i).operand)), ", w", i, ", j, ", here(at(i).from[0]), ");");
  line("}");
  line("if (has && is_there) {");
  for (const std::size_t i : writes) add_transfer(at(i).operand, cat("w", i), true, true);
  line("}");
  line("}");
  if (!is_held()) line("} }");
}

kernel_text set_writer::main_kernel() {
  const sets::set_partition& p = k_.partition;
  add_set_index();
  // Each round computes the values of sets that depend on the reductions so far, then the reductions of these values.
  const std::size_t rounds = has_parts() ? 1 : *std::ranges::max_element(depth_) + 1;
  for (std::size_t round = 0; round < rounds; ++round) {
    std::vector<std::size_t> next;
    for (std::size_t i = 0; i < k_.operations.size(); ++i) {
      if (at(i).what == kind::reduce && depth_[i] == round + 1)
        next.push_back(i);
      else if (at(i).what != kind::reduce && at(i).what != kind::write && k_.is_of_set[i] && depth_[i] == round)
        add_value_of_set(i);
    }
    if (!next.empty()) add_reductions(next);
  }
  add_writes_of_elements();
  if (!has_parts()) add_writes_of_sets();
  out_.blocks = sets::blocks_of(k_) * p.parts, out_.threads = k_.layout.block_threads;
  return done();
}

// The kernel that combines the parts of sets: sets are rows of parts.
kernel_text set_writer::parts_kernel() {
  constexpr unsigned threads = sets::threads_for_parts, block = 256;
  set_kernel of = k_;
  of.layout = {.block_threads = block};
  of.partition = {.threads = threads};
  set_writer w(of, aligned_);
  w.add_row_index();
  w.add_bases();
  for (std::size_t i = 0; i < k_.operations.size(); ++i) {
    const operation& o = at(i);
    if (!k_.is_of_set[i] || o.what == kind::write) continue;
    if (o.what != kind::reduce)
      w.add_value_of_set(i);
    else
      w.add_parts(i, k_.partition, block);
  }
  w.add_writes_of_sets();
  w.out_.blocks = (k_.count_sets() - 1) / (block / threads) + 1, w.out_.threads = block;
  return w.done();
}

// Combines the parts of a reduction of sets that are partitioned in this way.
void set_writer::add_parts(std::size_t i, const sets::set_partition& p, unsigned block_threads) {
  constexpr unsigned threads = sets::threads_for_parts;
  const std::string parts = count(p.parts);
  const auto part = [&](std::size_t of) {
    return cat("static_cast<const double*>(at.all[", k_.operands.size(), "])[(", slot_of(of), " * ",
               number(k_.count_sets()), " + set) * ", parts, " + p]");
  };
  const auto finished = [&](const std::string& total) {
    line("[[maybe_unused]] N s", i, "[1] = {static_cast<N>(", total, ")};");
  };
  const auto loop = cat("for (long long p = thread; p < ", parts, "; p += ", threads, ") {");
  if (at(i).form == reducing::moments) {
    const std::size_t squares = squares_with(i);
    const std::string chunks = number(p.chunks), elements = number(k_.count_elements()),
                      of_chunk = number(std::int64_t{p.vectors} * p.threads * p.width);
    line("sets::moments<double> t", i, " = {};");
    line(loop);
    line("const long long begin = ", chunks, " * p / ", parts, " * ", of_chunk, ", end = ", chunks, " * (p + 1) / ",
         parts, " * ", of_chunk, ";");
    line("t", i, " = sets::combine<N>(t", i, ", {static_cast<double>((end < ", elements, " ? end : ", elements,
         ") - begin), ", part(i), ", ", squares != 0 ? part(squares) : "0", "});");
    line("}");
    line("sets::combine_neighbors<", i, ", ", threads, ", ", block_threads, ", false, N>(t", i, ");");
    return finished(cat("t", i, ".mean"));
  }
  if (at(i).form == reducing::squares)
    return finished(cat("sets::finished<N>(", how(i), ", t", at(i).from[1], ".squares, ", share(), ")"));
  line("double t", i, " = sets::start_of<double>(", how(i), ");");
  line(loop);
  line("t", i, " = sets::combine(", how(i), ", t", i, ", ", part(i), ");");
  line("}");
  line("sets::combine_neighbors<", i, ", ", threads, ", ", block_threads, ", ", how(i), ">(t", i, ");");
  finished(cat("sets::finished<N>(", how(i), ", t", i, ", ", share(), ")"));
}

}  // namespace

std::vector<kernel_text> texts_of(const set_kernel& kernel, const std::vector<bool>& aligned) {
  set_writer w(kernel, aligned);
  std::vector<kernel_text> out;
  out.push_back(w.main_kernel());
  if (kernel.partition.parts != 1) out.push_back(w.parts_kernel());
  return out;
}

}  // namespace troupe::dnn::generated
