import { ApolloServer } from '@apollo/server';
import { startStandaloneServer } from '@apollo/server/standalone';

const books = [
  { title: 'The Awakening', author: 'Kate Chopin' },
  { title: 'City of Glass', author: 'Paul Auster' },
];
const server = new ApolloServer({
  typeDefs: `type Book { title: String author: String } type Query { books: [Book] book(title: String!): Book }`,
  resolvers: {
    Query: {
      books: () => books,
      book: (_, { title }) => books.find((book) => book.title === title),
    },
  },
});
await startStandaloneServer(server, { listen: { port: Number(process.env.PORT) } });
