# The CMake package against which out-of-tree plugins build: find_package(muster), muster::run.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

get_property(modules GLOBAL PROPERTY MUSTER_MODULES)
install(TARGETS ${modules} muster_flags EXPORT muster-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/muster)
foreach(folder base api framework plugins controllers net client webhook server sim cmd)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/muster
          FILES_MATCHING PATTERN "*.h")
endforeach()
target_include_directories(muster_flags INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/muster>)
install(EXPORT muster-targets NAMESPACE muster:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/muster)
configure_package_config_file(${PROJECT_SOURCE_DIR}/hack/cmake/muster-config.cmake.in
  ${PROJECT_BINARY_DIR}/muster-config.cmake INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/muster)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/muster-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/muster-config.cmake ${PROJECT_BINARY_DIR}/muster-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/muster)
