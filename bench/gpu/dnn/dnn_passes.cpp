// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Functions of elements, softmax and reductions of bf16, compared with copies within the GPU's memory. The bytes are
// those that must be read and written.
#include <bench/case_list.hpp>
#include <bench/gpu/memory_limit.hpp>
#include <bench/gpu/torch_passes.hpp>
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
        of_all_(gpu.alloc<float>(1), {1, 1}),
        losses_(gpu.alloc<float>(static_cast<std::size_t>(rows_)), {rows_, 1}),
        firsts_(gpu.alloc<bfloat16>(static_cast<std::size_t>(rows_ * first_count)), {rows_, first_count}),
        indexes_(gpu.alloc<std::int32_t>(static_cast<std::size_t>(rows_ * first_count)), {rows_, first_count}) {
    std::vector<std::int32_t> labels(static_cast<std::size_t>(rows_));
    for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::int32_t>(i);
    labels_ = tensor(gpu.upload(labels), {rows_, 1});
  }

  double bytes_of_one() const noexcept { return static_cast<double>(rows_ * columns_) * sizeof(bfloat16); }
  std::int64_t rows() const noexcept { return rows_; }
  std::int64_t columns() const noexcept { return columns_; }
  // Return the last `n` rows.
  dnn::value a(std::int64_t n) const { return dnn::read(part(a_, n)); }
  dnn::value b(std::int64_t n) const { return dnn::read(part(b_, n)); }
  tensor<bfloat16> c(std::int64_t n) const { return part(c_, n); }
  tensor<bfloat16> of_rows(std::int64_t n) const { return part(of_rows_, n); }
  const tensor<bfloat16>& of_columns() const noexcept { return of_columns_; }
  const tensor<float>& of_all() const noexcept { return of_all_; }
  /// Returns the losses of the last `n` rows, whose labels are their numbers.
  dnn::value cross_entropy(std::int64_t n) const { return dnn::cross_entropy(a(n), dnn::read(part(labels_, n)), 1); }
  tensor<float> losses(std::int64_t n) const { return part(losses_, n); }
  /// Return memory for the first elements of the last `n` rows, and for their indexes.
  tensor<bfloat16> firsts(std::int64_t n) const { return part(firsts_, n); }
  tensor<std::int32_t> indexes(std::int64_t n) const { return part(indexes_, n); }
  static constexpr std::int64_t first_count = 8;

 private:
  tensor<bfloat16> random(const device& gpu, std::uint64_t seed) const {
    return tensor(random_buffer<bfloat16>(gpu, rows_ * columns_, seed), {rows_, columns_});
  }
  template <class T>
  tensor<T> part(const tensor<T>& t, std::int64_t n) const {
    return t.slice(0, rows_ - n, n);
  }
  std::int64_t rows_, columns_;
  tensor<bfloat16> a_, b_, c_, of_rows_, of_columns_;
  tensor<float> of_all_, losses_;
  tensor<bfloat16> firsts_;
  tensor<std::int32_t> indexes_, labels_;
};

/// Operations that are measured one after the other, and then by PyTorch.
class pass_list {
 public:
  pass_list(const settings& s, const char* line)
      : settings_(s), on_(s), matrices_(*on_.gpu, s.engine == "host"), all_(1e9, "GB/s") {
    all_.begin_line(line);
  }
  const matrices& of() const noexcept { return matrices_; }

  /// Measures the graph of all rows, and compares the results of the last `compared` rows with the reference; of all
  /// rows, if each result depends on all. `passes` is the number of matrices that are read and written, `torch` the
  /// same in PyTorch.
  template <class GraphOf>
  void add(const char* name, const char* torch, double passes, const GraphOf& graph_of, std::int64_t compared = 5) {
    const double bytes = passes * matrices_.bytes_of_one();
    const auto found = against_copies(settings_.rounds(11), on_, {.graph = graph_of(matrices_.rows())}, bytes);
    all_.add(name, bytes, 1, found, difference_from_reference(*on_.gpu, graph_of(compared)));
    torch_.push_back({name, torch, bytes});
  }
  template <class GraphOf>
  void add_of_all_rows(const char* name, const char* torch, double passes, const GraphOf& graph_of) {
    add(name, torch, passes, graph_of, matrices_.rows());
  }
  figures total(double each_at_least) const {
    figures f = all_.total(each_at_least);
    f.note += note_of_torch(settings_, matrices_.rows(), matrices_.columns(), torch_);
    return f;
  }

 private:
  const settings& settings_;
  const dnn_sides on_;
  const matrices matrices_;
  case_list all_;
  std::vector<torch_pass> torch_;
};

}  // namespace

