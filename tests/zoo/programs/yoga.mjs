import { createServer } from 'node:http';
import { createSchema, createYoga } from 'graphql-yoga';

const yoga = createYoga({
  logging: false,
  schema: createSchema({
    typeDefs: `
      scalar File
      type Query { hello(name: String): String! list: [Int!]! fail: String }
      type Mutation { add(a: Int!, b: Int!): Int! read(file: File!): String! }
      type Subscription { count(to: Int!): Int! }
    `,
    resolvers: {
      Query: {
        hello: (_, { name }) => `hello ${name ?? 'world'}`,
        list: () => [1, 2, 3],
        fail: () => {
          throw new Error('failed');
        },
      },
      Mutation: {
        add: (_, { a, b }) => a + b,
        read: async (_, { file }) => (await file.text()).slice(0, 10),
      },
      Subscription: {
        count: {
          async *subscribe(_, { to }) {
            for (let count = 1; count <= to; count++) yield { count };
          },
        },
      },
    },
  }),
});
createServer(yoga).listen(process.env.PORT);
