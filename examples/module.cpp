// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <fstream>
#include <iterator>
#include <troupe/jit/jit.hpp>
#include <troupe/module/module.hpp>
#include <troupe/troupe.hpp>

using namespace troupe;

// A counter that launches share.
constexpr const char* source = R"(
__device__ unsigned long long total;

__global__ void count_even(const int* numbers, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && numbers[i] % 2 == 0) atomicAdd(&total, 1ull);
}
)";

// The build step: compiles once, and stores the image in a file.
result<void> build(const device& gpu, const char* path) {
  const jit::program program = jit::compile(gpu, {.source = source, .name = "count.cu", .globals = {"total"}});
  const auto image = program.image().get();
  if (!image) return image.error();
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(image->data()), static_cast<std::streamsize>(image->size()));
  return {};
}

result<std::uint64_t> count(const device& gpu, const char* path, const std::vector<int>& numbers) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  const module::image image = module::load(gpu, std::as_bytes(std::span(bytes)), {.name = path});

  const extent n = numbers.size();
  auto all = gpu.alloc<int>(n);
  auto total = gpu.alloc<std::uint64_t>(1);
  gpu.upload(all, numbers);
  gpu.tell(module::launch{.kernel = image.kernel("count_even"),
                          .grid = kernel::blocks_for(n, 128),
                          .block = 128,
                          .arguments = {all, static_cast<int>(n.value())},
                          .writes_globals = true});  // orders the next request after it
  gpu.tell(module::read_global{.global = image.global("total"), .target = total.as<std::byte>()});
  const auto answer = gpu.download(total).get();  // an error anywhere above arrives here
  if (!answer) return answer.error();
  return answer->front();
}

int main() {
  runtime rt;
  const device gpu = rt.open_device();
  std::vector<int> numbers(1001);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int>(i);

  const char* path = "count_even.image";
  if (const auto built = build(gpu, path); !built) {
    std::printf("%s\n", built.error().to_string().c_str());
    return 1;
  }
  const auto even = count(gpu, path, numbers);
  std::remove(path);
  if (!even) {
    std::printf("%s\n", even.error().to_string().c_str());
    return 1;
  }
  std::printf("%llu of %zu numbers are even\n", static_cast<unsigned long long>(*even), numbers.size());
  return *even == 501 ? 0 : 1;
}
