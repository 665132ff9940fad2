import Koa from 'koa';

const app = new Koa();
app.on('error', (error) => console.error(error));
app.use(async function timing(context, next) {
  await next();
  context.set('x-time', stamp());
});
app.use(function plain(context, next) {
  check(context);
  return next();
});
app.use(async (context) => {
  context.body = await build();
});

function stamp() {
  return '1';
}

function check(context) {
  return context.path;
}

async function build() {
  return { items: [1, 2, 3] };
}

app.listen(Number(process.env.PORT), '127.0.0.1');
