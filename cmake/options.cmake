# Compiler and linker options that every target of ours is built with.
add_library(tlstrata_options INTERFACE)
target_compile_options(tlstrata_options INTERFACE
  -Wall -Wextra -Wpedantic -Werror -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast -Wnon-virtual-dtor
  -Woverloaded-virtual -Wnull-dereference -Wimplicit-fallthrough -fno-omit-frame-pointer -fstack-protector-strong)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 sees null dereferences and overreads inside libstdc++ and fmt that are not there.
  target_compile_options(tlstrata_options INTERFACE -Wno-null-dereference -Wno-stringop-overflow -Wno-array-bounds
                         -Wno-restrict -Wno-maybe-uninitialized -Wno-dangling-reference)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # std::to_array of IANA's registries expands to a fold longer than clang's default limit.
  # libstdc++ 12's own stable_sort uses a function that it calls deprecated.
  target_compile_options(tlstrata_options INTERFACE -fbracket-depth=1024 -Wno-deprecated-declarations)
endif()
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  target_compile_definitions(tlstrata_options INTERFACE _FORTIFY_SOURCE=2)
endif()
if(TLSTRATA_SANITIZERS)
  target_compile_options(tlstrata_options INTERFACE -fsanitize=${TLSTRATA_SANITIZERS} -fno-sanitize-recover=all)
  target_link_options(tlstrata_options INTERFACE -fsanitize=${TLSTRATA_SANITIZERS})
endif()
