// The same with more kills: `npm test` has too few to meet every moment.
process.env.REDLINE_DEFER_KILLS ??= '100';
await import('./inbox.test.ts');
