// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdlib>
#include <troupe/base/clock.hpp>
#include <troupe/base/linux/own_descriptors.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/channel/process/process.hpp>
#include <troupe/device/core/check_options.hpp>
#include <troupe/runtime/engine_choice.hpp>

namespace troupe {
namespace {

using protocol::driver_description;

constexpr int prohibited = 2;  // CU_COMPUTEMODE_PROHIBITED

engine_choice host_because(std::string reason) { return {"host", std::move(reason)}; }

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

// Asks the driver in a child process, so that this process never loads the driver's library.
result<driver_description> ask_driver(const device_options& o) {
  const file_descriptor output = create_in_memory("troupe-driver");
  auto child = TROUPE_TRY(process::launch({.path = o.runtime_folder + "/troupe-worker",
                                           .args = {"--describe-driver"},
                                           .stderr_fd = output.get(),
                                           .stdout_fd = output.get()}));
  const exit_status end = TROUPE_TRY(child.wait(o.start_timeout.after(now_ns())));
  if (!end.ended())
    return error(reaction::fatal, "runtime",
                 "the process that queries it did not end within device_options::start_timeout");
  if (end.how != exit_status::ending::exited)
    return error(reaction::fatal, "runtime", "the process that queries it " + end.text());
  std::string text(std::size_t{1} << 16, '\0');
  const ssize_t n = ::pread(output.get(), text.data(), text.size(), 0);
  text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return protocol::parse_driver_description(text);
}

}  // namespace

engine_choice choose_engine(std::uint32_t ordinal, const engine_evidence& evidence) {
  if (!evidence.environment.empty()) return {evidence.environment, "the environment variable TROUPE_ENGINE names it"};
  if (!evidence.has_gpu_engines) return host_because("no engines for GPUs are installed");
  if (!evidence.driver_is_loaded) return host_because("no NVIDIA driver is loaded on this machine");
  const auto driver = evidence.ask_driver();
  if (!driver) return host_because("the NVIDIA driver could not be queried: " + driver.error().text());
  if (!driver->unloadable.empty()) return host_because("libcuda.so.1 cannot be loaded: " + driver->unloadable);
  if (driver->code != 0) return host_because("the NVIDIA driver shows no GPU: " + driver->refused);
  if (ordinal >= driver->gpus.size())
    return host_because(cat("the NVIDIA driver shows ", driver->gpus.size(), " GPUs, and none is number ", ordinal));
  const auto& gpu = driver->gpus[ordinal];
  if (gpu.mode == prohibited)
    return host_because(cat("GPU ", ordinal, ", ", gpu.name, ", is in compute mode Prohibited"));
  return {"cuda", cat("GPU ", ordinal, " is present: ", gpu.name)};
}

std::string engine_of_environment() {
  const char* const set = ::secure_getenv("TROUPE_ENGINE");
  return set != nullptr ? set : "";
}

engine_choice engine_chooser::choose(const device_options& options) {
  return choose_engine(options.ordinal, {.environment = engine_of_environment(),
                                         .has_gpu_engines = has_platform(options, "cuda"),
                                         // the second is WSL's
                                         .driver_is_loaded = exists("/dev/nvidiactl") || exists("/dev/dxg"),
                                         .ask_driver = [&] {
                                           if (!driver_) driver_ = ask_driver(options);
                                           return *driver_;
                                         }});
}

}  // namespace troupe
