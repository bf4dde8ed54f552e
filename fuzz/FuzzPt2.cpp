// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exported programs: the input is models/model.json; the rest of the archive is sound, with one
// weight of 4 KB under the name that small_mlp's first weight has.
#include "Import/Pt2/Pt2.h"
#include "mlir/IR/MLIRContext.h"
#include <cstring>
#include <optional>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace {

/// Writes a ZIP archive of stored entries (APPNOTE.TXT 4.3); nobody reads the checksums.
class Archive {
public:
  void add(std::string_view name, std::string_view content) {
    std::string fields = number(20, 2) + number(0, 2) + number(0, 2) + number(0, 4) + number(0, 4) +
                         number(content.size(), 4) + number(content.size(), 4) +
                         number(name.size(), 2) + number(0, 2);
    directory += number(0x02014b50, 4) + number(20, 2) + fields + number(0, 2) + number(0, 2) +
                 number(0, 2) + number(0, 4) + number(bytes.size(), 4);
    directory += name;
    bytes += number(0x04034b50, 4) + fields;
    bytes += name;
    bytes += content;
    ++count;
  }
  std::string finish() const {
    return bytes + directory + number(0x06054b50, 4) + number(0, 2) + number(0, 2) +
           number(count, 2) + number(count, 2) + number(directory.size(), 4) +
           number(bytes.size(), 4) + number(0, 2);
  }

private:
  static std::string number(uint64_t value, int size) {
    std::string text;
    for (int i = 0; i < size; ++i)
      text += static_cast<char>(value >> (8 * i));
    return text;
  }
  std::string bytes, directory;
  uint64_t count = 0;
};

} // namespace

static const char weights[] =
    R"({"config": {"first.weight": {"path_name": "w", "is_param": true, "use_pickle": false,
"tensor_meta": {"dtype": 7, "sizes": [{"as_int": 32}, {"as_int": 16}], "requires_grad": true,
"device": {"type": "cpu", "index": null}, "strides": [{"as_int": 16}, {"as_int": 1}],
"storage_offset": {"as_int": 0}, "layout": 7}}}})";

/// A file in memory with these bytes, and the path it has for as long as it is open.
static int makeFile(const std::string &bytes, std::string &path) {
  int fd = memfd_create("fuzz", 0);
  if (fd < 0 || write(fd, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
    std::abort();
  path = "/proc/self/fd/" + std::to_string(fd);
  return fd;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static std::optional<mlir::MLIRContext> context;
  static unsigned imports = 0;
  if (imports++ % 1000 == 0) // what a context has interned piles up
    context.emplace(mlir::MLIRContext::Threading::DISABLED);
  Archive archive;
  archive.add("m/archive_format", "pt2");
  archive.add("m/archive_version", "0");
  archive.add("m/byteorder", "little");
  archive.add("m/data/weights/model_weights_config.json", weights);
  archive.add("m/data/weights/w", std::string(4096, '\0'));
  archive.add("m/data/constants/model_constants_config.json", R"({"config": {}})");
  archive.add("m/models/model.json", {reinterpret_cast<const char *>(data), size});
  std::string path;
  int fd = makeFile(archive.finish(), path);
  (void)tw::importPt2(&*context, path).ok();
  close(fd);
  return 0;
}
