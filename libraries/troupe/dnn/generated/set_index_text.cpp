// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/dnn/generated/set_index_text.hpp>
#include <troupe/dnn/generated/thread_partition.hpp>
#include <troupe/dnn/sets/set_partition.hpp>

namespace troupe::dnn::generated {

set_index_writer::set_index_writer(const sets::set_kernel& k, const std::vector<bool>& aligned)
    : k_(k),
      aligned_(aligned),
      columns_(k.layout.by_columns),
      along_(columns_ ? k.layout.sets : k.partition.width),
      sets_(columns_ ? k.layout.sets : 1),
      is_narrow_(has_narrow_indexes()),
      index_(is_narrow_ ? "unsigned" : "long long") {}

std::string set_index_writer::number(std::int64_t x) {
  out_.numbers.push_back(x);
  return cat("at.numbers[", out_.numbers.size() - 1, "]");
}

kernel_text set_index_writer::done() {
  out_.text = cat("(const __grid_constant__ operands<", k_.operands.size() + 1, ", ", out_.numbers.size(), "> at) {\n",
                  out_.text, "}\n");
  return std::move(out_);
}

bool set_index_writer::is_full() const noexcept {
  const sets::set_partition& p = k_.partition;
  return p.chunks * p.vectors * p.threads * p.width == k_.count_elements();
}

// Returns true if 32 bits hold the numbers of all threads and elements of a set. (Offsets in memory have 64 bits.)
bool set_index_writer::has_narrow_indexes() const noexcept {
  constexpr std::int64_t most = std::int64_t{1} << 30;
  return k_.count_elements() < most && sets::blocks_of(k_) * k_.partition.parts * k_.layout.block_threads < most;
}

std::string set_index_writer::inner_offset(std::size_t operand) {
  // Elements that are equally far apart need no indexes along the axes.
  std::int64_t next = k_.inner_stride(operand, inner_rank() - 1);
  bool is_even = next != 0;
  for (std::size_t a = inner_rank(); a-- > 0;) {
    is_even = is_even && (k_.inside.extent(a) == 1 || k_.inner_stride(operand, a) == next);
    next *= k_.inside.extent(a);
  }
  if (is_even) return cat("first * ", stride_text(operand, inner_rank() - 1, true));
  std::string out;
  for (std::size_t a = 0; a < inner_rank(); ++a)
    if (k_.inner_stride(operand, a) != 0 && k_.inside.extent(a) != 1)
      out += cat(out.empty() ? "" : " + ", "i", a, " * ", stride_text(operand, a, true));
  return out.empty() ? "0" : out;
}

// Returns the text for a stride, which is a number once, however often the text needs it.
std::string set_index_writer::stride_text(std::size_t operand, std::size_t axis, bool inner) {
  const std::int64_t stride = inner ? k_.inner_stride(operand, axis) : k_.outer_stride(operand, axis);
  std::string& known = strides_[{operand, axis, inner}];
  if (known.empty()) known = stride == 1 ? "1" : number(stride);
  return known;
}

void set_index_writer::add_set_index() {
  columns_ ? add_column_index() : add_row_index();
  add_bases();
  count_ = count(k_.count_elements());
  for (std::size_t a = 0; a < inner_rank(); ++a)
    extents_.push_back(a == 0 ? std::pair<std::string, std::string>() : divisor(k_.inside.extent(a)));
}

void set_index_writer::add_row_index() {
  const unsigned threads = k_.partition.threads, of_block = k_.layout.block_threads / threads;
  line("const unsigned thread = threadIdx.x % ", threads, ";");
  line("const ", index_, " item = static_cast<", index_, ">(blockIdx.x) * ", of_block, " + threadIdx.x / ", threads,
       ";");
  line("const bool is_there = item < ", count(k_.count_sets() * k_.partition.parts), ";");
  line(index_, " rest = is_there ? item : 0;");
  if (has_parts()) add_division("part", k_.partition.parts);
  line("[[maybe_unused]] const ", index_, " set = rest;");
  add_outer_indexes(outer_rank());
}

// Writes the division of `rest` by a number. The remainder gets a name.
void set_index_writer::add_division(const std::string& remainder, std::int64_t by) {
  const auto [n, text] = divisor(by);
  line("const ", index_, " without_", remainder, " = quotient(rest, ", text, ");");
  line("[[maybe_unused]] const ", index_, " ", remainder, " = rest - without_", remainder, " * ", n, ";");
  line("rest = without_", remainder, ";");
}
// Writes the indexes of the set along the first `axes` axes outside.
void set_index_writer::add_outer_indexes(std::size_t axes) {
  for (std::size_t a = axes; a-- > 1;) add_division(cat("o", a), k_.outside.extent(a));
  if (axes != 0) line("[[maybe_unused]] const ", index_, " o0 = rest;");
}

void set_index_writer::add_column_index() {
  const sets::set_layout& l = k_.layout;
  const std::size_t last = outer_rank() - 1;
  const std::string extent = count(k_.outside.extent(last));
  // Moments are three numbers, and combined for one set after the other.
  if (k_.partition.threads != 1) line("__shared__ double shared[", std::max(l.sets, 3u) * l.block_threads, "];");
  line("const unsigned lane = threadIdx.x % ", l.lanes, ", thread = threadIdx.x / ", l.lanes, " % ",
       k_.partition.threads, ";");
  line(index_, " rest = blockIdx.x;");
  add_division("tile", (k_.outside.extent(last) - 1) / (std::int64_t{l.lanes} * l.sets) + 1);
  line("const ", index_, " column = (tile * ", l.lanes, " + lane) * ", l.sets, ";");
  if (has_parts()) add_division("part", k_.partition.parts);
  if (l.lines != 1) line("rest = rest * ", l.lines, " + threadIdx.x / ", l.lanes * k_.partition.threads, ";");
  line("const bool is_there = column < ", extent,
       l.lines != 1 ? cat(" && rest < ", count(k_.outside.lines())) : std::string(), ";");
  line("if (!is_there) rest = 0;");
  line("[[maybe_unused]] const ", index_, " o", last, " = is_there ? column : 0;");
  line("[[maybe_unused]] const ", index_, " set = rest * ", extent, " + o", last, ";");
  add_outer_indexes(last);
}

// Writes the offset of the set in each operand: b0, b1, ...
void set_index_writer::add_bases() {
  for (std::size_t i = 0; i < k_.operands.size(); ++i) {
    std::string sum;
    for (std::size_t a = 0; a < outer_rank(); ++a)
      if (k_.outer_stride(i, a) != 0 && k_.outside.extent(a) != 1)
        sum += cat(sum.empty() ? "" : " + ", "o", a, " * ", stride_text(i, a, false));
    line("[[maybe_unused]] const long long b", i, " = ", sum.empty() ? "0" : sum, ";");
  }
}

// Returns the bytes of a load or store of neighbors of an operand; 0 if it has the same element for all of them.
unsigned set_index_writer::bytes_at_once(std::size_t operand) const {
  const std::int64_t stride = neighbor_stride(operand);
  const unsigned size = bytes(operand);
  if (stride == 0) return 0;
  if (stride != 1) return size;
  const location& l = k_.operands[operand];
  unsigned width = l.is_buffer || aligned_[l.number] ? widest : size;
  const auto fits = [&](std::int64_t n) { return n * size % width == 0; };
  while (width > size && !(fits(along_) && fits(l.offset))) width /= 2;
  const std::size_t outer = outer_rank() - (columns_ ? 1 : 0), inner = inner_rank() - (columns_ ? 0 : 1);
  for (std::size_t a = 0; a < outer; ++a)
    while (width > size && k_.outside.extent(a) != 1 && !fits(k_.outer_stride(operand, a))) width /= 2;
  for (std::size_t a = 0; a < inner; ++a)
    while (width > size && k_.inside.extent(a) != 1 && !fits(k_.inner_stride(operand, a))) width /= 2;
  return width;
}

// Begins the loop over the chunks of the part.
void set_index_writer::begin_chunks() {
  const std::string chunks = number(k_.partition.chunks);
  if (!has_parts()) return line("for (", index_, " chunk = 0; chunk < ", chunks, "; ++chunk) {");
  const std::string parts = number(k_.partition.parts);
  line("const long long end = ", chunks, " * (part + 1) / ", parts, ";");
  line("#pragma unroll 4");
  line("for (", index_, " chunk = ", chunks, " * part / ", parts, "; chunk < end; ++chunk) {");
}

// Writes the index of the first neighbor of vector v: i0, i1, ... along the axes inside. `has` is false after the last
// element.
void set_index_writer::add_element_index() {
  const sets::set_partition& p = k_.partition;
  line("const ", index_, " first = ((", p.is_held() ? "0" : "chunk", " * ", p.vectors, "u + v) * ", p.threads,
       " + thread) * ", p.width, ";");
  // Of held elements, only the last vector may be after the end.
  const std::string begins = is_full() ? "true" : "first < " + count_;
  line("[[maybe_unused]] const bool has = ", begins,
       p.is_held() && !is_full() ? cat(" || v < ", p.vectors - 1) : std::string(), ";");
  std::string rest = "first";
  for (std::size_t a = inner_rank(); a-- > 1;) {
    const std::string next = cat("r", a);
    line("[[maybe_unused]] const ", index_, " ", next, " = quotient(", rest, ", ", extents_[a].second, ");");
    line("[[maybe_unused]] const ", index_, " i", a, " = ", rest, " - ", next, " * ", extents_[a].first, ";");
    rest = next;
  }
  line("[[maybe_unused]] const ", index_, " i0 = ", rest, ";");
}

}  // namespace troupe::dnn::generated
