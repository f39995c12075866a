# run(COMMAND...): its output is `text`; a failure ends the test.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(NOT status EQUAL 0)
    string(JOIN " " command ${ARGN})
    message(FATAL_ERROR "exit ${status}: ${command}\n${text}")
  endif()
  set(text "${text}" PARENT_SCOPE)
endfunction()
