// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <sstream>
#include <troupe/protocol/descriptions/description.hpp>
#include <troupe/worker/plugins/describe.hpp>
#include <troupe/worker/plugins/engines.hpp>
#include <troupe/worker/plugins/platform.hpp>
#include <troupe/worker/schedule/lanes.hpp>

namespace troupe {
namespace {

using protocol::engine_description;

// Writes and flushes, because the next step may end the process.
bool write(std::FILE* out, const engine_description& part) {
  return std::fputs(protocol::text_of(part).c_str(), out) >= 0 && std::fflush(out) == 0;
}

engine_description description_of(const std::string& library, const troupe_engine& e) {
  engine_description out{.library = library, .backend = e.backend, .version = e.version};
  for (std::uint32_t i = 0; i < e.operation_count; ++i) out.requests.emplace_back(e.operations[i].name);
  if (e.notes == nullptr) return out;
  std::istringstream notes(e.notes(&e));
  for (std::string line; std::getline(notes, line);)
    if (!line.empty()) out.notes.push_back(line);
  return out;
}

bool describe(const std::string& file, std::FILE* out) {
  const std::size_t slash = file.rfind('/');
  const std::string folder = slash == file.npos ? "." : file.substr(0, slash);
  const std::string name = slash == file.npos ? file : file.substr(slash + 1);
  const std::size_t dot = name.ends_with(".so") ? name.rfind('.', name.size() - 4) : name.npos;
  using enum engine_description::obstacle;
  const auto obstacle = [out](engine_description::obstacle what, std::string why, reaction how = reaction::fatal) {
    write(out, {.what = what, .why = std::move(why), .reaction = how});
    return false;
  };
  if (dot == name.npos || dot == 0 || dot + 4 >= name.size())
    return obstacle(unloadable, name + " is not the name of an engine, which is <library>.<backend>.so");
  const std::string library = name.substr(0, dot), backend = name.substr(dot + 1, name.size() - 4 - dot);
  const auto gpu = load_platform(backend, {folder}, {});
  const auto entered = gpu && *gpu ? (*gpu)->enter() : result<void>();
  if (!gpu || !entered) return obstacle(no_device, gpu ? entered.error().text() : gpu.error().text());
  engine_set engines(backend, {folder},
                     {.abi = troupe_engine_abi,
                      .device = 0,
                      .native_context = *gpu ? (*gpu)->context() : nullptr,
                      .lanes = max_lanes});
  // An error of the domain "worker" is about the file. All other errors come from the engine.
  if (const auto loaded = engines.load(library); !loaded) {
    const error& e = loaded.error();
    return e.domain() == "worker" ? obstacle(unloadable, e.text()) : obstacle(refused, e.text(), e.reaction());
  }
  write(out, description_of(library, *engines.engine_of(library)));
  return true;
}

}  // namespace

bool describe_engine(const std::string& file, std::FILE* out) {
  const bool serves = describe(file, out);  // closes the engine too
  return write(out, engine_description{.complete = true}) && serves;
}

}  // namespace troupe
