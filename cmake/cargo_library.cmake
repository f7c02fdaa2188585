# netkit_cargo_library(TRIPLE LIBRARY): builds the archive for a bare-metal Rust target in the build of somebody else,
# such as a firmware framework. LIBRARY is the path of the archive; the target netkit_cargo makes it. NETKIT_NETWORKS may
# list fewer types of networks than f32 and int8, NETKIT_LAYERS fewer layers besides the plain ones than blocks and yolox.
function(netkit_cargo_library triple library)
  get_filename_component(root ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/.. ABSOLUTE)
  find_program(NETKIT_CARGO cargo HINTS "$ENV{CARGO_HOME}/bin" "$ENV{HOME}/.cargo/bin" REQUIRED NO_CMAKE_FIND_ROOT_PATH)
  set(target_dir ${CMAKE_CURRENT_BINARY_DIR}/cargo)
  set(features panic-halt f32 int8)
  if(NETKIT_NETWORKS)
    set(features panic-halt ${NETKIT_NETWORKS})
  endif()
  if(DEFINED NETKIT_LAYERS)
    list(APPEND features ${NETKIT_LAYERS})
  else()
    list(APPEND features blocks yolox)
  endif()
  list(JOIN features "," features)
  set(archive ${target_dir}/${triple}/release/libnetkit.a)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${root}/src/*.rs ${root}/capi/*.rs)
  add_custom_command(
    OUTPUT ${archive}
    COMMAND ${NETKIT_CARGO} build --locked --release --package netkit-capi --target ${triple} --target-dir ${target_dir}
      --no-default-features --features ${features}
    WORKING_DIRECTORY ${root}
    DEPENDS ${sources} ${root}/Cargo.toml ${root}/Cargo.lock ${root}/capi/Cargo.toml
    COMMENT "Building netkit for ${triple} with cargo"
    VERBATIM USES_TERMINAL)
  add_custom_target(netkit_cargo DEPENDS ${archive})
  set(${library} ${archive} PARENT_SCOPE)
endfunction()
