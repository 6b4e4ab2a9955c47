#include "flopwatt/base/text.hpp"

namespace flopwatt::base {
namespace {

static_assert(trimmed("312 TFLOP/s") == "312 TFLOP/s");
static_assert(trimmed(" \t300 W\r\n") == "300 W");
static_assert(trimmed(" \n").empty());
static_assert(trimmed("").empty());
static_assert(trimmed("\xC2\xA0x") == "\xC2\xA0x");  // bytes above ASCII are no blanks

}  // namespace
}  // namespace flopwatt::base
