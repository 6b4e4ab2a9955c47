#pragma once

#include <string>

namespace flopwatt::io {

/// Numbers for machine formats; people get theirs from `report`.

/// Appends the shortest text that reads back as the same double, with a decimal point whatever the locale.  From 10^15
/// on always with an exponent: a long row of digits would read back as an integer, perhaps one that does not fit.
/// A NaN or an infinity is a bug of the caller and stops the program.
void append_number(std::string& out, double number);

/// Appends an integer of up to 128 bits in full.
void append_integer(std::string& out, __int128 number);
void append_integer(std::string& out, unsigned __int128 number);

}  // namespace flopwatt::io
