// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <memory>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/matmul/cuda/execution_plan.hpp>
#include <troupe/matmul/cuda/lane.hpp>

namespace troupe::matmul {
namespace {

using epilogue::tree, epilogue::memory_operand;
using arrangement = execution_plan::arrangement;

constexpr std::int64_t k_alignment = 16;  // copied lines are padded to a multiple of this number of elements

std::int64_t rounded_up(std::int64_t n, std::uint64_t to) noexcept {
  return static_cast<std::int64_t>(round_up(static_cast<std::uint64_t>(n), to));
}
bool is_8_bit(dtype t) noexcept { return bytes_of(t) == 1; }

cublasComputeType_t compute_type(const product_kind& kind, dtype sums) noexcept {
  if (sums == dtype::f64 || sums == dtype::c128) return CUBLAS_COMPUTE_64F;
  if (sums == dtype::i32) return CUBLAS_COMPUTE_32I;
  if (kind.a != dtype::f32 && kind.a != dtype::c64) return CUBLAS_COMPUTE_32F;
  switch (kind.options.precision) {
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

// Returns the alignment that every line of every matrix of a batch has, in bytes.
std::int64_t line_alignment(const product_spec::matrix& m, dtype t) noexcept {
  const auto bytes = static_cast<std::int64_t>(bytes_of(t));
  return alignment_of(static_cast<std::uint64_t>(m.alignment | m.ld * bytes | m.stride * bytes));
}

product_spec::matrix spec_of(const stored_matrix& m) noexcept {
  return {type_of(m.type), m.rows, m.columns, m.ld, m.stride, alignment_of(m.address)};
}

epilogue::stored_product stored_product_of(const execution_plan& r, const problem& p) noexcept {
  // The right half of the request's product has the higher columns, which are rows if this is the transpose.
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
  search(cublasLtHandle_t library, const product_kind& kind, const cuda::gpu_properties& gpu,
         const selection_options& options)
      : library_(library),
        kind_(kind),
        problem_(kind.product),
        tree_(kind.tree.get()),
        gpu_(gpu),
        options_(options),
        sums_(sums_of(kind.a, kind.b)) {}

  result<std::shared_ptr<execution_plan>> run() {
    const auto nodes = tree_.nodes();
    plan_.sums = sums_;
    const bool has_products = problem_.k != 0 && problem_.m != 0 && problem_.n != 0 && problem_.batch != 0;
    plan_.multiplies =
        has_products && std::any_of(nodes.begin(), nodes.end(), [](const epilogue::node& n) {
          return n.what == epilogue::op::accumulator || n.what == epilogue::op::left || n.what == epilogue::op::right;
        });
    if (is_small(kind_)) {
      plan_.pass.emplace(tree_, stored_product_of(plan_, problem_));
      plan_.small = plan_.fused = plan_.pass->is_ordinary();
      if (plan_.small) return finished();
    }
    if (!plan_.multiplies) {
      plan_.sums_ld = problem_.m, plan_.sums_stride = 0;
      return finished();
    }
    const epilogue_fusion found = match(tree_, problem_, sums_);
    if (found.fits) {
      plan_.fused = true;
      plan_.epilogue = found.epilogue;
      for (const arrangement how : arrangements())
        if (TROUPE_TRY(try_arranged(how, false))) return finished();
      plan_.fused = false;
    }
    if (kind_.options.fusion == fusion::required) return not_fused(found);
    for (const arrangement how : arrangements())
      for (const bool sums_in_workspace : {false, true})
        if (sums_in_workspace || sums_fit_in_d())
          if (TROUPE_TRY(try_arranged(how, sums_in_workspace))) return finished();
    if (workspace_error_) return *workspace_error_;
    if (options_.given != nullptr)
      return error(reaction::caller_bug, "matmul",
                   cat("matmul.prepare: options.choice is an algorithm of cuBLASLt ", options_.given->library(),
                       " that does not compute this product on ", gpu_.name, "; prepare without a choice to get one"));
    return error(
        reaction::unsupported, "matmul",
        cat("matmul.multiplication: cuBLASLt has no product of ", to_string(kind_.a), " and ", to_string(kind_.b),
            " with these extents and strides on ", gpu_.name, "; wider element types, or smaller matrices, may work"));
  }

 private:
  result<std::shared_ptr<execution_plan>> not_fused(const epilogue_fusion& found) {
    if (workspace_error_) return *workspace_error_;
    const std::string why =
        found.fits ? cat("cuBLASLt has no kernel that computes it together with a product of ", to_string(kind_.a),
                         " and ", to_string(kind_.b), " stored as ", to_string(problem_.d.type), " on ", gpu_.name)
                   : cat("cuBLASLt cannot fuse this epilogue: it has ", found.obstacle);
    return error(
        reaction::unsupported, "matmul",
        cat("matmul.multiplication: epilogue: ", why, "; set fusion to allowed, and a second pass computes it"));
  }

  result<std::shared_ptr<execution_plan>> finished() {
    if (!plan_.fused) {
      plan_.pass.emplace(tree_, stored_product_of(plan_, problem_));
      plan_.bytes_partial = padded_bytes(plan_.pass->memory_bytes());
    }
    const std::uint64_t needs = plan_.scratch_bytes() + (plan_.product ? plan_.product->workspace_bytes() : 0);
    if (options_.info != nullptr) {
      options_.info->workspace = needs;
      options_.info->fused = plan_.fused || !plan_.multiplies;
      if (plan_.product) plan_.product->describe(*options_.info);
    }
    if (needs > kind_.options.workspace)
      return error(
          reaction::unsupported, "matmul",
          cat("matmul.multiplication: workspace is ", kind_.options.workspace, " bytes; this product needs at least ",
              needs, plan_.fused ? "" : ", because a second pass computes its epilogue"));
    return std::make_shared<execution_plan>(plan_);
  }

  std::span<const arrangement> arrangements() const noexcept {
    static constexpr arrangement plain[] = {arrangement::none, arrangement::bytes, arrangement::halves},
                                 with_scales[] = {arrangement::block_scaled, arrangement::scaled};
    // The last arrangement of each list widens factors. If products of 8-bit floats are stored as f64, only it is
    // precise enough: Hopper's tensor cores sum such products imprecisely.
    const bool widens =
        is_float8(kind_.a) && problem_.d.type == dtype::f64 && kind_.options.accumulation == accumulation::precise;
    const std::span<const arrangement> all =
        problem_.has_scales() ? std::span<const arrangement>(with_scales) : std::span<const arrangement>(plain);
    return widens ? all.last(1) : all;
  }

  // Returns true if D can hold the sums: they have its type, and the epilogue does not load D.
  bool sums_fit_in_d() const noexcept {
    return problem_.d.type == sums_ && !problem_.paired &&
           std::none_of(tree_.memory().begin(), tree_.memory().end(),
                        [this](const memory_operand& m) { return m.address == problem_.d.address; });
  }

  // Returns true if all lines of an 8-bit factor begin at multiples of 4 bytes. cuBLASLt finds algorithms for others,
  // but does not run them.
  static bool has_words(const stored_matrix& m) noexcept { return line_alignment(spec_of(m), m.type) >= 4; }
  // Returns true if cuBLASLt cannot read the factor where it is. `k_is_contiguous`: elements along k are contiguous.
  bool must_copy(const stored_matrix& m, bool k_is_contiguous) const noexcept {
    const std::int64_t bytes = static_cast<std::int64_t>(bytes_of(m.type));
    return !k_is_contiguous || problem_.k % k_alignment != 0 || alignment_of(m.address) < 16 ||
           m.ld * bytes % 16 != 0 || m.stride * bytes % 16 != 0 || m.ld < m.rows;
  }

  dtype arranged_type(const stored_matrix& m) const noexcept {
    if (plan_.arranged == arrangement::halves) return dtype::f16;
    return plan_.arranged == arrangement::scaled ? scaled_type(problem_.a_scales) : m.type;
  }

  // Sets the copies that the arrangement makes. Returns false if it does not apply to these types.
  bool arrange(arrangement how) {
    plan_.arranged = how;
    plan_.k = problem_.k;
    plan_.bytes_a = plan_.bytes_b = plan_.bytes_scales_a = plan_.bytes_scales_b = 0;
    plan_.copies_a = plan_.copies_b = false;
    if (how == arrangement::none) return !is_8_bit(kind_.a) || (has_words(problem_.a) && has_words(problem_.b));
    const bool floats = is_float8(kind_.a);
    if (!is_8_bit(kind_.a) || (how == arrangement::halves && !floats)) return false;
    if (how == arrangement::bytes && floats && !gpu_.has_float8()) return false;
    if (how == arrangement::block_scaled && !arrange_scales()) return false;
    const bool always = how == arrangement::halves || how == arrangement::scaled;
    plan_.copies_a = always || must_copy(problem_.a, problem_.a.transposed);
    plan_.copies_b = always || must_copy(problem_.b, !problem_.b.transposed);
    plan_.k = rounded_up(problem_.k, k_alignment);
    const auto bytes = [&](const stored_matrix& m, std::int64_t lines) {
      const std::int64_t each = static_cast<std::int64_t>(bytes_of(arranged_type(m)));
      return padded_bytes(static_cast<std::uint64_t>(plan_.k * lines * each * copies_of(m)));
    };
    if (plan_.copies_a) plan_.bytes_a = bytes(problem_.a, problem_.m);
    if (plan_.copies_b) plan_.bytes_b = bytes(problem_.b, problem_.n);
    return true;
  }
  std::int64_t copies_of(const stored_matrix& m) const noexcept { return m.stride == 0 ? 1 : problem_.batch; }

  // Sets the sizes of block scales in cuBLASLt's layout. Returns false if cuBLASLt cannot apply the scales: it applies
  // f32 scales, on Hopper only.
  bool arrange_scales() noexcept {
#if CUBLAS_VERSION >= 120900
    if (problem_.a_scales.type != dtype::f32 || problem_.batch != 1 || gpu_.capability != 90) return false;
    const auto bytes = [](const block_scales& s, std::int64_t lines) {
      const stored_scales to = scales_for_library(s, lines);
      return padded_bytes(static_cast<std::uint64_t>(to.lines * to.padded) * sizeof(float));
    };
    plan_.bytes_scales_a = bytes(problem_.a_scales, problem_.m);
    plan_.bytes_scales_b = bytes(problem_.b_scales, problem_.n);
    return true;
#else
    return false;
#endif
  }

  stored_matrix arranged(const stored_matrix& m, std::int64_t lines, bool transposed) const noexcept {
    stored_matrix out = m;
    out.address = 256;  // aligned
    out.type = arranged_type(m);
    out.rows = out.ld = plan_.k, out.columns = lines;
    out.stride = m.stride == 0 ? 0 : plan_.k * lines;
    out.transposed = transposed;
    return out;
  }

  result<bool> try_arranged(arrangement how, bool sums_in_workspace) {
    if (!arrange(how) || !(sums_in_workspace || has_type(problem_.d.type))) return false;
    product_spec s{};
    const stored_matrix a = plan_.copies_a ? arranged(problem_.a, problem_.m, true) : problem_.a,
                        b = plan_.copies_b ? arranged(problem_.b, problem_.n, false) : problem_.b;
    s.a = spec_of(a), s.b = spec_of(b);
    s.transpose_a = a.transposed, s.transpose_b = b.transposed;
    s.batch = problem_.batch;
    s.compute = is_8_bit(kind_.a) && sums_ == dtype::f32 ? CUBLAS_COMPUTE_32F : compute_type(kind_, sums_);
    s.scale = type_of(sums_);
    s.epilogue = CUBLASLT_EPILOGUE_DEFAULT;
    s.d = spec_of(problem_.d);
    plan_.sums_in_workspace = sums_in_workspace;
    plan_.bytes_sums = 0;
    plan_.sums_ld = problem_.d.ld, plan_.sums_stride = problem_.d.stride;
    if (sums_in_workspace) {
      const auto bytes = static_cast<std::int64_t>(bytes_of(sums_));
      plan_.sums_ld = rounded_up(problem_.m, std::max<std::uint64_t>(1, 16 / bytes_of(sums_)));
      plan_.sums_stride = plan_.sums_ld * problem_.n;
      plan_.bytes_sums = padded_bytes(static_cast<std::uint64_t>(plan_.sums_stride * problem_.batch * bytes));
      s.d = {type_of(sums_), problem_.m, problem_.n, plan_.sums_ld, plan_.sums_stride, 256};
    }
    s.c = s.d;
    if (s.c.type == CUDA_R_8F_E4M3 || s.c.type == CUDA_R_8F_E5M2) s.c.type = CUDA_R_16BF;
    if (plan_.fused && !describe_epilogue(s, how)) return false;
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
    // Results narrower than the sums are rounded once. So parts of a sum split along k are not added in the result's
    // type; and no sum with a fused epilogue is split, because cuBLASLt then also rounds before the epilogue (measured
    // on an H100).
    if (s.d.type != s.scale)
      s.reductions = s.epilogue == CUBLASLT_EPILOGUE_DEFAULT && !plan_.epilogue.has_beta()
                         ? CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE
                         : CUBLASLT_REDUCTION_SCHEME_NONE;
    if (kind_.options.repeatability == repeatability::between_processes)
      s.reductions &= ~CUBLASLT_REDUCTION_SCHEME_INPLACE;
    s.fast_accumulation =
        kind_.options.accumulation == accumulation::fast && (s.a.type == CUDA_R_8F_E4M3 || s.a.type == CUDA_R_8F_E5M2);
    s.multiprocessors = kind_.options.multiprocessors >= gpu_.multiprocessors ? 0 : kind_.options.multiprocessors;
    if (plan_.scratch_bytes() > kind_.options.workspace) {
      workspace_error_ = error(reaction::unsupported, "matmul",
                               cat("matmul.multiplication: workspace is ", kind_.options.workspace,
                                   " bytes; this product needs at least ", plan_.scratch_bytes(), " on this GPU"));
      return false;
    }
    s.workspace = static_cast<std::int64_t>(
        std::min<std::uint64_t>(lane::workspace_bytes, kind_.options.workspace - plan_.scratch_bytes()));
    s.repeatable = kind_.options.repeatability == repeatability::between_processes;
    TROUPE_TRY(choose(s));
    if (!plan_.product && kind_.options.precision == precision::bf16x9) {
      s.compute = CUBLAS_COMPUTE_32F;  // as precise as bf16x9
      TROUPE_TRY(choose(s));
    }
    return plan_.product.has_value();
  }

  // Sets the algorithm of the plan, or no algorithm if cuBLASLt has none.
  result<void> choose(const product_spec& s) {
    plan_.product.reset();
    plan_info unused;
    plan_info& info = options_.info != nullptr ? *options_.info : unused;
    // A repeatable plan may depend on the request alone, so measured and given choices are not stored under its key.
    const auto store = [&] {
      if (plan_.product) plan_.product->store(options_.kept, s, gpu_.name);
    };
    if (options_.given != nullptr) {
      plan_.product = TROUPE_TRY(product_plan::from(library_, s, *options_.given));
      info.source = plan_source::given;
      if (s.repeatable == 0) store();
    } else if (options_.measure > 0) {
      TROUPE_TRY(measure(TROUPE_TRY(product_plan::search(library_, s, options_.measure)), info));
      info.source = plan_source::measured;
      if (s.repeatable == 0) store();
    } else {
      plan_.product = product_plan::stored(library_, s, options_.kept, gpu_.name);
      info.source = plan_source::stored;
      if (!plan_.product) {
        const auto all = TROUPE_TRY(product_plan::search(library_, s, 1));
        info.source = plan_source::predicted;
        if (!all.empty()) plan_.product = all.front();
        store();
      }
    }
    return {};
  }

  // Times all algorithms, then the fastest few alternately, because the clock rate of a GPU changes over time. Another
  // algorithm replaces the first, which the vendor recommends, only if it is faster by more than chance.
  result<void> measure(const std::vector<product_plan>& all, plan_info& info) {
    constexpr std::size_t finalists = 4;
    constexpr int rounds = 3;
    constexpr double beyond_chance = 0.99;
    struct candidate {
      const product_plan* plan;
      double us;
    };
    if (all.empty()) return {};
    std::vector<candidate> candidates;
    for (const product_plan& one : all) candidates.push_back({&one, TROUPE_TRY(options_.time(plan_, one))});
    info.measured = static_cast<std::int32_t>(candidates.size());
    std::sort(candidates.begin() + 1, candidates.end(),
              [](const candidate& x, const candidate& y) { return x.us < y.us; });
    if (candidates.size() > finalists) candidates.resize(finalists);
    for (candidate& c : candidates) c.us = std::numeric_limits<double>::infinity();
    for (int i = 0; i < rounds; ++i)
      for (candidate& c : candidates) c.us = std::min(c.us, TROUPE_TRY(options_.time(plan_, *c.plan)));
    const candidate* best = &candidates.front();
    for (const candidate& c : candidates)
      if (c.us < beyond_chance * candidates.front().us && c.us < best->us) best = &c;
    info.first_microseconds = candidates.front().us, info.microseconds = best->us;
    plan_.product = *best->plan;
    return {};
  }

  // Describes the epilogue to cuBLASLt. Returns false if cuBLASLt does not fuse it with this arrangement.
  bool describe_epilogue(product_spec& s, arrangement how) const {
    const fused_epilogue& f = plan_.epilogue;
    const bool scales = f.a_scale != none || f.b_scale != none || f.row_scales != none;
    const bool wide = how == arrangement::halves || how == arrangement::scaled;
    if (wide && (scales || f.d_scale != none || f.amax != none)) return false;
    const auto memory_of = [&](operand_index i) -> const memory_operand& {
      return tree_.memory()[static_cast<std::size_t>(i)];
    };
    const auto matrix = [&](operand_index i) {
      const memory_operand& m = memory_of(i);
      const std::int64_t ld = problem_.d.columns == 1 ? problem_.d.rows : problem_.column_stride_of(m.shape);
      return product_spec::matrix{type_of(m.type), problem_.d.rows,        problem_.d.columns, ld,
                                  m.batch_stride,  alignment_of(m.address)};
    };
    const auto fits = [](dtype t) { return t == dtype::f32 || t == dtype::f64 || t == dtype::f16 || t == dtype::bf16; };
    if (f.c != none) {
      const dtype c = memory_of(f.c).type, d = problem_.d.type;
      if (is_float8(d) ? c != dtype::f16 && c != dtype::bf16 : c != d) return false;
      s.c = matrix(f.c);
      // cuBLASLt 13.1 checks the alignment of the lines of C only. If the lines of D are less aligned, and the
      // alignment that is given for D does not say so, its kernels fail with CUDA_ERROR_MISALIGNED_ADDRESS (on an
      // H100).
      s.d.alignment = std::min(s.d.alignment, line_alignment(s.d, d));
    }
    s.numbers_in_memory = f.alpha_in_memory != none || f.beta_in_memory != none;
    std::int64_t kind = 0;
    if (f.activation == fused_epilogue::activation::relu) kind = CUBLASLT_EPILOGUE_RELU;
    if (f.activation == fused_epilogue::activation::gelu) kind = CUBLASLT_EPILOGUE_GELU;
    const operand_index bias = f.bias != none ? f.bias : f.bias_gradient;
    if (bias != none) {
      const memory_operand& m = memory_of(bias);
      if (!fits(m.type)) return false;
      s.bias_type = type_of(m.type), s.bias_stride = m.batch_stride, s.bias_alignment = alignment_of(m.address);
      kind |= f.bias != none ? std::int64_t{CUBLASLT_EPILOGUE_BIAS} : epilogue_part::bias_gradient;
    }
    const operand_index aux = f.aux != none ? f.aux : f.derivative_at;
    if (aux != none) {
      const product_spec::matrix m = matrix(aux);
      if (m.ld % 8 != 0 || m.stride % 8 != 0 || m.alignment < 16 || !fits(memory_of(aux).type)) return false;
      s.aux_type = m.type, s.aux_ld = m.ld, s.aux_stride = m.stride, s.aux_alignment = m.alignment;
      kind |= f.aux != none ? epilogue_part::aux : std::int64_t{CUBLASLT_EPILOGUE_DGELU};
    }
    if (kind != 0) s.epilogue = kind;
    s.scales = (f.a_scale != none || f.row_scales != none ? s.scales_a : 0) |
               (f.b_scale != none || f.column_scales != none ? s.scales_b : 0) | (f.d_scale != none ? s.scales_d : 0) |
               (f.amax != none ? s.finds_largest : 0);
    if (f.row_scales != none) {
      if (memory_of(f.row_scales).type != dtype::f32 || memory_of(f.column_scales).type != dtype::f32) return false;
#if CUBLAS_VERSION >= 120900
      s.a_scale_mode = s.b_scale_mode = CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F;
#else
      return false;
#endif
    }
    return true;
  }

  const cublasLtHandle_t library_;
  const product_kind& kind_;
  const problem& problem_;
  const tree& tree_;
  const cuda::gpu_properties& gpu_;
  const selection_options& options_;
  const dtype sums_;
  execution_plan plan_;
  std::optional<error> workspace_error_;
};

}  // namespace

stored_scales scales_for_library(const block_scales& s, std::int64_t lines) noexcept {
  if (s.block.lines == 1) return {s.k_blocks, lines, lines, s.line_stride, s.k_stride};
  return {s.line_blocks, s.k_blocks, rounded_up(s.k_blocks, 4), s.k_stride, s.line_stride};
}

result<std::shared_ptr<execution_plan>> find_execution_plan(cublasLtHandle_t library, const product_kind& kind,
                                                            const cuda::gpu_properties& gpu,
                                                            const selection_options& options) {
  return search(library, kind, gpu, options).run();
}

}  // namespace troupe::matmul
