// Standard output and error as they are found: closed, on a full disk, or a pipe whose reader has ended.
#pragma once

#include <string>
#include <string_view>

namespace attnprof {

inline constexpr const char* standard_output_lost =
    "standard output cannot be written, so what was printed "
    "is incomplete: its disk is full, it may grow no more (ulimit -f), or its reader has ended";

// Opens /dev/null in place of every standard stream that is closed: the next file opened, a sweep's CSV,
// would take its number, and with it whatever is printed.
void fill_closed_streams();

// From now on a reader that has ended (`| head`) is a failed write instead of the end of the program.
void ignore_broken_pipes();

// Flushes; false when anything printed so far did not arrive.
bool standard_output_arrived();

// None of these throws: `print` leaves a failure to standard_output_arrived(), and nobody can be told of one
// of the others. What a terminal would obey, in a cell or a name, reaches none: `print` escapes it where
// standard output is a terminal (else it may be data, which stays as it is), the others always.
void print(std::string_view text);
// Lines on standard error: `say` a notice, which is not said while it is quiet (--quiet), `warn` an error or
// what explains an exit code.
void say(const std::string& line);
void warn(const std::string& line);

void be_quiet(bool quiet);
bool is_quiet();

}  // namespace attnprof
