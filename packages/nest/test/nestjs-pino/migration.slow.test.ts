// Every variant on both frameworks.
process.env['REDLINE_MIGRATION'] = 'all';
await import('./migration.test.ts');
