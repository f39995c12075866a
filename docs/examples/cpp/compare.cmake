# Runs PROGRAM in a folder of its own and compares what it prints with the file EXPECTED.
set(folder "${PROGRAM}.run")
file(REMOVE_RECURSE "${folder}")
file(MAKE_DIRECTORY "${folder}")
execute_process(COMMAND "${PROGRAM}" WORKING_DIRECTORY "${folder}" RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE errors)
file(READ "${EXPECTED}" expected)
if(NOT status EQUAL 0 OR NOT text STREQUAL expected)
  message(FATAL_ERROR "exit ${status}, printed:\n${text}${errors}\nexpected (${EXPECTED}):\n${expected}")
endif()
