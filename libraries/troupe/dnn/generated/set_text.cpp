// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
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
  const operation& at(std::size_t i) const noexcept { return k_.operations[i]; }
  unsigned elements() const noexcept { return k_.partition.vectors * along_; }
  std::vector<std::size_t> needed_for(std::size_t which) const;
  void add_value_of_set(std::size_t i);
  void add_writes_of_sets();
  void add_loads(const std::vector<std::size_t>& which);
  void add_values(const std::vector<std::size_t>& which);
  void add_reductions(const std::vector<std::size_t>& all);
  void add_result(std::size_t i);
  void add_writes_of_elements();
  void add_transfer(std::size_t operand, const std::string& mine, bool write);
  std::string how(std::size_t i) const {
    return cat("static_cast<reduction_kind>(", static_cast<int>(at(i).reduction), ")");
  }
  const char* type_of_part(std::size_t i) const noexcept {
    return sets::combines_in_double(at(i).reduction) ? "double" : "N";
  }
  std::string value(std::uint16_t i, const char* set) const {
    return k_.is_of_set[i] ? cat("s", i, "[", set, "]") : cat("v", i, "[e]");
  }

  std::vector<bool> known_;  // operations whose values the text has computed, for elements that are held
  const std::vector<std::size_t> depth_;
};

// Returns the operations that compute values of elements for an operation, in order; without those that are known.
std::vector<std::size_t> set_writer::needed_for(std::size_t which) const {
  std::vector<bool> needed(which + 1);
  needed[which] = true;
  for (std::size_t i = which + 1; i-- > 0;) {
    const operation& o = at(i);
    if (!needed[i] || known_[i] || o.what == kind::read || o.what == kind::number) continue;
    for (const std::uint16_t a : o.from) needed[a] = true;
  }
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < which; ++i)
    if (needed[i] && !known_[i] && !k_.is_of_set[i]) out.push_back(i);
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
// memory.
void set_writer::add_transfer(std::size_t operand, const std::string& mine, bool write) {
  const unsigned at_once = bytes_at_once(operand), size = bytes(operand), width = at_once == 0 ? size : at_once;
  const unsigned count = at_once == 0 ? 1 : along_ * size / at_once;
  const std::int64_t stride = neighbor_stride(operand);
  const char* const of = write ? "" : "const ";
  line("{");
  line("auto* const p = reinterpret_cast<", of, unsigned_type(width), "*>(static_cast<", of, unsigned_type(size),
       "*>(at.all[", operand, "]) + b", operand, " + ", inner_offset(operand), ");");
  line("#pragma unroll");
  line("for (int q = 0; q < ", count, "; ++q)");
  const std::string here = cat(mine, "[v * ", count, " + q]"),
                    there = cat("p[q", stride > 1 && count > 1 ? " * " + neighbor_stride_text(operand) : "", "]");
  line("  ", write ? there : here, " = ", write ? here : there, ";");
  line("}");
}

// Writes the loads of all operands that operations read.
void set_writer::add_loads(const std::vector<std::size_t>& which) {
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
  line("for (int v = 0; v < ", k_.partition.vectors, "; ++v)");
  line("#pragma unroll");
  line("for (int j = 0; j < ", along_, "; ++j) {");
  line("const int e = v * ", along_, " + j;");
  for (const std::size_t i : which) {
    const operation& o = at(i);
    const bool once = o.what == kind::read && bytes_at_once(o.operand) == 0;
    line("v", i, "[e] = ",
         o.what == kind::read ? cat("number::load(", text_of(type(o.operand)), ", m", i, ", ", once ? "v" : "e", ")")
                              : value_of(o, [&](std::uint16_t a) { return value(a, columns_ ? "j" : "0"); }),
         ";");
  }
  line("}");
}

// Writes the sums, or other combinations, of a thread's elements for reductions of which none depends on another, and
// combines them.
void set_writer::add_reductions(const std::vector<std::size_t>& all) {
  std::vector<std::size_t> needed;
  for (const std::size_t i : all) {
    for (const std::size_t n : needed_for(i))
      if (std::ranges::find(needed, n) == needed.end()) needed.push_back(n);
    line("double t", i, "[", sets_, "];");
    line("for (double& t : t", i, ") t = sets::start_of<double>(", how(i), ");");
  }
  std::ranges::sort(needed);
  const bool held = k_.partition.is_held();
  if (!held) line("{"), begin_chunks();
  add_values(needed);
  for (const std::size_t i : all) {
    line(type_of_part(i), " p", i, "[", sets_, "];");
    line("for (auto& t : p", i, ") t = sets::start_of<", type_of_part(i), ">(", how(i), ");");
  }
  line("#pragma unroll");
  line("for (int v = 0; v < ", k_.partition.vectors, "; ++v) {");
  add_element_index();
  line("if (has) {");
  line("#pragma unroll");
  line("for (int j = 0; j < ", along_, "; ++j) {");
  line("[[maybe_unused]] const int e = v * ", along_, " + j;");
  for (const std::size_t i : all) {
    const std::string to = cat("p", i, "[", columns_ ? "j" : "0", "]");
    line(to, " = sets::combine(", how(i), ", ", to, ", sets::prepared<", type_of_part(i), ">(", how(i), ", ",
         value(at(i).from[0], columns_ ? "j" : "0"), "));");
  }
  line("}");
  line("}");
  line("}");
  for (const std::size_t i : all)
    line("for (int j = 0; j < ", sets_, "; ++j) t", i, "[j] = sets::combine(", how(i), ", t", i,
         "[j], static_cast<double>(p", i, "[j]));");
  if (!held) line("} }");
  // Values of elements that are held stay known.
  for (const std::size_t n : needed) known_[n] = known_[n] || held;
  for (const std::size_t i : all) add_result(i);
}

