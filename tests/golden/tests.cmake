# Known captures and what they must yield. field: 206 flows of real clients and servers, for which an oracle has the answer;
# public: the public captures of other tools' tests, which can't be shipped: a test where the machine has them.
tlstrata_script_test(golden.field golden/field.py LABEL golden TIMEOUT 300 ARGS --minimum-agreement 100)
if(EXISTS ${PROJECT_SOURCE_DIR}/../shared/corpus/dev/public/INDEX.tsv)
  # 121 of 122 flows: docs/tshark.md has the other.
  tlstrata_script_test(golden.public golden/public.py LABEL golden TIMEOUT 600 ARGS --minimum-agreement 99)
endif()
tlstrata_script_test(golden.inference golden/inference.py LABEL golden TIMEOUT 120)
tlstrata_script_test(golden.flights golden/flights.py LABEL golden TIMEOUT 120)
