// The same with more children: those of `npm test` show a leak of 5 KiB in each, these one of half a KiB.
process.env['REDLINE_SPAWNS'] ??= '20000';
await import('./resources.test.ts');
