# The library as others use it: `flopwatt::flopwatt`, one archive of all modules, in this build (add_subdirectory,
# FetchContent) and installed (find_package, pkg-config).

# What a dependency is called in find_package and in pkg-config; "-" where pkg-config need not know it.
set(FLOPWATT_PACKAGE_OF_fmt::fmt fmt)
set(FLOPWATT_PKGCONFIG_OF_fmt::fmt fmt)
set(FLOPWATT_PACKAGE_OF_tl::expected tl-expected)
set(FLOPWATT_PKGCONFIG_OF_tl::expected -)
set(FLOPWATT_PACKAGE_OF_nlohmann_json::nlohmann_json nlohmann_json)
set(FLOPWATT_PKGCONFIG_OF_nlohmann_json::nlohmann_json nlohmann_json)
set(FLOPWATT_PACKAGE_OF_SQLite::SQLite3 SQLite3)
set(FLOPWATT_PKGCONFIG_OF_SQLite::SQLite3 sqlite3)
set(FLOPWATT_PACKAGE_OF_prometheus-cpp::core prometheus-cpp)
set(FLOPWATT_PKGCONFIG_OF_prometheus-cpp::core prometheus-cpp-core)
set(FLOPWATT_PACKAGE_OF_cpp-httplib::cpp-httplib CppHttplib)
set(FLOPWATT_PKGCONFIG_OF_cpp-httplib::cpp-httplib cpp-httplib)
set(FLOPWATT_PACKAGE_OF_Threads::Threads Threads)
set(FLOPWATT_PKGCONFIG_OF_Threads::Threads -)

set(objects "")
set(headers "")
set(links "")
set(links_private "")
foreach(module IN LISTS FLOPWATT_MODULES)
  if(module STREQUAL "cli")
    continue()
  endif()
  list(APPEND objects $<TARGET_OBJECTS:flopwatt_${module}>)
  get_target_property(module_headers flopwatt_${module} HEADER_SET)
  if(module_headers)
    list(APPEND headers ${module_headers})
  endif()
  get_target_property(module_links flopwatt_${module} FLOPWATT_LINKS)
  list(APPEND links ${module_links})
  get_target_property(module_links flopwatt_${module} FLOPWATT_LINKS_PRIVATE)
  foreach(dependency IN LISTS module_links)
    # What is all headers leaves nothing to link.
    get_target_property(type ${dependency} TYPE)
    if(NOT type STREQUAL "INTERFACE_LIBRARY")
      list(APPEND links_private ${dependency})
    endif()
  endforeach()
endforeach()
list(REMOVE_DUPLICATES links)
list(REMOVE_DUPLICATES links_private)
list(REMOVE_ITEM links_private ${links})

add_library(flopwatt_library STATIC ${objects})
add_library(flopwatt::flopwatt ALIAS flopwatt_library)
set_target_properties(flopwatt_library PROPERTIES OUTPUT_NAME flopwatt EXPORT_NAME flopwatt LINKER_LANGUAGE CXX)
target_compile_features(flopwatt_library PUBLIC cxx_std_20)
target_link_libraries(flopwatt_library PUBLIC ${links} PRIVATE ${links_private} $<BUILD_INTERFACE:flopwatt_options>)
target_sources(flopwatt_library
  PUBLIC
    FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${headers}
    FILE_SET generated_headers TYPE HEADERS BASE_DIRS ${PROJECT_BINARY_DIR}/generated
    FILES ${PROJECT_BINARY_DIR}/generated/flopwatt/base/version.hpp)

if(NOT FLOPWATT_INSTALL)
  return()
endif()
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(FLOPWATT_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/flopwatt)

set(FLOPWATT_FIND_DEPENDENCIES "")
set(requires "")
foreach(dependency IN LISTS links links_private)
  if(NOT DEFINED FLOPWATT_PACKAGE_OF_${dependency})
    message(FATAL_ERROR "cmake/FlopwattInstall.cmake: say which package brings ${dependency}")
  endif()
  string(APPEND FLOPWATT_FIND_DEPENDENCIES "find_dependency(${FLOPWATT_PACKAGE_OF_${dependency}})\n")
  if(NOT FLOPWATT_PKGCONFIG_OF_${dependency} STREQUAL "-")
    list(APPEND requires ${FLOPWATT_PKGCONFIG_OF_${dependency}})
  endif()
endforeach()
list(JOIN requires ", " FLOPWATT_PKGCONFIG_REQUIRES)

configure_package_config_file(cmake/flopwattConfig.cmake.in ${PROJECT_BINARY_DIR}/flopwattConfig.cmake
  INSTALL_DESTINATION ${FLOPWATT_CMAKE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/flopwattConfigVersion.cmake COMPATIBILITY SameMinorVersion)
file(RELATIVE_PATH FLOPWATT_PREFIX_FROM_PKGCONFIG
  ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(cmake/flopwatt.pc.in ${PROJECT_BINARY_DIR}/flopwatt.pc @ONLY)

install(TARGETS flopwatt_library EXPORT flopwattTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILE_SET generated_headers DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT flopwattTargets NAMESPACE flopwatt:: DESTINATION ${FLOPWATT_CMAKE_DIR})
install(FILES ${PROJECT_BINARY_DIR}/flopwattConfig.cmake ${PROJECT_BINARY_DIR}/flopwattConfigVersion.cmake
  cmake/FindCppHttplib.cmake
  DESTINATION ${FLOPWATT_CMAKE_DIR})
install(FILES ${PROJECT_BINARY_DIR}/flopwatt.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(TARGET flopwatt_program)
  install(TARGETS flopwatt_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
