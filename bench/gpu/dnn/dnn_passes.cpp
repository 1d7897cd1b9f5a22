// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Functions of elements, softmax and reductions of bf16, compared with copies within the GPU's memory. The bytes are
// those that must be read and written.
#include <bench/case_list.hpp>
#include <bench/gpu/memory_limit.hpp>
#include <bench/measures.hpp>

namespace troupe::bench {
namespace {

/// Matrices of bf16, and memory for results in the shape of a reduction.
class matrices {
 public:
  matrices(const device& gpu, bool small)
      : rows_(small ? 16 : 8192),
        columns_(small ? 24 : 8192),
        a_(random(gpu, 1)),
        b_(random(gpu, 2)),
        c_(random(gpu, 3)),
        of_rows_(gpu.alloc<bfloat16>(static_cast<std::size_t>(rows_)), {rows_, 1}),
        of_columns_(gpu.alloc<bfloat16>(static_cast<std::size_t>(columns_)), {1, columns_}),
        of_all_(gpu.alloc<float>(1), {1, 1}) {}

  double bytes_of_one() const noexcept { return static_cast<double>(rows_ * columns_) * sizeof(bfloat16); }
  std::int64_t rows() const noexcept { return rows_; }
  // Return the last `n` rows.
  dnn::value a(std::int64_t n) const { return dnn::read(part(a_, n)); }
  dnn::value b(std::int64_t n) const { return dnn::read(part(b_, n)); }
  tensor<bfloat16> c(std::int64_t n) const { return part(c_, n); }
  tensor<bfloat16> of_rows(std::int64_t n) const { return part(of_rows_, n); }
  const tensor<bfloat16>& of_columns() const noexcept { return of_columns_; }
  const tensor<float>& of_all() const noexcept { return of_all_; }

 private:
  tensor<bfloat16> random(const device& gpu, std::uint64_t seed) const {
    return tensor(random_buffer<bfloat16>(gpu, rows_ * columns_, seed), {rows_, columns_});
  }
  tensor<bfloat16> part(const tensor<bfloat16>& t, std::int64_t n) const { return t.slice(0, rows_ - n, n); }
  std::int64_t rows_, columns_;
  tensor<bfloat16> a_, b_, c_, of_rows_, of_columns_;
  tensor<float> of_all_;
};

/// Measures the graph of all rows, and compares the results of the last `compared` rows with the reference; of all
/// rows, if each result depends on all. `passes` is the number of matrices that are read and written.
template <class GraphOf>
void add_pass(case_list& to, const char* name, const settings& s, const dnn_sides& on, const matrices& m, double passes,
              const GraphOf& graph_of, std::int64_t compared = 5) {
  const double bytes = passes * m.bytes_of_one();
  const auto found = against_copies(s.rounds(11), on, {.graph = graph_of(m.rows())}, bytes);
  to.add(name, bytes, 1, found, difference_from_reference(*on.gpu, graph_of(compared)));
}

}  // namespace

figures run_dnn_elements(const settings& s) {
  const dnn_sides on(s);
  const matrices m(*on.gpu, s.engine == "host");
  case_list all(1e9, "GB/s");
  all.begin_line("elements");
  add_pass(all, "a + b", s, on, m, 3, [&](std::int64_t n) { return dnn::graph{write(m.a(n) + m.b(n), m.c(n))}; });
  add_pass(all, "gelu(a) * b", s, on, m, 3,
           [&](std::int64_t n) { return dnn::graph{write(gelu(m.a(n)) * m.b(n), m.c(n))}; });
  return all.total(dnn_elements.goal.limit);
}

figures run_dnn_softmax(const settings& s) {
  const dnn_sides on(s);
  const matrices m(*on.gpu, s.engine == "host");
  case_list all(1e9, "GB/s");
  all.begin_line("softmax");
  add_pass(all, "forward", s, on, m, 2, [&](std::int64_t n) { return dnn::graph{write(softmax(m.a(n), 1), m.c(n))}; });
  add_pass(all, "backward", s, on, m, 3,
           [&](std::int64_t n) { return dnn::graph{write(softmax_gradient(m.a(n), m.b(n), 1), m.c(n))}; });
  return all.total(dnn_softmax.goal.limit);
}

figures run_dnn_reduce(const settings& s) {
  using enum dnn::reduction_kind;
  const dnn_sides on(s);
  const matrices m(*on.gpu, s.engine == "host");
  case_list all(1e9, "GB/s");
  all.begin_line("sums");
  add_pass(all, "of rows", s, on, m, 1,
           [&](std::int64_t n) { return dnn::graph{write(reduce(m.a(n), sum, {1}), m.of_rows(n))}; });
  add_pass(
      all, "of columns", s, on, m, 1,
      [&](std::int64_t n) { return dnn::graph{write(reduce(m.a(n), sum, {0}), m.of_columns())}; }, m.rows());
  add_pass(
      all, "of all", s, on, m, 1,
      [&](std::int64_t n) { return dnn::graph{write(reduce(m.a(n), sum, {0, 1}), m.of_all())}; }, m.rows());
  return all.total(dnn_reduce.goal.limit);
}

}  // namespace troupe::bench
