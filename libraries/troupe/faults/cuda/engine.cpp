// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The CUDA engine of faults: faults of kernels occur on the GPU, the others in the worker's process.
#include <cuda.h>
#include <unistd.h>

#include <cstdlib>
#include <troupe/base/try.hpp>
#include <troupe/cuda/errors.hpp>
#include <troupe/cuda/handles.hpp>
#include <troupe/faults/internal/process.hpp>
#include <troupe/worker/engine.hpp>
#include <vector>

namespace troupe::faults {
namespace {

// Kernels in PTX, so that no compiler is needed. Each runs in one thread.
constexpr const char* kernels = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry wild_pointer() {
  .reg .u64 a; .reg .u32 v;
  mov.u64 a, 16; mov.u32 v, 1;
  st.global.u32 [a], v;
  ret;
}
.visible .entry misaligned(.param .u64 at) {
  .reg .u64 a; .reg .u32 v;
  ld.param.u64 a, [at]; add.u64 a, a, 1; mov.u32 v, 1;
  ld.volatile.global.u32 v, [a];
  st.volatile.global.u32 [a], v;
  ret;
}
.visible .entry no_instruction() {
  trap;
  ret;
}
.visible .entry deep() {
  .reg .u64 a; .reg .u32 v;
  mov.u64 a, 1099511627776; mov.u32 v, 1;
  st.local.u32 [a], v;
  ret;
}
.visible .entry beyond_shared() {
  .shared .align 4 .b32 cell;
  .reg .u32 a, v;
  mov.u32 a, cell; add.u32 a, a, 1048576; mov.u32 v, 1;
  st.volatile.shared.u32 [a], v;
  ret;
}
.visible .entry endless(.param .u64 ns) {
  .reg .u64 begin, now, span; .reg .pred p, q;
  ld.param.u64 span, [ns];
  mov.u64 begin, %globaltimer;
  setp.eq.u64 q, span, 0;
LOOP:
  mov.u64 now, %globaltimer;
  sub.u64 now, now, begin;
  setp.lt.u64 p, now, span;
  @q bra LOOP;
  @p bra LOOP;
  ret;
}
.visible .entry scribble(.param .u64 at, .param .u64 words, .param .u32 pattern) {
  .reg .u64 a, n; .reg .u32 v; .reg .pred p;
  ld.param.u64 a, [at]; ld.param.u64 n, [words]; ld.param.u32 v, [pattern];
LOOP:
  setp.eq.u64 p, n, 0;
  @p ret;
  st.global.u32 [a], v;
  add.u64 a, a, 4; sub.u64 n, n, 1;
  bra LOOP;
}
)";

// A module of its own, because the driver adds the code that prints the assertion's text.
constexpr const char* assertion = R"(.version 7.0
.target sm_70
.address_size 64
.extern .func __assertfail(.param .b64 what, .param .b64 file, .param .b32 line, .param .b64 function, .param .b64 size);
.global .align 1 .b8 what[6] = {102, 97, 108, 115, 101, 0};
.global .align 1 .b8 where[7] = {102, 97, 117, 108, 116, 115, 0};
.visible .entry failed_assertion() {
  .reg .u64 w, f;
  mov.u64 w, what; cvta.global.u64 w, w;
  mov.u64 f, where; cvta.global.u64 f, f;
  .param .b64 p0; st.param.b64 [p0], w;
  .param .b64 p1; st.param.b64 [p1], f;
  .param .b32 p2; st.param.b32 [p2], 1;
  .param .b64 p3; st.param.b64 [p3], f;
  .param .b64 p4; st.param.b64 [p4], 1;
  call.uni __assertfail, (p0, p1, p2, p3, p4);
  ret;
}
)";

using cuda::done;

struct cuda_engine {
  static result<std::unique_ptr<cuda_engine>> make(const engine_context&) {
    auto out = std::make_unique<cuda_engine>();
    TROUPE_TRY(load(kernels, out->module_));
    TROUPE_TRY(load(faults::assertion, out->assertion_));
    return out;
  }

  result<void> run(const segmentation_fault&, call& c) { return launch("wild_pointer", c); }
  // Aborts the process: a failed assertion in a library does not reach the GPU.
  result<void> run(const faults::abort&, call&) { std::abort(); }
  result<void> run(const abort_in_helper&, call&) { std::abort(); }
  result<void> run(const illegal_instruction&, call& c) { return launch("no_instruction", c); }
  // A GPU's arithmetic never traps. The most similar fault is a load from a misaligned address.
  result<void> run(const floating_point_trap&, call& c) {
    std::uint64_t at = reinterpret_cast<std::uint64_t>(c.reply);
    void* arguments[] = {&at};
    return launch("misaligned", c, arguments);
  }
  result<void> run(const faults::exit& r, call&) { ::_exit(static_cast<int>(r.code.value())); }
  result<void> run(const stack_overflow&, call& c) { return launch("deep", c); }
  result<void> run(const failed_assertion&, call& c) { return launch(assertion_, "failed_assertion", c); }
  result<void> run(const shared_memory_overflow&, call& c) { return launch("beyond_shared", c); }
  result<void> run(const hang& r, call& c) {
    std::uint64_t ns = static_cast<std::uint64_t>(r.milliseconds.value()) * 1'000'000;
    void* arguments[] = {&ns};
    return launch("endless", c, arguments);
  }
  result<void> run(const exhaust_memory& r, call&) { exhaust(r); }
  result<void> run(const wild_write& r, call& c) {
    std::uint64_t at = r.address, words = static_cast<std::uint64_t>(r.bytes.value()) / 4;
    std::uint32_t pattern = r.pattern;
    void* arguments[] = {&at, &words, &pattern};
    return launch("scribble", c, arguments);
  }
  result<void> run(const garbage& r, call&) { return overwrite_shared_memory(r); }

 private:
  // Loads all code now: a faulty kernel of a program has usually been launched before, so loading it is not part of the
  // fault.
  static result<void> load(const char* text, cuda::code_module& into) {
    CUmodule made = nullptr;
    TROUPE_TRY(done(::cuModuleLoadData(&made, text), "cuModuleLoadData"));
    into.reset(made);
    unsigned count = 0;
    TROUPE_TRY(done(::cuModuleGetFunctionCount(&count, made), "cuModuleGetFunctionCount"));
    std::vector<CUfunction> all(count);
    TROUPE_TRY(done(::cuModuleEnumerateFunctions(all.data(), count, made), "cuModuleEnumerateFunctions"));
    for (const CUfunction f : all) TROUPE_TRY(done(::cuFuncLoad(f), "cuFuncLoad"));
    return {};
  }
  result<void> launch(const char* name, call& c, void** arguments = nullptr) {
    return launch(module_, name, c, arguments);
  }
  static result<void> launch(const cuda::code_module& of, const char* name, call& c, void** arguments = nullptr) {
    CUfunction f = nullptr;
    TROUPE_TRY(done(::cuModuleGetFunction(&f, of.get(), name), "cuModuleGetFunction"));
    return done(::cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, static_cast<CUstream>(c.stream), arguments, nullptr),
                "cuLaunchKernel");
  }
  cuda::code_module module_, assertion_;
};

}  // namespace
}  // namespace troupe::faults

using namespace troupe::faults;
TROUPE_ENGINE(cuda_engine, "faults", "cuda", troupe::with_slow<all_requests, abort_in_helper>)
