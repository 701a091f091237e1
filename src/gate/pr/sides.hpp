// Both sides of a pull request, measured one after the other on this machine by this program.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "gate/pr/inner_command.hpp"
#include "gate/pr/repository.hpp"

namespace attnprof {

struct Side {
  std::string name;              // for people: "the merge base 0123456789"
  std::filesystem::path folder;  // in which its commands run
  std::string file;              // of its rows
  bool is_base = false;
};

// `build`: a line of a shell, empty for none. Throws EnvironmentError where it fails.
void build_side(const Side& side, const std::string& build);

// Writes the rows of `words` to the side's file. Throws where there are none: of the head a usage error is
// the user's, of the base everything is the environment's.
void measure_side(const Side& side, const std::vector<std::string>& words);

// The named files that the base lacks since the pull request brings them. Throws EnvironmentError for those
// that it cannot do without. `build`: as given.
std::vector<NamedFile> new_files(const Git& git, const Repository& repository,
                                 const std::vector<NamedFile>& named, const Side& head, const Side& base,
                                 const std::string& build);

// One sentence where both files were made of the same machine code, or, where rows have none, `named` files
// are the same on both sides; else empty.
std::string unchanged_sentence(const Side& head, const Side& base, const std::vector<NamedFile>& named);

}  // namespace attnprof
