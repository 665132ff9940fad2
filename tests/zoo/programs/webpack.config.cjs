module.exports = {
  mode: 'development',
  entry: './entry.js',
  stats: 'none',
  infrastructureLogging: { level: 'error' },
  devServer: {
    static: process.env.SITE,
    host: '127.0.0.1',
    proxy: [{ context: ['/api'], target: process.env.TARGET, pathRewrite: { '^/api': '' } }],
  },
};
