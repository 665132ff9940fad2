export default {
  compatibilityDate: '2026-01-01',
  srcDir: '.',
  compressPublicAssets: true,
  routeRules: { '/old': { redirect: '/json' } },
};
