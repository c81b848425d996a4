# The user C module _odt, for ports that build with CMake (rp2, esp32):
#
#   make -C ports/rp2 USER_C_MODULES=<odt>/native/bindings/micropython.cmake
#
# The kernels are compiled for speed whatever the port's default is, and without fused
# multiply-adds, so that floats have the same bits on every machine (docs/reference/numerics.md).

get_filename_component(ODT_NATIVE ${CMAKE_CURRENT_LIST_DIR} DIRECTORY)
file(GLOB ODT_SRC CONFIGURE_DEPENDS ${ODT_NATIVE}/*.c ${ODT_NATIVE}/common/*.c ${ODT_NATIVE}/kernels/*/*.c
    ${ODT_NATIVE}/cores/*/*.c)

add_library(usermod_odt INTERFACE)
target_sources(usermod_odt INTERFACE ${CMAKE_CURRENT_LIST_DIR}/mod_odt.c ${ODT_SRC})
target_include_directories(usermod_odt INTERFACE ${ODT_NATIVE})
target_compile_definitions(usermod_odt INTERFACE ODT_POLLS)
if(DEFINED ENV{ODT_CAPABILITIES}) # manifest.py
    execute_process(COMMAND python3 ${ODT_NATIVE}/../odt/host/boards/capabilities.py $ENV{ODT_CAPABILITIES}
        OUTPUT_VARIABLE ODT_WITHOUT OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    target_compile_definitions(usermod_odt INTERFACE "ODT_WITHOUT=\"${ODT_WITHOUT}\"")
    separate_arguments(ODT_WITHOUT)
    foreach(name ${ODT_WITHOUT})
        target_compile_definitions(usermod_odt INTERFACE ODT_WITHOUT_${name})
    endforeach()
endif()
if(PICO_SDK_PATH) # rp2: two cores
    target_compile_definitions(usermod_odt INTERFACE ODT_THREADS)
endif()
set_source_files_properties(${ODT_SRC} PROPERTIES COMPILE_OPTIONS "-O2;-fwrapv;-ffp-contract=off")
set(ODT_SMALL_SRC ${ODT_NATIVE}/calibrate.c) # runs once
if(PICO_PLATFORM STREQUAL "rp2040")
    # Its flash is short. Where each operation is a call, loops of floats that are small are as fast; the others are of
    # few models.
    file(GLOB ODT_FLOAT_SRC CONFIGURE_DEPENDS ${ODT_NATIVE}/kernels/*/*_f32.c)
    list(APPEND ODT_SMALL_SRC ${ODT_FLOAT_SRC})
    foreach(name checks program threads cores/m0/depthwise2d_dw_i8__m0 cores/m0/depthwise2d_tile_i8__m0
            kernels/activation/curve_i8 kernels/dropout/dropout kernels/dynamic/fisher kernels/dynamic/rank
            kernels/features/logmel_i16 kernels/features/motion_i16 kernels/join/add_once_i8
            kernels/linear/conv2d_dx_i8 kernels/linear/depthwise2d_dw_i8 kernels/linear/depthwise2d_dx_i8
            kernels/linear/depthwise2d_i8 kernels/linear/group_conv2d_i8 kernels/linear/transposed2d_i8
            kernels/loss/binary_xent_i8 kernels/loss/distil_xent_i8 kernels/loss/entropy_i8 kernels/loss/huber_i8
            kernels/loss/mae_i8 kernels/loss/mse_i8 kernels/loss/targets_i8 kernels/loss/weighted_xent_i8
            kernels/norm/gather_norm_i8 kernels/norm/norm_i8 kernels/norm/running_norm_i8 kernels/pool/avgpool2d_i8
            kernels/pool/mean2d_i8 kernels/sampling/sampling_i8 kernels/step/clip kernels/step/scales_i8
            kernels/update/decay kernels/update/momentum_i32 kernels/update/round_i8 kernels/update/slope_i8
            kernels/update/zeroth_i8)
        list(APPEND ODT_SMALL_SRC ${ODT_NATIVE}/${name}.c)
    endforeach()
endif()
set_source_files_properties(${ODT_SMALL_SRC} PROPERTIES COMPILE_OPTIONS "-Os;-fwrapv;-ffp-contract=off")

target_link_libraries(usermod INTERFACE usermod_odt)
