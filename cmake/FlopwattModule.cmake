# The one way to declare a module, so that every module is built, warned about, tested and installed alike.

add_library(flopwatt_options INTERFACE)
target_compile_options(flopwatt_options INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow)
# __int128 is what `Count` is made of; -Wpedantic alone objects to it.
target_compile_options(flopwatt_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-pedantic>)
# GCC 12 sees overlapping copies in `"text" + std::to_string(n)` where there are none (GCC bug 105651).
target_compile_options(flopwatt_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
# Where sources are compiled together GCC takes each for an included file, and inlining across them it loses sight of
# which half of a tl::expected is alive.
if(CMAKE_UNITY_BUILD)
  target_compile_options(flopwatt_options INTERFACE
    $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage> $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
endif()
# Clang counts sign changes among conversions, GCC does not: what GCC says is the rule.  And clang sees what libstdc++ 12
# itself uses inside std::stable_sort.
target_compile_options(flopwatt_options INTERFACE
  $<$<CXX_COMPILER_ID:Clang>:-Wno-sign-conversion> $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>)
# A designated initialiser names what differs from the defaults; leaving the rest out is the point of it.
target_compile_options(flopwatt_options INTERFACE -Wno-missing-field-initializers)
if(FLOPWATT_WERROR)
  target_compile_options(flopwatt_options INTERFACE -Werror)
endif()
if(FLOPWATT_SANITIZE)
  target_compile_options(flopwatt_options INTERFACE
    -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(flopwatt_options INTERFACE -fsanitize=address,undefined)
endif()
if(FLOPWATT_BUILD_FUZZERS)
  target_compile_options(flopwatt_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

# flopwatt_module(NAME SOURCES … DEPENDS module… LINKS external… LINKS_PRIVATE external… TESTS …_test.cpp…)
#   DEPENDS        modules of lower floors
#   LINKS          external targets whose headers appear in this module's public headers
#   LINKS_PRIVATE  external targets used in sources only
#   EMBED          files compiled into the module: `embedded_files()` of its namespace lists them
function(flopwatt_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPENDS;LINKS;LINKS_PRIVATE;TESTS;EMBED")
  set(target flopwatt_${name})
  add_library(${target} STATIC ${arg_SOURCES})
  add_library(flopwatt::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_compile_features(${target} PUBLIC cxx_std_20)
  # What the installed library must ask of its consumers (FlopwattInstall.cmake).
  set_target_properties(${target} PROPERTIES FLOPWATT_LINKS "${arg_LINKS}" FLOPWATT_LINKS_PRIVATE "${arg_LINKS_PRIVATE}")
  list(TRANSFORM arg_DEPENDS PREPEND flopwatt_)
  target_link_libraries(${target}
    PUBLIC ${arg_DEPENDS} ${arg_LINKS}
    PRIVATE ${arg_LINKS_PRIVATE} $<BUILD_INTERFACE:flopwatt_options>)
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated>)
  if(arg_EMBED)
    flopwatt_embed(${target} ${name} ${arg_EMBED})
  endif()

  # Every public header compiles alone: CMake builds one source a header as part of all_verify_interface_header_sets.
  file(GLOB headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.hpp)
  if(headers)
    target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${headers})
    set_target_properties(${target} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
  endif()

  set(FLOPWATT_MODULES ${FLOPWATT_MODULES} ${name} CACHE INTERNAL "modules that exist")
  if(FLOPWATT_BUILD_TESTS AND arg_TESTS)
    flopwatt_test(${name}_test SOURCES ${arg_TESTS} LINKS ${target})
  endif()
endfunction()

# flopwatt_program(SOURCES … LINKS …): the command line, as `flopwatt` at the top of the build folder.
function(flopwatt_program)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "SOURCES;LINKS")
  add_executable(flopwatt_program ${arg_SOURCES})
  target_link_libraries(flopwatt_program PRIVATE ${arg_LINKS} flopwatt_options)
  set_target_properties(flopwatt_program PROPERTIES
    OUTPUT_NAME flopwatt RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
endfunction()

# flopwatt_test(NAME SOURCES … LINKS … [LABELS …] [AS_ONE]): one GoogleTest program, one CTest entry a test case; AS_ONE:
# one entry for all of them, where starting the program is what takes the time.
function(flopwatt_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "AS_ONE" "" "SOURCES;LINKS;LABELS")
  add_executable(${name} ${arg_SOURCES})
  set_target_properties(${name} PROPERTIES UNITY_BUILD OFF)  # tests name what they need as they like
  target_link_libraries(${name} PRIVATE ${arg_LINKS} flopwatt_options GTest::gmock GTest::gtest_main)
  # Tests are a third of all compile time and no faster to run for being optimised: what they call is.
  target_compile_options(${name} PRIVATE -O0)
  target_compile_definitions(${name} PRIVATE
    FLOPWATT_SHARED="${FLOPWATT_SHARED}" FLOPWATT_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  if(arg_AS_ONE)
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}")
  else()
    gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES LABELS "${arg_LABELS}")
  endif()
endfunction()

# flopwatt_embed(TARGET MODULE FILES…): compiles files into TARGET as flopwatt::MODULE::embedded_files().
# Include "flopwatt/MODULE/embedded.hpp" (generated) to read them.
function(flopwatt_embed target module)
  set(out ${PROJECT_BINARY_DIR}/generated/flopwatt/${module})
  file(CONFIGURE OUTPUT ${out}/embedded.hpp @ONLY CONTENT
[=[#pragma once

#include <span>
#include <string_view>

namespace flopwatt::@module@ {

/// A file of data/ that was compiled into the library.
struct EmbeddedFile {
  std::string_view name;  ///< its name without folder
  std::string_view content;
};
[[nodiscard]] std::span<const EmbeddedFile> embedded_files() noexcept;

}  // namespace flopwatt::@module@
]=])
  add_custom_command(
    OUTPUT ${out}/embedded.cpp
    COMMAND ${CMAKE_COMMAND} -D "FILES=${ARGN}" -D MODULE=${module} -D OUT=${out}/embedded.cpp
            -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    DEPENDS ${ARGN} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    VERBATIM)
  target_sources(${target} PRIVATE ${out}/embedded.cpp)
endfunction()
