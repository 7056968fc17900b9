# One interface target for everything of ours: include root, warnings,
# sanitizers. Warnings become errors in the presets, not here, so that a
# packager's newer compiler does not break the build.
option(PURGATORY_SANITIZE "build with address and undefined behaviour sanitizers" OFF)

add_library(purgatory_options INTERFACE)
target_include_directories(purgatory_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(purgatory_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow
  -Wconversion -Wnon-virtual-dtor -Woverloaded-virtual)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 sees overlaps in std::string that are none (its bug 105651).
  target_compile_options(purgatory_options INTERFACE -Wno-restrict)
endif()
if(PURGATORY_SANITIZE)
  # CAF's headers bind null references, hence -fno-sanitize=null.
  set(flags -fsanitize=address,undefined -fno-sanitize=null -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  target_compile_options(purgatory_options INTERFACE ${flags})
  target_link_options(purgatory_options INTERFACE ${flags})
endif()

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
    CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE})
endif()
