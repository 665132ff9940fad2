/** One style for light and dark; nothing is fetched. */
export const style = `:root{color-scheme:light dark;--bg:light-dark(#fff,#131619);--ink:light-dark(#1a1d21,#e8eaed);--ink2:light-dark(#4f575f,#aab2ba);--rule:light-dark(#d5dae0,#353c44);--grid:light-dark(#e9ecef,#242a30);--mark:light-dark(#33393f,#d5d9dd);--soft:light-dark(#f5f6f8,#1b1f23);--worse:light-dark(#a84300,#f2975c);--link:light-dark(#0b57a4,#7bb8f0);--bar:light-dark(#7d93a8,#64798d)}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1240px;padding:24px;background:var(--bg);color:var(--ink);font:13px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,"Liberation Sans",sans-serif;font-variant-numeric:tabular-nums}
h1{font-size:20px;line-height:1.25;font-weight:600;margin:4px 0;overflow-wrap:anywhere}
h2{font-size:15px;font-weight:600;margin:40px 0 8px;padding-top:16px;border-top:1px solid var(--rule)}
p,ul,pre{margin:0}ul{list-style:none;padding:0;margin:16px 0}li{padding:3px 0}
.brand{font-weight:600}.brand span,.lead,small,.none{color:var(--ink2);font-weight:400}small{font-size:12px}
.worse{color:var(--worse)}.worse::before{content:"▼ "/""}
.done{background:var(--soft);padding:8px 16px;margin:16px 0}
table{width:100%;border-collapse:collapse}
th,td{padding:4px 8px;text-align:left;font-weight:400;vertical-align:top}
:is(th,td):first-child{padding-left:0}:is(th,td):last-child{padding-right:0}
thead th{color:var(--ink2);font-size:12px;border-bottom:1px solid var(--mark);vertical-align:bottom}
tbody th{font-weight:600;overflow-wrap:anywhere}tbody tr{border-bottom:1px solid var(--grid)}
.n{text-align:right;white-space:nowrap}
td{overflow-wrap:anywhere;min-width:4.5em}tbody th{min-width:9em}
pre{font:12px ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre-wrap;overflow-wrap:anywhere;background:var(--soft);padding:8px;margin-top:4px}
summary{cursor:pointer;color:var(--link)}
form{display:inline-block;margin:0 8px 4px 0}
button{font:inherit;font-size:12px;color:var(--ink);background:var(--bg);border:1px solid var(--bar);border-radius:3px;padding:5px 10px;min-height:28px;cursor:pointer;white-space:nowrap}
:focus-visible{outline:2px solid var(--link);outline-offset:1px}
a{color:var(--link)}
@media(max-width:760px){body{padding:16px}table,tbody,tr,td,tbody th{display:block;width:auto}thead{position:absolute;clip-path:inset(50%);width:1px;height:1px;overflow:hidden}tbody tr{padding:8px 0}:is(td,tbody th){padding:2px 0}.n{text-align:left}td[data-label]::before{content:attr(data-label) ": ";color:var(--ink2)}}`;
