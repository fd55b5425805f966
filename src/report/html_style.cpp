#include "report/html_style.h"

namespace tlstrata::report {

// Colours of configurations (c) and layers (l) are told apart by people who see few colours, and have a contrast of at
// least 3 to 1 with the page in both schemes.
const std::string_view html_style = R"css(
:root { color-scheme: light dark;
  --page: #ffffff; --panel: #f6f7f9; --ink: #1a1d21; --soft: #59616b; --rule: #d9dde2; --mark: #9a3412;
  --c0: #0b66b8; --c1: #c2410c; --c2: #0f7a55; --c3: #a21caf; --c4: #8a6100; --c5: #0e7490; --c6: #52525b; --c7: #be123c;
  --l0: #8792a0; --l1: #d9730d; --l2: #2f6db5; --l3: #3f8f4f; --l4: #9d86c9; }
@media (prefers-color-scheme: dark) { :root {
  --page: #14171a; --panel: #1d2125; --ink: #e8eaed; --soft: #a3abb5; --rule: #343a41; --mark: #fdba74;
  --c0: #5fb0f5; --c1: #fb923c; --c2: #4ade9f; --c3: #e879f9; --c4: #e3b341; --c5: #67d3e8; --c6: #b4b4bd; --c7: #fb7185;
  --l0: #76818e; --l1: #e8923a; --l2: #4d8fd9; --l3: #5cb56e; --l4: #b39be0; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.55 system-ui, "Segoe UI", Roboto, "Noto Sans",
  "DejaVu Sans", sans-serif; }
main { max-width: 1120px; margin: 0 auto; padding: 28px 24px 80px; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 .6rem; }
h2 { font-size: 1.25rem; margin: 3rem 0 .4rem; padding-top: 1.2rem; border-top: 1px solid var(--rule); }
h3 { font-size: 1.02rem; margin: 1.6rem 0 .3rem; }
p { margin: .4rem 0 .8rem; max-width: 78ch; }
.facts { color: var(--soft); font-size: .9rem; margin: 0 0 1.2rem; max-width: none; }
.answer { font-size: 1.16rem; line-height: 1.5; background: var(--panel); border-left: 4px solid var(--c0);
  border-radius: 4px; padding: 14px 20px; margin: 1rem 0 1.4rem; }
.answer p { margin: .3rem 0; max-width: 88ch; }
.soft, figcaption { color: var(--soft); font-size: .9rem; }
.note { border-left: 4px solid var(--mark); background: var(--panel); border-radius: 4px; padding: 6px 16px;
  margin: .6rem 0; font-size: .95rem; }
.note p { margin: .2rem 0; max-width: none; }
figure { margin: 1rem 0; overflow-x: auto; }
figure svg { display: block; width: 100%; min-width: 680px; height: auto; }
figcaption { max-width: 88ch; margin-top: .2rem; }
.table { overflow-x: auto; margin: .6rem 0 1.2rem; }
table { border-collapse: collapse; font-size: .92rem; font-variant-numeric: tabular-nums; min-width: 60%; }
caption { text-align: left; font-weight: 600; padding: .3rem 0; }
th, td { padding: .3rem .7rem; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--rule);
  vertical-align: baseline; }
th { font-weight: 600; }
thead th, thead td { border-bottom: 2px solid var(--soft); vertical-align: bottom; white-space: normal; }
small.interval { display: block; line-height: 1.2; }
table.dense { font-size: .84rem; } table.dense th, table.dense td { padding: .3rem .42rem; }
th:first-child, td.text, th.text { text-align: left; }
td.text { white-space: normal; }
td.ratio { text-align: left; padding-left: 0; color: var(--soft); font-size: .86em; }
th .swatch, li .swatch { margin-right: .45em; }
tr.total > * { border-top: 2px solid var(--soft); font-weight: 600; }
tr.first > * { border-top: 2px solid var(--rule); }
td small, th small { color: var(--soft); font-weight: 400; font-size: .86em; }
.flag, td.ratio.flag { color: var(--mark); font-weight: 600; }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: .2rem 1.6rem; padding: 0; margin: .4rem 0; font-size: .92rem; }
.swatch { display: inline-block; width: .8em; height: .8em; border-radius: 2px; vertical-align: -.05em; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1.4rem; font-size: .92rem; margin: .6rem 0; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
code { font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; font-size: .92em; }
svg text { font-family: inherit; fill: var(--ink); font-size: 13px; }
svg .tick { fill: var(--soft); font-size: 12px; } svg .small { fill: var(--soft); font-size: 12px; }
svg .heading { font-weight: 600; font-size: 14px; } svg .figure { font-variant-numeric: tabular-nums; font-weight: 600; }
svg .grid { stroke: var(--rule); stroke-width: 1; } svg .axis { stroke: var(--soft); stroke-width: 1; }
svg .zero { stroke: var(--soft); stroke-width: 1; stroke-dasharray: 3 3; }
svg .curve { fill: none; stroke-width: 2; stroke-linejoin: round; } svg .whisker { stroke-width: 3; stroke-linecap: round; }
svg .ring { fill: var(--page); stroke-width: 2; }
.l0 { fill: var(--l0); background: var(--l0); } .l1 { fill: var(--l1); background: var(--l1); }
.l2 { fill: var(--l2); background: var(--l2); } .l3 { fill: var(--l3); background: var(--l3); }
.l4 { fill: var(--l4); background: var(--l4); }
.c0 { --own: var(--c0); } .c1 { --own: var(--c1); } .c2 { --own: var(--c2); } .c3 { --own: var(--c3); }
.c4 { --own: var(--c4); } .c5 { --own: var(--c5); } .c6 { --own: var(--c6); } .c7 { --own: var(--c7); }
.swatch[class*=" c"] { background: var(--own); } svg .dot { fill: var(--own); }
svg .curve, svg .whisker, svg .ring { stroke: var(--own); }
@media (max-width: 640px) { main { padding: 16px 14px 60px; } h1 { font-size: 1.35rem; } .answer { font-size: 1.05rem; }
  dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: .5rem; } }
@media print { body { font-size: 10.5pt; } main { max-width: none; padding: 0; } figure, table, .answer { break-inside: avoid; }
  figure svg { min-width: 0; } h2, h3 { break-after: avoid; } }
)css";

}  // namespace tlstrata::report
