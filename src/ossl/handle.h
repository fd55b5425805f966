// Owners of the library's objects: unique_ptr whose deleter is the library's own free function.
//
// Ownership: the handle's. Only files of src/ossl include this header, since it names the library's types.
#pragma once

#include <memory>

namespace tlstrata::ossl {

template <auto Free>
struct FreeWith {
  template <typename T>
  void operator()(T* object) const {
    Free(object);
  }
};

template <typename T, auto Free>
using Handle = std::unique_ptr<T, FreeWith<Free>>;

}  // namespace tlstrata::ossl
