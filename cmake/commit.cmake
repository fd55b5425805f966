# Which commit the program is built from, asked at each build: a commit does not configure anew. Included, it adds the
# generated source to tlstrata_cli; run as a script (SOURCE, OUTPUT), it writes that source where it changed.
if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(commit_source ${PROJECT_BINARY_DIR}/generated/commit.cpp)
  add_custom_target(tlstrata_commit
    COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DOUTPUT=${commit_source} -P ${CMAKE_CURRENT_LIST_FILE}
    BYPRODUCTS ${commit_source}
    COMMENT "Asking git for the commit"
    VERBATIM)
  target_sources(tlstrata_cli PRIVATE ${commit_source})
  add_dependencies(tlstrata_cli tlstrata_commit)
  return()
endif()

set(commit unknown)
set(date "")

# git(VARIABLE ARG...): what it prints, or nothing. A checkout of somebody else's that git refuses is an unknown commit.
find_program(GIT git)
function(git variable)
  set(${variable} "" PARENT_SCOPE)
  if(GIT)
    execute_process(COMMAND ${GIT} -C ${SOURCE} ${ARGN} OUTPUT_VARIABLE printed RESULT_VARIABLE failed ERROR_QUIET
                    OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(NOT failed)
      set(${variable} "${printed}" PARENT_SCOPE)
    endif()
  endif()
endfunction()

# An archive's folder may lie within a repository of something else: that one's commit is not ours.
git(top rev-parse --show-toplevel)
file(REAL_PATH ${SOURCE} here)
if(top STREQUAL here)
  git(named log -1 --format=%H\ %cs)
  git(changes status --porcelain --untracked-files=no)
else()
  file(READ ${SOURCE}/cmake/commit.txt named)
  string(STRIP "${named}" named)
endif()
if(named MATCHES "^([0-9a-f]+) ([0-9-]+)$")
  string(SUBSTRING ${CMAKE_MATCH_1} 0 12 commit)
  set(date ${CMAKE_MATCH_2})
  if(changes)
    string(APPEND commit " with changes")
  endif()
endif()
# Writes only what differs.
configure_file(${SOURCE}/src/cli/commit.cpp.in ${OUTPUT} @ONLY)
