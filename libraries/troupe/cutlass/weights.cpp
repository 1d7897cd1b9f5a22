// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <deque>
#include <mutex>
#include <troupe/async/promise.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/cutlass/problems/pack_problem.hpp>
#include <troupe/cutlass/weights.hpp>
#include <troupe/device/device.hpp>
#include <troupe/device/sealing.hpp>
#include <troupe/request/encoding/describe.hpp>

namespace troupe::cutlass {
namespace {

constexpr std::int64_t line_alignment = 16;     // bytes that the tensor memory accelerator requires
constexpr std::int64_t scales_alignment = 256;  // bytes

extent rounded_up(extent n, std::int64_t to) noexcept { return (n + (to - 1)) / to * to; }

error refused(std::string_view field, std::string_view is, std::string_view expected) {
  return error(reaction::caller_bug, "cutlass", cat("cutlass.weights: ", field, " ", is, "; expected ", expected));
}

// The layout of one half: packed weights, followed by their scales.
struct half_layout {
  tensor_shape packed, scales;
  extent packed_bytes = 0, scales_at = 0, bytes = 0;
  std::uint64_t scale_bytes = 0;
};

// Returns the shape of a rows x columns matrix, or of a batch of such matrices; columns are `line` elements apart.
tensor_shape by_columns(std::int64_t batch, extent rows, extent columns, extent line) noexcept {
  tensor_shape s{.rank = batch == 0 ? std::uint64_t{2} : 3};
  const std::size_t i = s.rank - 2;
  if (batch != 0) s.extents[0] = batch, s.strides[0] = (line * columns).value();
  s.extents[i] = rows.value(), s.extents[i + 1] = columns.value();
  s.strides[i] = 1, s.strides[i + 1] = line.value();
  return s;
}

result<half_layout> layout_of(extent rows, extent columns, const weights_options& o) {
  if (rows < 1 || columns < 1)
    return refused("extents", cat("are ", troupe::detail::text(rows), " x ", troupe::detail::text(columns)),
                   "at least 1");
  const bool scaled = is_quantized(o.type);
  if (!scaled && !is_packable(o.type))
    return refused("type", cat("is ", to_string(o.type)), "f32, f16, bf16, i8, f8e4m3, f8e5m2 or f4e2m1x2");
  if (o.batch < 0)
    return refused("batch", cat("is ", o.batch), "0 for one matrix without a batch axis, or the number of matrices");
  const std::int64_t terms = matmul::k_per_element(o.type);
  const auto element = static_cast<std::int64_t>(bytes_of(o.type)), count = std::max<std::int64_t>(o.batch, 1);
  if (rows % terms != 0)
    return refused("rows", cat("is ", troupe::detail::text(rows)),
                   "an even number, because each element of f4e2m1x2 holds two");
  half_layout out;
  const extent line = rounded_up(rows / terms * element, line_alignment) / element;
  out.packed = by_columns(o.batch, rows / terms, columns, line);
  out.packed_bytes = out.bytes = line * columns * count * element;
  if (!scaled) {
    if (o.block != 0) return refused("block", cat("is ", o.block), cat("0: ", to_string(o.type), " has no scales"));
    return out;
  }
  if (o.scale_type != dtype::f32 && o.scale_type != dtype::bf16)
    return refused("scale_type", cat("is ", to_string(o.scale_type)), "f32 or bf16");
  if (o.block != 0 && (o.block < 16 || (o.block & (o.block - 1)) != 0))
    return refused("block", cat("is ", o.block), "16, 32, 64 ..., or 0 for all rows of a column");
  const extent block = o.block == 0 || rows < o.block ? rows : extent(o.block);
  const auto scale = static_cast<std::int64_t>(bytes_of(o.scale_type));
  const extent blocks = (rows + (block - 1)) / block.value();
  const extent scale_line = rounded_up(blocks * scale, line_alignment) / scale;
  out.scales = by_columns(o.batch, blocks, columns, scale_line);
  out.scales_at = rounded_up(out.packed_bytes, scales_alignment);
  out.scale_bytes = static_cast<std::uint64_t>((scale_line * columns * count * scale).value());
  out.bytes = out.scales_at + static_cast<std::int64_t>(out.scale_bytes);
  return out;
}

}  // namespace

struct weights::state : std::enable_shared_from_this<state> {
  static constexpr int none = -1;
  static constexpr std::uint32_t requests_of_refit = 3;  // unseal, pack, seal
  struct refit_request {
    device gpu;
    in_any from;
    call_options options;
    promise<void> done;
  };

