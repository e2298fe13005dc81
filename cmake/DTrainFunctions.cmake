# One way to declare a library, a dialect, a tool and a unit test, so that every CMakeLists.txt below
# is a list of files and links.

# What every dtrain target is compiled with. LLVM and MLIR are built with RTTI and without exceptions.
add_library(dtrain_options INTERFACE)
target_compile_options(dtrain_options INTERFACE
  -Wall -Wextra -Werror -Wno-unused-parameter -fno-strict-aliasing
  $<$<CXX_COMPILER_ID:Clang>:-Wno-nested-anon-types>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-comment -Wno-maybe-uninitialized -Wno-dangling-pointer>)
# Third-party headers are system headers: their warnings are not ours.
target_include_directories(dtrain_options SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})

# The components of the package, each after those that it stands on (dtrainConfig.cmake.in).
set(DTRAIN_COMPONENTS Model IR Transforms Import Tools)

# dtrain_add_library(NAME SOURCES … [LINK dtrain or third-party libraries] [DEPENDS generated files]
#                    [MLIR] [EXCEPTIONS])
# Without MLIR the library may use LLVM's Support only, and does not see the generated dialect headers.
# DTrainFoo is dtrain::Foo to others, in the component that DTRAIN_COMPONENT names for the folder.
function(dtrain_add_library name)
  cmake_parse_arguments(ARG "MLIR;EXCEPTIONS" "" "SOURCES;LINK;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  string(REGEX REPLACE "^DTrain" "" exported ${name})
  add_library(dtrain::${exported} ALIAS ${name})
  set_target_properties(${name} PROPERTIES EXPORT_NAME ${exported})
  target_include_directories(${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_include_directories(${name} SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
  if(ARG_MLIR)
    target_include_directories(${name} SYSTEM INTERFACE ${MLIR_INCLUDE_DIRS})
    target_include_directories(${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>)
    target_link_libraries(${name} PUBLIC MLIR)
  endif()
  target_link_libraries(${name} PUBLIC ${ARG_LINK} LLVM PRIVATE $<BUILD_INTERFACE:dtrain_options>)
  if(NOT ARG_EXCEPTIONS)
    target_compile_options(${name} PRIVATE -fno-exceptions)
  endif()
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  if(NOT DTRAIN_COMPONENT IN_LIST DTRAIN_COMPONENTS)
    message(FATAL_ERROR "${name}: expected DTRAIN_COMPONENT to be one of ${DTRAIN_COMPONENTS}, found '${DTRAIN_COMPONENT}'")
  endif()
  install(TARGETS ${name} EXPORT dtrain${DTRAIN_COMPONENT}Targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

# dtrain_tablegen(TARGET TD OUT_PREFIX "generator flags=suffix" …): generates
# include/dtrain/<OUT_PREFIX><suffix> in the build tree for each pair.
function(dtrain_tablegen target td prefix)
  set(LLVM_TARGET_DEFINITIONS ${td})
  set(TABLEGEN_OUTPUT)
  # mlir_tablegen writes relative to the current binary directory.
  file(RELATIVE_PATH out ${CMAKE_CURRENT_BINARY_DIR} ${PROJECT_BINARY_DIR}/include/dtrain)
  foreach(pair ${ARGN})
    string(REGEX MATCH "^(.*)=([^=]+)$" _ ${pair})
    separate_arguments(flags UNIX_COMMAND "${CMAKE_MATCH_1}")
    set(suffix ${CMAKE_MATCH_2})
    mlir_tablegen(${out}/${prefix}${suffix} ${flags}
      EXTRA_INCLUDES ${PROJECT_SOURCE_DIR}/dialects ${MLIR_INCLUDE_DIRS})
  endforeach()
  add_public_tablegen_target(${target})
endfunction()

# dtrain_add_tool(NAME SOURCES … LINK … [EXCEPTIONS]): an executable in bin/, from a folder of its own.
function(dtrain_add_tool name)
  cmake_parse_arguments(ARG "EXCEPTIONS" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} dtrain_options)
  if(NOT ARG_EXCEPTIONS)
    target_compile_options(${name} PRIVATE -fno-exceptions)
  endif()
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()

# dtrain_add_unit_test(NAME SOURCES … LINK …): a GoogleTest binary, run by ctest.
function(dtrain_add_unit_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/test/bin)
  target_link_libraries(${name} PRIVATE ${ARG_LINK} dtrain_options GTest::gtest GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name})
endfunction()

# Documents generated from the .td files, under docs/ of the build tree.
add_custom_target(dtrain-docs)

# dtrain_add_doc(NAME TD generator flags …): docs/<NAME>.md, e.g. with -gen-dialect-doc -dialect=target
# or -gen-pass-doc.
function(dtrain_add_doc name td)
  set(LLVM_TARGET_DEFINITIONS ${td})
  set(TABLEGEN_OUTPUT)
  file(RELATIVE_PATH out ${CMAKE_CURRENT_BINARY_DIR} ${PROJECT_BINARY_DIR}/docs)
  mlir_tablegen(${out}/${name}.md ${ARGN}
    EXTRA_INCLUDES ${PROJECT_SOURCE_DIR}/dialects ${MLIR_INCLUDE_DIRS})
  add_custom_target(dtrain-doc-${name} DEPENDS ${TABLEGEN_OUTPUT})
  add_dependencies(dtrain-docs dtrain-doc-${name})
endfunction()
