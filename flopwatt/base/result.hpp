#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

#include "flopwatt/base/error.hpp"

namespace flopwatt::base {

/// A value or the Error that kept it from existing.  User and environment errors travel this way; the engine throws
/// nothing of its own across a module border.
template <class T>
using Result = tl::expected<T, Error>;

/// Shorthand for the failing side of a Result: `return fail(Errc::bad_data, "…", "a.csv:3", "…")`.
[[nodiscard]] inline tl::unexpected<Error> fail(Errc code, std::string what, std::string where = {},
                                                std::string remedy = {}) {
  return tl::unexpected<Error>{Error{code, std::move(what), std::move(where), std::move(remedy)}};
}
[[nodiscard]] inline tl::unexpected<Error> fail(Error error) { return tl::unexpected<Error>{std::move(error)}; }

}  // namespace flopwatt::base

namespace flopwatt {
using base::Errc;
using base::Error;
using base::fail;
using base::Result;
}  // namespace flopwatt

#define FLOPWATT_CONCAT_INNER(a, b) a##b
#define FLOPWATT_CONCAT(a, b) FLOPWATT_CONCAT_INNER(a, b)

/// `FLOPWATT_TRY(const auto rows, read_rows(path));` binds the value, or returns the error to the caller.
#define FLOPWATT_TRY(declaration, expression) \
  FLOPWATT_TRY_IMPL(declaration, expression, FLOPWATT_CONCAT(try_, __LINE__))
#define FLOPWATT_TRY_IMPL(declaration, expression, result)                            \
  auto result = (expression);                                                         \
  if (!result) return ::tl::unexpected<::flopwatt::Error>{std::move(result).error()}; \
  declaration = std::move(*result)

/// The same for a Result<void>.
#define FLOPWATT_TRY_VOID(expression) FLOPWATT_TRY_VOID_IMPL(expression, FLOPWATT_CONCAT(try_, __LINE__))
#define FLOPWATT_TRY_VOID_IMPL(expression, result)                                      \
  if (auto result = (expression); !result) return ::tl::unexpected<::flopwatt::Error> { \
      std::move(result).error()                                                         \
    }
