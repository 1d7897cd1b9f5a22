// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// What the loader refuses, and what it knows about an image.
#include <elf.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <troupe/cuda_on_host/seal.hpp>

#include "compiled.hpp"

namespace troupe::cuda_on_host::testing {

namespace {

std::string refusal(std::span<const std::byte> bytes) {
  auto image = loaded_image::load(bytes, "sample");
  return image ? "it was loaded" : std::string(to_string(image.error().reaction())) + ": " + image.error().text();
}

std::vector<std::byte> read_file(const char* path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

template <class Change>
std::vector<std::byte> with_header(std::vector<std::byte> bytes, Change change) {
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  change(header);
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

// Returns the place of the table's magic number in the file.
std::size_t table_in(const std::vector<std::byte>& bytes) {
  const std::uint64_t magic = TROUPE_HOST_IMAGE_MAGIC;
  for (std::size_t i = 0; i + sizeof(troupe_host_image) <= bytes.size(); i += 8) {
    std::uint64_t words[2];
    std::memcpy(words, bytes.data() + i, sizeof words);
    if (words[0] == magic && words[1] >> 32 == sizeof(troupe_host_image)) return i;
  }
  return 0;
}

}  // namespace

TEST(images, files_that_are_no_complete_image_are_refused) {
  const std::vector<std::byte> good = compile_text("__global__ void k() {}", {}).bytes;
  ASSERT_EQ(refusal(good), "it was loaded");
  const std::string text = "#!/bin/sh";
  EXPECT_EQ(refusal(std::as_bytes(std::span(text))),
            "caller_bug: image 'sample' is not an ELF object; expected a shared object made for the host engine");
  EXPECT_EQ(refusal({}),
            "caller_bug: image 'sample' is not an ELF object; expected a shared object made for the host engine");
  EXPECT_EQ(refusal(with_header(good, [](Elf64_Ehdr& h) { h.e_ident[EI_CLASS] = ELFCLASS32; })),
            "unsupported: image 'sample' is an ELF object of another kind; expected 64 bits and little endian");
  const std::string machine = std::to_string(
      std::bit_cast<Elf64_Ehdr>(*reinterpret_cast<const std::array<std::byte, sizeof(Elf64_Ehdr)>*>(good.data()))
          .e_machine);
  EXPECT_EQ(refusal(with_header(good, [](Elf64_Ehdr& h) { h.e_machine = EM_CUDA; })),
            "unsupported: image 'sample' is for ELF machine 190; expected " + machine + ", this one: compile it here");
  EXPECT_EQ(refusal(with_header(good, [](Elf64_Ehdr& h) { h.e_type = ET_REL; })),
            "caller_bug: image 'sample' is an ELF object of type 1; expected a shared object (3)");
  for (std::size_t size = 16; size < good.size(); size += 97)
    ASSERT_NE(refusal(std::span(good).first(size)).find("is truncated: it has " + std::to_string(size) + " bytes"),
              std::string::npos)
        << size;
}

TEST(images, a_missing_or_outdated_table_is_refused_before_any_code_runs) {
  EXPECT_EQ(refusal(read_file(TROUPE_TEST_PLAIN_LIBRARY)),
            "caller_bug: image 'sample' exports no troupe_host_image_table; expected a shared object made for the host "
            "engine (see image.h)");
  std::vector<std::byte> image = compile_text("__global__ void k() {}", {}).bytes;
  const std::size_t at = table_in(image);
  ASSERT_NE(at, 0u);
  const std::string bytes = std::to_string(sizeof(troupe_host_image));
  const std::uint32_t version = 9;
  std::memcpy(image.data() + at + 8, &version, sizeof version);
  EXPECT_EQ(refusal(image), "unsupported: image 'sample' is of version 9 (" + bytes + " bytes); expected version 1 (" +
                                bytes + " bytes): compile it again");
  image[at] = std::byte{0};
  EXPECT_EQ(refusal(image),
            "caller_bug: image 'sample' has a troupe_host_image_table that does not begin with its magic number");
}

TEST(images, an_undefined_function_is_named_as_in_the_source) {
  EXPECT_EQ(
      refusal(read_file(TROUPE_TEST_FAULTY_IMAGES "5.so")),
      "caller_bug: image 'sample' cannot be loaded: it uses ns::nobody_has_this(float const*, int), which neither "
      "it nor a library that it names defines; link what defines it into the image");
  // For sources that are compiled here, the linker reports it.
  const compiled c = compile_text(
      "__device__ int merge(int, const float*);\n"
      "__global__ void k(int* x, const float* y) { *x = merge(*x, y); }\n",
      {});
  EXPECT_TRUE(c.bytes.empty());
  EXPECT_NE(c.messages.find("undefined reference to `merge(int, float const*)'"), std::string::npos) << c.messages;
}

TEST(images, random_damage_to_headers_and_symbols_never_breaks_the_process) {
  random_source random;
  const std::vector<std::byte> good = compile_text("__global__ void k() {}", {}).bytes;
  for (int i = 0; i < 2000; ++i) {
    std::vector<std::byte> bad = good;
    for (int k = 0; k < 8; ++k)
      bad[static_cast<std::size_t>(random.between(0, 4000)) % bad.size()] =
          static_cast<std::byte>(random.between(0, 255));
    // Without the table's number the file is refused before it is opened, whatever else it is. Opening it would run
    // damaged code.
    const std::uint64_t no_magic = 0;
    std::memcpy(bad.data() + table_in(good), &no_magic, sizeof no_magic);
    ASSERT_NE(refusal(bad), "it was loaded") << how_to_repeat();
  }
}

std::string with_seal(const std::vector<std::byte>& image, std::string_view processor) {
  return sealed(std::string(reinterpret_cast<const char*>(image.data()), image.size()), processor);
}

TEST(images, a_sealed_image_with_a_changed_bit_is_refused_before_any_code_runs) {
  random_source random;
  const std::string good = with_seal(compile_text("__global__ void k() {}", {}).bytes, "");
  ASSERT_EQ(refusal(std::as_bytes(std::span(good))), "it was loaded");
  for (int i = 0; i < 3000; ++i) {
    std::string bad = good;
    // A third of the changes are in the seal.
    const auto size = static_cast<std::int64_t>(bad.size());
    const auto at =
        static_cast<std::size_t>(i % 3 == 0 ? random.between(size - 60, size - 1) : random.between(0, size - 1));
    bad[at] = static_cast<char>(bad[at] ^ 1 << random.between(0, 7));
    const std::string text = refusal(std::as_bytes(std::span(bad)));
    ASSERT_EQ(text.find("caller_bug: image 'sample' is damaged: "), 0u) << at << ": " << text << how_to_repeat();
  }
  EXPECT_EQ(refusal(std::as_bytes(std::span(good)).first(good.size() - 1)),
            "caller_bug: image 'sample' is damaged: the end of its seal is missing; compile it again");
}

// Returns an image of faulty.cpp.
std::vector<std::byte> faulty(int fault) {
  return read_file((TROUPE_TEST_FAULTY_IMAGES + std::to_string(fault) + ".so").c_str());
}

TEST(images, an_image_for_another_processor_is_refused_before_any_code_runs) {
  const std::string text =
      "unsupported: image 'sample' was compiled for a processor with amx-of-tomorrow, which this one lacks: compile it "
      "here";
  ::unsetenv("TROUPE_TEST_CODE_HAS_RUN");
  EXPECT_EQ(refusal(faulty(3)), text);
  const std::string with_a_seal = with_seal(faulty(0), "amx-of-tomorrow ");
  EXPECT_EQ(refusal(std::as_bytes(std::span(with_a_seal))), text);
  EXPECT_EQ(std::getenv("TROUPE_TEST_CODE_HAS_RUN"), nullptr);
  EXPECT_EQ(refusal(faulty(0)), "it was loaded");
  EXPECT_NE(std::getenv("TROUPE_TEST_CODE_HAS_RUN"), nullptr);
}

TEST(images, inconsistent_tables_are_refused) {
  const auto text = [](int fault) { return refusal(faulty(fault)); };
  EXPECT_EQ(
      text(1),
      "caller_bug: image 'sample' has a kernel k whose parameter 0 is of kind 7; expected a value (0) or a pointer "
      "(1, 2)");
  EXPECT_EQ(text(2),
            "caller_bug: image 'sample' has a global '' whose entry is incomplete; expected a name and an address");
  EXPECT_EQ(text(4),
            "caller_bug: image 'sample' has a table that counts kernels or globals but does not point to them");
}

TEST(images, parameters_have_a_kind_type_and_size) {
  const loaded_image image = load_text(R"(
#include <cuda_fp16.h>
struct pair { double a; int b; };
template <typename T, int N>
__global__ void __launch_bounds__(N * 2) k(const T* in, T* __restrict__ out, const __half* h, int n, unsigned long long m, pair p, void* raw, const float x) {}
)",
                                       {.kernels = {"k<float, 8>", "k< double,8 >"}});
  const loaded_kernel* k = image.find_kernel("k<float,8>");
  ASSERT_TRUE(k);
  EXPECT_EQ(k->attributes.max_threads, 16u);
  ASSERT_EQ(k->parameters.size(), 8u);
  const auto text = [&](std::size_t i) {
    const kernel::parameter_attributes& p = k->parameters[i];
    return std::to_string(static_cast<int>(p.passing)) + " " + std::string(to_string(p.element)) + " " +
           std::to_string(p.bytes) + " " + std::to_string(p.alignment);
  };
  EXPECT_EQ(text(0), "1 f32 4 4");
  EXPECT_EQ(text(1), "2 f32 4 4");
  EXPECT_EQ(text(2), "1 f16 2 2");
  EXPECT_EQ(text(3), "0 i32 4 4");
  EXPECT_EQ(text(4), "0 u64 8 8");
  EXPECT_EQ(text(5), "0 unknown 16 8");
  EXPECT_EQ(text(6), "2 unknown 0 1");
  EXPECT_EQ(text(7), "0 f32 4 4");
  EXPECT_EQ(k->parameters[5].type, "pair");
  EXPECT_EQ(image.find_kernel("k<double, 8>")->parameters[0].element, dtype::f64);
  EXPECT_EQ(image.find_kernel("k<int, 8>"), nullptr);
}

TEST(images, an_image_can_be_written_by_hand) {
  auto image = loaded_image::load(read_file(TROUPE_TEST_IMAGE_BY_HAND), "by hand");
  ASSERT_TRUE(image) << image.error().to_string();
  std::vector<float> data(10 * 32, 2.0f);
  run(*image, "scale", {10}, {32}, 0, data.data(), 1.5f);
  EXPECT_EQ(data, std::vector<float>(10 * 32, 3.0f));
  EXPECT_EQ(image->find_kernel("scale")->attributes.static_shared_bytes, 128u);
}

}  // namespace troupe::cuda_on_host::testing
