// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlfcn.h>

#include <cstdlib>
#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tests/numerics/device.hpp>
#include <troupe/request/ready_request.hpp>
#include <troupe/worker/engine.hpp>
#include <utility>
#include <vector>

namespace troupe::numerics {

/// The engine for the numerics of a library, which the program chooses.
const char* engine_of_program();

/// An engine plug-in, loaded from its file and called as a worker calls it: through the C interface, with encoded
/// requests. Its operands are plain memory of the test: `operand(address, elements)`. Its neighbours, as in a worker,
/// are the engines in the same folder; and the plug-in that TROUPE_NEIGHBOUR_UNDER_TEST names. Throws if the plug-in is
/// unusable.
class engine_under_test {
 public:
  explicit engine_under_test(const std::string& path) : path_(path), engine_(opened(path)) {}
  engine_under_test(const engine_under_test&) = delete;

  const troupe_engine& interface() const noexcept { return *engine_.interface; }
  /// Returns the engine's remarks (see troupe::remark) from the test's own thread.
  std::vector<std::string>& remarks() noexcept { return remarks_; }
  bool is_cuda() const { return std::string_view(engine_.interface->backend) == "cuda"; }

  /// Returns null if the engine does not serve the request.
  const troupe_engine_operation* find(std::uint64_t opcode) const noexcept {
    return operation_of(*engine_.interface, opcode);
  }

  /// Runs one request on lane `lane`. Thread-safe.
  template <request R>
  result<reply_to<R>> run(const R& r, std::uint32_t lane = 0) const {
    const troupe_engine_operation* operation = find(opcode_of<R>);
    if (operation == nullptr)
      return error(reaction::unsupported, "test", "the engine does not serve " + std::string(name_of<R>()));
    const auto e = std::make_unique<encoded<R>>(r, lane);  // not on the stack, which a GPU does not see
    troupe_engine_failure failure{};
    if (!operation->run(engine_.interface->state, e->payload, &e->call, &failure)) return error_of(failure);
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
    if (!operation->run_group(engine_.interface->state, payloads.data(), calls.data(),
                              static_cast<std::uint32_t>(calls.size()), &failure))
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

  struct plug_in {
    void* file = nullptr;
    const troupe_engine* interface = nullptr;
    plug_in(void* f, const troupe_engine* i) noexcept : file(f), interface(i) {}
    plug_in(plug_in&& o) noexcept
        : file(std::exchange(o.file, nullptr)), interface(std::exchange(o.interface, nullptr)) {}
    ~plug_in() {
      if (interface != nullptr) interface->close(interface);
      if (file != nullptr) ::dlclose(file);
    }
  };

  plug_in opened(const std::string& path) {
    plug_in out(::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL), nullptr);
    if (out.file == nullptr) throw std::runtime_error(::dlerror());
    const auto open = reinterpret_cast<troupe_engine_open_fn>(::dlsym(out.file, "troupe_engine_open"));
    if (open == nullptr) throw std::runtime_error(path + " has no troupe_engine_open");
    test_device* const gpu = test_device::here();
    const troupe_engine_context context{
        .abi = troupe_engine_abi,
        .device = 0,
        .native_context = gpu != nullptr ? gpu->context() : nullptr,
        .lanes = 4,
        .neighbours = &as_neighbours_,
        .remarks = &remarks_,
        .remark = [](void* all, const char* text) { static_cast<std::vector<std::string>*>(all)->emplace_back(text); }};
    troupe_engine_failure failure{};
    out.interface = open(&context, &failure);
    if (out.interface == nullptr) throw std::runtime_error(failure.text);
    return out;
  }

  static const troupe_engine_operation* operation_of(const troupe_engine& of, std::uint64_t opcode) noexcept {
    for (std::uint32_t i = 0; i < of.operation_count; ++i)
      if (of.operations[i].opcode == opcode) return &of.operations[i];
    return nullptr;
  }

  // Returns the engine of a library, which is opened on first use; null if there is none.
  const troupe_engine* neighbour(std::uint32_t code) {
    const std::scoped_lock guard(lock_);
    for (const auto& [library, n] : neighbours_)
      if (library == code) return n.interface;
    const auto add = [&](const std::string& path) {
      return neighbours_.emplace_back(code, opened(path)).second.interface;
    };
    const std::filesystem::path folder = std::filesystem::path(path_).parent_path();
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
      const std::string name = file.path().filename(), end = std::string(".") + engine_.interface->backend + ".so";
      if (name.ends_with(end) && library_code(name.substr(0, name.size() - end.size())) == code)
        return add(file.path());
    }
    const char* const named = std::getenv("TROUPE_NEIGHBOUR_UNDER_TEST");
    if (named == nullptr) return nullptr;
    const troupe_engine* const out = add(named);
    return library_code(out->library) == code ? out : nullptr;
  }
  static bool find_for_engine(void* self, std::uint32_t code, std::uint64_t opcode, troupe_found_operation* out,
                              troupe_engine_failure* failure) {
    const troupe_engine* const engine = static_cast<engine_under_test*>(self)->neighbour(code);
    const troupe_engine_operation* const found = engine != nullptr ? operation_of(*engine, opcode) : nullptr;
    if (found != nullptr)
      *out = {found, engine->state, code};
    else
      troupe::detail::fill(failure, reaction::unsupported, 0, "test", "the test has no such engine");
    return found != nullptr;
  }

  const std::string path_;
  std::vector<std::string> remarks_;
  const troupe_engine_neighbours as_neighbours_{this, find_for_engine, [](void*) { return std::uint64_t{0}; }};
  std::mutex lock_;
  std::deque<std::pair<std::uint32_t, plug_in>> neighbours_;
  plug_in engine_;  // closed before its neighbours
};

}  // namespace troupe::numerics
