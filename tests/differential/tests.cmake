# Against TShark on the same capture. These fail where TShark is missing: a comparison left out would prove nothing.
tlstrata_script_test(differential.lab differential/lab_layers.py LABEL differential TIMEOUT 300)
tlstrata_script_test(differential.field differential/field_layers.py LABEL differential TIMEOUT 300)
tlstrata_script_test(differential.alpn differential/field_alpn.py LABEL differential TIMEOUT 300)
set_tests_properties(differential.lab PROPERTIES RUN_SERIAL TRUE)
