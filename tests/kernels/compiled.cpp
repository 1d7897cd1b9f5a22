// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "compiled.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>

namespace troupe::cuda_on_host::testing {

namespace {

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// A folder that the destructor removes.
class scratch_folder {
 public:
  scratch_folder() {
    std::string name = std::filesystem::temp_directory_path() / "troupe-kernel-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
  }
  ~scratch_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;
  std::filesystem::path operator/(const char* name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

bool run_compiler(const std::vector<std::string>& arguments, const std::string& output, const std::string& messages) {
  std::string command = "'" TROUPE_TEST_COMPILER "'";
  for (const std::string& a : arguments) command += " '" + a + "'";
  return std::system((command + " > '" + output + "' 2> '" + messages + "'").c_str()) == 0;
}

}  // namespace

std::string compiled::how(const std::string& kernel) const {
  for (const translated_kernel& k : text.kernels)
    if (k.name == kernel) return std::string(to_string(k.how)) + (k.reason.empty() ? "" : " (" + k.reason + ")");
  return "there is no kernel " + kernel;
}

compiled compile_text(const std::string& source, const translate_options& options, const compiler_settings& given) {
  const scratch_folder folder;
  const auto file = [&](const char* name) { return (folder / name).string(); };
  std::ofstream(file("source.cu")) << source;
  compiler_settings settings = given;
  settings.cuda_folder = TROUPE_TEST_CUDA_FOLDER;
  compiled out;
  if (!run_compiler(preprocessor_arguments(settings, file("source.cu")), file("source.i"), file("messages"))) {
    out.messages = read_file(file("messages"));
    return out;
  }
  translate_options all = options;
  all.own_folder = settings.cuda_folder;
  all.read_source = [](const std::string& path) { return read_file(path); };
  out.text = translate(read_file(file("source.i")), all);
  for (const finding& f : out.text.findings) out.messages += to_string(f) + "\n";
  if (!out.text.findings.empty()) return out;
  std::ofstream(file("source.ii")) << out.text.text;
  if (!run_compiler(compiler_arguments(settings, file("source.ii"), file("image.so")), "/dev/null", file("messages"))) {
    out.messages = read_file(file("messages"));
    return out;
  }
  const std::string image = read_file(file("image.so"));
  const auto bytes = std::as_bytes(std::span(image));
  out.bytes.assign(bytes.begin(), bytes.end());
  return out;
}

compiled compile_file(const std::string& name, const translate_options& options) {
  const std::string path = std::string(TROUPE_TEST_CUDA_SOURCES "/") + name;
  EXPECT_TRUE(std::filesystem::exists(path)) << path;
  return compile_text(read_file(path), options);
}

loaded_image load(const compiled& c) {
  if (c.bytes.empty()) ADD_FAILURE() << c.messages;
  auto image = loaded_image::load(c.bytes, "test");
  if (!image) ADD_FAILURE() << image.error().to_string();
  return std::move(image).value();
}

loaded_image load_text(const std::string& source, const translate_options& options) {
  return load(compile_text(source, options));
}

std::vector<loaded_image> both_ways(const std::string& file, const std::vector<std::string>& kernels,
                                    const std::vector<std::string>& globals) {
  auto chosen =
      std::async(std::launch::async, [&] { return compile_file(file, {.kernels = kernels, .globals = globals}); });
  const compiled fibers = compile_file(file, {.kernels = kernels, .globals = globals, .only_fibers = true});
  return {load(chosen.get()), load(fibers)};
}

std::vector<float> random_floats(random_source& random, std::size_t count) {
  std::vector<float> out(count);
  for (float& x : out) x = static_cast<float>(random.value());
  return out;
}

}  // namespace troupe::cuda_on_host::testing
