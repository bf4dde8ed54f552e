# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What `cmake --install` puts where, and what find_package(Tilewright) then finds.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# The compiler library needs LLVM's shared libraries, from where they were found.
set_target_properties(tilewright-compiler PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
install(TARGETS tilewright tw_runtime tilewright-compiler tilewright_kernel)
install(DIRECTORY include/tilewright DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
# To be read: the compiler library has them embedded.
install(DIRECTORY share/tuning DESTINATION ${CMAKE_INSTALL_DATADIR}/tilewright)
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Tilewright)
configure_package_config_file(cmake/TilewrightConfig.cmake.in ${CMAKE_BINARY_DIR}/TilewrightConfig.cmake
  INSTALL_DESTINATION ${config_folder} PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_BINDIR)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/TilewrightConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/TilewrightConfig.cmake ${CMAKE_BINARY_DIR}/TilewrightConfigVersion.cmake
  DESTINATION ${config_folder})
