// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Runs each source on a device: the host engine, or the engine that TROUPE_TEST_ENGINE names.
#include <map>
#include <string_view>
#include <troupe/jit/jit.hpp>
#include <troupe/runtime/runtime.hpp>

#include "table.hpp"

namespace troupe::foreign {
namespace {

// A broken engine is as bad as a wrong result.
template <class T>
T fine(result<T> r) {
  if (!r) {
    const bool refused = r.error().reaction() == reaction::caller_bug || r.error().reaction() == reaction::unsupported;
    throw failure{.wrong = !refused, .text = r.error().to_string()};
  }
  if constexpr (!std::is_void_v<T>) return std::move(*r);
}

class on_a_device final : public program {
 public:
  on_a_device(const device& gpu, jit::recipe recipe)
      : gpu_(gpu), has_globals_(!recipe.globals.empty()), program_(jit::compile(gpu, std::move(recipe))) {
    fine(program_.ready().get());
  }

  void launch(const std::string& kernel, const shape& threads, std::span<const passed> arguments) override {
    const auto parameters = fine(program_.attributes(kernel).get()).parameters;
    std::vector<kernel::argument> list;
    std::map<const std::byte*, buffer<std::byte>> buffers;  // a vector that is passed twice is one buffer
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const passed& a = arguments[i];
      if (a.value()) {
        list.push_back(*a.value());
        continue;
      }
      auto& b = buffers[a.from().data()];
      if (!b) {
        b = gpu_.alloc<std::byte>(a.from().size());
        gpu_.upload(b, a.from());
      }
      const bool writes = i >= parameters.size() || parameters[i].passing != kernel::passing::const_pointer;
      list.push_back(a.at(b.memory(), writes));
    }
    fine(gpu_.ask(jit::launch{.kernel = program_.kernel(kernel),
                              .grid = threads.grid,
                              .block = threads.block,
                              .shared_bytes = threads.shared_bytes,
                              .arguments = kernel::arguments(std::move(list)),
                              .writes_globals = has_globals_})
             .get());
    for (const passed& a : arguments)
      if (!a.to().empty()) fine(gpu_.download(buffers[a.from().data()], a.to()).get());
  }

  void write_global(const std::string& name, std::span<const std::byte> from) override {
    const auto source = gpu_.alloc<std::byte>(from.size());
    gpu_.upload(source, from);
    fine(gpu_.ask(jit::write_global{.global = program_.global(name), .source = source}).get());
  }
  void read_global(const std::string& name, std::span<std::byte> to) override {
    const auto target = gpu_.alloc<std::byte>(to.size());
    fine(gpu_.ask(jit::read_global{.global = program_.global(name), .target = target}).get());
    fine(gpu_.download(target, to).get());
  }

 private:
  device gpu_;
  bool has_globals_;
  jit::program program_;
};

}  // namespace
}  // namespace troupe::foreign

int main(int argc, char** argv) {
  using namespace troupe;
  const char* const set = std::getenv("TROUPE_TEST_ENGINE");
  const std::string engine = set != nullptr ? set : "host";
  // Compiled programs are cached in the build folder, not in the home of the user who runs the tests.
  if (std::getenv("TROUPE_CACHE") == nullptr) ::setenv("TROUPE_CACHE", TROUPE_TEST_CACHE, 1);
  return foreign::judge_all(
      argc, argv, engine == "host" ? foreign::engine::host : foreign::engine::gpu, [&](foreign::source& s) {
        runtime rt;
        const device gpu = rt.open_device({.engine = engine, .readable_folders = {foreign::folder().string()}});
        foreign::on_a_device on(gpu, s.recipe());
        s.judge_on(on);
      });
}
