# cpp-httplib::cpp-httplib: the compiled library of the distribution, with the switches it was built with (they change
# its classes).
find_package(PkgConfig QUIET)
if(PKG_CONFIG_FOUND)
  pkg_check_modules(PC_CPP_HTTPLIB QUIET cpp-httplib)
endif()
find_path(CPP_HTTPLIB_INCLUDE_DIR httplib.h HINTS ${PC_CPP_HTTPLIB_INCLUDE_DIRS})
find_library(CPP_HTTPLIB_LIBRARY cpp-httplib HINTS ${PC_CPP_HTTPLIB_LIBRARY_DIRS})
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CppHttplib
  REQUIRED_VARS CPP_HTTPLIB_LIBRARY CPP_HTTPLIB_INCLUDE_DIR VERSION_VAR PC_CPP_HTTPLIB_VERSION)
mark_as_advanced(CPP_HTTPLIB_INCLUDE_DIR CPP_HTTPLIB_LIBRARY)
if(CppHttplib_FOUND AND NOT TARGET cpp-httplib::cpp-httplib)
  set(switches ${PC_CPP_HTTPLIB_CFLAGS_OTHER})
  list(FILTER switches INCLUDE REGEX "^-DCPPHTTPLIB_")
  list(TRANSFORM switches REPLACE "^-D" "")
  add_library(cpp-httplib::cpp-httplib UNKNOWN IMPORTED)
  set_target_properties(cpp-httplib::cpp-httplib PROPERTIES
    IMPORTED_LOCATION "${CPP_HTTPLIB_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${CPP_HTTPLIB_INCLUDE_DIR}"
    INTERFACE_COMPILE_DEFINITIONS "${switches}")
endif()
