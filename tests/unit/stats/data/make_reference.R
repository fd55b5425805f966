#!/usr/bin/env Rscript
# Makes reference.csv: what R says on fixed samples, for tests/unit/stats/reference_test.cpp. R is not needed to run the tests.
#   Rscript tests/unit/stats/data/make_reference.R > tests/unit/stats/data/reference.csv
# Samples are made of integers by a linear congruence, so that both sides have them to the last bit.
options(digits = 17)

sample_of <- function(n, seed, scale, ties = FALSE) {
  x <- numeric(n)
  state <- seed
  for (i in seq_len(n)) {
    state <- (state * 16807) %% 2147483647
    x[i] <- if (ties) state %% 7 else (state %% 1000003) * scale
  }
  x
}

out <- function(name, value) cat(sprintf("%s,%.17g\n", name, value))
cat("name,value\n")

cases <- list(
  small = list(a = sample_of(7, 11, 1), b = sample_of(9, 12, 1)),
  blocks = list(a = sample_of(10, 21, 0.5) + 3e5, b = sample_of(10, 22, 0.25) + 4e5),
  uneven = list(a = sample_of(53, 31, 3), b = sample_of(20, 32, 1.5)),
  large = list(a = sample_of(400, 41, 1), b = sample_of(301, 42, 1.1)),
  ties = list(a = sample_of(40, 51, 1, TRUE), b = sample_of(33, 52, 1, TRUE))
)

for (name in names(cases)) {
  a <- cases[[name]]$a
  b <- cases[[name]]$b
  put <- function(what, value) out(paste(name, what, sep = "."), value)
  for (p in c(0, 0.1, 0.5, 0.9, 0.95, 0.99, 0.999, 1)) put(paste0("quantile", p), quantile(a, p, type = 7))
  put("mean", mean(a))
  put("sd", sd(a))
  d <- outer(a, b, "-")
  put("hodges_lehmann", median(d))
  put("pairwise_third", sort(d)[3])
  put("pairwise_upper", sort(d)[floor(length(d) * 0.8) + 1])
  put("cliff", mean(sign(d)))
  put("glass", (mean(a) - mean(b)) / sd(b))
  put("overhead_factor", median(a) / median(b))
  w <- t.test(a, b)
  put("welch_error", (mean(a) - mean(b)) / w$statistic)
  put("welch_freedom", w$parameter)
  put("t_test", t.test(a - median(a))$p.value)
  k <- suppressWarnings(cor.test(seq_along(a), a, method = "kendall", exact = if (name == "ties") FALSE else length(a) < 50))
  put("kendall_tau", k$estimate)
  # Above 49 figures R's exact = NULL takes the normal distribution; the exact one is asked for here.
  if (name != "ties" && length(a) >= 50 && length(a) <= 60) {
    k <- cor.test(seq_along(a), a, method = "kendall", exact = TRUE)
  }
  put("kendall_p", k$p.value)
  i <- combn(length(a), 2)
  put("theil_sen", median((a[i[2, ]] - a[i[1, ]]) / (i[2, ] - i[1, ])))
  leave_one_out <- function(statistic) {
    n <- length(a)
    v <- sapply(seq_len(n), function(j) statistic(a[-j]))
    sqrt((n - 1) / n * sum((v - mean(v))^2))
  }
  put("jackknife_mean", leave_one_out(mean))
  put("jackknife_sd", leave_one_out(sd))
}

# Exact permutation test of Welch's t, by every way to deal the figures.
welch <- function(x, y) abs(mean(x) - mean(y)) / sqrt(var(x) / length(x) + var(y) / length(y))
for (shift in c(0, 150000, 400000)) {
  a <- cases$small$a + shift
  b <- cases$small$b
  all <- c(a, b)
  dealt <- combn(length(all), length(a))
  real <- welch(a, b)
  far <- apply(dealt, 2, function(j) welch(all[j], all[-j]) >= real * (1 - 1e-9))
  out(paste0("permutation.shift", shift), mean(far))
}

p <- c(0.003, 0.04, 0.011, 0.2, 0.0004, 0.03, 0.9)
for (j in seq_along(p)) out(paste0("holm.", j), p.adjust(p, "holm")[j])

for (n in c(5, 10, 30)) {
  for (alpha in c(0.05, 0.05 / 36)) {
    freedom <- 2 * n - 2
    key <- paste("power", n, if (alpha == 0.05) "alone" else "family", sep = ".")
    critical <- qt(1 - alpha / 2, freedom)
    power <- function(errors) pt(critical, freedom, errors, lower.tail = FALSE)
    out(paste0(key, ".at3"), power(3))
    errors <- uniroot(function(x) power(x) - 0.8, c(0, 30), tol = 1e-13)$root
    out(paste0(key, ".errors"), errors)
    average <- function(x) {
      integrate(function(y) dchisq(y, freedom) * sapply(y, function(q) power(x * sqrt(q / freedom))), 0,
                qchisq(1e-15, freedom, lower.tail = FALSE), rel.tol = 1e-11, subdivisions = 5000)$value
    }
    out(paste0(key, ".estimated"), uniroot(function(x) average(x) - 0.8, c(0, 40), tol = 1e-11)$root)
  }
}
# R's own function, whose power counts the right direction alone as this project's does.
out("power_t_test.10", power.t.test(n = 10, sd = 1, sig.level = 0.05, power = 0.8, tol = 1e-13)$delta / sqrt(2 / 10))
