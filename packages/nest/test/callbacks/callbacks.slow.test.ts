// Every fault on both frameworks.
process.env['REDLINE_CALLBACKS'] = 'all';
await import('./callbacks.test.ts');
