# Builds examples/quick_start.c the way a user of netkit would (WAY, KIND) and runs it from the repository root.
set(program ${NETKIT_SOURCE}/examples/quick_start.c)
set(build ${WORK}/${WAY}.${KIND})
set(prefix ${WORK}/prefix.${WAY}.${KIND})

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " line)
    message(FATAL_ERROR "failed: ${line}")
  endif()
endfunction()

# Installs, then moves what was installed: nothing may remember the first place.
function(install_and_move)
  file(REMOVE_RECURSE ${prefix} ${prefix}.moved)
  run(${CMAKE_COMMAND} --install ${NETKIT_BUILD} --prefix ${prefix})
  file(RENAME ${prefix} ${prefix}.moved)
endfunction()

function(build_consumer)
  if(KIND STREQUAL shared)
    set(shared ON)
  else()
    set(shared OFF)
  endif()
  run(${CMAKE_COMMAND} -G ${GENERATOR} -S ${NETKIT_SOURCE}/c_tests/consumer -B ${build} -DPROGRAM=${program}
    -DCMAKE_C_COMPILER=${C_COMPILER} -DBUILD_SHARED_LIBS=${shared} ${ARGN})
  run(${CMAKE_COMMAND} --build ${build})
endfunction()

file(REMOVE_RECURSE ${build})
set(environment)
if(WAY STREQUAL find_package)
  install_and_move()
  build_consumer(-DCMAKE_PREFIX_PATH=${prefix}.moved)
elseif(WAY STREQUAL add_subdirectory)
  build_consumer(-DNETKIT_SOURCE=${NETKIT_SOURCE} -DNETKIT_TARGET_DIR=${NETKIT_TARGET_DIR}
    -DNETKIT_PROFILE=${NETKIT_PROFILE})
else()
  find_program(pkg_config NAMES pkg-config pkgconf)
  if(NOT pkg_config)
    message("no pkg-config on this machine")
    return()
  endif()
  install_and_move()
  file(MAKE_DIRECTORY ${build})
  set(flags)
  if(KIND STREQUAL static)
    set(flags --static)
    file(GLOB shared_libraries ${prefix}.moved/${LIBDIR}/libnetkit*.so* ${prefix}.moved/${LIBDIR}/libnetkit*.dylib)
    file(REMOVE ${shared_libraries})
  else()
    set(environment LD_LIBRARY_PATH=${prefix}.moved/${LIBDIR})
  endif()
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${prefix}.moved/${LIBDIR}/pkgconfig
      ${pkg_config} ${flags} --cflags --libs netkit
    OUTPUT_VARIABLE options OUTPUT_STRIP_TRAILING_WHITESPACE)
  separate_arguments(options UNIX_COMMAND "${options}")
  run(${C_COMPILER} -std=c99 -Wall -Wextra -Wpedantic -Werror ${program} ${options} -o ${build}/consumer)
endif()

execute_process(COMMAND ${CMAKE_COMMAND} -E env ${environment} ${build}/consumer
  WORKING_DIRECTORY ${NETKIT_SOURCE} RESULT_VARIABLE result OUTPUT_VARIABLE output)
if(NOT result EQUAL 0 OR NOT output STREQUAL "3, 3\n")
  message(FATAL_ERROR "the consumer ended with ${result} and printed: ${output}")
endif()
