# Real servers, clients and packets. Labs measure, and refuse to run two at a time: they run alone.
tlstrata_script_test(e2e.lab e2e/lab_test.py LABEL e2e TIMEOUT 900)
set_tests_properties(e2e.lab PROPERTIES RUN_SERIAL TRUE)
tlstrata_script_test(e2e.doctor e2e/doctor_test.py LABEL e2e TIMEOUT 300)
tlstrata_script_test(e2e.serve e2e/serve_test.py LABEL e2e TIMEOUT 300)
tlstrata_script_test(e2e.load e2e/load_test.py LABEL e2e TIMEOUT 300)
tlstrata_script_test(e2e.follow e2e/follow.py LABEL e2e TIMEOUT 120)
tlstrata_script_test(e2e.provider e2e/provider_test.py LABEL e2e TIMEOUT 300)
