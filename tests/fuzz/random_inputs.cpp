// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Runs a fuzz target without libFuzzer, so that `make test` runs it with any compiler: random inputs, and mutations of
// earlier ones, for TROUPE_FUZZ_SECONDS (2). `make fuzz` is better at finding new paths, because it sees the coverage.
// An input that ends the program is left in a file; with files as arguments, the program runs these instead.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <span>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using input = std::vector<std::uint8_t>;

std::array<char, 4096> file_name{};
const input* running = nullptr;

// Async-signal-safe. The signal's own action follows.
void save_input(int signal) {
  if (const int file = ::open(file_name.data(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644); file >= 0) {
    const bool is_saved = ::write(file, running->data(), running->size()) == static_cast<ssize_t>(running->size());
    constexpr char text[] = "The input that ended the program is in the file ";
    if (is_saved && ::write(2, text, sizeof text - 1) > 0 &&
        ::write(2, file_name.data(), std::strlen(file_name.data())) > 0)
      (void)!::write(2, "\n", 1);
    ::close(file);
  }
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

class inputs {
 public:
  explicit inputs(std::uint64_t seed) : random_(seed) {}

  input next() {
    input out = earlier_.empty() || one_in(8) ? random_input() : earlier_[below(earlier_.size())];
    for (std::size_t changes = below(6); changes-- > 0;) change(out);
    if (earlier_.size() < most_earlier)
      earlier_.push_back(out);
    else if (one_in(16))
      earlier_[below(most_earlier)] = out;
    return out;
  }

 private:
  static constexpr std::size_t most_earlier = 256, most_bytes = 4096;

  std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_); }
  bool one_in(std::size_t n) { return below(n) == 0; }
  std::uint8_t byte() { return static_cast<std::uint8_t>(below(256)); }

  input random_input() {
    input out(one_in(4) ? below(most_bytes) : below(128));
    std::generate(out.begin(), out.end(), [this] { return byte(); });
    return out;
  }
  // Counts, sizes and flags are words of 1 to 8 bytes; only few values of these lead to new paths.
  void put_word(input& in) {
    const std::uint64_t words[] = {0,    1,          2,          7,     8,          64,         255,
                                   4096, 0x7fffffff, 0xffffffff, ~0ull, 1ull << 63, below(1024)};
    const std::uint64_t word = words[below(std::size(words))];
    const std::size_t bytes = std::min(std::size_t{1} << below(4), in.size());
    const std::size_t at = below(in.size() - bytes + 1) & ~(bytes - 1);
    std::memcpy(in.data() + std::min(at, in.size() - bytes), &word, bytes);
  }
  void change(input& in) {
    if (in.empty()) return in.push_back(byte());
    switch (below(6)) {
      case 0:
        in[below(in.size())] ^= static_cast<std::uint8_t>(1u << below(8));
        break;
      case 1:
        in[below(in.size())] = byte();
        break;
      case 2:
        put_word(in);
        break;
      case 3:
        in.resize(below(in.size() + 1));
        break;
      case 4:
        if (in.size() < most_bytes) in.insert(in.begin() + static_cast<std::ptrdiff_t>(below(in.size())), byte());
        break;
      default: {
        const input& other = earlier_[below(earlier_.size())];
        const std::size_t from = below(in.size());
        in.resize(from);
        in.insert(in.end(), other.begin() + static_cast<std::ptrdiff_t>(std::min(from, other.size())), other.end());
      }
    }
  }

  std::mt19937_64 random_;
  std::vector<input> earlier_{input(16)};
};

void run(const input& in) {
  running = &in;
  (void)LLVMFuzzerTestOneInput(in.data(), in.size());
}

}  // namespace

int main(int count, char** arguments) {
  if (count > 1) {
    for (const char* name : std::span(arguments + 1, static_cast<std::size_t>(count - 1))) {
      std::ifstream file(name, std::ios::binary);
      if (!file) return std::fprintf(stderr, "%s cannot be read\n", name), 2;
      run(input(std::istreambuf_iterator<char>(file), {}));
    }
    return 0;
  }
  const char* const seconds = std::getenv("TROUPE_FUZZ_SECONDS");
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds ? std::atof(seconds) : 2);
  const std::uint64_t seed = std::random_device{}();
  std::snprintf(file_name.data(), file_name.size(), "%s.%llu.input", arguments[0],
                static_cast<unsigned long long>(seed));
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTERM}) std::signal(signal, save_input);
  inputs all(seed);
  std::uint64_t done = 0;
  do {
    run(all.next());
    ++done;
  } while (done % 64 != 0 || std::chrono::steady_clock::now() < end);
  std::printf("%llu inputs, seed %llu\n", static_cast<unsigned long long>(done), static_cast<unsigned long long>(seed));
}
