import { markup, type Markup } from '../../report/markup.ts';
import type { Section } from '../../report/section.ts';
import type { CallGroup, CallsOfCaller, CallsSummary } from '../result.ts';
import { callerText, groupNotes, groupText, placeText, summaryText } from './call-words.ts';

/** Returns the section of what a request calls; none without calls. */
export function callsSections(calls: CallsSummary | undefined): Section[] {
  if (calls === undefined) return [];
  return [
    {
      id: 'calls',
      heading: 'Calls',
      body: markup`<p class="lead">${summaryText(calls)} Wait: time with at least one call open and the event loop idle. CPU: of the thread meanwhile, by drivers and by the app.</p><ol>${calls.callers.map(ofCaller)}</ol>`,
      css: `#calls li{margin:0 0 12px;overflow-wrap:anywhere}#calls ul{margin:4px 0 0}#calls li li{margin:4px 0 0}#calls code{white-space:normal;overflow-wrap:anywhere}#calls small{color:var(--ink2)}
`,
    },
  ];
}

function ofCaller(caller: CallsOfCaller): Markup {
  return markup`<li><b>${caller.name}</b>: ${callerText(caller)}<ul>${caller.groups.map((group) => ofGroup(group, caller))}</ul></li>`;
}

function ofGroup(group: CallGroup, caller: CallsOfCaller): Markup {
  const notes = [placeText(group), ...groupNotes(group, caller)].filter((text) => text !== '');
  return markup`<li><code>${groupText(group)}</code>${notes.map((text) => markup`<br><small>${text}</small>`)}</li>`;
}
