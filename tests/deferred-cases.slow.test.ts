// The same on all frameworks.
process.env['REDLINE_APPS'] = 'all';
await import('./deferred-cases.test.ts');