// Combines the threads' results of a reduction. Writes it as a value of sets, or as the result of a part.
void set_writer::add_result(std::size_t i) {
  const sets::set_partition& p = k_.partition;
  if (columns_)
    line("sets::combine_columns<", how(i), ", ", p.threads, ", ", k_.layout.lanes, ", ", k_.layout.block_threads, ", ",
         sets_, ">(t", i, p.threads == 1 ? ", nullptr);" : ", shared);");
  else
    line("t", i, "[0] = sets::combine_neighbors<", how(i), ", ", p.threads, ", ", k_.layout.block_threads, ">(t", i,
         "[0]);");
  if (has_parts()) {
    const auto before = std::ranges::count(
        k_.operations.begin(), k_.operations.begin() + static_cast<std::ptrdiff_t>(i), kind::reduce, &operation::what);
    line("if (is_there && thread == 0)");
    line("  for (int j = 0; j < ", sets_, "; ++j)");
    line("    static_cast<double*>(at.all[", k_.operands.size(), "])[(", before, " * ", number(k_.count_sets()),
         " + set + j) * ", count(p.parts), " + part] = t", i, "[j];");
    return;
  }
  line("[[maybe_unused]] N s", i, "[", sets_, "];");
  line("for (int j = 0; j < ", sets_, "; ++j) s", i, "[j] = static_cast<N>(sets::finished(", how(i), ", t", i, "[j], ",
       number(k_.count_elements()), "));");
}

// Writes the results of elements.
void set_writer::add_writes_of_elements() {
  std::vector<std::size_t> writes, needed;
  for (std::size_t i = 0; i < k_.operations.size(); ++i) {
    if (at(i).what != kind::write || k_.is_of_set[i]) continue;
    writes.push_back(i);
    for (const std::size_t n : needed_for(i))
      if (std::ranges::find(needed, n) == needed.end()) needed.push_back(n);
  }
  if (writes.empty()) return;
  std::ranges::sort(needed);
  if (!k_.partition.is_held()) line("{"), begin_chunks();
  add_values(needed);
  for (const std::size_t i : writes) {
    const unsigned at_once = std::max(bytes_at_once(at(i).operand), bytes(at(i).operand)), size = bytes(at(i).operand);
    line("alignas(16) ", unsigned_type(at_once), " w", i, "[", elements() * size / at_once, "];");
  }
  line("#pragma unroll");
  line("for (int v = 0; v < ", k_.partition.vectors, "; ++v) {");
  line("#pragma unroll");
  line("for (int j = 0; j < ", along_, "; ++j) {");
  line("const int e = v * ", along_, " + j;");
  for (const std::size_t i : writes)
    line("number::store(", text_of(type(at(i).operand)), ", w", i, ", e, ", value(at(i).from[0], columns_ ? "j" : "0"),
         ");");
  line("}");
  add_element_index();
  line("if (has && is_there) {");
  for (const std::size_t i : writes) add_transfer(at(i).operand, cat("w", i), true);
  line("}");
  line("}");
  if (!k_.partition.is_held()) line("} }");
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
  std::size_t reductions = 0;
  for (std::size_t i = 0; i < k_.operations.size(); ++i) {
    const operation& o = at(i);
    if (!k_.is_of_set[i] || o.what == kind::write) continue;
    if (o.what != kind::reduce) {
      w.add_value_of_set(i);
      continue;
    }
    const std::string how = this->how(i), parts = w.count(k_.partition.parts);
    w.line("double t", i, " = sets::start_of<double>(", how, ");");
    w.line("for (long long p = thread; p < ", parts, "; p += ", threads, ")");
    w.line("  t", i, " = sets::combine(", how, ", t", i, ", static_cast<const double*>(at.all[", k_.operands.size(),
           "])[(", reductions++, " * ", w.number(k_.count_sets()), " + set) * ", parts, " + p]);");
    w.line("t", i, " = sets::combine_neighbors<", how, ", ", threads, ", ", block, ">(t", i, ");");
    w.line("[[maybe_unused]] N s", i, "[1] = {static_cast<N>(sets::finished(", how, ", t", i, ", ",
           w.number(k_.count_elements()), "))};");
  }
  w.add_writes_of_sets();
  w.out_.blocks = (k_.count_sets() - 1) / (block / threads) + 1, w.out_.threads = block;
  return w.done();
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
