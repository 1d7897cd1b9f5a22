// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlfcn.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tests/numerics/device.hpp>
#include <troupe/request/ready_request.hpp>
#include <troupe/worker/engine.hpp>
#include <vector>

namespace troupe::numerics {

/// The engine for the numerics of a library, which the program chooses.
const char* engine_of_program();

/// An engine plug-in, loaded from its file and called as a worker calls it: through the C interface, with encoded
/// requests. Its operands are plain memory of the test: `operand(address, elements)`. Throws if the plug-in is
/// unusable.
class engine_under_test {
 public:
  explicit engine_under_test(const std::string& path) : file_(::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (file_ == nullptr) throw std::runtime_error(::dlerror());
    const auto open = reinterpret_cast<troupe_engine_open_fn>(::dlsym(file_, "troupe_engine_open"));
    if (open == nullptr) throw std::runtime_error(path + " has no troupe_engine_open");
    test_device* const gpu = test_device::here();
    const troupe_engine_context context{
        .abi = troupe_engine_abi,
        .device = 0,
        .native_context = gpu != nullptr ? gpu->context() : nullptr,
        .lanes = 4,
        .neighbours = nullptr,
        .remarks = &remarks_,
        .remark = [](void* all, const char* text) { static_cast<std::vector<std::string>*>(all)->emplace_back(text); }};
    troupe_engine_failure failure{};
    engine_ = open(&context, &failure);
    if (engine_ == nullptr) throw std::runtime_error(failure.text);
  }
  engine_under_test(const engine_under_test&) = delete;
  ~engine_under_test() {
    engine_->close(engine_);
    ::dlclose(file_);
  }

  const troupe_engine& interface() const noexcept { return *engine_; }
  /// Returns the engine's remarks (see troupe::remark) from the test's own thread.
  std::vector<std::string>& remarks() noexcept { return remarks_; }
  bool is_cuda() const { return std::string_view(engine_->backend) == "cuda"; }

  /// Returns null if the engine does not serve the request.
  const troupe_engine_operation* find(std::uint64_t opcode) const noexcept {
    for (std::uint32_t i = 0; i < engine_->operation_count; ++i)
      if (engine_->operations[i].opcode == opcode) return &engine_->operations[i];
    return nullptr;
  }

  /// Runs one request on lane `lane`. Thread-safe.
  template <request R>
  result<reply_to<R>> run(const R& r, std::uint32_t lane = 0) const {
    const troupe_engine_operation* operation = find(opcode_of<R>);
    if (operation == nullptr)
      return error(reaction::unsupported, "test", "the engine does not serve " + std::string(name_of<R>()));
    const auto e = std::make_unique<encoded<R>>(r, lane);  // not on the stack, which a GPU does not see
    troupe_engine_failure failure{};
    if (!operation->run(engine_->state, e->payload, &e->call, &failure)) return error_of(failure);
    if (auto ok = finish(lane); !ok) return ok.error();
    return e->answer();
  }

  template <ready_request R>
  auto run(const R& r, std::uint32_t lane = 0) const {
    return run(r.to_request(), lane);
  }

  /// Runs requests that the engine agrees to coalesce in one call; empty if it does not.
  template <request R>
  std::vector<result<reply_to<R>>> run_together(const std::vector<R>& all) const {
    const troupe_engine_operation* operation = find(opcode_of<R>);
    if (operation == nullptr || operation->group == nullptr) return {};
    std::vector<std::unique_ptr<encoded<R>>> each;
    std::vector<const void*> payloads;
    for (const R& r : all) {
      each.push_back(std::make_unique<encoded<R>>(r, 0));
      payloads.push_back(each.back()->payload);
      const std::uint64_t key = operation->group(payloads.back());
      if (key == 0 || key != operation->group(payloads.front())) return {};
    }
    std::vector<troupe_engine_call> calls;
    for (const auto& e : each) calls.push_back(e->call);
    troupe_engine_failure failure{};
    if (!operation->run_group(engine_->state, payloads.data(), calls.data(), static_cast<std::uint32_t>(calls.size()),
                              &failure))
      return {};
    if (auto ok = finish(0); !ok) throw std::runtime_error(ok.error().text());
    std::vector<result<reply_to<R>>> out;
    for (const auto& e : each) out.push_back(e->answer());
    return out;
  }

 private:
  // A request as a worker receives it.
  template <request R>
  struct encoded {
    encoded(const R& r, std::uint32_t lane)
        : blob(blob_bytes(r) / sizeof(part)),
          call{test_device::here() != nullptr ? test_device::here()->stream(lane) : nullptr,
               lane,
               0,
               1,
               reply,
               [](void*) {},
               nullptr} {
      encode(r, payload, {reinterpret_cast<std::byte*>(blob.data()), reinterpret_cast<std::uintptr_t>(blob.data())});
    }
    encoded(const encoded&) = delete;
    result<reply_to<R>> answer() const {
      if constexpr (std::is_void_v<reply_to<R>>)
        return {};
      else {
        reply_to<R> out;
        std::memcpy(&out, reply, sizeof out);
        return out;
      }
    }
    struct alignas(blob_cursor::align) part {
      std::byte bytes[blob_cursor::align];
    };
    std::vector<part> blob;
    alignas(16) std::byte payload[payload_bytes<R>];
    alignas(64) std::byte reply[max_reply_bytes]{};
    troupe_engine_call call;
  };
  static result<void> finish(std::uint32_t lane) {
    test_device* const gpu = test_device::here();
    if (gpu == nullptr) return {};
    if (const std::string wrong = gpu->finish(lane); !wrong.empty())
      return error(reaction::context_lost, "test", wrong);
    return {};
  }
  static error error_of(const troupe_engine_failure& failure) {
    return error(error::details{.reaction = static_cast<reaction>(failure.reaction),
                                .domain = failure.domain,
                                .code = failure.code,
                                .text = failure.text});
  }

  void* file_;
  std::vector<std::string> remarks_;
  const troupe_engine* engine_;
};

}  // namespace troupe::numerics
