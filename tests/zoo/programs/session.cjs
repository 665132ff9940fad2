const express = require('express');
const session = require('express-session');

const app = express();
app.use(
  session({ secret: 'zoo', resave: false, saveUninitialized: false, cookie: { maxAge: 60_000 } }),
);
app.get('/', (request, response) => response.send(`views ${request.session.views ?? 0}`));
app.get('/view', (request, response) => {
  request.session.views = (request.session.views ?? 0) + 1;
  response.json({ views: request.session.views });
});
app.post('/end', (request, response) => request.session.destroy(() => response.redirect('/')));
app.listen(process.env.PORT);
