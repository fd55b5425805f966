# The walls and the style, and that the lint can fail.
foreach(lint includes style docs format shell self_test)
  tlstrata_script_test(lint.${lint} lint/${lint}.py LABEL lint TIMEOUT 120)
endforeach()
