// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <troupe/base/text/cat.hpp>
#include <troupe/cuda/handles.hpp>
#include <troupe/dnn/cudnn/status.hpp>
#include <troupe/dnn/cudnn/trial/plan_trial.hpp>
#include <troupe/epilogue/numbers.hpp>

namespace troupe::dnn::cudnn {
namespace {

// The period with which elements of operands repeat. It is a prime, so that lines differ.
constexpr std::int64_t period = 65521;
// Returns an integer from -3 to 3. Float represents sums of products of such integers exactly.
double operand_value(std::size_t operand, std::int64_t element) noexcept {
  std::uint64_t x = (static_cast<std::uint64_t>(element % period) + 1) * 0x9e3779b97f4a7c15u + operand * 0x7f4a7c15u;
  x ^= x >> 29, x *= 0xbf58476d1ce4e5b9u, x ^= x >> 32;
  return static_cast<double>(x % 7) - 3;
}

std::int64_t element_at(const tensor_shape& s, const axis_values& at) noexcept {
  std::int64_t n = 0;
  for (std::size_t i = 0; i < s.rank; ++i) n += at[i] * s.strides[i];
  return n;
}
std::uint64_t bytes_of(const fusion_match::tensor& t) noexcept {
  return static_cast<std::uint64_t>(spanned_elements_of(t.shape)) * troupe::bytes_of(t.type);
}

// Returns the position of sample `which` of a tensor: the first samples are its corners, the others random elements.
axis_values sample_position(const tensor_shape& s, std::int64_t which) noexcept {
  axis_values at{};
  std::uint64_t x = static_cast<std::uint64_t>(which) * 0x9e3779b97f4a7c15u;
  for (std::size_t i = 0; i < s.rank; ++i) {
    x ^= x >> 31, x *= 0xbf58476d1ce4e5b9u;
    const bool corner = which < 8;
    at[i] = corner ? (which >> (i % 3) & 1) * (s.extents[i] - 1)
                   : static_cast<std::int64_t>((x >> 20) % static_cast<std::uint64_t>(s.extents[i]));
  }
  return at;
}

std::string text_of(const tensor_shape& s, const axis_values& at) {
  std::string out;
  for (std::size_t i = 0; i < s.rank; ++i) out += cat(i == 0 ? "[" : ", ", at[i]);
  return out + "]";
}

}  // namespace

plan_trial::~plan_trial() {
  for (const block& b : memory_) (void)::cuMemFreeAsync(b.address, stream_);
}

bool plan_trial::make_operands(const fusion_match& match) {
  if (!addresses_.empty()) return true;
  for (std::size_t i = 0; i < match.inputs.size(); ++i)
    if (!add_block(bytes_of(match.inputs[i])) || !fill(i, match.inputs[i])) return false;
  for (const fusion_match::tensor& t : match.outputs)
    if (!add_block(bytes_of(t))) return false;
  for (const block& b : memory_) addresses_.push_back(reinterpret_cast<void*>(b.address));
  return true;
}

bool plan_trial::add_block(std::uint64_t bytes) {
  CUdeviceptr m = 0;
  if (::cuMemAllocAsync(&m, bytes, stream_) != CUDA_SUCCESS) return false;
  memory_.push_back({m, bytes});
  return true;
}

bool plan_trial::fill(std::size_t operand, const fusion_match::tensor& t) {
  const std::size_t size = troupe::bytes_of(t.type);
  const std::int64_t all = spanned_elements_of(t.shape);
  std::vector<std::byte> numbers(static_cast<std::size_t>(std::min(all, period)) * size);
  for (std::size_t i = 0; i * size < numbers.size(); ++i)
    epilogue::put_number(numbers.data() + i * size, t.type,
                         unit_ * operand_value(operand, static_cast<std::int64_t>(i)));
  const auto [to, bytes] = memory_.back();
  if (::cuMemcpyHtoDAsync(to, numbers.data(), numbers.size(), stream_) != CUDA_SUCCESS || !wait()) return false;
  // Double the filled part until the block is full.
  for (std::uint64_t done = numbers.size(); done < bytes; done *= 2)
    if (::cuMemcpyDtoDAsync(to + done, to, std::min(done, bytes - done), stream_) != CUDA_SUCCESS) return false;
  return true;
}

// Fills the blocks from `from` on with bytes that no correct result has, so that compare() detects elements that a plan
// does not write.
bool plan_trial::poison(std::size_t from) {
  for (std::size_t i = from; i < memory_.size(); ++i)
    if (::cuMemsetD8Async(memory_[i].address, 0xee, memory_[i].bytes, stream_) != CUDA_SUCCESS) return false;
  return true;
}

result<trial_result> plan_trial::run(const fusion_match& match, bool measured, const enqueue_function& enqueue) {
  const auto no_memory = [] {
    return error(reaction::retry_later, "dnn",
                 "there is not enough GPU memory to try a plan of cuDNN on test operands");
  };
  if (!make_operands(match)) return no_memory();
  const std::size_t operands = addresses_.size();
  if (match.workspace != 0 && !add_block(match.workspace)) return no_memory();
  void* const workspace = match.workspace != 0 ? reinterpret_cast<void*>(memory_.back().address) : nullptr;
  trial_result out{.why_not = "its run failed", .is_temporary = true};
  if (poison(match.inputs.size())) {
    const cudnnStatus_t status = enqueue(addresses_, workspace);
    const bool is_done = wait();
    if (status != CUDNN_STATUS_SUCCESS)
      out = {.why_not = cat("cudnnBackendExecute returned ", cudnn::text_of(status)),
             .is_temporary = !is_permanent(status)};
    else if (is_done)
      out = compare(match);
  }
  if (measured && out.why_not.empty()) out.microseconds = time(enqueue, workspace);
  if (memory_.size() > operands) {
    (void)::cuMemFreeAsync(memory_.back().address, stream_);
    memory_.pop_back();
  }
  return out;
}

trial_result plan_trial::compare(const fusion_match& match) const {
  const match_reference reference(graph_, uses_, match, [&](std::size_t input, const axis_values& at) {
    const fusion_match::tensor& in = match.inputs[input];
    return epilogue::nearest_of(in.type, unit_ * operand_value(input, element_at(in.shape, at)));
  });
  for (std::size_t i = 0; i < match.outputs.size(); ++i) {
    const fusion_match::tensor& out = match.outputs[i];
    constexpr std::int64_t fewest = 4, most = 96;
    const std::int64_t count = std::clamp(most_summands_ / reference.summands_of(out.number), fewest, most);
    const CUdeviceptr base = memory_[match.inputs.size() + i].address;
    const std::size_t size = troupe::bytes_of(out.type);
    std::vector<std::array<std::byte, 8>> actual_bytes(static_cast<std::size_t>(count));
    for (std::int64_t k = 0; k < count; ++k) {
      const auto element = static_cast<std::uint64_t>(element_at(out.shape, sample_position(out.shape, k)));
      (void)::cuMemcpyAsync(reinterpret_cast<CUdeviceptr>(actual_bytes[static_cast<std::size_t>(k)].data()),
                            base + element * size, size, stream_);
    }
    if (!wait()) return {.why_not = "its results cannot be read", .is_temporary = true};
    for (std::int64_t k = 0; k < count; ++k) {
      const axis_values at = sample_position(out.shape, k);
      double magnitude = 0;
      const double actual = epilogue::number_at(actual_bytes[static_cast<std::size_t>(k)].data(), out.type),
                   expected = reference.at(out.number, at, magnitude);
      // `rounding` is one rounding step of a narrow type; the other tolerances allow for different implementations of
      // functions.
      const double rounding =
          size < 4 ? std::fabs(epilogue::nearest_of(out.type, expected * (1 + 0x1p-7)) - expected) : 0;
      if (!(std::fabs(actual - expected) <= 1e-4 * std::max(1.0, std::fabs(expected)) + rounding + 0x1p-7 * magnitude))
        return {.why_not = cat("element ", text_of(out.shape, at), " of the result is ", std::to_string(actual),
                               "; expected ", std::to_string(expected))};
    }
  }
  return {};
}

double plan_trial::time(const enqueue_function& enqueue, void* workspace) {
  constexpr int runs = 5;
  double best = 0;
  for (int round = 0; round < 3; ++round) {
    if (!wait()) return 0;
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < runs; ++i)
      if (enqueue(addresses_, workspace) != CUDNN_STATUS_SUCCESS) return 0;
    if (!wait()) return 0;
    const double us =
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count() / runs;
    if (round == 0 || us < best) best = us;
  }
  return best;
}

}  // namespace troupe::dnn::cudnn
