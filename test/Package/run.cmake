# Installs the build, then configures, builds and runs consumers against what was installed.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "failed (${status}): ${ARGN}")
  endif()
endfunction()

# Runs a command that must fail and say `message`, however its lines are wrapped.
function(run_fails message)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(REGEX REPLACE "[ \n]+" " " output "${output}")
  string(FIND "${output}" "${message}" at)
  if(status EQUAL 0 OR at EQUAL -1)
    message(FATAL_ERROR "expected a failure with '${message}', found status ${status}: ${output}\n${ARGN}")
  endif()
endfunction()

set(configure ${CMAKE_COMMAND} --no-warn-unused-cli -G Ninja -DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix -DCMAKE_C_COMPILER=${CC}
  -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_BUILD_TYPE=${BUILD_TYPE} "-DCMAKE_CXX_FLAGS_RELEASE=${CXX_FLAGS}"
  "-DCMAKE_EXE_LINKER_FLAGS=${LINK_FLAGS}")
set(without_MLIR -DCMAKE_DISABLE_FIND_PACKAGE_MLIR=ON)
set(without_ONNX -DCMAKE_DISABLE_FIND_PACKAGE_Protobuf=ON -DCMAKE_DISABLE_FIND_PACKAGE_ONNX=ON)

# consumer(FOLDER definitions …)
function(consumer folder)
  run(${configure} -S ${SOURCE_DIR}/${folder} -B ${WORK_DIR}/${folder} ${ARGN})
  run(${CMAKE_COMMAND} --build ${WORK_DIR}/${folder})
  run(${WORK_DIR}/${folder}/consumer)
endfunction()

# components(LIST definitions …): what the configuration of a project that asks for LIST is run with.
macro(components name list)
  set(${name} ${configure} -S ${SOURCE_DIR}/Components -B ${WORK_DIR}/${name} -DCOMPONENTS=${list} ${ARGN})
endmacro()

file(REMOVE_RECURSE ${WORK_DIR})
run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${WORK_DIR}/prefix)
consumer(All)
consumer(Model ${without_MLIR} ${without_ONNX})

components(transforms Transforms ${without_ONNX})
run(${transforms})
components(unknown Modell)
run_fails("Expected a component of dtrain (Model, IR, Transforms, Import, Tools), found 'Modell'" ${unknown})
components(no_mlir IR ${without_MLIR})
run_fails("Component IR needs MLIR, which is not found" ${no_mlir})
components(no_onnx Tools ${without_ONNX})
run_fails("Component Import needs ONNX, which is not found" ${no_onnx})
