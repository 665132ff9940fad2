// The same of more rounds and restarts.
process.env['REDLINE_SIMULATIONS'] = 'all';
await import('./estimate.test.ts');
