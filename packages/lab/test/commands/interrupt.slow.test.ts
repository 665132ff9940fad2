// The same of all commands.
process.env['REDLINE_COMMANDS'] = 'all';
await import('./interrupt.test.ts');
