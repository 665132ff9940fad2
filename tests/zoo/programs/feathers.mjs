// After "Quick start" of Feathers: a service of messages.
import { feathers } from '@feathersjs/feathers';
import express, { json, notFound, rest, errorHandler, urlencoded } from '@feathersjs/express';

class Messages {
  messages = [{ id: 0, text: 'hello' }];
  async find() {
    return this.messages;
  }
  async get(id) {
    return (
      this.messages.find((message) => message.id === Number(id)) ??
      Promise.reject(Object.assign(new Error('none'), { code: 404 }))
    );
  }
  async create(data) {
    const message = { id: this.messages.length, text: data.text };
    this.messages.push(message);
    return message;
  }
  async remove(id) {
    return this.messages.splice(Number(id), 1)[0];
  }
}

const app = express(feathers());
app.use(json(), urlencoded({ extended: true }));
app.configure(rest());
app.use('/messages', new Messages());
app.use(notFound());
app.use(errorHandler({ logger: false }));
await app.listen(Number(process.env.PORT));
