// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <troupe/dnn/host/pass.hpp>
#include <troupe/dnn/host/random.hpp>
#include <troupe/epilogue/host/runs.hpp>

namespace troupe::dnn::host {
namespace {

constexpr std::int64_t piece = 512;          // elements: a few results of them stay in the first cache
constexpr std::int64_t of_a_part = 1 << 14;  // elements, for one thread

template <class N>
class pieces {
 public:
  pieces(const pass& p, const workspace& w) : pass_(p) {
    for (const location& l : p.operands) at_.push_back(l.exists() ? w.at(l) : nullptr);
    for (const pass::sequence& s : p.sequences) sequences_.emplace_back(s, w);
  }

  /// What the operations of one thread give.
  struct results {
    explicit results(const pass& p) : memory(new N[p.operations.size() * piece]), of(p.operations.size()) {
      for (std::size_t i = 0; i < of.size(); ++i)
        if (p.operations[i].what == pass::operation::kind::number)
          std::fill_n(memory.get() + i * piece, piece, static_cast<N>(p.operations[i].value));
    }
    std::unique_ptr<N[]> memory;
    std::vector<const N*> of;
  };

  void run(std::int64_t line, std::int64_t first, std::int64_t count, results& r) const {
    for (std::size_t i = 0; i < pass_.operations.size(); ++i) {
      const pass::operation& o = pass_.operations[i];
      N* const to = r.memory.get() + i * piece;
      r.of[i] = to;
      using enum pass::operation::kind;
      switch (o.what) {
        case read:
          if (type(o) == dtype_of<N> && along(o) == 1)
            r.of[i] = reinterpret_cast<const N*>(place(o, line, first));
          else
            epilogue::host::read(type(o), place(o, line, first), along(o), to, count);
          break;
        case number:
          break;
        case apply:
          epilogue::host::apply(o.function, to, r.of[o.from[0]], r.of[o.from[1]], r.of[o.from[2]], count);
          break;
        case round:
          epilogue::host::round(o.type, r.of[o.from[0]], to, count);
          break;
        case write:
          epilogue::host::write(type(o), r.of[o.from[0]], place(o, line, first), along(o), count);
          break;
        case random:
          sequences_[o.from[0]].make(position(o, line, first), along(o), to, count);
      }
    }
  }

 private:
  dtype type(const pass::operation& o) const noexcept { return pass_.operands[o.operand].type; }
  std::int64_t along(const pass::operation& o) const noexcept { return pass_.over.along(pass_.walked[o.operand]); }
  std::int64_t position(const pass::operation& o, std::int64_t line, std::int64_t first) const noexcept {
    return pass_.over.begin(pass_.walked[o.operand], line) + first * along(o);
  }
  std::byte* place(const pass::operation& o, std::int64_t line, std::int64_t first) const noexcept {
    return at_[o.operand] + position(o, line, first) * static_cast<std::int64_t>(bytes_of(type(o)));
  }

  const pass& pass_;
  std::vector<std::byte*> at_;
  std::vector<random_sequence> sequences_;
};

}  // namespace

template <class N>
void run(const pass& p, const workspace& w) {
  const pieces<N> all(p, w);
  const std::int64_t length = p.over.length(), of_a_line = (length + piece - 1) / piece,
                     units = p.over.lines() * of_a_line,
                     grain = std::max<std::int64_t>(1, of_a_part / std::min(length, piece));
  w.team.spread((units + grain - 1) / grain, 1, [&](std::int64_t part) {
    typename pieces<N>::results r(p);
    for (std::int64_t u = part * grain; u < std::min(units, (part + 1) * grain); ++u) {
      const std::int64_t first = u % of_a_line * piece;
      all.run(u / of_a_line, first, std::min(piece, length - first), r);
    }
  });
}

template void run<float>(const pass&, const workspace&);
template void run<double>(const pass&, const workspace&);

}  // namespace troupe::dnn::host
