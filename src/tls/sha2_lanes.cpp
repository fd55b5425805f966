#include "tls/sha2_lanes.h"

#include <algorithm>
#include <cstring>

namespace tlstrata::tls {
namespace {

// The first 64 bits of the fractional parts of the cube roots of the first eighty primes. SHA-256's constants are the
// first 32 bits of the first sixty-four.
constexpr std::array<std::uint64_t, 80> round_constants{
    0x428A2F98D728AE22, 0x7137449123EF65CD, 0xB5C0FBCFEC4D3B2F, 0xE9B5DBA58189DBBC, 0x3956C25BF348B538,
    0x59F111F1B605D019, 0x923F82A4AF194F9B, 0xAB1C5ED5DA6D8118, 0xD807AA98A3030242, 0x12835B0145706FBE,
    0x243185BE4EE4B28C, 0x550C7DC3D5FFB4E2, 0x72BE5D74F27B896F, 0x80DEB1FE3B1696B1, 0x9BDC06A725C71235,
    0xC19BF174CF692694, 0xE49B69C19EF14AD2, 0xEFBE4786384F25E3, 0x0FC19DC68B8CD5B5, 0x240CA1CC77AC9C65,
    0x2DE92C6F592B0275, 0x4A7484AA6EA6E483, 0x5CB0A9DCBD41FBD4, 0x76F988DA831153B5, 0x983E5152EE66DFAB,
    0xA831C66D2DB43210, 0xB00327C898FB213F, 0xBF597FC7BEEF0EE4, 0xC6E00BF33DA88FC2, 0xD5A79147930AA725,
    0x06CA6351E003826F, 0x142929670A0E6E70, 0x27B70A8546D22FFC, 0x2E1B21385C26C926, 0x4D2C6DFC5AC42AED,
    0x53380D139D95B3DF, 0x650A73548BAF63DE, 0x766A0ABB3C77B2A8, 0x81C2C92E47EDAEE6, 0x92722C851482353B,
    0xA2BFE8A14CF10364, 0xA81A664BBC423001, 0xC24B8B70D0F89791, 0xC76C51A30654BE30, 0xD192E819D6EF5218,
    0xD69906245565A910, 0xF40E35855771202A, 0x106AA07032BBD1B8, 0x19A4C116B8D2D0C8, 0x1E376C085141AB53,
    0x2748774CDF8EEB99, 0x34B0BCB5E19B48A8, 0x391C0CB3C5C95A63, 0x4ED8AA4AE3418ACB, 0x5B9CCA4F7763E373,
    0x682E6FF3D6B2B8A3, 0x748F82EE5DEFB2FC, 0x78A5636F43172F60, 0x84C87814A1F0AB72, 0x8CC702081A6439EC,
    0x90BEFFFA23631E28, 0xA4506CEBDE82BDE9, 0xBEF9A3F7B2C67915, 0xC67178F2E372532B, 0xCA273ECEEA26619C,
    0xD186B8C721C0C207, 0xEADA7DD6CDE0EB1E, 0xF57D4F7FEE6ED178, 0x06F067AA72176FBA, 0x0A637DC5A2C898A6,
    0x113F9804BEF90DAE, 0x1B710B35131C471B, 0x28DB77F523047D84, 0x32CAAB7B40C72493, 0x3C9EBE0A15C9BEBC,
    0x431D67C49C100D4C, 0x4CC5D4BECB3E42B6, 0x597F299CFC657E2A, 0x5FCB6FAB3AD6FAEC, 0x6C44198C4A475817,
};

// The rotations and shifts of FIPS 180-4 section 4.1; the last number of a sigma is a shift.
template <typename Word>
struct Function;

template <>
struct Function<std::uint32_t> {
  static constexpr std::size_t rounds = 64;
  static constexpr std::array<int, 3> sum0{2, 13, 22};
  static constexpr std::array<int, 3> sum1{6, 11, 25};
  static constexpr std::array<int, 3> sigma0{7, 18, 3};
  static constexpr std::array<int, 3> sigma1{17, 19, 10};
};

template <>
struct Function<std::uint64_t> {
  static constexpr std::size_t rounds = 80;
  static constexpr std::array<int, 3> sum0{28, 34, 39};
  static constexpr std::array<int, 3> sum1{14, 18, 41};
  static constexpr std::array<int, 3> sigma0{1, 8, 7};
  static constexpr std::array<int, 3> sigma1{19, 61, 6};
};

// The compiler's vectors of `bytes` bytes. They are passed by reference only: by value, one wider than the baseline's
// registers would have another ABI in each of the variants below.
template <typename Word, std::size_t bytes>
struct VectorOf {
  typedef Word Type __attribute__((vector_size(bytes)));
};

template <typename Word, typename Vector>
[[gnu::always_inline]] inline void add_sum(Vector& to, const Vector& x, const std::array<int, 3>& by) {
  constexpr int bits = 8 * sizeof(Word);
  to += ((x >> by[0]) | (x << (bits - by[0]))) ^ ((x >> by[1]) | (x << (bits - by[1]))) ^
        ((x >> by[2]) | (x << (bits - by[2])));
}

template <typename Word, typename Vector>
[[gnu::always_inline]] inline void add_sigma(Vector& to, const Vector& x, const std::array<int, 3>& by) {
  constexpr int bits = 8 * sizeof(Word);
  to += ((x >> by[0]) | (x << (bits - by[0]))) ^ ((x >> by[1]) | (x << (bits - by[1]))) ^ (x >> by[2]);
}

// Round `index` with w[index % 16]. Instead of moving the eight variables a round turns their names.
template <typename Word, std::size_t turn, typename Vector>
[[gnu::always_inline]] inline void round(std::array<Vector, 8>& s, const Vector& w, std::size_t index) {
  const auto& a = s[(8 - turn) % 8];
  const auto& b = s[(9 - turn) % 8];
  const auto& c = s[(10 - turn) % 8];
  auto& d = s[(11 - turn) % 8];
  const auto& e = s[(12 - turn) % 8];
  const auto& f = s[(13 - turn) % 8];
  const auto& g = s[(14 - turn) % 8];
  auto& h = s[(15 - turn) % 8];
  h += w + static_cast<Word>(round_constants[index] >> (64 - 8 * sizeof(Word)));
  h += (e & f) ^ (~e & g);
  add_sum<Word>(h, e, Function<Word>::sum1);
  d += h;
  h += (a & b) | (c & (a | b));
  add_sum<Word>(h, a, Function<Word>::sum0);
}

// The lanes from `lane` on that a vector holds.
template <typename Word, typename Vector>
[[gnu::always_inline]] inline void compress_some(const Sha2State<Word>& state, const Sha2Block<Word>& block,
                                                 Sha2State<Word>& next, std::size_t lane) {
  std::array<Vector, 16> w;
  std::array<Vector, 8> s;
  for (std::size_t i = 0; i < w.size(); ++i) {
    std::memcpy(&w[i], &block.words[i][lane], sizeof(Vector));
  }
  for (std::size_t i = 0; i < s.size(); ++i) {
    std::memcpy(&s[i], &state.words[i][lane], sizeof(Vector));
  }
  const std::array<Vector, 8> before = s;
  for (std::size_t from = 0; from < Function<Word>::rounds; from += 16) {
    for (std::size_t i = 0; from != 0 && i < 16; ++i) {
      w[i] += w[(i + 9) % 16];
      add_sigma<Word>(w[i], w[(i + 1) % 16], Function<Word>::sigma0);
      add_sigma<Word>(w[i], w[(i + 14) % 16], Function<Word>::sigma1);
    }
    for (std::size_t i = 0; i < 16; i += 8) {
      round<Word, 0>(s, w[i], from + i);
      round<Word, 1>(s, w[i + 1], from + i + 1);
      round<Word, 2>(s, w[i + 2], from + i + 2);
      round<Word, 3>(s, w[i + 3], from + i + 3);
      round<Word, 4>(s, w[i + 4], from + i + 4);
      round<Word, 5>(s, w[i + 5], from + i + 5);
      round<Word, 6>(s, w[i + 6], from + i + 6);
      round<Word, 7>(s, w[i + 7], from + i + 7);
    }
  }
  for (std::size_t i = 0; i < s.size(); ++i) {
    s[i] += before[i];
    std::memcpy(&next.words[i][lane], &s[i], sizeof(Vector));
  }
}

// Wider vectors than the machine's registers are worse than several passes: the variables no longer fit.
template <typename Word, std::size_t register_bytes>
[[gnu::always_inline]] inline void compress(const Sha2State<Word>& state, const Sha2Block<Word>& block,
                                            Sha2State<Word>& next) {
  constexpr std::size_t bytes = std::min(register_bytes, sha2_lanes * sizeof(Word));
  for (std::size_t lane = 0; lane < sha2_lanes; lane += bytes / sizeof(Word)) {
    compress_some<Word, typename VectorOf<Word, bytes>::Type>(state, block, next, lane);
  }
}

// One body, compiled for each instruction set that makes a difference. Chosen by hand rather than by target_clones, whose
// resolver runs before a sanitizer's runtime is there.
template <typename Word>
void compress_baseline(const Sha2State<Word>& state, const Sha2Block<Word>& block, Sha2State<Word>& next) {
  compress<Word, 16>(state, block, next);
}
#if defined(__x86_64__)
template <typename Word>
[[gnu::target("avx2")]] void compress_avx2(const Sha2State<Word>& state, const Sha2Block<Word>& block,
                                           Sha2State<Word>& next) {
  compress<Word, 32>(state, block, next);
}
template <typename Word>
[[gnu::target("avx512f,avx512vl")]] void compress_avx512(const Sha2State<Word>& state, const Sha2Block<Word>& block,
                                                         Sha2State<Word>& next) {
  compress<Word, 64>(state, block, next);
}
#endif

}  // namespace

template <typename Word>
std::vector<Sha2Compress<Word>> sha2_compress_variants() {
  std::vector<Sha2Compress<Word>> variants{compress_baseline<Word>};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") != 0) {
    variants.push_back(compress_avx2<Word>);
  }
  if (__builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512vl") != 0) {
    variants.push_back(compress_avx512<Word>);
  }
#endif
  return variants;
}

template <typename Word>
void sha2_compress(const Sha2State<Word>& state, const Sha2Block<Word>& block, Sha2State<Word>& next) {
  static const Sha2Compress<Word> quickest = sha2_compress_variants<Word>().back();
  quickest(state, block, next);
}

template std::vector<Sha2Compress<std::uint32_t>> sha2_compress_variants();
template std::vector<Sha2Compress<std::uint64_t>> sha2_compress_variants();
template void sha2_compress(const Sha2State<std::uint32_t>& state, const Sha2Block<std::uint32_t>& block,
                            Sha2State<std::uint32_t>& next);
template void sha2_compress(const Sha2State<std::uint64_t>& state, const Sha2Block<std::uint64_t>& block,
                            Sha2State<std::uint64_t>& next);

}  // namespace tlstrata::tls