  memory_range packed(int half) const { return halves[half].slice(0, layout.packed_bytes).memory(); }
  memory_range scales(int half) const {
    return halves[half].slice(layout.scales_at, static_cast<std::int64_t>(layout.scale_bytes)).memory();
  }
  bool has_scales() const noexcept { return layout.scale_bytes != 0; }

  // Sends the requests of the first refit in `queue`. Called by one thread at a time.
  void begin(refit_request& r) {
    const int half = current.load(std::memory_order_relaxed) == 0 ? 1 : 0;
    unseal(r.gpu, halves[half]).detach();  // if this request fails, so do the next two
    // The half may be stale, and one request makes all of it valid. Between two requests, a product could read content
    // that is neither the old weights nor the new ones.
    pack request{
        .from = r.from,
        .packed = out_any(halves[half].slice(0, has_scales() ? layout.scales_at : layout.packed_bytes).memory(),
                          layout.packed, options.type),
        .replaces_all = true};
    if (has_scales()) request.scales.emplace(scales(half), layout.scales, options.scale_type);
    auto packing = r.gpu.ask(request, r.options);
    seal(r.gpu, halves[half])
        .then([self = shared_from_this(), half, packing = std::move(packing)](const result<void>& sealed) mutable {
          // The seal follows the packing and fails if the packing failed; the packing's error is more precise.
          const result<void> packed = packing.ready() ? packing.take() : result<void>();
          self->end(half, packed ? sealed : packed);
        })
        .detach();
  }

  void end(int half, const result<void>& how) {
    if (how) {
      current.store(half, std::memory_order_release);
      refits.fetch_add(1, std::memory_order_relaxed);
    }
    std::unique_lock lock(mutex);
    promise<void> done = std::move(queue.front().done);
    queue.pop_front();
    refit_request* const next = queue.empty() ? nullptr : &queue.front();
    lock.unlock();
    // A continuation must not wait for space in the mailbox. If there is none, the next refit fails with that reason.
    if (next != nullptr)
      next->gpu.room(requests_of_refit)
          .then([self = shared_from_this(), next](const result<void>&) { self->begin(*next); })
          .detach();
    done.set(how);
  }

  half_layout layout;
  weights_options options;
  buffer<std::byte> halves[2];
  std::atomic<int> current{none};
  std::atomic<std::uint64_t> refits{0};
  std::mutex mutex;
  std::deque<refit_request> queue;  // the first refit is running
};

result<weights> weights::make(const device& gpu, extent rows, extent columns, const weights_options& o) {
  auto made = std::make_shared<state>();
  made->layout = TROUPE_TRY(layout_of(rows, columns, o));
  made->options = o;
  for (buffer<std::byte>& half : made->halves) {
    half = gpu.alloc<std::byte>(made->layout.bytes, {.quota = o.quota, .sealable = true});
    if (auto why = half.cause()) return *why;
  }
  return weights(std::move(made));
}

pending<void> weights::refit(const device& gpu, const in_any& matrix, const call_options& o) const {
  promise<void> done;
  pending<void> answer = done.get_pending();
  std::unique_lock lock(state_->mutex);
  state_->queue.push_back({gpu, matrix, o, std::move(done)});
  if (state_->queue.size() > 1) return answer;
  state::refit_request& first = state_->queue.front();
  lock.unlock();
  state_->begin(first);
  return answer;
}

packed_weights weights::in_force() const {
  const int half = state_->current.load(std::memory_order_acquire);
  if (half != state::none) {
    packed_weights out{in_any(state_->packed(half), state_->layout.packed, state_->options.type), {}};
    if (state_->has_scales())
      out.b_scales.emplace(state_->scales(half), state_->layout.scales, state_->options.scale_type);
    return out;
  }
  const memory_range some = state_->packed(0);
  const error nothing(reaction::caller_bug, "cutlass",
                      "cutlass.weights: no refit is complete; wait for the first one before using the weights");
  return {in_any({some.owner->owner->failed_buffer(some.bytes, nothing), 0, some.bytes}, state_->layout.packed,
                 state_->options.type),
          {}};
}

std::uint64_t weights::refits() const noexcept { return state_->refits.load(std::memory_order_relaxed); }
std::uint64_t weights::bytes() const noexcept { return state_->halves[0].bytes() + state_->halves[1].bytes(); }

}  // namespace troupe::cutlass
