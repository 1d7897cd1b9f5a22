// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <troupe/base/cat.hpp>
#include <troupe/base/round_up.hpp>
#include <troupe/base/try.hpp>
#include <troupe/matmul/cuda/lane.hpp>
#include <troupe/matmul/cuda/route.hpp>

namespace troupe::matmul {
namespace {

using epilogue::tree, epilogue::tree_memory;
using arrangement = route::arrangement;

constexpr std::int64_t terms_together = 16;  // the lines of copies are a multiple of it, in elements

std::int64_t rounded_up(std::int64_t n, std::uint64_t to) noexcept {
  return static_cast<std::int64_t>(round_up(static_cast<std::uint64_t>(n), to));
}
bool is_8_bit(dtype t) noexcept { return bytes_of(t) == 1; }

template <class V>
void append(std::string& to, const V& value) {
  static_assert(std::has_unique_object_representations_v<V>);
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

cublasComputeType_t compute_type(const multiplication& r, dtype sums) noexcept {
  if (sums == dtype::f64 || sums == dtype::c128) return CUBLAS_COMPUTE_64F;
  if (sums == dtype::i32) return CUBLAS_COMPUTE_32I;
  if (r.a.type() != dtype::f32 && r.a.type() != dtype::c64) return CUBLAS_COMPUTE_32F;
  switch (r.precision) {
    case precision::tf32:
      return CUBLAS_COMPUTE_32F_FAST_TF32;
    case precision::bf16:
      return CUBLAS_COMPUTE_32F_FAST_16BF;
    case precision::f16:
      return CUBLAS_COMPUTE_32F_FAST_16F;
#if CUBLAS_VERSION >= 120900
    case precision::bf16x9:
      return CUBLAS_COMPUTE_32F_EMULATED_16BFX9;
#endif
    default:
      return CUBLAS_COMPUTE_32F;
  }
}

// Of every line of every matrix.
std::int64_t line_alignment(const product_spec::matrix& m, dtype t) noexcept {
  const auto bytes = static_cast<std::int64_t>(bytes_of(t));
  return alignment_of(static_cast<std::uint64_t>(m.alignment | m.ld * bytes | m.stride * bytes));
}

product_spec::matrix spec_of(const stored_matrix& m) noexcept {
  return {type_of(m.type), m.rows, m.columns, m.ld, m.stride, alignment_of(m.address)};
}

epilogue::stored_product stored_product_of(const route& r, const problem& p) noexcept {
  // The right half of a pair is further columns of the request's product: rows where this is the transpose.
  const std::int64_t right = !p.paired ? 0 : p.transposed ? p.d.rows : p.d.columns * r.sums_ld;
  return {.product_type = r.sums,
          .result_type = p.d.type,
          .rows = p.d.rows,
          .columns = p.d.columns,
          .batch = p.batch,
          .product_ld = r.sums_ld,
          .product_stride = r.sums_stride,
          .result_ld = p.d.ld,
          .result_stride = p.d.stride,
          .right = right,
          .transposed = p.transposed,
          .is_zero = !r.multiplies};
}

class search {
 public:
  search(cublasLtHandle_t library, const multiplication& r, const problem& p, const chip& on, const choosing& how)
      : library_(library), r_(r), problem_(p), tree_(r.epilogue.encoded()), chip_(on), how_(how) {
    sums_ = sums_of(r.a.type(), r.b.type());
  }

  result<std::shared_ptr<route>> run() {
    const auto nodes = tree_.nodes();
    route_.sums = sums_;
    const bool has_terms = problem_.k != 0 && problem_.m != 0 && problem_.n != 0 && problem_.batch != 0;
    route_.multiplies =
        has_terms && std::any_of(nodes.begin(), nodes.end(), [](const epilogue::node& n) {
          return n.what == epilogue::op::accumulator || n.what == epilogue::op::left || n.what == epilogue::op::right;
        });
    if (is_small(r_)) {
      route_.pass.emplace(tree_, stored_product_of(route_, problem_));
      route_.small = route_.fused = route_.pass->is_ordinary();
      if (route_.small) return finished();
    }
    if (!route_.multiplies) {
      route_.sums_ld = problem_.m, route_.sums_stride = 0;
      return finished();
    }
    const fusion_match found = match(tree_, problem_, sums_);
    if (found.fits) {
      route_.fused = true;
      route_.form = found.form;
      for (const arrangement how : arrangements())
        if (TROUPE_TRY(try_arranged(how, false))) return finished();
      route_.fused = false;
    }
    if (r_.fusion == fusion::required) return not_fused(found);
    for (const arrangement how : arrangements())
      for (const bool aside : {false, true})
        if (aside || sums_fit_in_d())
          if (TROUPE_TRY(try_arranged(how, aside))) return finished();
    if (too_small_) return *too_small_;
    if (how_.given != nullptr)
      return error(
          reaction::caller_bug, "matmul",
          cat("matmul.prepare: choice is of cuBLASLt ", how_.given->library(), " and does not compute this product on ",
              chip_.name, "; ask prepare for one, without a choice"));
    return error(reaction::unsupported, "matmul",
                 cat("matmul.multiplication: cuBLASLt has no product of ", to_string(r_.a.type()), " and ",
                     to_string(r_.b.type()), " with these extents and strides on ", chip_.name,
                     "; wider element types, or smaller matrices, may work"));
  }

 private:
  result<std::shared_ptr<route>> not_fused(const fusion_match& found) {
    if (too_small_) return *too_small_;
    const std::string why =
        found.fits ? cat("cuBLASLt has no kernel that computes it together with a product of ", to_string(r_.a.type()),
                         " and ", to_string(r_.b.type()), " stored as ", to_string(r_.d.type()), " on ", chip_.name)
                   : cat("cuBLASLt does not compute ", found.obstacle, " together with a product");
    return error(reaction::unsupported, "matmul",
                 cat("matmul.multiplication: epilogue: ", why, "; with fusion::allowed it takes a second pass"));
  }

  result<std::shared_ptr<route>> finished() {
    if (!route_.fused) {
      route_.pass.emplace(tree_, stored_product_of(route_, problem_));
      route_.bytes_partial = whole_lines(route_.pass->memory_bytes());
    }
    const std::uint64_t needs = route_.scratch_bytes() + (route_.plan ? route_.plan->workspace_bytes() : 0);
    if (how_.info != nullptr) {
      how_.info->workspace = needs;
      how_.info->fused = route_.fused || !route_.multiplies;
      if (route_.plan) route_.plan->describe(*how_.info);
    }
    if (needs > r_.workspace)
      return error(reaction::unsupported, "matmul",
                   cat("matmul.multiplication: workspace is ", r_.workspace, "; this product needs ", needs,
                       " bytes beside its operands", route_.fused ? "" : ", because its epilogue takes a second pass"));
    return std::make_shared<route>(route_);
  }

  std::span<const arrangement> arrangements() const noexcept {
    static constexpr arrangement plain[] = {arrangement::none, arrangement::bytes, arrangement::halves},
                                 of_scales[] = {arrangement::block_scaled, arrangement::scaled};
    // The last of each: who stores 8-bit floats' sums in f64 wants what cuBLASLt's own sums on Hopper are not.
    const bool widens = is_float8(r_.a.type()) && r_.d.type() == dtype::f64 && r_.accumulation == accumulation::precise;
    const std::span<const arrangement> all =
        problem_.has_scales() ? std::span<const arrangement>(of_scales) : std::span<const arrangement>(plain);
    return widens ? all.last(1) : all;
  }

  // The sums can be in the place of D if they have its type, and the epilogue does not need what was there.
  bool sums_fit_in_d() const noexcept {
    return r_.d.type() == sums_ && !problem_.paired &&
           std::none_of(tree_.memory().begin(), tree_.memory().end(),
                        [this](const tree_memory& m) { return m.address == problem_.d.address; });
  }

  // Whether an operand must be copied: `lines_together` says whether the terms of a sum are neighbours.
  bool must_copy(const stored_matrix& m, bool lines_together) const noexcept {
    const std::int64_t bytes = static_cast<std::int64_t>(bytes_of(m.type));
    return !lines_together || problem_.k % terms_together != 0 || alignment_of(m.address) < 16 ||
           m.ld * bytes % 16 != 0 || m.stride * bytes % 16 != 0 || m.ld < m.rows;
  }

  dtype arranged_type(const stored_matrix& m) const noexcept {
    if (route_.arranged == arrangement::halves) return dtype::f16;
    return route_.arranged == arrangement::scaled ? scaled_type(problem_.a_scales) : m.type;
  }

  // Sets what the arrangement needs. Returns false if it is none for these types.
  bool arrange(arrangement how) {
    route_.arranged = how;
    route_.k = problem_.k;
    route_.bytes_a = route_.bytes_b = route_.bytes_scales_a = route_.bytes_scales_b = 0;
    route_.copies_a = route_.copies_b = false;
    if (how == arrangement::none) return true;
    const bool floats = is_float8(r_.a.type());
    if (!is_8_bit(r_.a.type()) || (how == arrangement::halves && !floats)) return false;
    if (how == arrangement::bytes && floats && !chip_.has_float8()) return false;
    if (how == arrangement::block_scaled && !arrange_scales()) return false;
    const bool always = how == arrangement::halves || how == arrangement::scaled;
    route_.copies_a = always || must_copy(problem_.a, problem_.a.transposed);
    route_.copies_b = always || must_copy(problem_.b, !problem_.b.transposed);
    route_.k = rounded_up(problem_.k, terms_together);
    const auto bytes = [&](const stored_matrix& m, std::int64_t lines) {
      const std::int64_t each = static_cast<std::int64_t>(bytes_of(arranged_type(m)));
      return whole_lines(static_cast<std::uint64_t>(route_.k * lines * each * copies_of(m)));
    };
    if (route_.copies_a) route_.bytes_a = bytes(problem_.a, problem_.m);
    if (route_.copies_b) route_.bytes_b = bytes(problem_.b, problem_.n);
    return true;
  }
  std::int64_t copies_of(const stored_matrix& m) const noexcept { return m.stride == 0 ? 1 : problem_.batch; }

  // The scales of blocks are copied as cuBLASLt wants them. It multiplies by those in float only, on Hopper.
  bool arrange_scales() noexcept {
#if CUBLAS_VERSION >= 120900
    if (problem_.a_scales.type != dtype::f32 || problem_.batch != 1 || chip_.capability != 90) return false;
    const auto bytes = [](const block_scales& s, std::int64_t lines) {
      const stored_scales to = scales_for_library(s, lines);
      return whole_lines(static_cast<std::uint64_t>(to.lines * to.padded) * sizeof(float));
    };
    route_.bytes_scales_a = bytes(problem_.a_scales, problem_.m);
    route_.bytes_scales_b = bytes(problem_.b_scales, problem_.n);
    return true;
#else
    return false;
#endif
  }

  stored_matrix arranged(const stored_matrix& m, std::int64_t lines, bool transposed) const noexcept {
    stored_matrix out = m;
    out.address = 256;  // aligned
    out.type = arranged_type(m);
    out.rows = out.ld = route_.k, out.columns = lines;
    out.stride = m.stride == 0 ? 0 : route_.k * lines;
    out.transposed = transposed;
    return out;
  }

  result<bool> try_arranged(arrangement how, bool aside) {
    if (!arrange(how) || !(aside || has_type(r_.d.type()))) return false;
    product_spec s{};
    const stored_matrix a = route_.copies_a ? arranged(problem_.a, problem_.m, true) : problem_.a,
                        b = route_.copies_b ? arranged(problem_.b, problem_.n, false) : problem_.b;
    s.a = spec_of(a), s.b = spec_of(b);
    s.transpose_a = a.transposed, s.transpose_b = b.transposed;
    s.batch = problem_.batch;
    s.compute = is_8_bit(r_.a.type()) && sums_ == dtype::f32 ? CUBLAS_COMPUTE_32F : compute_type(r_, sums_);
    s.scale = type_of(sums_);
    s.epilogue = CUBLASLT_EPILOGUE_DEFAULT;
    s.d = spec_of(problem_.d);
    route_.aside = aside;
    route_.bytes_sums = 0;
    route_.sums_ld = problem_.d.ld, route_.sums_stride = problem_.d.stride;
    if (aside) {
      const auto bytes = static_cast<std::int64_t>(bytes_of(sums_));
      route_.sums_ld = rounded_up(problem_.m, std::max<std::uint64_t>(1, 16 / bytes_of(sums_)));
      route_.sums_stride = route_.sums_ld * problem_.n;
      route_.bytes_sums = whole_lines(static_cast<std::uint64_t>(route_.sums_stride * problem_.batch * bytes));
      s.d = {type_of(sums_), problem_.m, problem_.n, route_.sums_ld, route_.sums_stride, 256};
    }
    s.c = s.d;
    if (s.c.type == CUDA_R_8F_E4M3 || s.c.type == CUDA_R_8F_E5M2) s.c.type = CUDA_R_16BF;
    if (route_.fused && !describe_form(s, how)) return false;
#if CUBLAS_VERSION >= 120900
    if (how == arrangement::block_scaled) {
      const auto mode = [](const block_scales& b) {
        return b.block.lines == 1 ? CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F
                                  : CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F;
      };
      s.a_scale_mode = mode(problem_.a_scales), s.b_scale_mode = mode(problem_.b_scales);
      s.scales |= s.scales_a | s.scales_b;
    }
#endif
    s.reductions = CUBLASLT_REDUCTION_SCHEME_MASK;
    // Narrower results are rounded once. So sums that several blocks share are not added in the result's type; and not
    // at all before more is computed of them, because cuBLASLt then rounds before that, too (measured on an H100).
    if (s.d.type != s.scale)
      s.reductions = s.epilogue == CUBLASLT_EPILOGUE_DEFAULT && !route_.form.has_beta()
                         ? CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE
                         : CUBLASLT_REDUCTION_SCHEME_NONE;
    if (r_.repeatability == repeatability::between_processes) s.reductions &= ~CUBLASLT_REDUCTION_SCHEME_INPLACE;
    s.fast_accumulation =
        r_.accumulation == accumulation::fast && (s.a.type == CUDA_R_8F_E4M3 || s.a.type == CUDA_R_8F_E5M2);
    s.multiprocessors = r_.multiprocessors >= chip_.multiprocessors ? 0 : r_.multiprocessors;
    if (route_.scratch_bytes() > r_.workspace) {
      too_small_ = error(reaction::unsupported, "matmul",
                         cat("matmul.multiplication: workspace is ", r_.workspace, "; this product needs at least ",
                             route_.scratch_bytes(), " bytes beside its operands on this GPU"));
      return false;
    }
    s.workspace = static_cast<std::int64_t>(
        std::min<std::uint64_t>(lane::workspace_bytes, r_.workspace - route_.scratch_bytes()));
    s.repeatable = r_.repeatability == repeatability::between_processes;
    TROUPE_TRY(choose(s));
    if (!route_.plan && r_.precision == precision::bf16x9) {
      s.compute = CUBLAS_COMPUTE_32F;  // which is as precise
      TROUPE_TRY(choose(s));
    }
    return route_.plan.has_value();
  }

  // Sets the plan of the route; to nothing if there is none.
  result<void> choose(const product_spec& s) {
    route_.plan.reset();
    plan_info unused;
    plan_info& info = how_.info != nullptr ? *how_.info : unused;
    // What repeats in other processes depends on the request alone: on no file that has more than the first choice.
    const auto keep = [&] {
      if (route_.plan && how_.disk != nullptr) how_.remarks->once(route_.plan->store(*how_.disk, s, chip_.name));
    };
    if (how_.given != nullptr) {
      route_.plan = TROUPE_TRY(product_plan::from(library_, s, *how_.given));
      info.source = plan_source::given;
      if (s.repeatable == 0) keep();
    } else if (how_.measure > 0) {
      TROUPE_TRY(measure(TROUPE_TRY(product_plan::search(library_, s, how_.measure)), info));
      info.source = plan_source::measured;
      if (s.repeatable == 0) keep();
    } else {
      std::string why_not;
      if (how_.disk != nullptr) {
        route_.plan = product_plan::stored(library_, s, *how_.disk, chip_.name, why_not);
        how_.remarks->once(why_not);
      }
      info.source = plan_source::stored;
      if (!route_.plan) {
        const auto all = TROUPE_TRY(product_plan::search(library_, s, 1));
        info.source = plan_source::searched;
        if (!all.empty()) route_.plan = all.front();
        keep();
      }
    }
    return {};
  }

  // Times all, then the best in turns with the first, because the clock of a GPU changes meanwhile. The first is what
  // its maker recommends: another must be faster by more than chance.
  result<void> measure(const std::vector<product_plan>& all, plan_info& info) {
    constexpr std::size_t finalists = 4;
    constexpr int turns = 3;
    constexpr double by_chance = 0.99;
    struct candidate {
      const product_plan* plan;
      double us;
    };
    if (all.empty()) return {};
    std::vector<candidate> rivals;
    for (const product_plan& one : all) rivals.push_back({&one, TROUPE_TRY(how_.time(route_, one))});
    info.measured = static_cast<std::int32_t>(rivals.size());
    std::sort(rivals.begin() + 1, rivals.end(), [](const candidate& x, const candidate& y) { return x.us < y.us; });
    if (rivals.size() > finalists) rivals.resize(finalists);
    for (candidate& c : rivals) c.us = std::numeric_limits<double>::infinity();
    for (int i = 0; i < turns; ++i)
      for (candidate& c : rivals) c.us = std::min(c.us, TROUPE_TRY(how_.time(route_, *c.plan)));
    const candidate* best = &rivals.front();
    for (const candidate& c : rivals)
      if (c.us < by_chance * rivals.front().us && c.us < best->us) best = &c;
    info.first_microseconds = rivals.front().us, info.microseconds = best->us;
    route_.plan = *best->plan;
    return {};
  }

  // Describes the epilogue. Returns false if it does not go together with the arrangement.
  bool describe_form(product_spec& s, arrangement how) const {
    const fused_form& f = route_.form;
    const bool scales = f.a_scale != none || f.b_scale != none || f.row_scales != none;
    const bool wide = how == arrangement::halves || how == arrangement::scaled;
    if (wide && (scales || f.d_scale != none || f.amax != none)) return false;
    const auto seen = [&](operand_index i) -> const tree_memory& {
      return tree_.memory()[static_cast<std::size_t>(i)];
    };
    const auto matrix = [&](operand_index i) {
      const tree_memory& m = seen(i);
      const std::int64_t ld = problem_.d.columns == 1 ? problem_.d.rows : problem_.across(m.shape);
      return product_spec::matrix{type_of(m.type), problem_.d.rows,        problem_.d.columns, ld,
                                  m.batch_stride,  alignment_of(m.address)};
    };
    const auto fits = [](dtype t) { return t == dtype::f32 || t == dtype::f64 || t == dtype::f16 || t == dtype::bf16; };
    if (f.c != none) {
      const dtype c = seen(f.c).type, d = r_.d.type();
      if (is_float8(d) ? c != dtype::f16 && c != dtype::bf16 : c != d) return false;
      s.c = matrix(f.c);
      // cuBLASLt 13.1 looks at the lines of C alone, and its kernels then fail at a D whose lines are less aligned
      // (CUDA_ERROR_MISALIGNED_ADDRESS on an H100), unless it is told.
      const std::int64_t of_d = line_alignment(s.d, d);
      if (line_alignment(s.c, c) > of_d) s.d.alignment = std::min(s.d.alignment, of_d);
    }
    s.numbers_in_memory = f.alpha_in_memory != none || f.beta_in_memory != none;
    std::int64_t kind = 0;
    if (f.activation == fused_form::activation::relu) kind = CUBLASLT_EPILOGUE_RELU;
    if (f.activation == fused_form::activation::gelu) kind = CUBLASLT_EPILOGUE_GELU;
    const operand_index bias = f.bias != none ? f.bias : f.bias_gradient;
    if (bias != none) {
      const tree_memory& m = seen(bias);
      if (!fits(m.type)) return false;
      s.bias_type = type_of(m.type), s.bias_stride = m.batch_stride, s.bias_alignment = alignment_of(m.address);
      kind |= f.bias != none ? std::int64_t{CUBLASLT_EPILOGUE_BIAS} : epilogue_part::bias_gradient;
    }
    const operand_index aux = f.aux != none ? f.aux : f.derivative_at;
    if (aux != none) {
      const product_spec::matrix m = matrix(aux);
      if (m.ld % 8 != 0 || m.stride % 8 != 0 || m.alignment < 16 || !fits(seen(aux).type)) return false;
      s.aux_type = m.type, s.aux_ld = m.ld, s.aux_stride = m.stride, s.aux_alignment = m.alignment;
      kind |= f.aux != none ? epilogue_part::aux : std::int64_t{CUBLASLT_EPILOGUE_DGELU};
    }
    if (kind != 0) s.epilogue = kind;
    s.scales = (f.a_scale != none || f.row_scales != none ? s.scales_a : 0) |
               (f.b_scale != none || f.column_scales != none ? s.scales_b : 0) | (f.d_scale != none ? s.scales_d : 0) |
               (f.amax != none ? s.finds_largest : 0);
    if (f.row_scales != none) {
      if (seen(f.row_scales).type != dtype::f32 || seen(f.column_scales).type != dtype::f32) return false;
#if CUBLAS_VERSION >= 120900
      s.a_scale_mode = s.b_scale_mode = CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F;
#else
      return false;
#endif
    }
    return true;
  }

  const cublasLtHandle_t library_;
  const multiplication& r_;
  const problem& problem_;
  const tree tree_;
  const chip& chip_;
  const choosing& how_;
  dtype sums_{};
  route route_;
  std::optional<error> too_small_;
};

}  // namespace

bool is_small(const multiplication& r) noexcept {
  constexpr std::int64_t longest = 256, most_work = 64 * 64 * 64;
  const tensor_shape &a = r.a.shape(), &b = r.b.shape(), &d = r.d.shape();
  if (a.rank != 2 || b.rank != 2 || d.rank != 2 || r.a_scales) return false;
  const std::int64_t m = a.extents[0], k = a.extents[1], n = b.extents[1];
  if (m == 0 || n == 0 || m > longest || n > longest || k > longest || m * n * k > most_work) return false;
  const auto nodes = r.epilogue.encoded().nodes();
  return std::none_of(nodes.begin(), nodes.end(), [](const epilogue::node& one) {
    return one.what == epilogue::op::reduce || one.what == epilogue::op::left || one.what == epilogue::op::right;
  });
}

stored_scales scales_for_library(const block_scales& s, std::int64_t lines) noexcept {
  if (s.block.lines == 1) return {s.blocks_along, lines, lines, s.across, s.along};
  return {s.blocks_across, s.blocks_along, rounded_up(s.blocks_along, 4), s.along, s.across};
}

void write_key(std::string& to, const multiplication& r, const problem& p) {
  const tree& t = r.epilogue.encoded();
  to.clear();
  for (const stored_matrix* m : {&p.a, &p.b, &p.d})
    append(to, std::array<std::int64_t, 7>{static_cast<std::int64_t>(m->type), m->rows, m->columns, m->ld, m->stride,
                                           m->transposed, alignment_of(m->address)});
  append(to, std::array<std::int64_t, 9>{p.batch, p.transposed, static_cast<std::int64_t>(r.precision),
                                         static_cast<std::int64_t>(r.fusion), static_cast<std::int64_t>(r.accumulation),
                                         static_cast<std::int64_t>(r.repeatability), r.multiprocessors,
                                         static_cast<std::int64_t>(r.workspace),
                                         static_cast<std::int64_t>(t.nodes().size())});
  for (const block_scales* b : {&p.a_scales, &p.b_scales})
    append(to, std::array<std::int64_t, 5>{static_cast<std::int64_t>(b->type), b->block.lines, b->along, b->across,
                                           b->stride});
  for (const epilogue::node& n : t.nodes()) append(to, n);
  for (const tree_memory& m : t.memory())
    append(to, std::array<std::int64_t, 7>{static_cast<std::int64_t>(m.type), m.shape.row_stride, m.shape.column_stride,
                                           m.batch_stride, alignment_of(m.address), m.address == p.d.address,
                                           static_cast<std::int64_t>(m.mode)});
}

result<std::shared_ptr<route>> find_route(cublasLtHandle_t library, const multiplication& r, const problem& p,
                                          const chip& on, const choosing& how) {
  return search(library, r, p, on, how).run();
}

}  // namespace troupe::matmul
