// The page's own words on layers and on method; docs/measurement.md has them at length.
export const layerTexts = {
  tcp_handshake: "From the connection's first SYN to the first SYN-ACK: one round trip to the proxy's kernel.",
  tcp_to_tls: "From the SYN-ACK to the first packet of the ClientHello: the client builds its hello, and makes the key pairs of its key shares here.",
  tls_handshake: "From the first packet of the ClientHello to the packet that completes the client's Finished: key exchange, certificate and signature, and the round trip they need.",
  tls_to_app: "From the client's Finished to the first packet of the request: the client turns to its request.",
  app_response: "From the first packet of the request to the first packet of the response's status line: proxy and origin at work.",
  total: "From the connection's first SYN to the first packet of the response: the sum of the five layers.",
};

export const partTexts = {
  hello_send: "first to completing packet of the ClientHello",
  retry: "to the second ClientHello, after a HelloRetryRequest",
  server_wait: "to the ServerHello",
  server_flight: "to the server's Finished",
  client_finish: "to the client's Finished",
};

export const definitions = [
  ["Layers.", "Times are those of packets at the client's interface, in integer nanoseconds. A layer opens where the one before it closes, so the five add up to the total exactly, in every row that has all five. Rows that aren't `complete` are counted, never averaged; rows with another group, a HelloRetryRequest or a resumed session are never averaged with others."],
  ["Figures.", "Quantiles are of definition 7 (R's default); p99.9 is stated only where n is at least 10,000. Intervals are 95 % and unadjusted, by bootstrap: blocks are drawn with replacement, and inside each moving blocks of time; percentiles are widened as Student's t and a jackknife over blocks require. The unit of replication is the block; with fewer than 5 there is no interval."],
  ["Comparisons.", "Overhead factor: ratio of medians. Hodges-Lehmann: median of all pairwise differences. Glass's delta: difference of means in standard deviations of the baseline, with Cohen's words (below 0.2 negligible, 0.5 small, 0.8 medium, else large). Cliff's delta: probability of being longer than the baseline less that of being shorter. p: two-sided permutation test of the blocks' medians (Welch's t as the distance), adjusted by Holm's method over all layers and cells; below 0.05 is flagged."],
];
