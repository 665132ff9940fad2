// Every way on both platforms.
process.env['REDLINE_APPS'] = 'all';
await import('./deferred-work.test.ts');
