"""How the report looks: one sheet, light and dark, wide and narrow."""

CSS = """
:root {
  color-scheme: light dark;
  --paper: #fdfdfb; --ink: #1f2328; --soft: #5f6670; --rule: #dcdcd4; --tint: #f3f3ee;
  --series-1: #0b6e99; --series-2: #d9730d; --series-3: #6f58a8;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #16181b; --ink: #e4e4df; --soft: #a1a7ae; --rule: #3a3e43; --tint: #1f2226;
    --series-1: #5bb8e0; --series-2: #f0a35e; --series-3: #b7a3e6;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 54rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", "Helvetica Neue", Arial, sans-serif;
}
h1 { font-size: 2rem; line-height: 1.15; letter-spacing: -0.02em; margin: 0 0 0.5rem; }
h2 { font-size: 1.45rem; line-height: 1.2; letter-spacing: -0.01em; margin: 0 0 0.6rem; }
h3 { font-size: 1rem; margin: 1.8rem 0 0.5rem; }
p { margin: 0 0 0.8rem; max-width: 44rem; }
a { color: var(--series-1); }
.lead, .question { font-size: 1.1rem; }
.soft, figcaption, .note { color: var(--soft); font-size: 0.875rem; }
section { border-top: 2px solid var(--ink); margin-top: 3.5rem; padding-top: 1.25rem; }
nav ol { padding-left: 1.25rem; margin: 0; }
figure { margin: 1.5rem 0; }
figcaption { margin-top: 0.4rem; }
svg { display: block; width: 100%; height: auto; overflow: visible; }
.narrow { display: none; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 0.875rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding: 0 0 0.35rem; }
th, td { padding: 0.3rem 0.9rem 0.3rem 0; text-align: right; vertical-align: top; }
th, td { border-bottom: 1px solid var(--rule); }
th { font-weight: 500; color: var(--soft); vertical-align: bottom; line-height: 1.25; }
th.word, td.word { text-align: left; }
td small { display: block; color: var(--soft); white-space: nowrap; }
td.word:not(:last-child) { white-space: nowrap; }
th:last-child, td:last-child { padding-right: 0; }
.answers { margin: 1.5rem 0; }
.bars { margin: 0.75rem 0; padding: 0; list-style: none; }
.bars li { margin: 0 0 0.9rem; }
.bars .what { display: flex; justify-content: space-between; gap: 1rem; font-size: 0.9375rem; }
.bars .what b { font-weight: 600; white-space: nowrap; }
.bar { display: grid; grid-template-columns: 3.2rem 1fr; align-items: center; font-size: 0.8125rem; gap: 0.5rem; }
.bar .track { display: flex; align-items: center; gap: 0.5rem; }
.bar i { display: block; height: 0.7rem; min-width: 2px; border-radius: 1px; }
.bar i.sash { background: var(--series-1); }
.bar i.spark { background: var(--series-2); }
.bar .took { white-space: nowrap; font-variant-numeric: tabular-nums; }
details { margin: 0.75rem 0; }
summary { cursor: pointer; font-weight: 600; }
pre {
  background: var(--tint); border: 1px solid var(--rule); border-radius: 4px; padding: 0.8rem 1rem; margin: 0.5rem 0 0;
  overflow-x: auto; font: 0.78125rem/1.45 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.15rem 1.25rem; margin: 0; font-size: 0.9375rem; }
dt { color: var(--soft); }
dd { margin: 0; }
@media (max-width: 40rem) {
  body { padding: 1.25rem 1rem 3rem; }
  h1 { font-size: 1.6rem; }
  table { font-size: 0.8rem; }
  th, td { padding-right: 0.5rem; }
  td small, td.word:not(:last-child) { white-space: normal; }
  .wide { display: none; }
  .narrow { display: block; }
}
@media print { details > * { display: block; } }
"""
