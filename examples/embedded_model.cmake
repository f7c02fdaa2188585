# examples/test_mlp_model.h is what scripts/embed-model makes of the model.
execute_process(COMMAND ${PYTHON} ${SOURCE}/scripts/embed-model ${SOURCE}/models/test_mlp.nk test_mlp_model
  RESULT_VARIABLE result OUTPUT_VARIABLE made)
file(READ ${SOURCE}/examples/test_mlp_model.h committed)
if(NOT result EQUAL 0 OR NOT made STREQUAL committed)
  message(FATAL_ERROR "run: scripts/embed-model models/test_mlp.nk test_mlp_model >examples/test_mlp_model.h")
endif()
