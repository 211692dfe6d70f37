"""The style sheet, and its hash for the page's policy.

Above this module: `page`. Below it: nothing. Light and dark follow the reader's system; the boxes
that filter work by `:has()`, so the page needs no script.
"""

from __future__ import annotations

import base64
import hashlib
from typing import Final

STYLE: Final = """
:root {
  color-scheme: light dark;
  --page: #fcfcfb; --card: #ffffff; --soft: #f4f4f2; --line: #e4e4e0;
  --text: #1d1f23; --dim: #686c73; --accent: #2f5fd0; --mine: #eef3ff; --mine-line: #d3e0ff;
  --ok: #1a7f45; --bad: #c22f2f; --bad-soft: #fdf0ef; --wait: #9a6700; --ask: #fff7e5; --ask-line: #f0deb0;
  --add: #e6f6ea; --add-text: #11592d; --del: #fdebea; --del-text: #8e1f1f; --hunk: #6b4fbb;
  --mono: ui-monospace, "SF Mono", "Cascadia Code", "JetBrains Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #16181c; --card: #1c1f24; --soft: #22262c; --line: #30353d;
    --text: #e3e5e8; --dim: #969da7; --accent: #8fb1ff; --mine: #1d2740; --mine-line: #2f3f66;
    --ok: #5fcb87; --bad: #ff8a80; --bad-soft: #2e1f20; --wait: #e3b341; --ask: #2b2617; --ask-line: #4a4022;
    --add: #173222; --add-text: #a4e7bb; --del: #3a1f20; --del-text: #ffb9b3; --hunk: #b9a3f5;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 3.5rem; -webkit-text-size-adjust: 100%; }
body {
  margin: 0; background: var(--page); color: var(--text);
  font: 16px/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif;
  overflow-wrap: anywhere;
}
main { max-width: 54rem; margin: 0 auto; padding: 1.5rem 1.25rem 4rem; }
main + main { border-top: 1px solid var(--line); }
a { color: inherit; text-decoration: none; }
a:hover { color: var(--accent); text-decoration: underline; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
.sprite { position: absolute; width: 0; height: 0; overflow: hidden; }
.icon {
  width: 1rem; height: 1rem; flex: none; fill: none; stroke: currentColor; stroke-width: 1.3;
  stroke-linecap: round; stroke-linejoin: round;
}
.facts { color: var(--dim); font-size: .8125rem; font-variant-numeric: tabular-nums; }
.bad { color: var(--bad); }

.top { padding-bottom: .5rem; }
h1 { font-size: 1.625rem; line-height: 1.25; letter-spacing: -.015em; margin: 0 0 .5rem; font-weight: 650; text-wrap: balance; }
.top p { margin: 0; font-size: .875rem; }
.failures { margin-top: .75rem; font-size: .875rem; }
.failures > summary { color: var(--bad); cursor: pointer; width: max-content; }
.failures ul { margin: .25rem 0 0; padding: 0 0 0 1.1rem; list-style: none; }
.failures li { margin: .15rem 0; }
.failures code { font-size: .8125rem; margin-left: .5em; } .failures .facts { margin-left: .6em; }

.filters {
  position: sticky; top: 0; z-index: 2; display: flex; flex-wrap: wrap; gap: .15rem 1.1rem;
  padding: .55rem max(1.25rem, calc((100vw - 54rem) / 2 + 1.25rem)); font-size: .8125rem; color: var(--dim);
  background: color-mix(in srgb, var(--page) 92%, transparent); border-bottom: 1px solid var(--line);
  backdrop-filter: blur(6px);
}
.filters label { display: inline-flex; align-items: center; gap: .35rem; cursor: pointer; white-space: nowrap; }
.filters input { accent-color: var(--accent); margin: 0; width: .95rem; height: .95rem; }
.filters label:has(:checked) { color: var(--text); }
body:has(#show-thought:not(:checked)) .card.thought,
body:has(#show-work:not(:checked)) :is(.card.tool, .card.subagent),
body:has(#show-beside:not(:checked)) :is(.card.notice, .card.system, .card.unknown),
body:has(#show-failed:checked) .card:not([data-state="failed"], .error, .user),
body:has(#show-failed:checked) .fold:not(:has([data-state="failed"])) { display: none; }

.turn { margin-top: 2.25rem; } .top + .turn { margin-top: 1.5rem; }
h2 {
  display: flex; align-items: baseline; flex-wrap: wrap; gap: 0 .75rem; margin: 0 0 1rem; font-size: .8125rem;
  font-weight: 650; letter-spacing: .05em; text-transform: uppercase; color: var(--dim);
}
h2 .facts { text-transform: none; letter-spacing: 0; font-weight: 400; }
h2::after { content: ""; flex: 1; min-width: 2rem; border-top: 1px solid var(--line); align-self: center; }
.turn:is(.error, .refusal) h2 .facts > :last-child { color: var(--bad); }
.turn:is(.interrupted, .open) h2 .facts > :last-child { color: var(--wait); }

.card { margin: .5rem 0; border-radius: 10px; }
.card:target { outline: 2px solid var(--accent); outline-offset: 3px; }
.head { display: flex; align-items: baseline; gap: .5rem; min-width: 0; }
.head .icon { align-self: baseline; translate: 0 .15em; color: var(--dim); }
.head .label { font-weight: 600; flex: 0 0 auto; max-width: 100%; }
.head .subject { min-width: 0; flex: 0 1 auto; }
.head .facts { flex: none; max-width: 55%; }
.anchor { margin-left: auto; flex: none; color: var(--dim); font: .75rem/1 var(--mono); opacity: .45; padding: .2rem 0 .2rem .4rem; }
.card:hover .anchor, .anchor:focus-visible { opacity: 1; }
.sign { flex: none; width: 1.1em; text-align: center; color: var(--dim); font-family: var(--mono); }
.sign.ok { color: var(--ok); } .sign.failed, .sign.error { color: var(--bad); }
.sign:is(.open, .stopped) { color: var(--wait); }
.sign:not(.ok, .failed, .stopped, .open, .thought) { display: none; } .sign.thought { visibility: hidden; }
.card:is(.ask, .notice, .interrupt, .gap) > .head .icon { color: var(--wait); } .card.error > .head .icon { color: var(--bad); }

.card:is(.user, .agent) { margin: 1.25rem 0; }
.card:is(.user, .agent) > .head { font-size: .875rem; margin-bottom: .15rem; }
.card.user { background: var(--mine); border: 1px solid var(--mine-line); padding: .7rem 1rem .85rem; }
.card.user > .head .icon, .card.agent > .head .icon { color: var(--accent); }
.card.agent { padding: 0 .1rem; }

.card:is(.tool, .thought, .subagent), .card:is(.system, .notice, .interrupt, .unknown, .gap) { font-size: .875rem; margin: .3rem 0; }
.card:is(.tool, .thought, .subagent) { background: var(--card); border: 1px solid var(--line); }
.card:is(.tool, .thought, .subagent) > .head { padding: .42rem .75rem; }
.card:is(.system, .notice, .interrupt, .unknown, .gap) { padding: .15rem .75rem; color: var(--dim); }
.card:is(.system, .notice, .interrupt, .unknown, .gap) > .head { flex-wrap: wrap; }
.card.within { margin-left: 1.5rem; }
.card[data-state="failed"] { border-color: color-mix(in srgb, var(--bad) 45%, var(--line)); }
.card.thought > .head { color: var(--dim); }
.card.thought > .body { color: var(--dim); }
.card.tool > .head > .subject { font: .8125rem/1.5 var(--mono); overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.card[open] > .head > .subject { white-space: pre-wrap; overflow-wrap: anywhere; }
.card:is(.plan, .ask) { background: var(--card); border: 1px solid var(--line); padding: .6rem .75rem .7rem; margin: .75rem 0; font-size: .9375rem; }
.card.ask { background: var(--ask); border-color: var(--ask-line); }
.card.ask > .head { flex-wrap: wrap; }
.card.error { background: var(--bad-soft); border: 1px solid color-mix(in srgb, var(--bad) 35%, transparent); padding: .6rem .75rem .7rem; }
.card.error .label { color: var(--bad); }

summary { cursor: pointer; list-style: none; }
summary::-webkit-details-marker { display: none; }
details.card > summary::before, .fold > summary::before, .failures > summary::before {
  content: "›"; flex: none; width: .7em; color: var(--dim); font-family: var(--mono); transition: rotate .12s; transform-origin: 40% 55%;
}
.failures > summary::before { display: inline-block; color: inherit; margin-right: .3em; }
details[open] > summary::before { rotate: 90deg; }
article.card:is(.tool, .thought, .subagent) > .head::before { content: ""; flex: none; width: .7em; }
.card:is(.tool, .thought, .subagent) > .body { padding: .1rem .75rem .75rem 2.4rem; }
.card:is(.plan, .ask, .error, .notice, .system, .unknown, .interrupt) > .body { padding: .15rem 0 0 1.5rem; }
.fold { margin: .75rem 0; }
.fold > summary {
  display: flex; align-items: center; gap: .5rem; padding: .4rem .75rem; border-radius: 10px; font-size: .875rem;
  background: var(--soft); color: var(--dim); width: fit-content; max-width: 100%;
}
.fold > summary:hover { color: var(--text); }
.fold > .cards { border-left: 2px solid var(--line); margin: .5rem 0 1rem .6rem; padding-left: .9rem; }
.fold .card.agent { margin: .75rem 0; }

.body > :first-child { margin-top: .1rem; } .body > :last-child { margin-bottom: 0; }
.prose > * { margin: .6rem 0; } .prose > :first-child { margin-top: 0; } .prose > :last-child { margin-bottom: 0; }
.prose p, .prose li { white-space: pre-wrap; }
.prose :is(h4, h5, h6) { margin: 1.1rem 0 .4rem; font-size: 1.05em; line-height: 1.35; }
.prose :is(h5, h6) { font-size: 1em; }
.prose :is(ul, ol) { padding-left: 1.4rem; } .prose li { margin: .2rem 0; } .prose li > * { margin: .3rem 0; }
.prose blockquote { margin-left: 0; padding-left: .9rem; border-left: 3px solid var(--line); color: var(--dim); }
.prose hr { border: 0; border-top: 1px solid var(--line); margin: 1rem 0; }
.prose .link { text-decoration: underline; text-decoration-color: var(--line); text-underline-offset: 3px; }
.address { color: var(--dim); font-size: .875em; overflow-wrap: anywhere; }
.table { overflow-x: auto; } table { border-collapse: collapse; font-size: .9375em; }
th, td { text-align: left; padding: .3rem .7rem; border-bottom: 1px solid var(--line); vertical-align: top; } th { font-weight: 600; }
code { font-family: var(--mono); font-size: .875em; }
.prose :not(pre) > code { background: var(--soft); border-radius: 5px; padding: .1em .35em; overflow-wrap: anywhere; }
pre { margin: .5rem 0; font: .8125rem/1.55 var(--mono); overflow: auto; max-height: 26rem; tab-size: 4; }
pre code { font-size: inherit; }
pre.output, pre.diff, .code pre { background: var(--soft); border-radius: 8px; padding: .6rem .75rem; }
pre.output { white-space: pre-wrap; overflow-wrap: anywhere; }
[data-state="failed"] pre.output { max-height: 40rem; }
.code { position: relative; } .code pre { margin: 0; }
.language { position: absolute; right: .6rem; top: .3rem; font: .6875rem/1.4 var(--mono); color: var(--dim); }
pre.diff { padding: .4rem 0; } pre.diff > span { display: block; padding: 0 .75rem; width: max-content; min-width: 100%; }
.added { background: var(--add); color: var(--add-text); } .removed { background: var(--del); color: var(--del-text); }
.hunk { color: var(--hunk); } .same { color: var(--dim); } .cut { color: var(--dim); }
.path { font: .8125rem var(--mono); margin: .6rem 0 .3rem; color: var(--dim); }
.note { color: var(--dim); margin: .3rem 0; font-size: .875rem; }

.choices, .steps { list-style: none; margin: .4rem 0 0; padding: 0; }
.choices li, .steps li { margin: .15rem 0; }
.choices li { color: var(--dim); } .choices .picked { color: var(--text); font-weight: 600; }
.choices .mark { font-family: var(--mono); font-size: .875em; white-space: pre; }
.choices.inline { display: flex;  flex-wrap: wrap; gap: 0 1rem; margin: 0; } .choices.inline li { margin: 0; }
.permission { display: flex; align-items: baseline; gap: .5rem; margin: .2rem 0 .5rem; }
.permission > .mark { color: var(--wait); }
.step { display: flex; align-items: baseline; gap: .55rem; }
.step .box {
  flex: none; align-self: center; width: 1rem; height: 1rem; border: 1.3px solid var(--dim); border-radius: 4px;
  font: 700 .7rem/.9rem var(--mono); text-align: center; color: var(--dim);
}
.step.completed .box { background: var(--ok); border-color: var(--ok); color: var(--card); }
.step.in-progress .box { border-color: var(--accent); color: var(--accent); }
.step.cancelled > span:not(.box, .facts) { color: var(--dim); text-decoration: line-through; }
footer { margin-top: 2.5rem; padding-top: .75rem; border-top: 1px solid var(--line); color: var(--dim); font-size: .8125rem; }

@media (max-width: 40rem) {
  body { font-size: 15px; }
  main { padding: 1rem .9rem 3rem; }
  .filters { padding: .5rem .9rem; gap: .15rem .9rem; }
  h1 { font-size: 1.375rem; }
  .head { flex-wrap: wrap; gap: .1rem .45rem; position: relative; padding-right: 3rem; }
  .card:is(.tool, .thought, .subagent) > .head { padding-right: 3.4rem; }
  .anchor { position: absolute; right: 0; top: .15rem; }
  .card:is(.tool, .thought, .subagent) > .head > .anchor { right: .75rem; top: .6rem; }
  .head .facts { max-width: 100%; }
  .card.tool > .head > .subject { flex-basis: 100%; order: 5; }
  .card:is(.tool, .thought, .subagent) > .body { padding-left: .75rem; }
  .card.within { margin-left: .75rem; }
  .fold > .cards { margin-left: .2rem; padding-left: .6rem; }
}
@media (prefers-reduced-motion: reduce) { * { transition: none; } }
@media print { .filters, .anchor { display: none; } pre { max-height: none; white-space: pre-wrap; } body { background: none; } }
"""

HASH: Final = "sha256-" + base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
