// The same on the other version or platform, too.
process.env['REDLINE_ADAPTERS'] = 'all';
await import('./adapters.test.ts');
