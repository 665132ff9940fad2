// The same with every discount.
process.env['REDLINE_DISCOUNT_STEP'] ??= '0.5';
await import('./legacy-http.test.ts');
