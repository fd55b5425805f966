# shellcheck shell=sh
# Sourced. mirror_of NAME: the first URI of the machine's apt sources that ends in NAME, in deb822 and one-line sources
# alike, or in NAME.list, as the mirror lists of cloud images do. Nothing where there is none.
mirror_of() {
    {
        cat /etc/apt/sources.list.d/*.sources 2>/dev/null | sed -n 's/^URIs: *//p'
        cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null | awk '$1 == "deb"'
    } | tr -s '[:blank:]' '\n' | grep -E "^[a-z+]+:.*/$1(\.list)?/?\$" | head -n 1
}
