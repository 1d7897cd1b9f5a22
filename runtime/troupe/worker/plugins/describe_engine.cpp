// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <sstream>
#include <troupe/worker/plugins/describe_engine.hpp>
#include <troupe/worker/plugins/engines.hpp>
#include <troupe/worker/plugins/platform.hpp>
#include <troupe/worker/schedule/lanes.hpp>

namespace troupe {
namespace {

void write_line(std::FILE* out, const char* key, std::string value) {
  std::replace_if(value.begin(), value.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }, ' ');
  std::fprintf(out, "%s %s\n", key, value.c_str());
}

void write_engine(std::FILE* out, const std::string& library, const troupe_engine& e) {
  write_line(out, "library", library);
  write_line(out, "backend", e.backend);
  write_line(out, "version", e.version);
  for (std::uint32_t i = 0; i < e.operation_count; ++i) write_line(out, "request", e.operations[i].name);
  if (e.notes == nullptr) return;
  std::istringstream notes(e.notes(&e));
  for (std::string line; std::getline(notes, line);)
    if (!line.empty()) write_line(out, "note", line);
}

bool describe(const std::string& file, std::FILE* out) {
  const std::size_t slash = file.rfind('/');
  const std::string folder = slash == file.npos ? "." : file.substr(0, slash);
  const std::string name = slash == file.npos ? file : file.substr(slash + 1);
  const std::size_t dot = name.ends_with(".so") ? name.rfind('.', name.size() - 4) : name.npos;
  if (dot == name.npos || dot == 0 || dot + 4 >= name.size()) {
    write_line(out, "unloadable", name + " is not the name of an engine, which is <library>.<backend>.so");
    return false;
  }
  const std::string library = name.substr(0, dot), backend = name.substr(dot + 1, name.size() - 4 - dot);
  const auto refuse = [out](const error& e) {
    // What the worker says is about the file; anybody else is the engine.
    if (e.domain() == "worker")
      write_line(out, "unloadable", e.text());
    else
      write_line(out, "refused", std::string(to_string(e.reaction())) + " " + e.text());
    return false;
  };
  const auto gpu = load_platform(backend, {folder}, {});
  const auto entered = gpu && *gpu ? (*gpu)->enter() : result<void>();
  if (!gpu || !entered) {
    write_line(out, "no_device", gpu ? entered.error().text() : gpu.error().text());
    return false;
  }
  engine_set engines(backend, {folder},
                     {.abi = troupe_engine_abi,
                      .device = 0,
                      .native_context = *gpu ? (*gpu)->context() : nullptr,
                      .lanes = max_lanes});
  if (const auto loaded = engines.load(library); !loaded) return refuse(loaded.error());
  write_engine(out, library, *engines.engine_of(library));
  std::fflush(out);
  return true;
}

}  // namespace

bool describe_engine(const std::string& file, std::FILE* out) {
  const bool serves = describe(file, out);  // and the engine is closed
  std::fputs("end\n", out);
  return std::fflush(out) == 0 && serves;
}

}  // namespace troupe
