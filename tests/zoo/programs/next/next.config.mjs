export default {
  redirects: () => [{ source: '/old', destination: '/', permanent: false }],
  generateBuildId: () => 'zoo',
};
