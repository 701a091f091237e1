// The one rule for outputs. A regular file is replaced by a new one beside it under its name, so that a
// reader sees the old text or the new one, and it keeps its mode and owner; a new file has the umask's. Links
// are followed and stay. Devices, pipes and descriptors (/dev/stdout) are written through.
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <string_view>

namespace attnprof {

class OutputPlace;

// The one refusal of an output that cannot be written, exit code 3: throws EnvironmentError.
[[noreturn]] void refuse_unwritable(const std::string& path, const std::string& why);

// Where `path` leads, writable as far as can be known without touching it. Throws EnvironmentError.
OutputPlace writable_place(const std::string& path);

// Throws EnvironmentError. What throws in `write` leaves the old file whole.
void replace_file(const std::string& path, std::string_view text);
void replace_file(const std::string& path, const std::function<void(std::ostream&)>& write);

// Adds to the end of the file instead, which is made where there is none. Throws EnvironmentError.
void append_to_file(const std::string& path, std::string_view text);

// All of `text` to an open file; a reader that has ended is an error (EPIPE), no signal. Throws
// std::system_error.
void write_all(int fd, std::string_view text);

}  // namespace attnprof
