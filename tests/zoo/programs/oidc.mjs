import Provider from 'oidc-provider';

const provider = new Provider(`http://localhost:${process.env.PORT}`, {
  clients: [
    {
      client_id: 'zoo',
      client_secret: 'secret',
      redirect_uris: ['http://localhost/cb'],
      grant_types: ['authorization_code', 'client_credentials'],
    },
  ],
  features: { clientCredentials: { enabled: true }, introspection: { enabled: true } },
  cookies: { keys: ['zoo'] },
});
provider.listen(process.env.PORT);
