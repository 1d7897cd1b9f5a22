// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <string_view>
#include <troupe/base/try.hpp>
#include <troupe/cuda/default_stream.hpp>
#include <troupe/fft/cuda/plans.hpp>

namespace troupe::fft {
namespace {

plan_key::side side_of(const layout& l, const shape& n, cudaDataType type, extent batch) {
  const placement p = placement_of(l, n, batch);
  const shape& embed = l.embed == shape::tight() ? n : l.embed;
  plan_key::side out{type, l.stride.value(), p.distance.value(), {1, 1, 1}};
  for (std::size_t i = 0; i < n.rank(); ++i) out.embed[i] = embed[i].value();
  return out;
}

cudaDataType execution_type(const plan_key& k) {
  const bool doubles = k.input.type == CUDA_C_64F || k.input.type == CUDA_R_64F;
  return doubles ? CUDA_C_64F : CUDA_C_32F;
}

cufftXtCallbackType callback_type(std::int64_t element, bool loads) {
  switch (element) {
    case CUDA_C_32F:
      return loads ? CUFFT_CB_LD_COMPLEX : CUFFT_CB_ST_COMPLEX;
    case CUDA_C_64F:
      return loads ? CUFFT_CB_LD_COMPLEX_DOUBLE : CUFFT_CB_ST_COMPLEX_DOUBLE;
    case CUDA_R_64F:
      return loads ? CUFFT_CB_LD_REAL_DOUBLE : CUFFT_CB_ST_REAL_DOUBLE;
    default:
      return loads ? CUFFT_CB_LD_REAL : CUFFT_CB_ST_REAL;
  }
}

}  // namespace

plan_key key_of(const shape& n, const layout& input, const shape& input_n, cudaDataType in, const layout& output,
                const shape& output_n, cudaDataType out, extent batch) {
  plan_key k{static_cast<std::int64_t>(n.rank()),
             {1, 1, 1},
             batch.value(),
             side_of(input, input_n, in, batch),
             side_of(output, output_n, out, batch)};
  for (std::size_t i = 0; i < n.rank(); ++i) k.n[i] = n[i].value();
  return k;
}

result<void> plan::set_callbacks(const plan_key& k, const link_time_code& code, linking how) {
  CUdeviceptr data = 0;
  TROUPE_TRY(cuda::done_on(nullptr, "fft", "cuMemAlloc", ::cuMemAlloc(&data, 2 * sizeof(void*))));
  data_.reset(data);
  const auto set = [&](const char* name, std::string_view image, cufftXtCallbackType type, std::size_t which) {
    void* info = reinterpret_cast<void*>(data + which * sizeof(void*));
    return done(::cufftXtSetJITCallback(handle_, name, image.data(), image.size(), type, &info),
                "cufftXtSetJITCallback");
  };
  const auto load_type = callback_type(k.input.type, true), store_type = callback_type(k.output.type, false);
  if (code.loads()) TROUPE_TRY(set(load_function, code.code(), load_type, 0));
  if (!code.stores()) return {};
  if (code.loads() && how == linking::together) return set(forwarding_function, code.forwarder(), store_type, 1);
  return set(store_function, code.code(), store_type, 1);
}

result<std::shared_ptr<plan>> plan::make_once(const plan_key& k, const link_time_code* code, linking how) {
  std::shared_ptr<plan> out(new plan);
  TROUPE_TRY(done(::cufftCreate(&out->handle_), "cufftCreate"));
  out->made_ = true;
  TROUPE_TRY(done(::cufftSetAutoAllocation(out->handle_, 0), "cufftSetAutoAllocation"));
  if (code != nullptr) TROUPE_TRY(out->set_callbacks(k, *code, how));
  long long n[shape::most], in[shape::most], to[shape::most];
  std::copy(k.n, k.n + shape::most, n);
  std::copy(k.input.embed, k.input.embed + shape::most, in);
  std::copy(k.output.embed, k.output.embed + shape::most, to);
  std::size_t bytes = 0;
  const cufftResult made =
      ::cufftXtMakePlanMany(out->handle_, static_cast<int>(k.rank), n, in, k.input.stride, k.input.distance,
                            static_cast<cudaDataType>(k.input.type), to, k.output.stride, k.output.distance,
                            static_cast<cudaDataType>(k.output.type), k.batch, &bytes, execution_type(k));
  if (made == CUFFT_NOT_SUPPORTED && code != nullptr)
    return error(error::details{
        .reaction = reaction::unsupported,
        .domain = "fft",
        .code = made,
        .text =
            "cufftXtMakePlanMany returned CUFFT_NOT_SUPPORTED: cuFFT cannot link callbacks into transforms of these "
            "lengths, such as those with a large prime factor. Pad the transform, or use no callbacks"});
  TROUPE_TRY(done(made, "cufftXtMakePlanMany"));
  TROUPE_TRY(cuda::await_default_stream("fft"));
  out->work_bytes_ = bytes;
  return out;
}

// cuFFT links a plan's callbacks into its kernels, and a kernel must not contain a name twice. So if one kernel both
// loads and stores, it takes the second function from a forwarder to the first function's image. If different kernels
// load and store, each takes the image itself, because a forwarder needs the image in the same kernel. Only trying
// shows which of the two a plan needs.
result<std::shared_ptr<plan>> plan::make(const plan_key& k, const link_time_code* code) {
  const bool both = code != nullptr && code->loads() && code->stores();
  if (both) {
    auto made = make_once(k, code, linking::together);
    if (made || made.error().code() != CUFFT_INTERNAL_ERROR) return made;
  }
  return make_once(k, code, linking::apart);
}

plan::~plan() {
  if (made_) (void)::cufftDestroy(handle_);
}

result<void> plan::run(CUstream stream, void* work, void* input, void* output, bool forward, bool& broken) {
  const auto checked = [&](const char* call, cufftResult s) -> result<void> {
    if (s == CUFFT_SUCCESS) [[likely]]
      return {};
    return failed(call, s, stream, broken);
  };
  const std::scoped_lock guard(lock_);
  if (stream != stream_ || !set_up_) {
    set_up_ = false;
    TROUPE_TRY(checked("cufftSetStream", ::cufftSetStream(handle_, stream)));
    stream_ = stream;
  }
  if (work_bytes_ != 0 && (work != work_ || !set_up_)) {
    set_up_ = false;
    TROUPE_TRY(checked("cufftSetWorkArea", ::cufftSetWorkArea(handle_, work)));
    work_ = work;
  }
  set_up_ = true;
  return checked("cufftXtExec", ::cufftXtExec(handle_, input, output, forward ? CUFFT_FORWARD : CUFFT_INVERSE));
}

result<std::shared_ptr<plan>> plans::find(const plan_key& k, const link_time_code* code) {
  return cache_.get({reinterpret_cast<const char*>(&k), sizeof k}, [&] { return plan::make(k, code); });
}

void plans::forget(std::uint64_t callbacks) {
  cache_.drop_if([callbacks](std::string_view key) {
    plan_key k;
    std::memcpy(&k, key.data(), sizeof k);
    return k.callbacks == static_cast<std::int64_t>(callbacks);
  });
}

}  // namespace troupe::fft