figures run_dnn_elements(const settings& s) {
  pass_list all(s, "elements");
  const matrices& m = all.of();
  all.add("a + b", "a + b", 3, [&](std::int64_t n) { return dnn::graph{write(m.a(n) + m.b(n), m.c(n))}; });
  all.add("gelu(a) * b", "F.gelu(a) * b", 3,
          [&](std::int64_t n) { return dnn::graph{write(gelu(m.a(n)) * m.b(n), m.c(n))}; });
  return all.total(dnn_elements.goal.limit);
}

figures run_dnn_softmax(const settings& s) {
  pass_list all(s, "softmax");
  const matrices& m = all.of();
  all.add("forward", "torch.softmax(a, 1)", 2,
          [&](std::int64_t n) { return dnn::graph{write(softmax(m.a(n), 1), m.c(n))}; });
  all.add("backward", "torch.ops.aten._softmax_backward_data(a, b, 1, torch.bfloat16)", 3,
          [&](std::int64_t n) { return dnn::graph{write(softmax_gradient(m.a(n), m.b(n), 1), m.c(n))}; });
  all.add("of 0.5 * a + b", "torch.softmax(0.5 * a + b, 1)", 3,
          [&](std::int64_t n) { return dnn::graph{write(softmax(0.5 * m.a(n) + m.b(n), 1), m.c(n))}; });
  all.add_of_all_rows("of columns", "torch.softmax(a, 0)", 2,
                      [&](std::int64_t n) { return dnn::graph{write(softmax(m.a(n), 0), m.c(n))}; });
  return all.total(dnn_softmax.goal.limit);
}

figures run_dnn_reduce(const settings& s) {
  using enum dnn::reduction_kind;
  pass_list all(s, "sums");
  const matrices& m = all.of();
  all.add("of rows", "a.sum(1, keepdim=True)", 1,
          [&](std::int64_t n) { return dnn::graph{write(reduce(m.a(n), sum, {1}), m.of_rows(n))}; });
  all.add_of_all_rows("of columns", "a.sum(0, keepdim=True)", 1,
                      [&](std::int64_t n) { return dnn::graph{write(reduce(m.a(n), sum, {0}), m.of_columns())}; });
  all.add_of_all_rows("of all", "a.sum(dtype=torch.float32)", 1,
                      [&](std::int64_t n) { return dnn::graph{write(reduce(m.a(n), sum, {0, 1}), m.of_all())}; });
  return all.total(dnn_reduce.goal.limit);
}

figures run_dnn_lines(const settings& s) {
  pass_list all(s, "lines");
  const matrices& m = all.of();
  all.add("cumulative sums of rows", "torch.cumsum(a, 1)", 2,
          [&](std::int64_t n) { return dnn::graph{write(cumulative_sum(m.a(n), 1), m.c(n))}; });
  all.add_of_all_rows("of columns", "torch.cumsum(a, 0)", 2,
                      [&](std::int64_t n) { return dnn::graph{write(cumulative_sum(m.a(n), 0), m.c(n))}; });
  all.add("top 8", "torch.topk(a, 8, 1)", 1, [&](std::int64_t n) {
    const dnn::selected top = top_k(m.a(n), 1, matrices::first_count);
    return dnn::graph{write(top.values, m.firsts(n)), write(top.indexes, m.indexes(n))};
  });
  // Positions are those of the last rows, whatever their number.
  all.add(
      "rotary",
      "(lambda x, t: torch.cat((x[:, :4096] * torch.cos(t) - x[:, 4096:] * torch.sin(t), x[:, 4096:] * torch.cos(t) + "
      "x[:, :4096] * torch.sin(t)), 1))(a, torch.arange(len(a), device=a.device)[:, None] * "
      "torch.exp(torch.arange(4096, device=a.device) * -0.0022)).bfloat16()",
      2, [&](std::int64_t n) {
        const dnn::value positions = dnn::iota({n, 1}, 0) + static_cast<double>(m.rows() - n);
        return dnn::graph{write(rotary(m.a(n), positions), m.c(n))};
      });
  return all.total(dnn_lines.goal.limit);
}

figures run_dnn_cross_entropy(const settings& s) {
  pass_list all(s, "cross entropy");
  const matrices& m = all.of();
  const std::string torch = "F.cross_entropy(x, torch.arange(len(x), device=x.device), reduction='sum')";
  all.add("loss", ("(lambda x: " + torch + ")(a)").c_str(), 1,
          [&](std::int64_t n) { return dnn::graph{write(m.cross_entropy(n), m.losses(n))}; });
  all.add("loss and gradient", ("torch.func.grad_and_value(lambda x: " + torch + ")(a)").c_str(), 2,
          [&](std::int64_t n) {
            const dnn::value loss = m.cross_entropy(n), total = reduce(loss, dnn::reduction_kind::sum, {0, 1});
            return dnn::graph{write(loss, m.losses(n)), write(dnn::gradients(total, {m.a(n)})[0], m.c(n))};
          });
  return all.total(dnn_cross_entropy.goal.limit);
}

}  // namespace troupe::bench
