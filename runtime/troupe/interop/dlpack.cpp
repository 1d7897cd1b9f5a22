// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>
#include <troupe/base/containers/value_for.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/device/sharing.hpp>
#include <troupe/interop/abi.hpp>
#include <troupe/interop/dlpack.hpp>
#include <troupe/memory/requests.hpp>

namespace troupe::dlpack {

struct detail::exported {
  block_ref owner;
  addressed_memory at;
  abi::data_type type;
  dlpack::layout layout;
};

namespace {

error refused(std::string text) { return error(reaction::caller_bug, "dlpack", std::move(text)); }
error impossible(std::string text) { return error(reaction::unsupported, "dlpack", std::move(text)); }

std::optional<abi::data_type> type_of(dtype t) noexcept {
  if (t == dtype::f4e2m1x2) return abi::data_type{abi::float4_e2m1fn, 4, 2};
  if (t == dtype::f4e2m1 || t == dtype::cbf16) return std::nullopt;
  using code = std::uint8_t;
  static constexpr std::pair<dtype, code> by_name[] = {{dtype::bf16, abi::bfloat},
                                                       {dtype::f8e4m3, abi::float8_e4m3fn},
                                                       {dtype::f8e5m2, abi::float8_e5m2},
                                                       {dtype::f8e8m0, abi::float8_e8m0fnu}};
  static constexpr std::pair<dtype_kind, code> by_kind[] = {{dtype_kind::floating, abi::floating},
                                                            {dtype_kind::complex, abi::complex},
                                                            {dtype_kind::signed_integer, abi::signed_integer},
                                                            {dtype_kind::unsigned_integer, abi::unsigned_integer},
                                                            {dtype_kind::boolean, abi::boolean}};
  return abi::data_type{value_for(t, by_name, value_for(info(t).kind, by_kind, 0)),
                        static_cast<std::uint8_t>(8 * bytes_of(t)), 1};
}

std::string text_of(const abi::data_type& t) {
  return cat("code ", t.code, " with ", t.bits, " bits and ", t.lanes, t.lanes == 1 ? " lane" : " lanes");
}

std::string text_of(const std::vector<std::int64_t>& numbers) {
  std::string out = "{";
  for (const std::int64_t n : numbers) out += cat(out.size() == 1 ? "" : ", ", n);
  return out + "}";
}

// Fills in missing strides. Returns the distance in memory from the first element to the last, both included, in
// elements.
result<extent> span_of(layout& how) {
  if (how.strides.empty()) {
    how.strides.resize(how.shape.size());
    extent step = 1;
    for (std::size_t i = how.shape.size(); i-- > 0;) {
      how.strides[i] = step.overflowed() ? INT64_MAX : step.value();
      step = step * how.shape[i];
    }
  }
  if (how.strides.size() != how.shape.size())
    return refused(
        cat("there are ", how.strides.size(), " strides; expected ", how.shape.size(), ", one for each axis, or none"));
  extent last = 0;
  for (std::size_t i = 0; i < how.shape.size(); ++i) {
    if (how.shape[i] < 1)
      return refused("the shape is " + text_of(how.shape) + "; expected at least 1 element along each axis");
    if (how.strides[i] < 0)
      return refused("the strides are " + text_of(how.strides) + "; expected at least 0: copy the tensor first");
    last = last + extent(how.shape[i] - 1) * how.strides[i];
  }
  const extent all = last + 1;
  if (all.overflowed())
    return refused("the shape " + text_of(how.shape) + " spans more elements than 64 bits can count");
  return all;
}

result<std::shared_ptr<const detail::exported>> describe(const memory_range& r, addressed_memory at, dtype type,
                                                         layout how) {
  const auto as = type_of(type);
  if (!as)
    return impossible("DLPack has no type for one " + std::string(to_string(type)) +
                      " in a byte: use float4_e2m1x2, or a wider type");
  const auto have = static_cast<std::int64_t>(r.bytes / bytes_of(type));
  if (how.shape.empty() && how.strides.empty()) how.shape = {have};
  const auto needed = TROUPE_TRY(span_of(how));
  if (needed > have)
    return refused(cat("shape ", text_of(how.shape), " with strides ", text_of(how.strides), " needs ", needed.value(),
                       " elements; the buffer has ", have));
  return std::make_shared<const detail::exported>(detail::exported{r.owner, std::move(at), *as, std::move(how)});
}

abi::tensor tensor_of(const detail::exported& e) noexcept {
  return {.data = e.at.data,
          .device = {e.at.on_gpu ? abi::cuda : abi::cpu, e.at.on_gpu ? e.at.ordinal : 0},
          .dimensions = static_cast<std::int32_t>(e.layout.shape.size()),
          .type = e.type,
          .shape = const_cast<std::int64_t*>(e.layout.shape.data()),
          .strides = const_cast<std::int64_t*>(e.layout.strides.data()),
          .byte_offset = 0};
}

// The structure that a receiver gets. It shares ownership of the exported memory.
template <class Managed>
struct given : Managed {
  std::shared_ptr<const detail::exported> share;
};
template <class Managed>
given<Managed>* give(std::shared_ptr<const detail::exported> e) {
  auto* out = new given<Managed>{Managed{}, std::move(e)};
  out->tensor = tensor_of(*out->share);
  out->manager = out;
  out->deleter = [](Managed* self) { delete static_cast<given<Managed>*>(self); };
  return out;
}

template <class Managed>
struct taken {
  explicit taken(Managed* t) noexcept : tensor(t) {}
  taken(const taken&) = delete;
  ~taken() {
    if (ours && tensor->deleter != nullptr) tensor->deleter(tensor);
  }
  Managed* tensor;
  bool ours = false;  // false until the tensor is accepted: a refused one remains the caller's
};

template <class Managed>
result<detail::range_with_layout> borrow_from(const device& gpu, Managed* from, dtype type) {
  const abi::tensor& t = from->tensor;
  const auto expected = type_of(type);
  if (!expected) return impossible("DLPack has no type for one " + std::string(to_string(type)) + " in a byte");
  if (t.type.code != expected->code || t.type.bits != expected->bits || t.type.lanes != expected->lanes)
    return refused("the tensor's elements are " + text_of(t.type) + "; expected " + text_of(*expected) + ", for " +
                   std::string(to_string(type)));
  constexpr std::int32_t most_dimensions = 64;
  if (t.dimensions < 0 || t.dimensions > most_dimensions || (t.dimensions > 0 && t.shape == nullptr))
    return refused(cat("the tensor has ", t.dimensions, " axes; expected 0 to 64, and a shape if there is an axis"));
  layout how;
  if (t.dimensions > 0) {
    how.shape.assign(t.shape, t.shape + t.dimensions);
    if (t.strides != nullptr) how.strides.assign(t.strides, t.strides + t.dimensions);
  }
  const auto count = TROUPE_TRY(span_of(how));

  const device_statistics about = gpu.statistics();
  const bool on_gpu = about.engine == "cuda";
  const auto ordinal = static_cast<std::int32_t>(about.ordinal);
  const bool reachable =
      t.device.type == abi::cuda_host ||
      (on_gpu ? (t.device.type == abi::cuda && t.device.id == ordinal) || t.device.type == abi::cuda_managed
              : t.device.type == abi::cpu);
  if (!reachable)
    return impossible(cat("the tensor is on DLPack's device type ", t.device.type, ", id ", t.device.id, "; ",
                          gpu.name(), " can use memory of type ",
                          on_gpu ? cat("2 (kDLCUDA) with id ", ordinal, ", 3 (kDLCUDAHost) and 13 (kDLCUDAManaged)")
                                 : std::string("1 (kDLCPU) and 3 (kDLCUDAHost)"),
                          ": copy it with upload"));
  auto* const data = static_cast<std::byte*>(t.data) + t.byte_offset;
  const std::size_t alignment = info(type).kind == dtype_kind::complex ? bytes_of(type) / 2 : bytes_of(type);
  if (reinterpret_cast<std::uintptr_t>(data) % alignment != 0)
    return refused(cat("the tensor does not begin at a multiple of ", alignment,
                       " bytes, as its elements need: copy it with upload"));
  const auto share = std::make_shared<taken<Managed>>(from);
  const buffer<std::byte> made = adopt_memory(gpu, data, count * bytes_of(type), share);
  if (auto why = made.cause()) return *why;
  share->ours = true;
  return detail::range_with_layout{made.memory(), std::move(how)};
}

}  // namespace

::DLManagedTensorVersioned* tensor::managed() const {
  if (!exported_) return nullptr;
  auto* out = give<abi::managed_tensor_versioned>(exported_);
  out->version = {abi::major, abi::minor};
  out->flags = exported_->at.read_only ? abi::read_only : 0;
  return reinterpret_cast<::DLManagedTensorVersioned*>(static_cast<abi::managed_tensor_versioned*>(out));
}

::DLManagedTensor* tensor::managed_unversioned() const {
  if (!exported_ || exported_->at.read_only) return nullptr;
  return reinterpret_cast<::DLManagedTensor*>(static_cast<abi::managed_tensor*>(give<abi::managed_tensor>(exported_)));
}

void release(::DLManagedTensorVersioned* tensor) noexcept {
  auto* const t = reinterpret_cast<abi::managed_tensor_versioned*>(tensor);
  if (t != nullptr && t->deleter != nullptr) t->deleter(t);
}

void release(::DLManagedTensor* tensor) noexcept {
  auto* const t = reinterpret_cast<abi::managed_tensor*>(tensor);
  if (t != nullptr && t->deleter != nullptr) t->deleter(t);
}

pending<tensor> detail::lend(const device& gpu, const memory_range& r, dtype type, layout how) {
  auto at = address(gpu, buffer<std::byte>(r));
  if (!at) return make_ready<tensor>(at.error());
  auto described = describe(r, std::move(*at), type, std::move(how));
  if (!described) return make_ready<tensor>(described.error());
  const bool read_only = (*described)->at.read_only;
  auto done =
      read_only ? gpu.ask(memory::show{.source = in<std::byte>(r), .bytes = r.bytes}) : lend(gpu, buffer<std::byte>(r));
  return std::move(done).then([e = std::move(*described)](const result<void>& ok) -> result<tensor> {
    if (!ok) return ok.error();
    return tensor(e);
  });
}

result<tensor> detail::give(const memory_range& r, std::byte* data, dtype type, layout how) {
  if (data == nullptr) {
    if (auto why = troupe::detail::why_stale(r)) return *why;
    return refused("the buffer is empty; expected one that alloc_host returned");
  }
  addressed_memory at;
  at.data = data;
  auto described = TROUPE_TRY(describe(r, std::move(at), type, std::move(how)));
  return tensor(std::move(described));
}

result<detail::range_with_layout> detail::borrow(const device& gpu, ::DLManagedTensorVersioned* from, dtype type) {
  auto* const t = reinterpret_cast<abi::managed_tensor_versioned*>(from);
  if (t == nullptr) return refused("the tensor is null");
  if (t->version.major != abi::major)
    return impossible(
        cat("the tensor is of DLPack ", t->version.major, ".", t->version.minor, "; expected major version 1"));
  if ((t->flags & abi::read_only) != 0)
    return impossible(
        "the tensor is read-only; expected a writable one, because requests can write a borrowed buffer: copy it with "
        "upload");
  return borrow_from(gpu, t, type);
}

result<detail::range_with_layout> detail::borrow(const device& gpu, ::DLManagedTensor* from, dtype type) {
  if (from == nullptr) return refused("the tensor is null");
  return borrow_from(gpu, reinterpret_cast<abi::managed_tensor*>(from), type);
}

}  // namespace troupe::dlpack
