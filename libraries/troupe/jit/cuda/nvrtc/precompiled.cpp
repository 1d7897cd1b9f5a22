// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <troupe/base/linux/errno_reaction.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/jit/cuda/nvrtc/precompiled.hpp>

namespace troupe::jit {
namespace {

constexpr std::size_t most_heap_bytes = std::size_t{2} << 30;

// Removes the line that contains `what`, and the empty line after it.
bool take_line(std::string& log, std::string_view what) {
  const std::size_t at = log.find(what);
  if (at == log.npos) return false;
  const std::size_t before = log.rfind('\n', at), begin = before == log.npos ? 0 : before + 1;
  std::size_t end = log.find('\n', at);
  end = end == log.npos ? log.size() : end + 1;
  if (end < log.size() && log[end] == '\n') ++end;
  log.erase(begin, end - begin);
  return true;
}

}  // namespace

bool precompiled::timed_lock::try_lock_for(std::chrono::milliseconds most) {
  std::unique_lock guard(guard_);
  if (!freed_.wait_for(guard, most, [&] { return !held_; })) return false;
  return held_ = true;
}

void precompiled::timed_lock::unlock() {
  {
    const std::scoped_lock guard(guard_);
    held_ = false;
  }
  freed_.notify_one();
}

result<std::optional<precompiled::turn>> precompiled::begin(std::string key, const compile_deadline& how_long) {
  std::unique_lock held(lock_, std::defer_lock);
  while (!held.try_lock_for(std::chrono::milliseconds(20)))
    if (how_long.over()) return std::optional<turn>();
  if (!folder_) {
    folder_ = TROUPE_TRY(plan::private_folder::make());
  }
  const auto known = std::find_if(kept_.begin(), kept_.end(), [&](const kept& k) { return k.key == key; });
  if (known != kept_.end()) {
    kept_.splice(kept_.begin(), kept_, known);
  } else {
    const std::string folder = cat(folder_->path(), "/", ++made_);
    std::error_code failed;
    if (!std::filesystem::create_directory(folder, failed))
      return error_of_errno("jit", "jit.compile: making " + folder, failed.value());
    kept_.push_front({std::move(key), folder});
    forget(most_kept);
  }
  return std::optional<turn>(turn(*this, std::move(held), kept_.front().folder));
}

void precompiled::forget(std::size_t all_but) {
  std::error_code ignored;
  while (kept_.size() > all_but) {
    std::filesystem::remove_all(kept_.back().folder, ignored);
    kept_.pop_back();
  }
}

// Discards the old heap and everything in it, and makes a larger one.
std::string precompiled::grow(std::size_t bytes) {
  const std::string needed = cat("they need ", bytes, " bytes");
  if (bytes > most_heap_bytes) return cat(needed, ", more than ", most_heap_bytes);
  if (const nvrtcResult r = ::nvrtcSetPCHHeapSize(bytes + bytes / 4); r != NVRTC_SUCCESS)
    return needed + ": nvrtcSetPCHHeapSize: " + ::nvrtcGetErrorString(r);
  forget(0);
  return needed + ", and the heap has been enlarged for the next program";
}

std::string precompiled::turn::ended(nvrtcProgram program, std::string& log) const {
  const std::string begin = "note: precompiled headers: ";
  if (take_line(log, "using precompiled header file")) return begin + "used\n";
  if (take_line(log, "creating precompiled header file"))
    return begin + "made, for programs that begin with the same headers\n";
  const nvrtcResult status = ::nvrtcGetPCHCreateStatus(program);
  std::size_t bytes = 0;
  if (status == NVRTC_ERROR_PCH_CREATE_HEAP_EXHAUSTED &&
      ::nvrtcGetPCHHeapSizeRequired(program, &bytes) == NVRTC_SUCCESS)
    return begin + "not made: " + of_.grow(bytes) + "\n";
  if (status == NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED) return begin + "not made: NVRTC found none worth precompiling\n";
  return begin + "not made: " + ::nvrtcGetErrorString(status) + "\n";
}

}  // namespace troupe::jit
