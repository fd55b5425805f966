# Known captures and what they must yield. field: 206 flows of real clients and servers, for which an oracle has the answer;
# public: the public captures of other tools' tests, where the machine has them.
tlstrata_script_test(golden.field golden/field.py LABEL golden TIMEOUT 300 ARGS --minimum-agreement 90)
tlstrata_script_test(golden.public golden/public.py LABEL golden TIMEOUT 600)
set_tests_properties(golden.public PROPERTIES SKIP_RETURN_CODE 77)
