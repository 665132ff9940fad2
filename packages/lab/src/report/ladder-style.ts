import { STACK, stackedTable } from './style.ts';

export const ladderStyle: string = `.rps-plot{background:var(--rps-plot)}.cpu-plot{background:var(--cpu-plot)}.t thead .plot{background:none}
#ladder .w-name{width:168px}#ladder .w-est{width:92px}#ladder .w-abs{width:72px}#ladder .w-verdict{width:102px}#ladder .w-main{width:58px}#ladder .w-p50{width:48px}#ladder .w-p99{width:88px}#ladder .w-rss{width:44px}
#ladder :is(.rps-verdict,.cpu-verdict){padding-right:0}#ladder .p99 .v::before{width:14px}
@media print{#ladder .t :is(th,td){padding-inline:5px}#ladder .t .name{padding-left:0}#ladder .w-name{width:128px}#ladder .w-est{width:80px}#ladder .w-abs{width:58px}#ladder .w-verdict{width:88px}#ladder .w-main{width:48px}#ladder .w-p50{width:40px}#ladder .w-p99{width:76px}#ladder .w-rss{width:38px}#ladder .plot .m{inset:0 5px;width:calc(100% - 10px)}}
${STACK}{${stackedTable('ladder')}
#ladder :is(.rps-plot,.rps-est,.rps-abs,.rps-verdict){grid-column:1/7}#ladder :is(.cpu-plot,.cpu-est,.cpu-verdict,.main){grid-column:7/-1}
#ladder tr>.plot{grid-row:2}#ladder :is(.rps-est,.cpu-est){grid-row:3}#ladder :is(.rps-verdict,.cpu-verdict){grid-row:4}#ladder :is(.rps-abs,.main){grid-row:5}
#ladder thead tr>.plot{grid-row:1}
#ladder .rps-est b::after{content:" ×"}#ladder .cpu-est b::after{content:" µs"}
#ladder :is(.rps-abs,.main,.p50,.p99,.rss){color:var(--ink2);font-size:var(--f0);white-space:normal}
#ladder .rps-abs::after{content:" requests/s"}#ladder .main::after{content:" µs on the main thread"}#ladder td.rps-abs small{padding-left:4px}
#ladder :is(.p50,.p99,.rss){grid-row:6}#ladder .p50{grid-column:1/4}#ladder .p99{grid-column:4/10}#ladder .rss{grid-column:10/-1;text-align:right}
#ladder .p50::before{content:"p50 "}#ladder .p99::before{content:"p99 "}#ladder :is(.p50,.p99)::after{content:" ms"}#ladder .rss::after{content:" MiB"}}
@media screen and (max-width:480px){#ladder .rss{grid-row:7;grid-column:1/-1;text-align:left}#ladder .rss::before{content:"RSS "}#ladder .p50{grid-column:1/5}#ladder .p99{grid-column:5/-1}}
`;
