import { ADAPTIVE_COLOURS, MONO, SANS } from './tokens.ts';

/** Max width at which the rows of a wide table stack. */
const STACK = '@media screen and (max-width:1100px)';

/** Styles that all pages share: type, header, facts, tables, plots, tooltip, print. Sections bring their own rules. */
export const pageStyle: string = `:root{color-scheme:light dark;${ADAPTIVE_COLOURS};
--sans:${SANS};--mono:${MONO};
--f0:12px;--f1:13px;--f2:15px;--f3:20px;--s1:4px;--s2:8px;--s3:16px;--s4:24px;--s5:40px}
:root[data-theme=light]{color-scheme:light}:root[data-theme=dark]{color-scheme:dark}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1400px;padding:var(--s4);background:var(--bg);color:var(--ink);font:var(--f1)/1.45 var(--sans);font-variant-numeric:tabular-nums lining-nums}
code{font:var(--f0)/1.45 var(--mono);overflow-wrap:anywhere}
p,ul,dl,dd{margin:0}ul{padding:0;list-style:none}
h1{font-size:var(--f3);line-height:1.25;font-weight:600;margin:var(--s1) 0;overflow-wrap:anywhere}
h2{font-size:var(--f2);font-weight:600;margin:0 0 var(--s1);padding-top:var(--s3);border-top:1px solid var(--rule)}
h3{font-size:var(--f1);font-weight:600;margin:0 0 var(--s1)}
section{margin-top:var(--s5)}header+main>section:first-child{margin-top:var(--s4)}
a{color:var(--link)}
:focus-visible{outline:2px solid var(--link);outline-offset:1px}
p,li{overflow-wrap:anywhere}
.lead{max-width:118ch;margin-bottom:var(--s3);color:var(--ink2);text-wrap:pretty}
.top{display:flex;justify-content:space-between;align-items:center;gap:var(--s3);min-height:28px}
.brand{font-weight:600}.brand span,.cmd{color:var(--ink2);font-weight:400}
button{flex:none;font:var(--f0) var(--sans);color:var(--ink);background:var(--bg);border:1px solid var(--bar);border-radius:3px;padding:5px 10px;min-height:28px;cursor:pointer;white-space:nowrap}
.find{margin:var(--s3) 0}.find li{display:grid;grid-template-columns:120px minmax(0,118ch);padding:3px 0;text-wrap:pretty;overflow-wrap:anywhere}
.find+.find{margin-top:0}.find b{font-weight:600}.find li{column-gap:var(--s1)}
.find li>:first-child .v{display:inline-block;white-space:normal;overflow-wrap:normal;padding-left:15px;text-indent:-15px}.find li>:first-child .v::before{text-indent:0}
.warn{border-block:1px solid var(--mark);padding-block:var(--s2)}.warn li>:first-child{font-weight:600}
.void{margin:var(--s3) 0;border-block:2px solid var(--worse);padding-block:var(--s2);max-width:none}.void b{color:var(--worse)}
.facts{display:grid;grid-template-columns:repeat(4,minmax(0,1fr));gap:var(--s2) var(--s4);margin:var(--s3) 0;padding:var(--s3) 0;border-block:1px solid var(--rule)}
.facts:last-child{margin-bottom:0;padding-bottom:0;border-bottom:0}.facts div{overflow-wrap:anywhere}
dt{color:var(--ink2);font-size:var(--f0)}
nav{display:flex;flex-wrap:wrap;gap:var(--s1) var(--s3)}
.t{--pad:8px;width:100%;border-collapse:collapse;table-layout:fixed}
.t th,.t td{padding:var(--s1) var(--pad);text-align:left;font-weight:400;vertical-align:top}
.t .name{padding-left:0;overflow-wrap:anywhere}.t tr>:last-child{padding-right:0}
.t thead th{color:var(--ink2);font-size:var(--f0);vertical-align:bottom;border-bottom:1px solid var(--mark);padding-block:0 5px}
.t thead .plot{padding-bottom:0;white-space:nowrap}
.t tbody tr{height:44px;border-bottom:1px solid var(--grid)}.t tbody .name,.t td b{font-weight:600}
.t .n{text-align:right;white-space:nowrap}
small{display:block;font-size:var(--f0);font-weight:400;color:var(--ink2);line-height:1.3}
td small{white-space:nowrap}.t tr:not(.beside):has(+.beside){border-bottom-color:var(--mark)}
.skipped{color:var(--ink2);overflow-wrap:anywhere}
svg{display:block;width:100%;overflow:visible}
svg text{font:var(--f0) var(--sans);fill:var(--ink2)}
.tk{stroke:var(--mark)}
.t td.plot{position:relative;padding-block:0;background-origin:content-box!important;background-repeat:no-repeat!important}
.plot .m{position:absolute;inset:0 var(--pad);width:calc(100% - 2*var(--pad));height:100%}.m>*{transform:translateY(22px)}
.m>rect{y:-5px;height:10px;fill:var(--bar)}
.m>rect.better{fill:var(--better-fill)}.m>rect.worse{fill:var(--worse-fill)}.m>rect:is(.base,.same){fill:var(--bar-base)}.m>rect.unresolved{fill:var(--bg);stroke:var(--bar)}
.m>line{stroke:var(--mark);stroke-width:1.5;marker-start:url(#cap);marker-end:url(#cap)}
.m>line.cl{marker-start:url(#cut)}.m>line.cr{marker-end:url(#cut)}
.m>circle{r:3.2px;fill:var(--mark)}
.m>circle.better{fill:var(--better)}.m>circle.worse{fill:var(--worse)}.m>circle.unresolved{fill:var(--bg);stroke:var(--mark);stroke-width:1.5}
.m:has(circle)>line.better{stroke:var(--better)}.m:has(circle)>line.worse{stroke:var(--worse)}
.defs{position:absolute;width:0;height:0}
.v{white-space:nowrap}.v::before{display:inline-block;width:15px;font-size:11px;font-style:normal;content:""}
.v.better::before{content:"▲"/""}.v.worse::before{content:"▼"/""}.v.same::before{content:"="/""}.v.unresolved::before{content:"○"/""}.v.skip::before{content:"–"/""}
.v.better{color:var(--better)}.v.worse{color:var(--worse)}.v:is(.unresolved,.same,.base,.withheld,.skip){color:var(--ink2)}
td:not(.n):has(>.v)>small{padding-left:15px}
#tip{position:fixed;z-index:9;max-width:min(340px,92vw);background:var(--ink);color:var(--bg);padding:6px 10px;font-size:var(--f0);pointer-events:none}#tip b{display:block;font-weight:600}
@media screen and (max-width:960px){body{padding:var(--s3)}.facts{grid-template-columns:1fr 1fr}}
@media screen and (max-width:480px){.find li{grid-template-columns:96px minmax(0,1fr)}}
@media print{.t{--pad:5px}:root,:root[data-theme]{color-scheme:light;--f0:10.5px;--f1:11px}body{max-width:none;padding:0}button,nav,#tip{display:none!important}section{margin-top:var(--s4)}tr,li,.facts{break-inside:avoid}h2,h3,.lead{break-after:avoid}*{print-color-adjust:exact;-webkit-print-color-adjust:exact}@page{size:A4 landscape;margin:12mm}}
@media(forced-colors:active){.m rect{forced-color-adjust:none}}
.fg-key{display:flex;flex-wrap:wrap;gap:var(--s1) var(--s3);margin:var(--s3) 0 var(--s2);font-size:var(--f0)}
.fg-key b{display:inline-block;width:18px;height:18px;line-height:18px;text-align:center;font-family:var(--mono);margin-right:6px}
.ti b,i.ti{background:var(--t-i);color:var(--on-light)}.ts b,i.ts{background:var(--t-s);color:var(--on-light)}.tm b,i.tm{background:var(--t-m);color:var(--on-light)}.tt b,i.tt{background:var(--t-t);color:var(--on-dark)}.t0 b,i.t0{background:var(--t-0)}
.tiers .ri{fill:var(--t-i)}.tiers .rs{fill:var(--t-s)}.tiers .rm{fill:var(--t-m)}.tiers .rt{fill:var(--t-t)}.tiers .r0{fill:var(--t-0)}.tiers .tick{fill:var(--ink)}.tiers .began{fill:var(--ink2)}mark{background:var(--t-s);color:var(--on-light)}
.s .m>.band{transform:none;y:0;height:100%;fill:var(--band)}.m>.joint{stroke:var(--bar);stroke-width:1;marker:none}.s .stage{border-bottom-color:transparent!important}.s .whole>*{border-top:1px solid var(--mark)}
.note{margin:var(--s2) 0 0}.s .words,.s .name{overflow-wrap:anywhere}.s .line{font-family:var(--mono)}
.items{margin:var(--s2) 0 0;padding-left:var(--s4)}.items>li{margin-bottom:var(--s3)}.items h3{overflow-wrap:anywhere}.items h3 code{font-weight:600}.items h3 span{font-weight:400;color:var(--ink2)}.items h3 span:not(:empty)::before{content:"· "}
.items p{margin:2px 0;color:var(--ink2);max-width:118ch}.items pre{margin:var(--s1) 0;padding:var(--s1) var(--s2);background:var(--soft);white-space:pre-wrap;overflow-wrap:anywhere}
${STACK}{.s,.s :is(thead,tbody){display:block}.s colgroup,.s thead:not(:has(.plot)){display:none}
.s thead tr,.s tbody tr{display:grid;grid-template-columns:repeat(3,minmax(0,1fr));column-gap:var(--s2);height:auto;padding:6px 0}
.s :is(th,td,.n){padding:0!important;text-align:left;min-width:0;overflow-wrap:anywhere}.s :is(.name,.plot,.skipped,.words:has(code)){grid-column:1/-1}
.s thead tr{border-bottom:1px solid var(--mark);padding:0!important}.s thead th{border:0;padding:0}.s thead th:not(.plot){display:none}
.s .plot .m{position:static;width:100%;height:32px}.s .m>*{transform:translateY(16px)}
.s :is(.n,td small){white-space:normal}.s td small{display:inline-block;padding-left:6px}.s .pad{display:none}
.s td[data-l]::before{content:attr(data-l) " ";color:var(--ink2)}.s td:empty,.s .joint{display:none}}
`;
