#include "cli/build_rows.hpp"

#include "base/output_place.hpp"
#include "base/replace_file.hpp"
#include "cli/text_output.hpp"
#include "files/meta.hpp"

namespace attnprof {

void write_build_rows(const std::string& path, const std::vector<std::vector<std::string>>& lines,
                      const BuildRun& run) {
  if (writable_place(path).kind() != OutputPlace::Kind::stream)
    replace_file(meta_path(path), build_meta(run));
  replace_file(path, format_lines(lines, Format::csv));
}

}  // namespace attnprof
