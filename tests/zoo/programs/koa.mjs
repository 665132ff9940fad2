import Koa from 'koa';
import { createReadStream } from 'node:fs';

const app = new Koa();
app.silent = true;
app.use(async (ctx, next) => {
  await next();
  ctx.set('x-powered-by', 'koa');
});
app.use(async (ctx) => {
  switch (ctx.path) {
    case '/':
      ctx.body = 'Hello Koa';
      return;
    case '/json':
      ctx.body = { hello: 'world' };
      return;
    case '/stream':
      ctx.type = 'text';
      ctx.body = createReadStream(`${process.env.SITE}/large.txt`);
      return;
    case '/old':
      ctx.redirect('/json');
      return;
    case '/fresh':
      ctx.etag = 'abc';
      ctx.status = 200;
      if (ctx.fresh) ctx.status = 304;
      else ctx.body = 'fresh';
      return;
    case '/cookie':
      ctx.cookies.set('a', 'b');
      ctx.body = ctx.cookies.get('a') ?? 'none';
      return;
    case '/fail':
      ctx.throw(418, 'a teapot');
      return;
    case '/echo':
      ctx.body = ctx.req;
      return;
    default:
  }
});
app.listen(process.env.PORT);
