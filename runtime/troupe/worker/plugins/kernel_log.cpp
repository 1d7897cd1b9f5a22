// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <troupe/base/clock.hpp>
#include <troupe/base/linux/file_descriptor.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/worker/plugins/kernel_log.hpp>
#include <utility>

namespace troupe {
namespace {

constexpr std::size_t longest_record = 8192;  // the kernel's CONSOLE_EXT_LOG_MAX
constexpr std::size_t most_details = 200;
constexpr std::string_view xid_begins = "NVRM: Xid (PCI:";

error unavailable(const char* path, const std::string& why) {
  return error(reaction::unsupported, "worker", cat("cannot read the kernel's log ", path, ": ", why));
}

// Returns true if this process is in the first PID namespace, whose process numbers the log contains: Linux gives that
// namespace this inode number.
bool sees_all_processes() noexcept {
  constexpr ino_t first_namespace = 0xEFFFFFFC;
  struct stat s{};
  return ::stat("/proc/self/ns/pid", &s) == 0 && s.st_ino == first_namespace;
}

// Returns the text before `end`, and removes it and `end` from the text.
std::optional<std::string_view> take_until(std::string_view& text, std::string_view end) noexcept {
  const std::size_t at = text.find(end);
  if (at == std::string_view::npos) return {};
  const std::string_view out = text.substr(0, at);
  text.remove_prefix(at + end.size());
  return out;
}

std::optional<std::uint32_t> number_in(std::string_view text) noexcept {
  std::uint32_t n = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (wrong != std::errc() || end != text.data() + text.size()) return {};
  return n;
}

// Compares domain, bus and device, by which the driver's messages name a GPU.
bool is_the_gpu(std::string_view address, const std::string& pci) {
  unsigned a[3]{}, b[3]{};
  return std::sscanf(std::string(address).c_str(), "%x:%x:%x", &a[0], &a[1], &a[2]) == 3 &&
         std::sscanf(pci.c_str(), "%x:%x:%x", &b[0], &b[1], &b[2]) == 3 && std::equal(a, a + 3, b);
}

bool names_a_channel(std::string_view line) noexcept {
  constexpr std::string_view ways[] = {" channel 0x", " Ch ", " ChID ", " ChId ", " Channel ID "};
  return std::any_of(std::begin(ways), std::end(ways),
                     [line](std::string_view way) { return line.find(way) != std::string_view::npos; });
}

// Returns the error in a line about a multiprocessor of the GPU: "Misaligned Address".
std::optional<std::string_view> wrong_access_in(std::string_view line, const std::string& pci) {
  if (!take_until(line, xid_begins)) return {};
  const auto address = take_until(line, "): ");
  if (!address || !is_the_gpu(*address, pci)) return {};
  if (!take_until(line, "Graphics SM Warp Exception on (") || !take_until(line, "): ")) return {};
  return line.substr(0, most_details);
}

class kernel_log final : public alarm_source {
 public:
  kernel_log(file_descriptor file, const char* path, std::string pci)
      : file_(std::move(file)), path_(path), pci_(std::move(pci)) {}
  result<std::optional<gpu_alarm>> wait(std::chrono::milliseconds at_most) override {
    const std::int64_t deadline = now_ns() + std::chrono::nanoseconds(at_most).count();
    while (true) {
      if (auto found = next_alarm()) return found;
      const std::int64_t left_ns = deadline - now_ns();
      if (left_ns <= 0) return std::optional<gpu_alarm>();
      pollfd p{.fd = file_.get(), .events = POLLIN, .revents = 0};
      if (::poll(&p, 1, static_cast<int>(left_ns / 1'000'000 + 1)) <= 0) continue;
      char bytes[longest_record];
      const ssize_t n = ::read(file_.get(), bytes, sizeof bytes);
      if (n > 0)
        text_.append(bytes, static_cast<std::size_t>(n));
      else if (n == 0)
        return unavailable(path_, "it has ended");
      else if (errno != EAGAIN && errno != EINTR && errno != EPIPE)  // EPIPE: what was not read in time is lost
        return unavailable(path_, std::strerror(errno));
    }
  }

 private:
  std::optional<gpu_alarm> next_alarm() {
    while (true) {
      const std::size_t end = text_.find('\n');
      if (end == std::string::npos) return {};
      const std::string_view line = std::string_view(text_).substr(0, end);
      auto found = alarm_in(line, pci_);
      if (const auto what = wrong_access_in(line, pci_)) access_ = *what;
      text_.erase(0, end + 1);
      if (!found) continue;
      if (!access_.empty()) found->details += " (" + std::exchange(access_, {}) + ")";
      return found;
    }
  }

  file_descriptor file_;
  const char* path_;
  std::string pci_;
  std::string text_;    // read, but not parsed yet
  std::string access_;  // the error from lines that precede the next alarm
};

}  // namespace

// NVRM: Xid (PCI:0000:17:00): 31, pid=1065, name=troupe-worker, channel 0x00000032, ...
// Lines about the state of a multiprocessor (Xid 13) come first. They name no channel, and either no process or the one
// that called the driver when the GPU interrupted it.
std::optional<gpu_alarm> alarm_in(std::string_view line, const std::string& pci) {
  if (!take_until(line, xid_begins)) return {};
  const auto address = take_until(line, "): ");
  const auto xid = take_until(line, ", ");
  if (!address || !xid || !is_the_gpu(*address, pci)) return {};
  const auto number = number_in(*xid);
  if (!number) return {};
  gpu_alarm out{.xid = *number, .details = std::string(line.substr(0, most_details))};
  const bool of_channel = names_a_channel(line);
  if (!of_channel && out.xid == 13) return {};
  if (of_channel && take_until(line, "pid=")) out.process = number_in(line.substr(0, line.find(','))).value_or(0);
  return out;
}

result<std::unique_ptr<alarm_source>> read_kernel_log(const std::string& pci) {
  const char* path = ::secure_getenv("TROUPE_KERNEL_LOG");
  const bool is_chosen = path != nullptr && *path != '\0';
  if (!is_chosen) path = "/dev/kmsg";
  if (!is_chosen && !sees_all_processes())
    return unavailable(path, "this process is in a container, whose process numbers are not those of the log");
  file_descriptor file(::open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!file) return unavailable(path, std::strerror(errno));
  // Earlier reports are about processes that have ended. A pipe has no earlier content to skip.
  if (::lseek(file.get(), 0, SEEK_END) < 0 && errno != ESPIPE) return unavailable(path, std::strerror(errno));
  return std::unique_ptr<alarm_source>(std::make_unique<kernel_log>(std::move(file), path, pci));
}

}  // namespace troupe
