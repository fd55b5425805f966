# What is installed and packed works without the checkout that it was built in. In clean roots: ./run package --try.
tlstrata_script_test(package.install package/install_test.py LABEL package TIMEOUT 300)
tlstrata_script_test(package.manual package/manual_test.py LABEL package TIMEOUT 120)
tlstrata_script_test(package.completion package/completion_test.py LABEL package TIMEOUT 120)
