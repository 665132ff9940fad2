/**
 * Styles of the flamegraph, for tiers and for changes. The line below the graph sticks within their common box, so it never covers
 * the key.
 */
export const graphStyle: string = `.fg-ctl{display:flex;flex-wrap:wrap;gap:var(--s2) var(--s4);align-items:center;justify-content:space-between}
.fg-ctl>div{display:flex;flex-wrap:wrap;gap:0 var(--s4);align-items:center}
.fg-ctl label{display:inline-flex;align-items:center;gap:5px;min-height:28px;cursor:pointer}.fg-ctl label span,.fg-key span{color:var(--ink2)}
.fg-ctl input{margin:0;accent-color:var(--t-t)}.fg-ctl input[type=checkbox]{width:16px;height:16px}
.fg-ctl input[type=search]{font:var(--f0) var(--sans);color:var(--ink);background:var(--bg);border:1px solid var(--bar);border-radius:3px;padding:5px 8px;min-height:28px;width:190px}
.cl b{background:var(--better-fill)}.cm b{background:var(--worse-fill)}.ce b{background:var(--t-0)}
.fg{border-top:1px solid var(--mark);touch-action:manipulation}
.f{overflow:hidden;cursor:pointer}.f rect{stroke:var(--bg);stroke-width:1;y:0;width:100%;height:100%}
.f text{font:11.5px var(--mono);pointer-events:none;transform:translate(5px,14px)}
.f.ti rect{fill:var(--t-i)}.f.ts rect{fill:var(--t-s)}.f.tm rect{fill:var(--t-m)}.f.tt rect{fill:var(--t-t)}.f:is(.t0,.ce) rect{fill:var(--t-0)}
.f.cl rect{fill:var(--better-fill)}.f.cm rect{fill:var(--worse-fill)}
.f:is(.ti,.ts,.tm) text{fill:var(--on-light)}.f.tt text{fill:var(--on-dark)}.f:is(.t0,.ce,.cl,.cm) text{fill:var(--ink)}
.f.dim rect{fill:var(--soft);stroke:var(--rule)}.f.dim text{fill:var(--ink2)}
.fg.flags .f.hot:not(.dim) rect{stroke:var(--ink);stroke-width:3;stroke-dasharray:4 2}
.f.hit rect{stroke:var(--ink);stroke-width:3}
.f:focus{outline:none}.f:focus-visible rect{stroke:var(--ink);stroke-width:4;stroke-dasharray:none}
.fg-say{position:sticky;bottom:0;margin:0;padding:var(--s2) 0;background:var(--bg);color:var(--ink2);border-top:1px solid var(--grid);min-height:3.4em;overflow-wrap:anywhere}
.fg-say b{color:var(--ink);font-weight:600}
@media print{.fg-ctl,.fg-say{display:none}.fg{break-inside:avoid}}
`;
